"""Famous single boards, and three made by our generator, by name.

The choice is that of Panchal, "Sudoku solving AI agents", table 1, which prints none: three of the
circulating boards have one given more than it counts, and its easy, medium and difficult boards are
unknown, so ours have as many givens (36, 30, 25).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from sudoku_gym import board, solver
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.difficulty import grade
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

_LINES = """\
easy: 27...546.......8.73..478...5.684..7.4.3...6.2.2..965.8...513..66.5.......396...15
medium: ...5....7...21495....6...43.8....6.1.1.8.2.3.9.3....7.47...9....59726...6....5...
difficult: 1529.........36.........89.2......6..6....9.85...732...918....2..5.1....3...4....
AI Escargot: 1....7.9..3..2...8..96..5....53..9...1..8...26....4...3......1..4......7..7...3..
Inkala 2010: ..53.....8......2..7..1.5..4....53...1..7...6..32...8..6.5....9..4....3......97..
Inkala 2012: 8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..
Steering Wheel: ...1.2....6.....7...8...9..4.......3.5...7...2...8...1..9...8.5.7.....6....3.4...
Platinum Blonde: .......12........3..23..4....18....5.6..7.8.......9.....85.....9...4.5..47...6...
"""
BOARDS = dict(line.split(": ") for line in _LINES.splitlines())
TITLES = tuple(BOARDS)


@cache
def boards() -> PuzzleSet:
    """Return all named boards, in the order of `TITLES`, graded and with their solutions."""
    geometry = Geometry.standard(9)
    puzzles = np.stack([board.parse(line) for line in BOARDS.values()])
    return PuzzleSet(
        puzzles, solver.solve(puzzles), geometry, "named", grades=grade(puzzles, geometry)
    )
