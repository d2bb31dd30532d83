"""The complete state of an environment, and the checks that it passes before it is taken over."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.envs import episodes
from sudoku_gym.geometry import Geometry
from sudoku_gym.kernels import layout

_ARRAYS = ("rows", "candidates", "counts", "streams")


@dataclass(frozen=True)
class EnvState:
    """A copy of the complete state of an environment."""

    rows: NDArray[np.int8]  # [B, W], see `sudoku_gym.kernels.layout`
    candidates: NDArray[np.uint64]  # [B, K], see `sudoku_gym.kernels.layout`
    counts: NDArray[np.int64]  # [B, NUM_EPISODE_COUNTS], see `sudoku_gym.envs.episodes`
    streams: NDArray[np.uint64]  # [B, 2], see `sudoku_gym.compiler.random_stream`
    generators: tuple[dict[str, Any], ...]  # states; () if puzzles are drawn compiled


def check_state(state: EnvState, current: EnvState, geometry: Geometry) -> None:
    """Check a state before an environment in the state `current` takes it over.

    What follows from the boards is not compared, since it is computed anew.

    Raises:
        TypeError: if it is no EnvState.
        ValueError: if it is of other boards, or an array holds what no environment writes.
    """
    if not isinstance(state, EnvState):
        raise TypeError(f"set_state takes what get_state returned, not a {type(state).__name__}")
    for name in _ARRAYS:
        found, own = getattr(state, name), getattr(current, name)
        if not isinstance(found, np.ndarray) or (found.dtype, found.shape) != (
            own.dtype,
            own.shape,
        ):
            raise ValueError(
                f"the state is of boards with other {name} ({_form(found)}, this environment's are "
                f"{_form(own)}): use one with the same number of boards, board, `actions` and "
                "`erase`"
            )
    if len(state.generators) not in (0, len(state.rows)):
        raise ValueError(
            f"the state has {len(state.generators)} generators for {len(state.rows)} boards"
        )
    _check_boards(state, geometry)
    _check_counts(state.counts, geometry.num_cells)


def check_generator(generator: np.random.Generator, saved: object) -> None:
    """Raise a ValueError unless `saved` is a state that the generator can be set to."""
    trial = deepcopy(generator.bit_generator)
    try:
        trial.state = saved  # type: ignore[assignment]
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise ValueError(f"the state of a generator does not fit ({error!r})") from None


def _check_boards(state: EnvState, geometry: Geometry) -> None:
    cells, size = geometry.num_cells, geometry.size
    boards, _ = board.flat_boards(state.rows[:, :cells].reshape(-1, size, size), geometry)
    givens = state.rows[:, cells : 2 * cells]
    wrong = (givens != 0) & ((givens != 1) | (boards == 0))
    if wrong.any():
        index, cell = np.argwhere(wrong)[0].tolist()
        raise ValueError(
            f"board {index}, {board.cell_name(cell, size)}: {givens[index, cell]} as the mark of a "
            "given; it is 1 for a given, which has a digit, and 0 else"
        )
    may_clash = state.rows.shape[1] > layout.sizes_of(geometry).seen_at
    if not may_clash:
        for index in np.flatnonzero(
            board.conflicts(boards.reshape(-1, size, size), geometry).any((1, 2))
        )[:1]:
            try:
                board.check_puzzle(boards[index].reshape(size, size), geometry)
            except ValueError as error:
                raise ValueError(f"board {index} of the state: {error}") from None


def _check_counts(counts: NDArray[np.int64], num_cells: int) -> None:
    phases = (episodes.RUNNING, episodes.TERMINATED, episodes.TRUNCATED, episodes.UNUSED)
    unused = counts[:, episodes.PHASE] == episodes.UNUSED
    for name, column, low, high in (
        ("blanks at the start", episodes.START_BLANKS, 0, num_cells),
        ("steps done", episodes.STEPS_DONE, 0, 2**62),
        ("last cell", episodes.LAST_CELL, -1, num_cells - 1),
    ):
        wrong = ~unused & ((counts[:, column] < low) | (counts[:, column] > high))
        for index in np.flatnonzero(wrong)[:1]:
            raise ValueError(
                f"board {index} of the state: {name} {counts[index, column]}; it is {low} to {high}"
            )
    for index in np.flatnonzero(~np.isin(counts[:, episodes.PHASE], phases))[:1]:
        raise ValueError(
            f"board {index} of the state: {counts[index, episodes.PHASE]} is no phase of an episode"
        )


def _form(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {list(value.shape)}"
    return f"a {type(value).__name__}"
