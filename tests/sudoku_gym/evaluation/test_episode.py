"""One watched game."""

from itertools import pairwise

import numpy as np
import pytest

from sudoku_gym import SudokuEnv, board
from sudoku_gym.evaluation.episode import Episode

PUZZLE = board.parse("1234....21.34..1")


class LastLegal:
    """Plays the last legal action."""

    def reset(self, puzzles, geometry, rng):
        self.puzzles = puzzles

    def act(self, boards, action_masks):
        return action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(1)


class Certain(LastLegal):
    """Tells what it will play."""

    def probabilities(self, boards, action_masks):
        return np.eye(action_masks.shape[1])[self.act(boards, action_masks)]


def test_every_move_is_a_moment():
    game = Episode(SudokuEnv("4x4"), LastLegal(), 0, {"puzzle": PUZZLE}, heat=False)
    moments = list(game.play())
    assert len(moments) == 1 + (PUZZLE == 0).sum() and game.is_solved
    assert (moments[0].board == PUZZLE).all() and moments[0].last is None
    for before, after in pairwise(moments):
        ((row, column),) = np.argwhere(before.board != after.board)
        assert after.last == (row, column)
        digit = after.board[row, column]
        assert f"{digit} at row {row + 1}, column {column + 1}" in after.caption
    assert game.result == f"solved after {len(moments) - 1} moves"


def test_heat_needs_probabilities():
    with pytest.raises(ValueError, match="LastLegal has no probabilities"):
        Episode(SudokuEnv("4x4"), LastLegal(), 0, {}, heat=True)
    game = Episode(SudokuEnv("4x4"), Certain(), 0, {"puzzle": PUZZLE}, heat=True)
    *moments, last = game.play()
    assert last.heat is None and all(moment.heat.sum() == 1 for moment in moments)


@pytest.mark.parametrize("scale", [1e300, 7, True, np.float16(0.5)])
def test_counts_are_shares_of_the_largest(scale):
    policy = Certain()
    policy.probabilities = lambda boards, action_masks: action_masks * scale
    game = Episode(SudokuEnv("4x4"), policy, 0, {"puzzle": PUZZLE}, heat=True)
    heat = next(iter(game.play())).heat
    assert heat.dtype == np.float64 and heat.max() == min(scale, 1)
