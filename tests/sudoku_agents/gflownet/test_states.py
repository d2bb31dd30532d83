"""The states of a GFlowNet: orders, trajectories, and exact sums over all of them."""

from math import factorial, log

import numpy as np
import pytest

from gflownet_exact import StateGraph, total_variation
from sudoku_agents.gflownet.orders import ORDERS, forward_masks
from sudoku_agents.gflownet.trajectories import (
    rollout,
    sample_backward_trajectories,
    sample_from_logits,
)
from sudoku_gym import board, puzzles, solver
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.geometry import Geometry

FOUR = Geometry.standard(4)
NINE = Geometry.standard(9)
EMPTY = np.zeros((4, 4), np.int8)
SEVERAL = board.parse("1234 3412 .... ....")  # 4 solutions
CROSSED = board.parse("1234 .... .... 4...")  # several solutions, and dead ends


def at_random(start, geometry, order, seed=0):
    rng = np.random.default_rng(seed)
    return rollout(start, geometry, order, lambda _, __, found: sample_actions(found.allowed, rng))


@pytest.mark.parametrize("order", ORDERS)
def test_what_an_order_allows(order):
    rng = np.random.default_rng(0)
    boards = puzzles.load("9x9", "test").puzzles[:40].copy()
    for one in boards:  # some of them come to dead ends
        for row, column in rng.permutation(np.argwhere(one == 0))[:5]:
            digits = np.flatnonzero(board.candidates(one[None])[0, row, column])
            if len(digits):
                one[row, column] = rng.choice(digits) + 1
    found = forward_masks(boards, NINE, order)
    candidates = board.candidates(boards).reshape(40, 81, 9)
    np.testing.assert_array_equal(found.candidates, candidates.reshape(40, -1))
    is_dead = ((candidates.sum(2) == 0) & (boards.reshape(40, 81) == 0)).any(1)
    assert 0 < is_dead.sum() < 40
    for one, here, allowed, dead in zip(
        boards, candidates, found.allowed.reshape(40, 81, 9), is_dead, strict=True
    ):
        blank = np.flatnonzero(one.ravel() == 0)
        counts = here.sum(1)[blank]
        cells = {"any": blank, "rows": blank[:1], "constrained": blank[[counts.argmin()]]}[order]
        wanted = np.zeros_like(here)
        if not dead:
            wanted[cells] = here[cells]
        np.testing.assert_array_equal(allowed, wanted)


@pytest.mark.parametrize("order", ORDERS)
def test_trajectories_end_at_full_boards_and_at_the_first_dead_end(order):
    start = puzzles.load("9x9", "test").puzzles[:30]
    played = at_random(start, NINE, order)
    assert ((played.terminal_boards > 0) | (start == 0)).all()
    assert not board.conflicts(played.terminal_boards).any()
    assert not forward_masks(played.terminal_boards, NINE, order).allowed.any()
    np.testing.assert_array_equal(played.solved, board.is_solved(played.terminal_boards))
    np.testing.assert_array_equal(
        (played.terminal_boards > 0).sum((1, 2)), 81 - played.blanks + played.lengths
    )


@pytest.mark.parametrize("order", ORDERS)
def test_the_backward_policy_leads_to_the_solution(order):
    test = puzzles.load("9x9", "test")[:20]
    played = sample_backward_trajectories(
        test.puzzles, test.solutions, NINE, order, np.random.default_rng(0)
    )
    np.testing.assert_array_equal(played.terminal_boards, test.solutions)
    assert played.solved.all()
    again = sample_backward_trajectories(
        test.puzzles, test.solutions, NINE, order, np.random.default_rng(1)
    )
    assert (again.actions == played.actions).all() == (order != "any")


def test_every_order_to_a_solution_is_equally_likely():
    puzzle = board.parse("1234 3412 2143 4...")[None].repeat(6000, 0)
    solution = board.parse("1234 3412 2143 4321")[None].repeat(6000, 0)
    played = sample_backward_trajectories(puzzle, solution, FOUR, "any", np.random.default_rng(0))
    orders, counts = np.unique(played.actions, axis=0, return_counts=True)
    assert len(orders) == factorial(3)
    assert abs(counts - 1000).max() < 5 * np.sqrt(1000)


def test_the_empty_board_has_288_solutions_and_no_dead_end_at_the_most_constrained_cell():
    graph = StateGraph(EMPTY, FOUR, "constrained")
    assert board.is_solved(graph.terminal_boards()).all() and len(graph.terminal_boards()) == 288
    rows = StateGraph(EMPTY, FOUR, "rows")
    assert len(rows.terminal_boards()) == 288 + 96
    for tree in (graph, rows):
        assert tree.log_flows(-30.0)[0] == pytest.approx(log(288), abs=1e-6)
    with pytest.raises(ValueError, match=r"more than 1,000 states after 2 placements"):
        StateGraph(EMPTY, FOUR, "any", limit=1000)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("puzzle", [SEVERAL, CROSSED], ids=["several", "crossed"])
def test_exact_flows_end_at_each_solution_equally_often(puzzle, order):
    graph = StateGraph(puzzle, FOUR, order)
    count = int(solver.count_solutions(puzzle[None], 1000)[0])
    full = board.is_solved(graph.terminal_boards())
    assert full.sum() == count
    flows = graph.log_flows(-30.0)
    assert flows[0][0] == pytest.approx(log(count), abs=1e-5)
    backward = [-log(made + 1) if order == "any" else 0.0 for made in range(len(flows))]
    policies = [
        after[layer.children] + back - flow[layer.parents]
        for layer, flow, after, back in zip(
            graph.layers, flows, [*flows[1:], np.zeros(0)], backward, strict=True
        )
    ]
    reached = graph.terminating_distribution(policies)
    assert reached.sum() == pytest.approx(1)
    assert total_variation(reached, full / count) < 1e-6


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_placements_are_drawn_as_often_as_they_should(epsilon):
    logits = np.array([1.0, 5.0, -1.0, 0.0], np.float32)
    mask = np.array([True, False, True, True])
    count = 40_000
    drawn = sample_from_logits(
        logits[None].repeat(count, 0),
        mask[None].repeat(count, 0),
        np.random.default_rng(0),
        epsilon,
    )
    weights = np.exp(logits) * mask
    chances = (1 - epsilon) * weights / weights.sum() + epsilon * mask / 3
    shares = np.bincount(drawn, minlength=4) / count
    assert abs(shares - chances).max() < 5 * np.sqrt(0.25 / count)
    assert shares[1] == 0
