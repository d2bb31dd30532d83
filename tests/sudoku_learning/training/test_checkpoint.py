"""Checkpoints come back as they were, or with one clear error."""

import json

import numpy as np
import pytest
import torch

from sudoku_gym.policies.loading import checkpoints_of
from sudoku_learning.training import LearnerState, checkpoint
from sudoku_learning.training.checkpoint import (
    FILES,
    Checkpoint,
    check_run_folder,
    checkpoint_in,
    save_checkpoint,
)
from sudoku_learning.training.learner import RunGenerators


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
    for iteration in iterations:
        save_checkpoint(run, iteration, example(iteration), keep)


def names_in(run):
    return sorted(path.name for path in (run / "checkpoints").iterdir())


@pytest.mark.parametrize(("keep", "kept"), [(1, 1), (3, 3), (9, 5), (None, 5)])
def test_as_many_checkpoints_stay_as_are_wanted(tmp_path, keep, kept):
    saved(tmp_path, 1, 2, 3, 4, 5, keep=keep)
    assert names_in(tmp_path) == [f"{i:06}" for i in range(6 - kept, 6)]


def test_what_a_user_put_beside_a_checkpoint_stays(tmp_path):
    saved(tmp_path, 1)
    (tmp_path / "checkpoints/000001/notes.txt").write_text("the best one")
    saved(tmp_path, 2, 3)
    assert names_in(tmp_path) == ["000001", "000002", "000003"]
    assert [path.name for path in (tmp_path / "checkpoints/000001").iterdir()] == ["notes.txt"]
    assert [path.name for path in checkpoints_of(tmp_path)] == ["000002", "000003"]


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


def test_a_checkpoint_that_is_half_written_is_not_read_and_goes_with_the_next_one(
    tmp_path, monkeypatch
):
    saved(tmp_path, 1, 2)

    def full(path):
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
        patch.setattr(checkpoint, "sync", full)
        saved(tmp_path, 3, keep=1)
    assert names_in(tmp_path) == ["000001", "000002", "draft"]
    assert checkpoint_in(tmp_path).name == "000002"
    saved(tmp_path, 3)
    assert names_in(tmp_path) == ["000002", "000003"]


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
    with pytest.raises(ValueError, match=r"replay\.npz: the file is damaged"):
        checkpoint.read_checkpoint(folder)


def test_a_folder_is_free_if_it_is_empty_or_ours(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("dear")
    (tmp_path / "empty").mkdir()
    check_run_folder(tmp_path / "empty", resume=False)
    for name in ("empty", "begun"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "config.json").write_text("{}")
    for name, resume, problem in (
        ("thesis", False, "is not empty, and what it holds is no run"),
        ("thesis", True, "holds no run"),
        ("empty", False, "already holds a run"),
    ):
        with pytest.raises(ValueError, match=f"{name} {problem}"):
            check_run_folder(tmp_path / name, resume)
    for name, problem in (("thesis", "for it has no weights"), ("begun", "yet: its first iter")):
        with pytest.raises(ValueError, match=f"{name} holds no checkpoint.* {problem}"):
            checkpoint_in(tmp_path / name)


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
