"""The former name of `sudoku_curricula.curves`; imports from here keep working."""

from sudoku_curricula.curves import *  # noqa: F403
