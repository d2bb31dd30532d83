"""Arguments that several commands take: puzzles, boards, splits, ranges of blanks."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tyro.conf import arg

from sudoku_gym import board
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.geometry import Geometry, geometry_for
from sudoku_gym.puzzles import banks, files
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource, resolve_source

Split: TypeAlias = Literal["train", "validation", "test", "all"]
Puzzles: TypeAlias = Annotated[
    str,
    arg(
        help=f"A bank ({', '.join(banks.NAMES)}), a file ({', '.join(files.SUFFIXES)}), the "
        "module:attribute of a PuzzleSet, or, for one game, a puzzle row by row."
    ),
]
Board: TypeAlias = Annotated[
    str,
    arg(
        help=f"The boards: 4x4, 6x6, 9x9, 12x12 ... 25x25, a variant ({', '.join(banks.VARIANTS)}),"
        " or the module:attribute of a Geometry."
    ),
]


def read_puzzles(name: str, split: Split | None, geometry: Geometry | None) -> PuzzleSet:
    """Read a bank, a file, or the PuzzleSet called `module:attribute`, as `resolve_source` does.

    `split` None takes a bank's test split if there is one. The boards must have `geometry`, for a
    file by default the standard one of its size. A ValueError says what is wrong.
    """
    if name not in banks.NAMES and split not in (None, "all"):
        raise ValueError(f"a file has no splits: leave --split {split} out")
    default = "test" if banks.SPLITS_OF.get(name) else "all"
    try:
        source = resolve_source(name, split or default, geometry)
    except TypeError as error:
        raise ValueError(f"{name!r}: {error}") from None
    if not isinstance(source, BankSource):
        raise ValueError(f"{name!r} is a {type(source).__name__}, no PuzzleSet")
    if geometry is not None and source.geometry != geometry:
        raise ValueError(
            f"{name!r} holds {source.geometry.name} boards, not {geometry.name}: leave --board out"
        )
    return source.puzzle_set


def draw_puzzle(
    puzzles: str, board_name: str, split: Split | None, blanks: str, seed: int | None
) -> tuple[NDArray[np.int8], Geometry]:
    """Return the puzzle to watch or to play, int8 `[N, N]`, and its geometry.

    One of several is drawn; the arguments are those of `read_puzzles` and `parse_blanks`.
    """
    geometry = banks.named_geometry(board_name) if board_name else None
    if puzzles in banks.NAMES or puzzles.endswith(files.SUFFIXES) or ":" in puzzles:
        source = BankSource(read_puzzles(puzzles, split, geometry))
        env = SudokuEnv(source, blanks=parse_blanks(blanks), augment=False)
        return env.reset(seed=seed)[0], env.geometry
    if blanks:
        raise ValueError(f"a puzzle has its own blanks: leave --blanks {blanks} out")
    given = board.parse(puzzles, geometry)
    geometry = geometry_for(len(given), geometry)
    board.check_puzzles(given[None], geometry)
    return given, geometry


def parse_blanks(text: str) -> int | tuple[int, int] | None:
    """Read a number of blanks, `40`, or a range with both ends, `30-40`; nothing means None."""
    if not text:
        return None
    low, dash, high = text.partition("-")
    try:
        return (int(low), int(high)) if dash else int(low)
    except ValueError:
        raise ValueError(f"blanks {text!r}: write a number such as 40, or a range, 30-40") from None
