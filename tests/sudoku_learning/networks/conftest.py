"""Boards for the tests of networks."""

import numpy as np
import pytest

from sudoku_gym import board
from sudoku_gym.geometry import Geometry, jigsaw, latin_square, sudoku_x, windows
from sudoku_gym.puzzles.generator import generate

GEOMETRIES = [
    Geometry.standard(4),
    Geometry.standard(6),
    Geometry.boxes(1, 5),
    Geometry.standard(9),
    sudoku_x(9),
    windows(9),
    jigsaw(9),
    latin_square(5),
]


@pytest.fixture(params=GEOMETRIES, ids=repr, scope="session")
def geometry(request):
    return request.param


@pytest.fixture(scope="session")
def positions():
    return find_positions


def find_positions(geometry, count=5, seed=1):
    """Boards and masks: a puzzle with more and more random legal placements, dead ends with them.

    The last board but one has its mask narrowed; the last is full (a grid of digits, right or
    wrong) and its mask is empty.
    """
    rng = np.random.default_rng(seed)
    puzzle = generate(1, geometry, rng=rng)
    boards = np.repeat(puzzle.puzzles, count, axis=0)
    for i in range(count - 1):
        for _ in range(2 * i):
            legal = np.argwhere(board.candidates(boards[i : i + 1], geometry)[0])
            if not len(legal):
                break
            row, column, digit = legal[rng.integers(len(legal))]
            boards[i, row, column] = digit + 1
    boards[-1] = puzzle.solutions[0]
    masks = board.candidates(boards, geometry).reshape(count, -1)
    masks[-2] &= rng.random(masks.shape[1]) < 0.7
    return boards, masks
