"""Arguments that several commands take: puzzles, boards, splits, ranges of blanks."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tyro.conf import arg

from sudoku_gym import board, plugins
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.geometry import Geometry, geometry_for
from sudoku_gym.puzzles import banks, files
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource, Blanks, EmptySource

Split: TypeAlias = Literal["train", "validation", "test", "all"]
BankOrFile: TypeAlias = Annotated[
    str,
    arg(
        help=f"A bank ({', '.join(banks.NAMES)}), a file ({', '.join(files.SUFFIXES)}), or the "
        "module:attribute of a PuzzleSet."
    ),
]
BankFileOrPuzzle: TypeAlias = Annotated[
    str,
    arg(
        help=f"A bank to draw from ({', '.join(banks.NAMES)}), a file of puzzles "
        f"({', '.join(files.SUFFIXES)}), or a puzzle row by row."
    ),
]
Board: TypeAlias = Annotated[
    str,
    arg(
        aliases=("--size",),
        help=f"The boards: 4x4, 6x6, 9x9, 12x12 ... 25x25, a variant ({', '.join(banks.VARIANTS)}),"
        " or the module:attribute of a Geometry.",
    ),
]

_NO_LIMIT = 2**31  # of the steps of an episode


def read_boards(text: str, geometry: Geometry | None) -> NDArray[np.int8]:
    """Read boards, int8 `[B, N, N]`: a puzzle, a text file's name, or `-` for standard input.

    A file holds one board a line, or a single one, one row a line. A ValueError says if the text is
    none of these, or a board does not parse.
    """
    if text == "-":
        return _parse_text(sys.stdin.read(), "standard input", geometry)
    try:
        return board.parse(text, geometry)[None]
    except ValueError as error:
        if os.path.isfile(text):
            return _parse_text(Path(text).read_text("utf-8-sig"), text, geometry)
        raise ValueError(f"{text[:40]!r} is neither a file nor a puzzle: {error}") from None


def read_puzzles(name: str, split: Split | None, geometry: Geometry | None) -> PuzzleSet:
    """Read a bank, a file, or the PuzzleSet called `module:attribute`.

    `split` None takes a bank's test split if there is one. The boards must have `geometry`, for a
    file by default the standard one of its size. A ValueError says what is wrong.
    """
    if name in banks.NAMES:
        found = banks.load(name, split or ("all" if name == "named" else "test"))
    elif split not in (None, "all"):
        raise ValueError(f"a file has no splits: leave --split {split} out")
    elif name.endswith(files.SUFFIXES):
        return files.read(name, geometry)
    elif ":" in name:
        attribute = plugins.load_attribute(name)
        found = attribute() if callable(attribute) else attribute
    else:
        raise ValueError(
            f"no puzzles {name!r}: use {', '.join(banks.NAMES)}, a file that ends in "
            f"{', '.join(files.SUFFIXES)}, or the module:attribute of a PuzzleSet"
        )
    if not isinstance(found, PuzzleSet):
        raise ValueError(f"{name!r} is a {type(found).__name__}, no PuzzleSet")
    if geometry is not None and found.geometry != geometry:
        raise ValueError(
            f"{name!r} holds {found.geometry.name} boards, not {geometry.name}: leave --board out"
        )
    return found


def environment(
    puzzle: str, board_name: str, split: Split | None, blanks: str, *, erase: bool
) -> tuple[SudokuEnv, dict[str, NDArray[np.int8]]]:
    """Make the environment to watch or play a puzzle in, and the options of its reset.

    The arguments are those of `read_puzzles`, `geometry_named`, `parse_blanks` and `SudokuEnv`.
    """
    geometry = geometry_named(board_name)
    if puzzle not in banks.NAMES and not puzzle.endswith(files.SUFFIXES):
        if blanks:
            raise ValueError(f"a puzzle has its own blanks: leave --blanks {blanks} out")
        given = read_boards(puzzle, geometry)[0]
        source = EmptySource(geometry_for(len(given), geometry))
        return SudokuEnv(source, erase=erase, max_steps=_NO_LIMIT), {"puzzle": given}
    env = SudokuEnv(
        BankSource(read_puzzles(puzzle, split, geometry)),
        blanks=parse_blanks(blanks),
        augment=False,
        erase=erase,
        max_steps=_NO_LIMIT,
    )
    return env, {}


def parse_blanks(text: str) -> Blanks:
    """Read a number of blanks, `40`, or a range with both ends, `30-40`; nothing means None."""
    if not text:
        return None
    low, dash, high = text.partition("-")
    try:
        return (int(low), int(high)) if dash else int(low)
    except ValueError:
        raise ValueError(f"blanks {text!r}: write a number such as 40, or a range, 30-40") from None


def geometry_named(name: str) -> Geometry | None:
    """Return `banks.named_geometry`; None for an empty name."""
    return banks.named_geometry(name) if name else None


def _parse_text(text: str, where: str, geometry: Geometry | None) -> NDArray[np.int8]:
    try:
        return board.parse_many(text.splitlines(), geometry)
    except ValueError as error:
        with suppress(ValueError):
            found = board.parse(text, geometry)
            if _is_row_by_row(text, len(found), geometry):
                return found[None]
        raise ValueError(f"{where}: {error}") from None


def _is_row_by_row(text: str, size: int, geometry: Geometry | None) -> bool:
    """Whether a text's lines are rows of a board, not boards of which one has a wrong symbol."""
    lines = [line for line in text.splitlines() if set(line) & set(board.SYMBOLS + "0")]
    boards = 0
    for line in lines:
        with suppress(ValueError):
            board.parse(line, geometry)
            boards += 1
    return len(lines) == size and 2 * boards < size
