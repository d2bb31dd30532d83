"""The shipped banks of puzzles and their train / validation / test splits by orbit.

From 9x9 up the orbit is that of the solution grid, so a puzzle with any number of cells revealed is
held out too; below, it is that of the puzzle itself. A file is read at the first `load`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board, plugins, solver
from sudoku_gym.geometry import Geometry, jigsaw, latin_square, sudoku_x, windows
from sudoku_gym.puzzles.difficulty import grade
from sudoku_gym.puzzles.puzzle_set import COLUMNS, PuzzleSet

SPLITS = ("train", "validation", "test")
"""The parts of a bank; no two share an orbit."""

VARIANTS = {"x9x9": sudoku_x, "windows9x9": windows, "jigsaw9x9": jigsaw, "latin9x9": latin_square}
_Boards: TypeAlias = tuple[Callable[[int], Geometry], int]
_BOARDS_OF: dict[str, _Boards] = {
    "4x4": (Geometry.standard, 4),
    "6x6": (Geometry.standard, 6),
    "9x9": (Geometry.standard, 9),
    "9x9-hard": (Geometry.standard, 9),
    "9x9-hardest": (Geometry.standard, 9),
    "16x16": (Geometry.standard, 16),
    "25x25": (Geometry.standard, 25),
    **{name: (variant, 9) for name, variant in VARIANTS.items()},
    "extreme-like": (Geometry.standard, 9),
    "named": (Geometry.standard, 9),
}
NAMES = tuple(_BOARDS_OF)
"""The banks that `load` knows."""

SPLITS_OF = dict.fromkeys(NAMES, SPLITS) | {"extreme-like": ("test",), "named": ()}
SPLIT_NAMES = tuple(name for name, splits in SPLITS_OF.items() if splits == SPLITS)

# The choice is that of Panchal, "Sudoku solving AI agents", table 1, which prints none: three of
# the circulating boards have one given more than it counts, and its easy, medium and difficult
# boards are unknown, so ours, made by our generator, have as many givens (36, 30, 25).
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
NAMED_BOARDS = dict(line.split(": ") for line in _LINES.splitlines())
"""The boards of the bank `named`, as lines, by their titles."""


def load(name: str, split: str = "all") -> PuzzleSet:
    """Load a bank of `NAMES`, or one split of it, in arrays of your own."""
    if name not in NAMES:
        raise ValueError(f"no bank is called {name!r}: use one of {', '.join(NAMES)}")
    if split not in (known := (*SPLITS_OF[name], "all")):
        raise ValueError(f"the bank {name} has no split {split!r}: use {plugins.join_names(known)}")
    whole, splits, _ = _bank(name)
    chosen = np.ones(len(whole), np.bool_) if split == "all" else splits == SPLITS.index(split)
    columns = {column: getattr(whole, column)[chosen] for column in COLUMNS}
    return replace(whole, split=split, **columns)


def orbits_of(name: str) -> tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.uint64]]:
    """Return one board of each orbit of a bank, the orbit's split, and its stored key.

    Returns:
        int8 `[O, N, N]`, solutions from 9x9 up and puzzles below; int8 `[O]`, indices into
        `SPLITS`; uint64 `[O]`, or `[0]` where no keys are stored.
    """
    if name not in SPLIT_NAMES:
        raise ValueError(
            f"no bank with splits is called {name!r}: use one of {', '.join(SPLIT_NAMES)}"
        )
    whole, splits, keys = _bank(name)
    first = np.unique(whole.orbits, return_index=True)[1]
    return whole.orbit_boards[first], splits[first], keys


def named_geometry(name: str) -> Geometry:
    """Return the geometry called `9x9`, `9`, `12x12`, as a bank, `x9x9`, or `module:attribute`."""
    if ":" in name:
        found = plugins.load_attribute(name)
        if not isinstance(found, Geometry):
            raise ValueError(f"{name!r} is a {type(found).__name__}, no Geometry")
        return found
    if name in NAMES:
        make, digits = _BOARDS_OF[name]
        return make(digits)
    size = name.partition("x")[0]
    if not size.isdecimal() or name not in (size, f"{size}x{size}"):
        raise ValueError(
            f"no board is called {name!r}: use 4x4, 6x6, 9x9 ... 25x25, one of "
            f"{', '.join(VARIANTS)}, or the module:attribute of a Geometry"
        )
    return Geometry.standard(int(size))


_Bank: TypeAlias = tuple[PuzzleSet, NDArray[np.int8], NDArray[np.uint64]]
"""A bank in shared arrays, the split of each puzzle, and the key of each orbit."""


@cache
def _bank(name: str) -> _Bank:
    if name == "named":
        boards, geometry = board.parse_many(NAMED_BOARDS.values()), Geometry.standard(9)
        named = PuzzleSet(boards, solver.solve(boards), geometry, name, grades=grade(boards))
        return named, np.empty(0, np.int8), np.empty(0, np.uint64)
    geometry = named_geometry(name)
    file = resources.files("sudoku_gym.puzzles") / "data" / f"{name}.npz"
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        solutions = stored["solutions"].reshape(-1, geometry.size, geometry.size)
        givens = np.unpackbits(stored["givens"], axis=1, count=geometry.num_cells)
        puzzles = solutions * givens.reshape(solutions.shape).astype(np.int8)
        columns = [stored[column] for column in ("grades", "orbits", "minimal")]
        known = {column: stored[column] for column in ("ratings", "sources") if column in stored}
        whole = PuzzleSet(puzzles, solutions, geometry, name, "all", *columns, **known)
        return whole, stored["splits"], stored["keys"]
