"""The bank `4x4`: all grids, all well-posed masks of givens, all minimal puzzles, their orbits.

A set of cells is a 16-bit mask; it is well posed for a grid exactly if no other grid agrees with it
there, so no solver is needed. Counts to compare with: Schendowich, Ben Isaac and Azoulay,
"Multiverse: a deep learning 4X4 Sudoku solver" (2024), table 1.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.symmetry import canonical_form
from sudoku_gym.puzzles.orbits import canonical_keys
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

GEOMETRY = Geometry.boxes(2, 2)
_CELLS = np.arange(16)

# One letter an orbit (t train, v validation, x test), drawn once for all. Orbits are numbered by
# givens, then by canonical form: 0-12 have 4 givens, 13-34 have 5, the last has 6.
SPLIT_TABLE = "ttvtxtxvttttxtvttvttvtttxtxtxxttttvx"


@cache
def solution_grids() -> NDArray[np.int8]:
    """Return all 288 completed grids, int8 `[288, 4, 4]`, in the order of their digits."""
    rows = np.array(list(permutations(range(1, 5))), np.int8)
    pairs = np.array([(a, b) for a, b in product(rows, rows) if not (a == b).any()])
    boxed = pairs[(np.sort(pairs[:, :, :2].reshape(-1, 4), 1) == [1, 2, 3, 4]).all(1)]
    halves = np.array(list(product(boxed, boxed))).reshape(-1, 4, 4)
    return halves[board.is_solved(halves, GEOMETRY)]


@cache
def patterns() -> NDArray[np.int64]:
    """Return which of the first 12 grids each grid is, up to its digits' names: int64 `[288]`.

    Those have the first row 1234; which masks are well posed depends on the pattern alone.
    """
    flat = solution_grids().reshape(-1, 16)
    names = np.argsort(flat[:, :4], axis=1) + 1
    keys = np.take_along_axis(names, flat - 1, axis=1) @ 5 ** _CELLS[::-1]
    return np.searchsorted(keys[:12], keys)


@cache
def ill_posed() -> NDArray[np.bool_]:
    """Return which masks allow another solution: bool `[12, 65536]`.

    Entry (p, m) is True if another grid agrees with grid p on every cell of mask m (bit = cell).
    """
    flat = solution_grids().reshape(-1, 16)
    agreements = (flat[:12, None] == flat[None]) @ (1 << _CELLS)
    ill = np.zeros((12, 1 << 16), np.bool_)
    other = ~np.eye(12, len(flat), dtype=np.bool_)
    ill[np.nonzero(other)[0], agreements[other]] = True
    for cell in _CELLS:  # a part of an ill-posed mask is ill posed
        without, present = _halves(ill, cell)
        without |= present
    return ill


@cache
def minimal_puzzles() -> PuzzleSet:
    """Return the 85,632 minimal puzzles, by solution and mask, with their orbits 0 to 35."""
    minimal = ~ill_posed()
    for cell in _CELLS:  # removing any given must leave it ill posed
        ill_without = _halves(ill_posed(), cell)[0]
        present = _halves(minimal, cell)[1]
        present &= ill_without
    orbit_of = np.full(minimal.shape, -1, np.int32)
    orbit_of[minimal] = _orbits(_masked(*np.nonzero(minimal)))
    grid, mask = np.nonzero(minimal[patterns()])
    puzzles = _masked(grid, mask)
    return PuzzleSet(
        puzzles,
        solution_grids()[grid],
        GEOMETRY,
        "4x4",
        grades=np.zeros(len(puzzles), np.int8),  # naked singles solve every one of them
        orbits=orbit_of[patterns()[grid], mask],
        minimal=np.ones(len(puzzles), np.bool_),
    )


def all_minimal() -> tuple[PuzzleSet, NDArray[np.int8], NDArray[np.uint64]]:
    """Return the bank as `build_banks.build` does: puzzles, their splits, the key of each orbit."""
    bank = minimal_puzzles()
    first = np.unique(bank.orbits, return_index=True)[1]
    return bank, split_of_orbits()[bank.orbits], canonical_keys(bank.puzzles[first], GEOMETRY)


def _masked(grid: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.int8]:
    """Return the grids with the cells of the masks as givens, int8 `[M, 4, 4]`."""
    givens = (mask[:, None] >> _CELLS).astype(np.int8) & np.int8(1)
    return solution_grids()[grid] * givens.reshape(-1, 4, 4)


def split_of_orbits() -> NDArray[np.int8]:
    """Return the split of each of the 36 orbits, an index into `banks.SPLITS`: int8 `[36]`."""
    return np.array(["tvx".index(letter) for letter in SPLIT_TABLE], np.int8)


def _orbits(puzzles: NDArray[np.int8]) -> NDArray[np.int32]:
    forms = canonical_form(puzzles, GEOMETRY).reshape(-1, 16)
    keys = (forms > 0).sum(1) << 32 | forms.astype(np.int64) @ (5 ** _CELLS[::-1])
    return np.unique(keys, return_inverse=True)[1].astype(np.int32)


def _halves(
    table: NDArray[np.bool_], cell: np.integer
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """View the entries of masks without `cell`, and those of the same masks with it."""
    pairs = table.reshape(len(table), -1, 2, 1 << int(cell))
    return pairs[:, :, 0], pairs[:, :, 1]
