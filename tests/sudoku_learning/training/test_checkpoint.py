"""Checkpoints come back as they were, or with one clear error."""

import json

import numpy as np
import pytest
import torch
from sudoku_agents.checkpoint import Checkpoint

from sudoku_agents import checkpoint


def example(iteration):
    return Checkpoint(
        config={"agent": "somewhere:load"},
        weights={"w": torch.arange(6.0).view(2, 3) + iteration},
        optimiser={"0.step": torch.tensor(3.0)},
        replay={"sizes": np.arange(iteration)},
        state={"iteration": iteration, "rng": {"state": 2**100}},
    )


def test_round_trip_and_the_latest_two_are_kept(tmp_path):
    for iteration in (1, 2, 10):
        checkpoint.save(tmp_path, example(iteration))
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == [
        "000002",
        "000010",
    ]
    found = checkpoint.load(tmp_path)
    assert found.state == example(10).state
    assert torch.equal(found.weights["w"], example(10).weights["w"])
    assert found.optimiser["0.step"] == 3
    np.testing.assert_array_equal(found.replay["sizes"], np.arange(10))
    older = checkpoint.load(tmp_path / "checkpoints" / "000002")
    assert older.state["iteration"] == 2


def test_a_draft_left_by_a_kill_is_not_read(tmp_path):
    checkpoint.save(tmp_path, example(1))
    draft = tmp_path / "checkpoints" / "000002.draft"
    draft.mkdir()
    (draft / "weights.safetensors").write_bytes(b"half")
    assert checkpoint.load(tmp_path).state["iteration"] == 1
    checkpoint.save(tmp_path, example(2))
    assert checkpoint.load(tmp_path).state["iteration"] == 2


@pytest.mark.parametrize("ending", ["draft", "old"])
def test_what_a_kill_leaves_goes_with_the_next_checkpoint(tmp_path, ending):
    checkpoint.save(tmp_path, example(1))
    (tmp_path / "checkpoints" / f"000007.{ending}").mkdir()
    checkpoint.save(tmp_path, example(2))
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == [
        "000001",
        "000002",
    ]


def test_a_checkpoint_is_replaced_whole(tmp_path, monkeypatch):
    def interrupt(path):
        raise KeyboardInterrupt

    checkpoint.save(tmp_path, example(1))
    checkpoint.save(tmp_path, example(2))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("shutil.rmtree", interrupt)
        checkpoint.save(tmp_path, example(2))
    assert checkpoint.load(tmp_path).state["iteration"] == 1
    checkpoint.save(tmp_path, example(2))
    assert checkpoint.load(tmp_path).state["iteration"] == 2


@pytest.mark.parametrize(
    "name",
    ["config.json", "state.json", "weights.safetensors", "optimiser.safetensors", "replay.npz"],
)
@pytest.mark.parametrize("content", [None, b"", b"\x80\x04garbage", b"PK\x03\x04half"])
def test_a_damaged_file_is_named(tmp_path, name, content):
    folder = checkpoint.save(tmp_path, example(1))
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with pytest.raises(ValueError, match=r"000001: the checkpoint is damaged|holds no checkpoint"):
        checkpoint.load(tmp_path / "checkpoints" / "000001")


def test_no_pickle_is_loaded(tmp_path):
    folder = checkpoint.save(tmp_path, example(1))
    np.savez(folder / "replay.npz", sizes=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="the checkpoint is damaged"):
        checkpoint.load(tmp_path)


def test_an_empty_folder_holds_no_checkpoint(tmp_path):
    with pytest.raises(ValueError, match="holds no checkpoint"):
        checkpoint.load(tmp_path)


def test_the_optimiser_continues_where_it_was():
    def step(weights, optimiser, times):
        for _ in range(times):
            optimiser.zero_grad()
            weights.square().sum().backward()
            optimiser.step()

    straight = torch.nn.Parameter(torch.ones(3))
    optimiser = torch.optim.Adam([straight], 0.1)
    step(straight, optimiser, 3)
    tensors = checkpoint.optimiser_tensors(optimiser)
    copy = torch.nn.Parameter(straight.detach().clone())
    again = torch.optim.Adam([copy], 0.1)
    checkpoint.restore_optimiser(again, tensors)
    step(straight, optimiser, 2)
    step(copy, again, 2)
    assert torch.equal(straight, copy)


def test_json_is_written_whole(tmp_path):
    checkpoint.write_json(tmp_path / "config.json", {"a": 1})
    assert json.loads((tmp_path / "config.json").read_text()) == {"a": 1}
    assert list(tmp_path.iterdir()) == [tmp_path / "config.json"]
