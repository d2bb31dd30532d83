"""Seeds and options of `reset`, read and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import Blanks

_RESET_OPTIONS = ("puzzle", "blanks", "reset_mask")


@dataclass(frozen=True)
class ResetOptions:
    """The checked options of `reset(options=...)`."""

    chosen: NDArray[np.bool_]  # [B], the boards to reset
    puzzles: NDArray[np.int8] | None = None  # [B, N, N] to start from; None draws them
    blanks: Blanks | Literal["as set"] = "as set"  # for this reset only


def read_reset_options(
    options: Mapping[str, Any] | None, count: int, geometry: Geometry
) -> ResetOptions:
    """Check the options of a reset of `count` boards.

    A ValueError says if there is no such option or its value does not fit.
    """
    options = options or {}
    for name in options:
        if name not in _RESET_OPTIONS:
            raise ValueError(
                f"reset has no option {name!r}: use {', '.join(map(repr, _RESET_OPTIONS))}"
            )
    puzzle, blanks = options.get("puzzle"), options.get("blanks", "as set")
    if puzzle is not None and "blanks" in options:
        raise ValueError("reset options 'puzzle' and 'blanks': a puzzle has its own blanks")
    return ResetOptions(
        _read_reset_mask(options.get("reset_mask"), count),
        None if puzzle is None else _read_puzzles(puzzle, count, geometry),
        blanks,
    )


def read_seeds(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    """Return one seed per board: `seed + i`, or `seed[i]`; None keeps a board's random stream.

    A ValueError says if there are more or fewer seeds than boards.
    """
    if seed is None:
        return [None] * count
    if isinstance(seed, (int, np.integer)):
        return [int(seed) + i for i in range(count)]
    if len(seed) != count:
        raise ValueError(
            f"seed holds {len(seed)} seeds for {count} boards: give one for all, or one each"
        )
    return list(seed)


def _read_reset_mask(mask: object, count: int) -> NDArray[np.bool_]:
    if mask is None:
        return np.ones(count, np.bool_)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (count,):
        actual = (mask.dtype, mask.shape) if isinstance(mask, np.ndarray) else type(mask).__name__
        raise ValueError(
            f"reset option 'reset_mask' must be a bool array of shape ({count},), not {actual}"
        )
    if not mask.any():
        raise ValueError("reset option 'reset_mask' chooses no board: leave out the reset")
    return mask.copy()


def _read_puzzles(puzzle: Any, count: int, geometry: Geometry) -> NDArray[np.int8]:
    """Return int8 `[count, N, N]` from a text, one board or a batch, after checking the rules."""
    if isinstance(puzzle, str):
        boards = board.parse(puzzle, geometry)[None]
    elif isinstance(puzzle, (list, tuple)) and puzzle and isinstance(puzzle[0], str):
        boards = board.parse_many(puzzle, geometry)
    else:
        array = np.asarray(puzzle)
        boards = board.as_boards(array[None] if array.ndim == 2 else array, geometry)
    if len(boards) not in (1, count):
        raise ValueError(
            f"reset option 'puzzle' holds {len(boards)} boards for {count} environments: "
            "give one for all, or one each"
        )
    board.check_puzzles(boards, geometry)
    return np.broadcast_to(boards, (count, *boards.shape[1:]))
