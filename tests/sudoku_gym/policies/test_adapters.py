"""Solvers and predictors as policies, and the model cards of networks."""

import logging

import numpy as np
import pytest

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import (
    Convergence,
    ModelCard,
    PredictorPolicy,
    SolverPolicy,
    load_policy,
    model_card_of,
)

GEOMETRY = Geometry.standard(4)
GRID = board.parse("1234341221434321")
PUZZLE = board.parse("12343.12.1434321")  # one blank with the digit 4, one with the digit 2


class OneGrid:
    """Knows one grid and answers it to every puzzle."""

    def __init__(self, grid=GRID):
        self.grid = grid

    def solve(self, puzzles, geometry):
        return np.repeat(self.grid[None], len(puzzles), axis=0)

    def predict(self, boards, geometry):
        scores = np.full((len(boards), 4, 4, 4), 0.1)
        np.put_along_axis(scores, self.grid[None, :, :, None].astype(int) - 1, 0.7, 3)
        return scores


def play(policy, puzzles):
    """Fill boards until no answer is legal; return them, and whether an answer was illegal."""
    boards, illegal = np.array(puzzles), np.zeros(len(puzzles), bool)
    policy.reset(boards.copy(), GEOMETRY, np.random.default_rng(0))
    while (masks := board.candidates(boards).reshape(len(boards), -1) & ~illegal[:, None]).any():
        actions = policy.act(boards.copy(), masks)
        for i in np.flatnonzero(masks.any(1)):
            illegal[i] = not masks[i, actions[i]]
            if not illegal[i]:
                boards[i].flat[actions[i] // 4] = actions[i] % 4 + 1
    return boards, illegal


def test_a_solver_policy_plays_the_solution():
    policy = SolverPolicy(OneGrid())
    boards, illegal = play(policy, [PUZZLE, GRID, np.where(GRID < 3, 0, GRID)])
    assert (boards == GRID).all()
    assert not illegal.any() and not policy.unsolved.any()


@pytest.mark.parametrize(
    "answer", [np.zeros((4, 4), np.int8), GRID[::-1], np.where(GRID == 2, 3, GRID)]
)
def test_a_solver_policy_says_where_it_has_no_solution(answer, caplog):
    policy = SolverPolicy(OneGrid(answer))
    with caplog.at_level(logging.WARNING):
        boards, illegal = play(policy, [PUZZLE, PUZZLE])
    assert policy.unsolved.all()
    assert "OneGrid found no solution for 2 of 2 puzzles" in caplog.text
    assert not illegal.any() and (boards == GRID).all()  # the only legal moves are the right ones


def test_a_solver_policy_erases_nothing_and_needs_no_blank():
    policy = SolverPolicy(OneGrid())
    policy.reset(PUZZLE[None], GEOMETRY, np.random.default_rng(0))
    masks = np.zeros((1, 80), bool)
    masks[0, 64 + 3] = True
    assert policy.act(GRID[None], masks) == [67]  # nothing else is legal


def test_the_surest_legal_placement_is_played():
    class Surest:
        def predict(self, boards, geometry):
            scores = np.zeros((len(boards), 4, 4, 4))
            scores[:, 0, 0, 2] = 1.0  # not legal: row 1 holds the digit already
            scores[:, 1, 1, 3] = 0.5
            scores[:, 2, 0, 1] = 0.4
            return scores

    policy = PredictorPolicy(Surest())
    masks = board.candidates(PUZZLE[None]).reshape(1, -1)
    policy.reset(PUZZLE[None], GEOMETRY, np.random.default_rng(0))
    assert policy.act(PUZZLE[None], masks) == [5 * 4 + 3]


@pytest.mark.parametrize("mode", ["surest", "one-shot"])
def test_a_right_prediction_solves_in_both_modes(mode):
    boards, illegal = play(PredictorPolicy(OneGrid(), mode), [PUZZLE, np.zeros_like(PUZZLE)])
    assert (boards == GRID).all() and not illegal.any()


def test_a_wrong_one_shot_answer_stands_where_surest_repairs_it():
    wrong = GRID.copy()
    wrong[1, 1] = 3  # the cell is a naked 4
    repaired, illegal = play(PredictorPolicy(OneGrid(wrong), "surest"), [PUZZLE])
    assert (repaired == GRID).all() and not illegal.any()
    _, illegal = play(PredictorPolicy(OneGrid(wrong), "one-shot"), [PUZZLE])
    assert illegal.all()


def test_a_predictor_may_rule_everything_out():
    class Hopeless:
        def predict(self, boards, geometry):
            return np.full((len(boards), 4, 4, 4), -np.inf)

    boards, illegal = play(PredictorPolicy(Hopeless()), [PUZZLE])
    assert (boards == GRID).all() and not illegal.any()


@pytest.mark.parametrize(
    "scores, message",
    [(np.zeros((1, 64)), r"not \[1, 64\]"), (np.full((1, 4, 4, 4), np.nan), "not NaN")],
)
def test_bad_predictors_are_named(scores, message):
    predictor = OneGrid()
    predictor.predict = lambda boards, geometry: scores
    with pytest.raises(ValueError, match=rf"OneGrid.predict must return .*{message}"):
        PredictorPolicy(predictor, "one-shot").reset(PUZZLE[None], GEOMETRY, None)


class InRounds(OneGrid):
    """Takes three rounds for a board; those with many blanks do not converge."""

    def predict(self, boards, geometry):
        self.convergence = Convergence(
            np.full(len(boards), 3), np.count_nonzero(boards, (1, 2)) > 12
        )
        return super().predict(boards, geometry)


@pytest.mark.parametrize("mode, calls", [("one-shot", 1), ("surest", 8)])
def test_predictions_tell_whether_they_converged(mode, calls):
    policy = PredictorPolicy(InRounds(), mode)
    for _ in range(2):  # each reset counts anew
        boards, _ = play(policy, [PUZZLE, np.where(GRID < 3, 0, GRID)])  # 2 and 8 blanks
        assert (boards == GRID).all()
        assert policy.convergence.converged.tolist() == [True, False]
        assert policy.convergence.rounds.tolist() == [3 * calls] * 2
    other = PredictorPolicy(OneGrid(), mode)
    play(other, [PUZZLE])
    assert other.convergence is None


class Described(OneGrid):
    model_card = ModelCard("grid", weights=12, solutions=3, play="one shot")


def test_adapters_pass_the_card_on():
    assert model_card_of(SolverPolicy(Described())) == Described.model_card
    assert model_card_of(PredictorPolicy(Described(), "one-shot")) == Described.model_card
    assert model_card_of(PredictorPolicy(Described())).play == "sequential"
    assert model_card_of(load_policy("hidden-singles")) is None


@pytest.mark.parametrize(
    ("name", "card"),
    [
        ("exact-cover-supervised", ModelCard("constraints", 9_721, 1000, "sequential")),
        (
            "exact-cover-supervised?mode=one-shot&restarts=2",
            ModelCard("constraints", 9_721, 1000, "one shot", 2),
        ),
        ("guissart", ModelCard("constraints", 3 * 498, 2 * 1280, "search")),
        ("mlp", ModelCard("grid", 164_672, 54_528, "sequential")),
        ("recurrent-transformer", ModelCard("grid", 201_728, 54_528, "one shot")),
        ("dqn", ModelCard("constraints", 3_473, 0, "sequential", 127)),
    ],
)
def test_trained_policies_describe_themselves(name, card):
    pytest.importorskip("torch")
    assert model_card_of(load_policy(name)) == card
