"""ONNX files play the moves of the networks that they were written from, on every kind of board."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch

from sudoku_gym import board, load_policy, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import (
    FactorGraphConfig,
    MLPConfig,
    Network,
    NetworkPolicy,
    PolicyConfig,
    ValueConfig,
)

_FILE = Path(__file__).parent.parent / "examples/export_onnx.py"
_SPEC = importlib.util.spec_from_file_location("export_onnx", _FILE)
example = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(example)
WholeGraph, export_onnx = example.WholeGraph, example.export_onnx


def boards_of(name, count=6):
    """Puzzles, the same with digits filled in at random, and their masks."""
    found, rng = puzzles.load(name, "test")[:count], np.random.default_rng(0)
    shown = rng.random(found.puzzles.shape) < 0.3
    boards = np.concatenate([found.puzzles, np.where(shown, found.solutions, found.puzzles)])
    masks = board.candidates(boards, found.geometry).reshape(len(boards), -1).astype(bool)
    return boards, masks, found.geometry


@pytest.mark.parametrize("name", ["4x4", "6x6", "9x9", "x9x9", "jigsaw9x9", "latin9x9"])
@pytest.mark.parametrize("intersections", [False, True])
def test_rounds_on_the_whole_graph_are_those_of_graphs(name, intersections):
    boards, masks, geometry = boards_of(name)
    config = FactorGraphConfig(channels=16, intersections=intersections)
    network = Network(config, {"policy": PolicyConfig()}, geometry)
    torch.nn.init.normal_(network.body.gamma, 0.5, 0.3)
    network.body.rounds = 5
    masks[0, masks[0].nonzero()[0][::2]] = False  # narrower than the rules
    given = torch.from_numpy(boards), torch.from_numpy(masks)
    with torch.no_grad():
        wanted = network(*given, geometry)["policy"]
        found = WholeGraph(network, "policy", geometry, 5)(given[0].long(), given[1])
    assert torch.allclose(found, wanted, atol=1e-4)


@pytest.mark.slow
def test_a_file_plays_the_same_moves(tmp_path, monkeypatch):
    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "1")  # read when it is imported
    for package in ("onnx", "onnxscript"):
        pytest.importorskip(package, reason="the extra onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    policy, file = load_policy("expert-iteration"), tmp_path / "net.onnx"
    boards, masks, geometry = boards_of("4x4", 20)
    export_onnx(policy, file, geometry, 4)
    session = runtime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    given = {"boards": boards.astype(np.int64), "action_mask": masks}
    found = session.run(["logits"], given)[0]
    for rounds, is_same in ((4, True), (3, False)):
        output = policy.network.body(
            *map(torch.from_numpy, (boards, masks)), geometry, rounds=rounds
        )
        wanted = policy.network.heads["policy"](output)[-1].detach().numpy()
        assert np.allclose(found[masks], wanted[masks], atol=1e-4) == is_same


def test_what_has_no_form_is_refused(tmp_path):
    geometry, file = Geometry.standard(4), tmp_path / "net.onnx"
    dense = NetworkPolicy(Network(MLPConfig(), {"policy": PolicyConfig()}, geometry))
    heads = {"value": ValueConfig()}
    whole = NetworkPolicy(Network(FactorGraphConfig(), heads, geometry), head="value")
    with pytest.raises(ValueError, match="a NetworkPolicy has no form in ONNX"):
        export_onnx(dense, file, geometry, 2)
    with pytest.raises(ValueError, match="head 'value' is no plain readout"):
        export_onnx(whole, file, geometry, 2)
    with pytest.raises(ValueError, match="rounds=0"):
        export_onnx(load_policy("expert-iteration"), file, geometry, 0)
    weights = tmp_path / "weights.safetensors"
    weights.write_bytes(b"trained")
    with pytest.raises(ValueError, match=r"weights\.safetensors': use a name that ends in \.onnx"):
        export_onnx(load_policy("expert-iteration"), weights, geometry, 2)
    assert not file.exists() and weights.read_bytes() == b"trained"
