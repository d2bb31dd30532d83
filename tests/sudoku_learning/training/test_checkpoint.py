"""Checkpoints come back as they were, or with one clear error; nothing else is ever removed."""

import json

import numpy as np
import pytest
import torch

from sudoku_learning.training import LearnerState, checkpoint
from sudoku_learning.training.checkpoint import FILES, Checkpoint
from sudoku_learning.training.learner import RunGenerators
from sudoku_learning.training.run_folder import RunFolder, checkpoint_in


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


@pytest.mark.parametrize(("keep", "kept"), [(1, 1), (3, 3), (9, 5), (None, 5)])
def test_as_many_checkpoints_stay_as_are_wanted(tmp_path, keep, kept):
    saved(tmp_path, 1, 2, 3, 4, 5, keep=keep)
    assert names_in(tmp_path) == [f"{i:06}" for i in range(6 - kept, 6)]


def test_round_trip(tmp_path):
    saved(tmp_path, 1, 2, 10)
    found, wanted = checkpoint.read_checkpoint(checkpoint_in(tmp_path)), example(10)
    assert (found.config, found.progress) == (wanted.config, wanted.progress)
    assert found.seconds == 1.5 and found.learner.numbers == {"epsilon": 0.5}
    assert torch.equal(found.learner.weights["w"], wanted.learner.weights["w"])
    assert found.learner.tensors["0.step"] == 3
    np.testing.assert_array_equal(found.learner.arrays["sizes"], np.arange(10))
    older = tmp_path / "checkpoints" / "000002"
    assert checkpoint_in(older) == older
    assert checkpoint.read_checkpoint(older).progress["iteration"] == 2


@pytest.mark.parametrize("ending", ["draft", "old"])
def test_what_a_kill_leaves_is_not_read_and_goes_with_the_next_checkpoint(tmp_path, ending):
    saved(tmp_path, 1)
    left = tmp_path / "checkpoints" / f"000007.{ending}"
    left.mkdir()
    for name in ("state.json", "replay.npz"):
        (left / name).write_text("half")
    assert checkpoint_in(tmp_path).name == "000001"
    saved(tmp_path, 2)
    assert names_in(tmp_path) == ["000001", "000002"]


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


def test_what_a_run_did_not_write_is_never_removed(tmp_path):
    saved(tmp_path / "run", 1)
    checkpoints = tmp_path / "run" / "checkpoints"
    foreign = ["000001x", "9", "notes.old", "000003.old", "000004.draft"]
    for name in foreign:
        (checkpoints / name).mkdir()
        (checkpoints / name / "mine.txt").write_text("dear")
    (checkpoints / "000005").mkdir()  # a number as a name does not make it ours
    saved(tmp_path / "other", 2)
    for link in ("000002", "000007.old"):
        (checkpoints / link).symlink_to(checkpoint_in(tmp_path / "other"), target_is_directory=True)
    saved(tmp_path / "run", 6, 7, 8)
    kept = [*foreign, "000002", "000005", "000007", "000007.old", "000008"]
    assert names_in(tmp_path / "run") == sorted(kept)
    assert all((checkpoints / name / "mine.txt").read_text() == "dear" for name in foreign)
    assert checkpoint.read_checkpoint(checkpoints / "000002").progress["iteration"] == 2
    (checkpoints / "000009").mkdir()
    with pytest.raises(ValueError, match="000009 is in the way"):
        saved(tmp_path / "run", 9)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("content", [None, b"", b"\x80\x04garbage"])
def test_a_damaged_file_is_named(tmp_path, name, content):
    saved(tmp_path, 1)
    folder = checkpoint_in(tmp_path)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"000001/{name}: the file is (missing|damaged)"):
        checkpoint.read_checkpoint(folder)


def test_no_pickle_is_loaded(tmp_path):
    saved(tmp_path, 1)
    folder = checkpoint_in(tmp_path)
    np.savez(folder / "replay.npz", sizes=np.array([{"a": 1}], dtype=object))
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(ValueError, match=r"replay\.npz: the file is damaged"):
        checkpoint.read_checkpoint(folder)


def test_a_folder_is_free_if_it_is_empty_or_ours(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("dear")
    (tmp_path / "empty").mkdir()
    saved(tmp_path / "empty", 1)
    RunFolder(tmp_path / "begun", resume=False).path.mkdir()
    (tmp_path / "begun" / "config.json").write_text("{}")
    for name, resume, problem in (
        ("thesis", False, "is not empty, and what it holds is no run"),
        ("thesis", True, "holds no run"),
        ("empty", False, "already holds a run"),
    ):
        with pytest.raises(ValueError, match=f"{name} {problem}"):
            RunFolder(tmp_path / name, resume)
    for name, problem in (("thesis", "for it has no weights"), ("begun", "yet: its first iter")):
        with pytest.raises(ValueError, match=f"{name} holds no checkpoint.* {problem}"):
            checkpoint_in(tmp_path / name)


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


def test_a_full_disk_leaves_no_draft(tmp_path, monkeypatch):
    saved(tmp_path, 1)

    def full(path):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(checkpoint, "sync", full)
    with pytest.raises(OSError, match="No space left"):
        saved(tmp_path, 2)
    assert names_in(tmp_path) == ["000001"]


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
