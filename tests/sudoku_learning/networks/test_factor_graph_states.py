"""Rounds that go on where earlier ones stopped."""

import numpy as np
import pytest
import torch

from sudoku_gym.geometry import Geometry
from sudoku_learning.networks.factor_graph import (
    FactorGraphBody,
    FactorGraphConfig,
    function,
    reference,
)
from sudoku_learning.networks.factor_graph.graph import FactorGraph
from sudoku_learning.networks.network import seeded

RUNNERS = [function.run_rounds, reference.run_rounds]


def body_of(channels=12, intersections=True, seed=0):
    config = FactorGraphConfig(channels, intersections=intersections)
    body = seeded(seed, lambda: FactorGraphBody(config))
    torch.nn.init.normal_(body.gamma, std=0.5, generator=torch.Generator().manual_seed(seed))
    return body


def graph_of(positions, geometry, intersections=True, count=5):
    return FactorGraph.of(*positions(geometry, count=count), geometry, intersections)


@pytest.mark.parametrize("run_rounds", RUNNERS)
@pytest.mark.parametrize("intersections", [False, True])
@pytest.mark.parametrize("channels", [8, 12])
def test_rounds_in_two_parts_are_the_same_rounds(positions, run_rounds, intersections, channels):
    graph = graph_of(positions, Geometry.standard(9), intersections)
    weights = body_of(channels, intersections)._weights()
    fresh = [None] * 5
    with torch.no_grad():
        at_once = run_rounds(weights, graph, 7, True, fresh)
        first = run_rounds(weights, graph, 3, True, fresh)
        second = run_rounds(weights, graph, 4, True, first[2])
    for whole, begun, ended in zip(at_once[:2], first[:2], second[:2], strict=True):
        torch.testing.assert_close(torch.cat([begun, ended]), whole, rtol=0, atol=0)
    for whole, ended in zip(at_once[2], second[2], strict=True):
        for x, y in zip(whole, ended, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("run_rounds", RUNNERS)
def test_boards_that_begin_anew_beside_some_that_go_on(positions, run_rounds):
    graph = graph_of(positions, Geometry.standard(4))
    weights = body_of()._weights()
    with torch.no_grad():
        fresh = run_rounds(weights, graph, 3, False, [None] * 5)
        later = run_rounds(weights, graph, 3, False, fresh[2])
        states = [m if board % 2 else None for board, m in enumerate(fresh[2])]
        mixed = run_rounds(weights, graph, 3, False, states)
    owner = torch.from_numpy(graph.positions // 64)
    for board in range(5):
        wanted = (later if board % 2 else fresh)[0][:, owner == board]
        torch.testing.assert_close(mixed[0][:, owner == board], wanted, rtol=0, atol=0)


@pytest.mark.parametrize("intersections", [False, True])
def test_derivatives_end_at_the_state(positions, intersections):
    graph = graph_of(positions, Geometry.standard(6), intersections)
    found = []
    for run_rounds, dtype in zip(RUNNERS, (torch.float32, torch.float64), strict=True):
        body = body_of(8, intersections)
        with torch.no_grad():
            states = function.run_rounds(body._weights(), graph, 3, False, [None] * 5)[2]
        states[1] = None
        body = body.to(dtype)
        placements, constraints, _ = run_rounds(body._weights(), graph, 3, True, states)
        (placements.square().sum() + constraints.square().sum()).backward()
        found.append({name: weight.grad for name, weight in body.named_parameters()})
    for name, exact in found[1].items():
        scale = exact.abs().max().item()
        assert (found[0][name] - exact).abs().max().item() <= 1e-3 * scale + 1e-5, name


def test_the_body_goes_on(positions):
    geometry = Geometry.standard(4)
    boards, masks = (torch.from_numpy(x) for x in positions(geometry, count=3))
    body = body_of().eval()
    with torch.no_grad():
        body.rounds = 4
        first = body(boards, masks, geometry, recurrent_states=[None] * 3)
        second = body(boards, masks, geometry, recurrent_states=first.recurrent_states)
        body.rounds = 8
        whole = body(boards, masks, geometry)
    torch.testing.assert_close(second.variables, whole.variables, rtol=0, atol=0)
    assert whole.recurrent_states == []


def test_a_state_of_another_board(positions):
    geometry = Geometry.standard(4)
    boards, masks = (torch.from_numpy(x) for x in positions(geometry, count=3))
    body = body_of()
    states = body(boards, masks, geometry, recurrent_states=[None] * 3).recurrent_states
    with pytest.raises(ValueError, match=r"zip\(\) argument 2 is longer"):
        body(boards, masks, geometry, recurrent_states=states[:2])
    narrower = masks.clone()
    narrower[1, np.flatnonzero(masks[1])[0]] = False
    with pytest.raises(ValueError, match="state of board 1 is of another board"):
        body(boards, narrower, geometry, recurrent_states=states)
