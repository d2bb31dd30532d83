"""Checkpoints come back as they were, or with one clear error."""

import errno
import json
import os
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import torch

from sudoku_learning.training import LearnerState, checkpoint
from sudoku_learning.training.checkpoint import Checkpoint
from sudoku_learning.training.learner import RunGenerators
from sudoku_learning.training.optimizer import optimizer_tensors, restore_optimizer
from sudoku_learning.training.run_folder import RunFolder, checkpoint_in

NAMES = (
    *("config.json", "state.json", "timing.json"),
    *("weights.safetensors", "optimizer.safetensors", "replay.npz"),
)


def example(iteration):
    learner = LearnerState(
        weights={"w": torch.arange(6.0).view(2, 3) + iteration},
        tensors={"0.step": torch.tensor(3.0)},
        arrays={"sizes": np.arange(iteration)},
        numbers={"epsilon": 0.5},
    )
    progress = {"iteration": iteration, "rng": {"state": 2**100}}
    return Checkpoint({"agent": "somebody"}, learner, progress, 1.5)


def saved(run, *iterations, keep=2):
    """Save checkpoints into the folder of a run."""
    with RunFolder(run, resume=(run / "config.json").exists()) as folder:
        for iteration in iterations:
            folder.save(iteration, example(iteration), keep)


def names_in(run):
    return sorted(path.name for path in (run / "checkpoints").iterdir())


@pytest.mark.parametrize(("keep", "kept"), [(1, 1), (3, 3), (4, 4), (9, 5), (None, 5)])
def test_as_many_checkpoints_stay_as_are_wanted(tmp_path, keep, kept):
    saved(tmp_path, 1, 2, 3, 4, 5, keep=keep)
    assert names_in(tmp_path) == [f"{i:06}" for i in range(6 - kept, 6)]


@pytest.mark.skipif(os.name != "posix", reason="needs permissions")
def test_whoever_may_read_one_file_may_read_them_all(tmp_path):
    saved(tmp_path, 1)
    modes = {file.stat().st_mode for file in checkpoint_in(tmp_path).iterdir()}
    assert len(modes) == 1


def test_round_trip_and_the_latest_two_are_kept(tmp_path):
    saved(tmp_path, 1, 2, 10)
    assert names_in(tmp_path) == ["000002", "000010"]
    found, wanted = checkpoint.read_checkpoint(checkpoint_in(tmp_path)), example(10)
    assert (found.config, found.progress) == (wanted.config, wanted.progress)
    assert found.seconds == 1.5 and found.learner.numbers == {"epsilon": 0.5}
    assert torch.equal(found.learner.weights["w"], wanted.learner.weights["w"])
    assert found.learner.tensors["0.step"] == 3
    np.testing.assert_array_equal(found.learner.arrays["sizes"], np.arange(10))
    older = tmp_path / "checkpoints" / "000002"
    assert (
        checkpoint_in(older) == older
        and checkpoint.read_checkpoint(older).progress["iteration"] == 2
    )


def test_a_draft_left_by_a_kill_is_not_read(tmp_path):
    saved(tmp_path, 1)
    draft = tmp_path / "checkpoints" / "000002.draft"
    draft.mkdir()
    (draft / "weights.safetensors").write_bytes(b"half")
    assert checkpoint_in(tmp_path).name == "000001"
    saved(tmp_path, 2)
    assert checkpoint_in(tmp_path).name == "000002"


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
@pytest.mark.parametrize("name", ["weights.safetensors", "replay.npz"])
def test_a_full_disk_is_named_and_leaves_no_draft(tmp_path, name):
    resource = pytest.importorskip("resource")
    saved(tmp_path, 1)
    large = example(2)
    if name == "replay.npz":
        large.learner.arrays["sizes"] = np.arange(100_000)
    else:
        large.learner.weights["w"] = torch.zeros(100_000)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with RunFolder(tmp_path, resume=True) as folder:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))  # of a file, as of a disk
        try:
            with pytest.raises(OSError) as error:
                folder.save(2, large)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert error.value.filename == str(tmp_path / "checkpoints" / "000002.draft" / name)
    assert names_in(tmp_path) == ["000001"]


def test_a_folder_that_came_with_a_containers_image_is_replaced(tmp_path, monkeypatch):
    """It can't be renamed, as those of an overlay's lower layer."""
    saved(tmp_path, 1)
    saved(tmp_path, 2)
    replace, lower = os.replace, [tmp_path / "checkpoints" / name for name in ("000001", "000002")]

    def replace_of_an_overlay(source, target):
        if Path(source) in lower:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(source))
        replace(source, target)

    monkeypatch.setattr(os, "replace", replace_of_an_overlay)
    saved(tmp_path, 3)
    assert names_in(tmp_path) == ["000002", "000003"]
    saved(tmp_path, 2)
    assert names_in(tmp_path) == ["000002", "000003"]


@pytest.mark.parametrize("ending", ["draft", "old"])
def test_what_a_kill_leaves_goes_with_the_next_checkpoint(tmp_path, ending):
    saved(tmp_path, 1)
    left = tmp_path / "checkpoints" / f"000007.{ending}"
    left.mkdir()
    for name in ("state.json", ".config.draft.json", "replay.npz"):
        (left / name).write_text("half")
    saved(tmp_path, 2)
    assert names_in(tmp_path) == ["000001", "000002"]


def test_what_a_run_did_not_write_is_never_removed(tmp_path):
    saved(tmp_path, 1)
    foreign = ["000001x", "9", "notes.old", "000003.old", "000004.draft"]
    for name in foreign:
        (tmp_path / "checkpoints" / name).mkdir()
        (tmp_path / "checkpoints" / name / "mine.txt").write_text("dear")
    (tmp_path / "checkpoints" / "000005").mkdir()  # a number as a name does not make it ours
    saved(tmp_path, 6, 7, 8)
    assert names_in(tmp_path) == sorted([*foreign, "000005", "000007", "000008"])
    for name in foreign:
        assert (tmp_path / "checkpoints" / name / "mine.txt").read_text() == "dear"
    (tmp_path / "checkpoints" / "000009").mkdir()
    (tmp_path / "checkpoints" / "000010").symlink_to("nowhere")
    before = names_in(tmp_path)
    for iteration in (9, 10):
        with pytest.raises(ValueError, match=rf"{iteration:06d} is in the way"):
            saved(tmp_path, iteration)
        assert names_in(tmp_path) == before


def test_a_run_s_folder_that_is_a_link_to_nowhere_is_named(tmp_path):
    (tmp_path / "run").symlink_to("nowhere")
    with pytest.raises(ValueError, match=r"run is a link to a folder that is not there"):
        saved(tmp_path / "run", 1)


def test_a_linked_checkpoint_is_read_and_left_alone(tmp_path):
    saved(tmp_path / "other", 1)
    saved(tmp_path / "run", 2)
    link = tmp_path / "run" / "checkpoints" / "000001"
    link.symlink_to(checkpoint_in(tmp_path / "other"), target_is_directory=True)
    left = link.with_name("000003.old")
    left.symlink_to(link, target_is_directory=True)
    saved(tmp_path / "run", 3, 4)
    assert names_in(tmp_path / "run") == ["000001", "000003", "000003.old", "000004"]
    assert checkpoint.read_checkpoint(link).progress["iteration"] == 1


def test_nothing_is_written_where_links_lead(tmp_path):
    """A run's folder that a stranger has packed may hold links to the user's own checkpoints."""
    saved(tmp_path / "mine", 1, 2)
    mine = tmp_path / "mine" / "checkpoints"
    before = {path: path.read_bytes() for path in mine.glob("*/*")}
    saved(tmp_path / "run", 1, 2)
    checkpoints = tmp_path / "run" / "checkpoints"
    for link, iteration in (("000003.draft", 3), ("000001.old", 4)):
        (checkpoints / link).symlink_to(mine / "000001", target_is_directory=True)
        with pytest.raises(ValueError, match=f"{link} is a link, which may lead anywhere: remove"):
            saved(tmp_path / "run", iteration)
        (checkpoints / link).unlink()
    checkpoints.rename(tmp_path / "elsewhere")
    checkpoints.symlink_to(mine, target_is_directory=True)
    with pytest.raises(
        ValueError, match=r"checkpoints is a link, and checkpoints would be removed"
    ):
        RunFolder(tmp_path / "run", resume=True)
    assert {path: path.read_bytes() for path in mine.glob("*/*")} == before


def test_a_lock_empties_no_file(tmp_path):
    """A link that a stranger has packed, hard or soft, may name a file of the user's own."""
    saved(tmp_path / "run", 1)
    (mine := tmp_path / "mine").write_text("precious")
    lock = tmp_path / "run" / ".lock"
    for link in (lock.symlink_to, lock.hardlink_to):
        lock.unlink()
        link(mine)
        with pytest.raises(ValueError, match=r"\.lock is a link, or not empty, and so no lock"):
            saved(tmp_path / "run", 2)
        assert mine.read_text() == "precious"


def test_a_checkpoint_that_lacks_a_file_is_not_passed_over(tmp_path):
    saved(tmp_path, 1, 2)
    (checkpoint_in(tmp_path) / "replay.npz").unlink()
    with RunFolder(tmp_path, resume=True) as folder:
        assert folder.latest() == checkpoint_in(tmp_path)
    with pytest.raises(ValueError, match=r"000002/replay\.npz: the file is missing"):
        checkpoint.read_checkpoint(checkpoint_in(tmp_path))


def test_the_sums_are_those_of_the_shell(tmp_path):
    saved(tmp_path, 1)
    folder = checkpoint_in(tmp_path)
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    sums = [f"{sha256((folder / name).read_bytes()).hexdigest()}  {name}" for name in NAMES]
    assert sorted(lines) == sorted(sums)


def test_a_checkpoint_is_replaced_whole(tmp_path, monkeypatch):
    def interrupt(path):
        raise KeyboardInterrupt

    saved(tmp_path, 1, 2)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(checkpoint, "remove_checkpoint", interrupt)
        saved(tmp_path, 2)
    assert checkpoint_in(tmp_path).name == "000001"
    saved(tmp_path, 2)
    assert checkpoint_in(tmp_path).name == "000002"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("content", [None, b"", b"\x80\x04garbage", b"PK\x03\x04half", b"[1]"])
def test_a_damaged_file_is_named(tmp_path, name, content):
    saved(tmp_path, 1)
    folder = checkpoint_in(tmp_path)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"000001/{name}: the file is (missing|damaged)"):
        checkpoint.read_checkpoint(folder)


@pytest.mark.skipif(os.name == "nt", reason="a hole takes room there")
@pytest.mark.parametrize("name", ["weights.safetensors", "replay.npz"])
def test_a_file_without_end_is_not_summed(tmp_path, name):
    saved(tmp_path, 1)
    os.truncate(checkpoint_in(tmp_path) / name, 10**12)  # a hole: it takes no room on the disk
    with pytest.raises(ValueError, match=f"{name}.* 1,000,000,000,000 bytes"):
        checkpoint.read_checkpoint(checkpoint_in(tmp_path))


def test_no_pickle_is_loaded(tmp_path):
    saved(tmp_path, 1)
    folder = checkpoint_in(tmp_path)
    np.savez(folder / "replay.npz", sizes=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match=r"replay\.npz: the file is damaged"):
        checkpoint.read_checkpoint(folder)


def test_an_empty_folder_holds_no_checkpoint(tmp_path):
    with pytest.raises(ValueError, match="holds no checkpoint, for it has no weights"):
        checkpoint_in(tmp_path)
    RunFolder(tmp_path, resume=False).write_config({})
    with pytest.raises(ValueError, match="no checkpoint yet: its first iteration is not done"):
        checkpoint_in(tmp_path)


@pytest.mark.parametrize("name", ["listdir", "lstat"])
def test_checkpoints_that_may_not_be_read_are_not_taken_for_none(tmp_path, monkeypatch, name):
    saved(tmp_path, 1)
    real = getattr(os, name)

    def denied(path, **rest):
        if "checkpoints" in Path(path).parts:  # as a folder of mode 333, or 444, would be
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, **rest)

    monkeypatch.setattr(os, name, denied)
    with pytest.raises(PermissionError, match="checkpoints"):
        checkpoint_in(tmp_path)


def test_a_folder_is_free_if_it_is_empty_or_ours(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("dear")
    with pytest.raises(ValueError, match=r"thesis is not empty, and what it holds is no run"):
        RunFolder(tmp_path / "thesis", resume=False)
    with pytest.raises(ValueError, match=r"thesis holds no run"):
        RunFolder(tmp_path / "thesis", resume=True)
    (tmp_path / "empty").mkdir()
    saved(tmp_path / "empty", 1)
    with pytest.raises(ValueError, match=r"empty already holds a run"):
        RunFolder(tmp_path / "empty", resume=False)


def test_two_trainings_do_not_share_a_folder(tmp_path):
    first, second = (RunFolder(tmp_path / "run", resume=False) for _ in range(2))
    with first:
        with pytest.raises(ValueError, match="another training is running in"), second:
            pass
        first.save(1, example(1))
    with pytest.raises(ValueError, match="another training has just been in"), second:
        pass
    with first:  # whoever was in it may come back
        first.save(2, example(2))


def test_what_another_training_removes_is_not_called_missing(tmp_path):
    saved(tmp_path, 1)
    resumed = RunFolder(tmp_path, resume=True)
    with resumed.reading():
        checkpoint.read_checkpoint(tmp_path / "checkpoints" / "000001")
    with pytest.raises(ValueError, match="the file is missing"), resumed.reading():
        checkpoint.read_checkpoint(tmp_path / "checkpoints" / "000002")
    with RunFolder(tmp_path, resume=True) as other:
        other.save(2, example(2), keep=1)
    with pytest.raises(ValueError, match="another training is running in"), resumed.reading():
        checkpoint.read_checkpoint(tmp_path / "checkpoints" / "000001")


def test_the_optimizer_continues_where_it_was():
    def step(weights, optimizer, times):
        for _ in range(times):
            optimizer.zero_grad()
            weights.square().sum().backward()
            optimizer.step()

    straight = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.Adam([straight], 0.1)
    step(straight, optimizer, 3)
    tensors = optimizer_tensors(optimizer)
    copy = torch.nn.Parameter(straight.detach().clone())
    again = torch.optim.Adam([copy], 0.1)
    restore_optimizer(again, tensors)
    step(straight, optimizer, 2)
    step(copy, again, 2)
    assert torch.equal(straight, copy)


@pytest.mark.parametrize("name", ["7.step", "exp_avg", "x.exp_avg", "0.exp_avg"])
def test_the_tensors_of_another_optimizer_are_refused(name):
    optimizer = torch.optim.Adam([torch.nn.Parameter(torch.ones(3))], 0.1)
    with pytest.raises(ValueError, match=name.replace(".", r"\.")):
        restore_optimizer(optimizer, {name: torch.ones(4)})


def test_both_generators_continue_where_they_were():
    random = RunGenerators(3)
    random.numpy.random(5)
    torch.rand(5, generator=random.torch)
    numbers, tensors = json.loads(json.dumps(random.numbers())), random.tensors()
    wanted = random.numpy.random(), torch.rand(1, generator=random.torch)
    again = RunGenerators(4)
    again.restore_numbers(numbers)
    others = again.restore_tensors({**tensors, "0.step": torch.tensor(1.0)})
    assert others.keys() == {"0.step"}
    assert (again.numpy.random(), torch.rand(1, generator=again.torch)) == wanted


@pytest.mark.parametrize(
    ("name", "problem"), [("~/run", "did not replace ~"), ("runs/\udcff", "must be UTF-8")]
)
def test_names_that_no_folder_should_have(tmp_path, monkeypatch, name, problem):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=problem):
        RunFolder(Path(name), resume=False)
    assert list(tmp_path.iterdir()) == []
