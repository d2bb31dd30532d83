"""The targets: identities that hold for the true values, and what hindsight knows."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from sudoku_agents.dqn import updates as targets
from sudoku_agents.dqn.agent import make_q_network
from sudoku_agents.dqn.config import DQNConfig, TargetsConfig
from sudoku_agents.dqn.replay import Transitions
from sudoku_agents.dqn.updates import board_values, compute_targets, hardest_choice, q_loss
from sudoku_gym import board, puzzles, solver
from sudoku_gym.board.actions import legal_placements, sample_actions
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import BankSource
from sudoku_learning.networks import FactorGraphConfig, seeded

FOUR = Geometry.standard(4)
SMALL = DQNConfig(network=FactorGraphConfig(8, 4, intersections=True))


def boards_under_play(bank, count, rng):
    """Boards on the way of random legal games: some can be solved, some can't."""
    source = BankSource(puzzles.load(bank, "train"))
    boards, solutions = source.sample(count, None, rng)
    for number in range(12):
        masks = board.candidates(boards, source.geometry).reshape(count, -1)
        right = (solutions[..., None] == np.arange(1, 10)[: boards.shape[1]]).reshape(count, -1)
        # Mostly right placements, so that half of the boards stay solvable for long.
        masks &= right | (rng.random((count, 1)) < 0.1)
        moves = (np.arange(count) % 12 >= number) & masks.any(1)
        actions = sample_actions(masks, rng)
        cells = boards.reshape(count, -1)
        size = boards.shape[1]
        cells[moves, actions[moves] // size] = actions[moves] % size + 1
    return boards, source.geometry


def true_values(boards, geometry):
    """Q of each legal placement by the solver: can the board be solved after it?"""
    masks = board.candidates(boards, geometry).reshape(len(boards), -1)
    rows, actions = np.nonzero(masks)
    after = boards[rows]
    cells = after.reshape(len(after), -1)
    cells[np.arange(len(after)), actions // geometry.size] = actions % geometry.size + 1
    values = np.zeros(masks.shape, np.float32)
    values[rows, actions] = solver.count_solutions(after, 1, geometry)
    return values, masks


@pytest.mark.parametrize("bank", ["4x4", "6x6", "x9x9"])
def test_at_the_true_values_any_constraint_tells_the_value_of_the_board(bank):
    boards, geometry = boards_under_play(bank, 80, np.random.default_rng(0))
    values, masks = true_values(boards, geometry)
    choice, can_go_on = hardest_choice(boards, values, masks, geometry)
    found = np.where(can_go_on, values[np.arange(80), choice], 0)
    wanted = solver.count_solutions(boards, 1, geometry) > 0
    full = (boards != 0).all((1, 2))
    np.testing.assert_array_equal(found[~full], wanted[~full])
    assert 5 < wanted.sum() < 75
    np.testing.assert_array_equal(values.max(1)[~full], wanted[~full])


def networks(config, seed=0):
    return [seeded(seed + n, lambda: make_q_network(config, FOUR)).eval() for n in range(2)]


@pytest.mark.parametrize("values", ["solvable", "plain"])
def test_the_best_placement_tells_the_value(values):
    chosen = TargetsConfig(backup="max", hindsight=False)
    config = replace(SMALL, values=values, targets=chosen)
    boards, geometry = boards_under_play("4x4", 40, np.random.default_rng(1))
    network, target_network = networks(config)
    masks = legal_placements(boards, geometry, "legal")
    inputs = torch.from_numpy(boards), torch.from_numpy(masks), geometry
    with torch.no_grad():
        by, told = (each(*inputs)["q"].double() for each in (network, target_network))
    if values == "solvable":
        by, told = by.sigmoid(), told.sigmoid()
    by = torch.where(inputs[1], by, -torch.inf)
    wanted = torch.where(inputs[1].any(1), told[torch.arange(40), by.argmax(1)], 0.0)
    found = board_values(boards, network, target_network, geometry, config)
    np.testing.assert_allclose(found, wanted.numpy(), atol=1e-6)


def transitions_on(boards, actions, **changes):
    return replace(Transitions.none(len(boards), 4), boards=boards, actions=actions, **changes)


def test_hindsight_knows_what_the_solver_knows():
    stored = puzzles.load("4x4", "train")[:50]
    actions = legal_placements(stored.puzzles, FOUR, "legal").argmax(1)
    transitions = transitions_on(stored.puzzles.copy(), actions, solutions=stored.solutions)
    found = compute_targets(transitions, *networks(SMALL), FOUR, SMALL)
    values, masks = true_values(stored.puzzles, FOUR)
    assert found.all_known.all()
    np.testing.assert_array_equal(found.known, masks)
    np.testing.assert_array_equal(found.values[masks], values[masks])


def test_the_target_of_a_move():
    """A return, and from there on the value of the board; none where the game was over."""
    rng = np.random.default_rng(2)
    boards, _ = boards_under_play("4x4", 30, rng)
    boards = boards[(boards == 0).any((1, 2))]
    count = len(boards)
    actions = (boards.reshape(count, -1) == 0).argmax(1) * 4
    next_boards = boards[::-1].copy()
    discounts = np.where(np.arange(count) % 3 == 0, 0, 0.5).astype(np.float32)
    returns = rng.random(count).astype(np.float32)
    transitions = transitions_on(
        boards, actions, returns=returns, next_boards=next_boards, discounts=discounts
    )
    config = replace(SMALL, targets=replace(SMALL.targets, hindsight=False))
    network, target_network = networks(config)
    found = compute_targets(transitions, network, target_network, FOUR, config)
    values = board_values(next_boards, network, target_network, FOUR, config)
    assert not found.all_known.any() and (found.known.sum(1) == 1).all()
    assert found.known[np.arange(count), actions].all()
    np.testing.assert_allclose(found.values[found.known], returns + discounts * values, rtol=1e-5)


def test_the_losses():
    known = np.array([[True, True, False], [False, True, False]])
    wanted = targets.Targets(np.array([[1, 0, 0], [0, 0.5, 0]], np.float32), known, known[:, 0])
    found = torch.tensor([[[0.0, 0.0, -1e9], [-1e9, 2.0, 1.0]]], requires_grad=True)
    losses = q_loss(found, wanted, SMALL)
    entropy = -0.5 * np.log(1 / (1 + np.exp(-2))) - 0.5 * np.log(1 / (1 + np.exp(2)))
    assert losses.tolist() == [pytest.approx([0.01 * 2 * np.log(2), 0.01 * entropy])]
    losses.mean().backward()
    assert found.grad[0, 0, 2] == found.grad[0, 1, 0] == found.grad[0, 1, 2] == 0
    plain = q_loss(found, wanted, replace(SMALL, values="plain"))
    assert plain.tolist() == [pytest.approx([0.01 * 0.5, 0.01 * 1.0])]
