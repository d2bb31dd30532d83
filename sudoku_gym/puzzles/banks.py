"""The shipped banks of puzzles and their train / validation / test splits by orbit.

A bank's file holds the puzzles, solutions, grades, orbits and splits, as `build_banks.py` made
them; it is read at the first `load`. From 9x9 up the orbit is that of the solution grid, so a
puzzle with any number of cells revealed is held out too; below, it is that of the puzzle itself.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.puzzles import complete4x4, named
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

SPLITS = ("train", "validation", "test")
SPLIT_BY_SOLUTION = 9  # from this many digits on, orbits are those of the solution grids
NAMES = ("4x4", "6x6", "9x9", "16x16", "25x25", "x9x9", "named")


def load(name: str, split: str = "all") -> PuzzleSet:
    """Load a bank, or one split of it.

    Args:
        name: one of `NAMES`.
        split: `"train"`, `"validation"`, `"test"` or `"all"`. The named boards have no splits.

    Returns:
        The puzzles in arrays of your own.

    Raises:
        ValueError: if there is no such bank or split.
    """
    if name not in NAMES:
        raise ValueError(f"no bank is called {name!r}: use one of {', '.join(NAMES)}")
    if split not in (*SPLITS, "all"):
        raise ValueError(f"no split is called {split!r}: use {', '.join(SPLITS)} or all")
    if name == "named" and split != "all":
        raise ValueError(f"the named boards are not split: use split='all', not {split!r}")
    whole, splits = _whole(name)
    chosen = np.ones(len(whole), np.bool_) if split == "all" else splits == SPLITS.index(split)
    return replace(whole[chosen], split=split)


def geometry_of(name: str) -> Geometry:
    """Return the geometry of a bank without reading it."""
    if name == "named":
        return Geometry.standard(9)
    return sudoku_x(9) if name == "x9x9" else Geometry.standard(int(name.split("x")[0]))


@cache
def _whole(name: str) -> tuple[PuzzleSet, NDArray[np.int8]]:
    """Return a bank in shared arrays, and the split of each puzzle as an index into `SPLITS`."""
    if name == "4x4":
        puzzle_set = complete4x4.minimal_puzzles()
        splits = np.array([SPLITS.index(split) for split in complete4x4.split_of_orbits()], np.int8)
        return puzzle_set, splits[puzzle_set.orbits]
    if name == "named":
        boards = named.boards()
        return boards, np.zeros(len(boards), np.int8)
    return _read(name)


def _read(name: str) -> tuple[PuzzleSet, NDArray[np.int8]]:
    geometry = geometry_of(name)
    file = resources.files("sudoku_gym.puzzles") / "data" / f"{name}.npz"
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        solutions = stored["solutions"].reshape(-1, geometry.size, geometry.size)
        givens = np.unpackbits(stored["givens"], axis=1, count=geometry.num_cells)
        puzzles = solutions * givens.reshape(solutions.shape).astype(np.int8)
        columns = [stored[column] for column in ("grades", "orbits", "minimal")]
        return PuzzleSet(puzzles, solutions, geometry, name, "all", *columns), stored["splits"]


def write(
    path: Path, puzzle_set: PuzzleSet, splits: NDArray[np.int8], keys: NDArray[np.uint64]
) -> None:
    """Write a bank's file, under a temporary name until it is whole.

    Args:
        path: ends in `.npz`.
        puzzle_set: the whole bank.
        splits: int8 `[M]`, indices into `SPLITS`.
        keys: uint64, the canonical key of each orbit.
    """
    cells = puzzle_set.geometry.num_cells
    partial = path.with_name(path.name + ".part")
    with partial.open("wb") as stream:
        np.savez_compressed(
            stream,
            solutions=puzzle_set.solutions.reshape(-1, cells),
            givens=np.packbits(puzzle_set.puzzles.reshape(-1, cells) > 0, axis=1),
            grades=puzzle_set.grades,
            orbits=puzzle_set.orbits,
            minimal=puzzle_set.minimal,
            splits=splits,
            keys=keys,
        )
    partial.replace(path)
