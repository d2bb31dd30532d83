"""The policies of cAlphaZero: what they play, and what they tell about it."""

from unittest.mock import Mock

import numpy as np
import pytest

from sudoku_agents.calphazero.policy import (
    DEFAULT_RESTARTS,
    START_ROUNDS,
    CAlphaZeroPolicy,
    evaluator,
)
from sudoku_agents.calphazero.search import SearchConfig, tree_search
from sudoku_agents.expert_iteration.policy import SEARCH_RESTARTS
from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import BankSource
from sudoku_learning.networks import (
    NO_RESTARTS,
    POLICY_AND_VALUE,
    MLPConfig,
    Network,
    Restarts,
    evaluate_boards,
    seeded,
)


def test_a_search_that_meets_the_solution_is_the_last(monkeypatch):
    search = Mock(wraps=tree_search)
    monkeypatch.setattr("sudoku_agents.calphazero.policy.tree_search", search)
    state = board.parse(".1.....24......3")
    policy = load_policy("expert-iteration?simulations=16")
    policy.reset(state[None].copy(), Geometry.standard(4), np.random.default_rng(0))
    searched = []  # how often, after each move
    while (mask := board.candidates(state[None]).reshape(1, -1)).any():
        action = int(policy.act(state[None].copy(), mask)[0])
        searched.append(search.call_count)
        state.ravel()[action // 4] = action % 4 + 1
    assert searched[0] == 1 and searched[-1] == searched[-2]


def test_the_most_visited_action_is_played_also_where_a_solved_board_was_met():
    four = Geometry.standard(4)
    network = seeded(0, lambda: Network(MLPConfig((16,)), POLICY_AND_VALUE, four)).eval()
    boards = BankSource(puzzles.load("4x4", "train")).sample(30, 2, np.random.default_rng(0))[0]
    masks = np.repeat(boards.reshape(30, -1) == 0, 4, axis=1)
    config = SearchConfig(simulations=60, c_puct=8.0, proofs=False, actions="blank")
    policy = CAlphaZeroPolicy(network, config, most_visited=True)
    policy.reset(boards, four, np.random.default_rng(0))
    chosen = policy.act(boards, masks)
    found = tree_search(boards, masks, four, evaluator(network, four), config)
    counts, is_solved = found.visit_counts, found.solved
    assert (counts[np.arange(30), chosen] == counts.max(1)).all()
    assert is_solved.any() and not is_solved[np.arange(30), chosen][is_solved.any(1)].all()


UNCONVERGED = (  # of `9x9-hard`; not converged after 1,024 rounds from the first state
    ".26.9...87..6...5......2.....53.1....9.....2.6.....4....9..6.......8..435..1..7..",
    "14....6....5.683.........28...6.49....9........6.2..75...873.......5..4..5.2.....",
)


def test_restarts_solve_at_once_what_the_first_start_does_not():
    boards, nine = board.parse_many(UNCONVERGED), Geometry.standard(9)
    masks = board.candidates(boards, nine).reshape(len(boards), -1)
    network = load_policy("expert-iteration?restarts=0").network
    for count, has_converged in ((0, False), (4, True)):
        reading = evaluate_boards(
            network, boards, masks, nine, ["policy"], restarts=Restarts(count)
        )
        digits = reading.outputs["policy"].reshape(*boards.shape, 9).argmax(3) + 1
        completed = np.where(boards > 0, boards, digits).astype(np.int8)
        assert (reading.converged == has_converged).all()
        assert (board.is_solved(completed, nine) == has_converged).all()
        assert (reading.rounds <= (1 + count) * 1024).all()


@pytest.mark.parametrize("name", ["calphazero", "expert-iteration", "gflownet", "dqn"])
def test_networks_that_converge_take_restarts(name):
    policy = load_policy(f"{name}?restarts=8&rounds=64&noise=0.5")
    assert (policy.restarts.count, policy.restarts.noise) == (8, 0.5)
    assert load_policy(name).restarts.count == DEFAULT_RESTARTS
    assert load_policy(f"{name}?restarts=0").restarts == NO_RESTARTS


@pytest.mark.parametrize("name", ["calphazero", "gflownet", "dqn"])
def test_a_converged_board_is_played_to_its_end(name):
    minimal, policy = puzzles.load("9x9", "validation")[:4], load_policy(name)
    result = evaluate(policy, minimal)
    assert policy.convergence.converged.all() and result.solved.all()
    assert policy.last_convergence is None  # the last moves had been queued


def test_the_first_evaluation_of_the_best_first_search_has_starts():
    solver = load_policy("expert-iteration?search=best-first").solver
    assert solver.restarts == Restarts(SEARCH_RESTARTS) and solver.config.full_evaluations == 1
    assert solver.network.body.rounds == START_ROUNDS
    assert solver.model_card.restarts == SEARCH_RESTARTS
    given = load_policy("expert-iteration?search=best-first&restarts=2&rounds=64&noise=0.5").solver
    assert given.restarts == Restarts(2, 0.5) and given.network.body.rounds == 64
    without = load_policy("expert-iteration?search=best-first&restarts=0").solver
    assert without.restarts == NO_RESTARTS and without.config.full_evaluations == 4
    many = load_policy("expert-iteration?search=best-first&restarts=127").solver
    hard = puzzles.load("jigsaw9x9", "validation")[12:15]
    asked = {each: each.search(hard.puzzles, hard.geometry).nodes.sum() for each in (many, without)}
    assert asked[many] < asked[without] / 2
