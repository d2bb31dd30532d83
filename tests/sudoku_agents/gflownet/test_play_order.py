"""The policy of a GFlowNet plays in the order that it was trained in."""

from dataclasses import replace

import numpy as np
import pytest

from gflownet_exact import StateGraph
from sudoku_agents.gflownet.agent import load
from sudoku_agents.gflownet.config import GFlowNetConfig
from sudoku_agents.gflownet.learner import GFlowNetLearner
from sudoku_agents.gflownet.orders import ORDERS, forward_masks
from sudoku_curricula.schedules import ConstantConfig
from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import MLPConfig
from sudoku_learning.training import Training

FOUR = Geometry.standard(4)
SEVERAL = board.parse("12.. .... ..2. ....")  # has several solutions, and dead ends row by row


def trained(run, order, **changes):
    """Train for a moment; return the folder of the run, and its learner."""
    config = GFlowNetConfig(
        run=run,
        order=order,
        iterations=1,
        updates=2,
        puzzles=12,
        validation_games=4,
        network=MLPConfig((16,)),
        curriculum=ConstantConfig(blanks=6),
    )
    training = Training(replace(config, **changes), GFlowNetLearner)
    training.run()
    return run, training.learner


def play(policy, puzzle, games, seed):
    """Play games through `act`; return the last boards, and whether all moves were in order."""
    boards = np.ascontiguousarray(puzzle[None].repeat(games, 0))
    policy.reset(boards, FOUR, np.random.default_rng(seed))
    in_order = {order: True for order in ORDERS}
    while (masks := board.candidates(boards).reshape(games, -1)).any():
        actions = policy.act(boards, masks)
        runs = masks.any(1)
        assert masks[np.flatnonzero(runs), actions[runs]].all()
        for order in ORDERS:
            allowed = forward_masks(boards, FOUR, order).allowed
            goes_on = allowed.any(1)
            in_order[order] &= allowed[goes_on, actions[goes_on]].all()
        boards.reshape(games, -1)[runs, actions[runs] // 4] = actions[runs] % 4 + 1
    return boards, in_order


@pytest.mark.parametrize("temperature", [0.0, 0.5])
@pytest.mark.parametrize("order", ["rows", "constrained"])
def test_a_network_trained_in_a_tree_plays_in_it(tmp_path, order, temperature):
    run, learner = trained(tmp_path, order)
    policy = load(run, temperature=temperature)
    check_policy(policy)
    assert play(policy, SEVERAL, 50, seed=0)[1][order]
    assert play(learner.policy(), SEVERAL, 1, seed=0)[1][order]


@pytest.mark.parametrize("temperature", [1.0, 0.25])
@pytest.mark.parametrize("order", ["rows", "constrained"])
def test_the_policy_draws_each_solution_as_often_as_the_exact_sum_says(
    tmp_path, order, temperature
):
    run, learner = trained(tmp_path, order)
    graph = StateGraph(SEVERAL, FOUR, order)
    log_policies = []
    for layer, log_pf in zip(graph.layers, graph.log_policies(learner.network), strict=True):
        powers = np.exp(log_pf.astype(np.float64) / temperature)
        log_policies.append(np.log(powers / np.bincount(layer.parents, powers)[layer.parents]))
    reached = graph.terminating_distribution(log_policies)
    ends, _ = play(load(run, temperature=temperature), SEVERAL, 20_000, seed=1)
    ends = ends[board.is_solved(ends)]
    solutions = board.is_solved(graph.terminal_boards())
    assert solutions.sum() > 5
    for end, chance in zip(graph.terminal_boards()[solutions], reached[solutions], strict=True):
        share = (ends == end).all((1, 2)).sum() / 20_000
        assert share == pytest.approx(chance, abs=5 * np.sqrt(chance / 20_000))


@pytest.mark.parametrize("order", ORDERS)
def test_its_probabilities_are_the_forward_policy(tmp_path, order):
    run, learner = trained(tmp_path, order)
    policy = load(run)
    policy.reset(SEVERAL[None], FOUR, np.random.default_rng(0))
    masks = forward_masks(SEVERAL[None], FOUR, order)
    found = policy.probabilities(SEVERAL[None], masks.candidates)
    wanted = np.exp(learner.network.log_policy(SEVERAL[None], masks, FOUR))
    np.testing.assert_allclose(found, wanted, atol=1e-6)
