"""The benchmark of cheaper rounds: weights of fewer bits, certain variables, threads."""

import json

import pytest
import torch

import cheaper_rounds


@pytest.fixture(autouse=True)
def threads_as_before():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def test_all_parts_are_measured(tmp_path):
    out = tmp_path / "figures.json"
    small = ("--count", "3", "--rounds", "48", "--sets", "9x9-hard", "--segments", "2")
    cheaper_rounds.main([*small, "--turns", "1", "--out", str(out)])
    parts = json.loads(out.read_text())
    assert [row["weights"] for row in parts["weights"]["rows"]] == list(cheaper_rounds.ROUNDED)
    assert all(row["count"] == 3 for row in parts["weights"]["rows"])
    certain = parts["certain variables"]["rows"]
    assert [row["rounds"] for row in certain] == [16, 32, 48]
    assert certain[0]["certain, %"] == 0 < certain[1]["certain, %"] < 50
    assert [row["threads"] for row in parts["threads"]["rows"]] == [1, 2]


def test_eight_bits_hold_255_steps_a_row():
    weight = torch.randn(5, 400, generator=torch.Generator().manual_seed(0))
    rounded = cheaper_rounds.ROUNDED["8 bits"](weight)
    largest = weight.abs().amax(1, keepdim=True)
    steps = rounded / largest * 127
    assert torch.allclose(steps, steps.round(), atol=1e-4) and steps.abs().max() <= 127.001
    assert (rounded - weight).abs().max() <= 0.5 * largest.max() / 127 + 1e-6
    assert not cheaper_rounds.ROUNDED["8 bits"](torch.zeros(3, 4)).any()
