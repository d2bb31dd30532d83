"""4x4 boards whose corners hold different digits too, and puzzles for them."""

import numpy as np

from sudoku_gym import Geometry, puzzles
from sudoku_gym.puzzles.sources import BankSource

CORNERS = Geometry("Corners 4x4", Geometry.standard(4).regions, np.array([[0, 3, 12, 15]]))


class CornerPuzzles:
    """Draws from puzzles that are generated once; a third of their patterns is held out."""

    def __init__(self, chosen=None):
        if chosen is None:
            chosen = puzzles.generate(80, CORNERS, np.random.default_rng(0))
        self.list = chosen
        self.geometry, self.max_blanks = chosen.geometry, int(chosen.blanks.max())

    def sample(self, count, blanks, rng):
        return BankSource(self.list).sample(count, blanks, rng)

    def split(self, name):
        places = (self.list.puzzles != 0).reshape(len(self.list), -1) @ np.arange(1, 17)
        return CornerPuzzles(self.list[(places % 3 == 0) == (name == "validation")])


def all_puzzles():
    return CornerPuzzles().list
