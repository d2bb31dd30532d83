"""Games on the page: moves of a policy and of a person, forwards and backwards."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from sudoku_gym import board, load_policy, puzzles
from sudoku_gym.app.game import Game
from sudoku_gym.geometry import Geometry


class Thoughtful:
    """Plays the first legal placement, and shows a distribution and its convergence."""

    last_convergence = None

    def reset(self, boards, geometry, rng):
        self.resets = getattr(self, "resets", 0) + 1

    def act(self, boards, masks):
        self.last_convergence = SimpleNamespace(rounds=np.array([7]), converged=np.array([False]))
        return masks.argmax(1)

    def probabilities(self, boards, masks):
        return masks / masks.sum(1, keepdims=True)


@pytest.fixture
def easy():
    bank = puzzles.load("4x4", split="test")
    return bank.puzzles[0], bank.solutions[0], bank.geometry


def test_a_policy_plays_to_the_end_and_its_moves_can_be_seen_again(easy):
    puzzle, solution, geometry = easy
    game = Game(load_policy("naked-singles"), puzzle, geometry)
    boards = [game.frame.board]
    while not game.is_over:
        game.step()
        boards.append(game.frame.board)
    blanks = int((puzzle == 0).sum())
    assert (game.frame.board == solution).all() and len(boards) == blanks + 1
    assert f"Solved after {blanks} moves." in game.status
    for before in reversed(boards[:-1]):
        game.back()
        assert (game.frame.board == before).all()
    game.back()
    game.step()
    assert (game.frame.board == boards[1]).all() and game.frame.last is not None


def test_a_person_s_digit_stands_and_the_policy_goes_on_from_it(easy):
    puzzle, solution, geometry = easy
    policy = Thoughtful()
    game = Game(policy, puzzle, geometry)
    row, column = np.argwhere(puzzle == 0)[-1]
    game.step()
    game.back()
    game.place(row, column, int(solution[row, column]))
    assert policy.resets == 2 and game.status.startswith("You: ")
    assert np.count_nonzero(game.frame.board != puzzle) == 1
    game.step()
    assert game.frame.board[row, column] == solution[row, column]
    with pytest.raises(ValueError, match="is not legal"):
        game.place(row, column, 1)


def test_the_policy_s_thoughts_are_shown(easy):
    game = Game(Thoughtful(), easy[0], easy[2])
    legal = board.candidates(easy[0][None])[0].sum()
    heat = game.frame.heat
    assert np.count_nonzero(heat) == legal and heat.sum() == pytest.approx(1)
    game.step()
    assert "Not converged after 7 rounds" in game.status
    plain = Game(load_policy("naked-singles"), easy[0], easy[2])
    assert plain.frame.heat is None and (plain.draw() != game.draw()).any()


@pytest.mark.parametrize("scale", [1e300, 7, True, np.float16(0.5)])
def test_counts_are_shares_of_the_largest(easy, scale):
    policy = Thoughtful()
    policy.probabilities = lambda boards, masks: masks * scale
    heat = Game(policy, easy[0], easy[2]).frame.heat
    assert heat.dtype == np.float64 and heat.max() == min(scale, 1)


def test_every_move_is_a_frame(easy):
    puzzle, solution, geometry = easy
    game = Game(load_policy("naked-singles"), puzzle, geometry, heat=False)
    frames = list(game.play())
    assert len(frames) == 1 + (puzzle == 0).sum() and game.is_solved
    assert (frames[0].board == puzzle).all() and frames[0].last is None
    for before, after in pairwise(frames):
        ((row, column),) = np.argwhere(before.board != after.board)
        assert after.last == (row, column)
        assert after.move == f"{solution[row, column]} at row {row + 1}, column {column + 1}"
    assert game.result == f"solved after {len(frames) - 1} moves"


def test_a_dead_end_is_no_solution():
    dead = board.parse("12..........3..4")
    game = Game(load_policy("masked-random"), dead, Geometry.standard(4))
    while not game.is_over:
        game.step()
    assert "Not solved" in game.status


@pytest.mark.parametrize("size", [4, 9, 16])
def test_a_pixel_lies_in_a_cell(size):
    empty = np.zeros((size, size), np.int8)
    game = Game(load_policy("masked-random"), empty, Geometry.standard(size))
    side = len(game.draw())
    centres = [(cell + 0.5) * side / size for cell in range(size)]
    assert [game.cell_at(pixel) for pixel in [0, *centres, side - 1]] == [0, *range(size), size - 1]
