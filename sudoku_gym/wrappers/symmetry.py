"""Symmetry augmentation: the agent sees every board under a random symmetry.

The environment's own `augment` moves a puzzle once as it is drawn; these wrappers move any board,
also one given at reset, anew at every episode, and map the agent's actions back.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import njit
from sudoku_gym.compiler.random_stream import new_stream
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.symmetry import draw_symmetry, group_of
from sudoku_gym.wrappers.base import Spaces, SudokuVectorTransform, SudokuWrapper, Transform, Which

_SALT = 0x51D0C0DE  # keeps these draws apart from the environment's own, which use the same seed


class _Symmetries(Transform):
    """The symmetries of B boards, each drawn from a random stream of its own."""

    maps_actions = True

    def set_up(self, count: int, observations: gym.Space[Any], actions: gym.Space[Any]) -> Spaces:
        geometry: Geometry = self.find("geometry")
        size = geometry.size
        if (
            not isinstance(observations, gym.spaces.Box)
            or not np.issubdtype(observations.dtype, np.integer)
            or np.prod(observations.shape) != size**2
        ):
            raise ValueError(
                f"a symmetry moves boards of {size} x {size} digits, not {observations}: put this "
                "wrapper below those that encode them"
            )
        counts = (size**3, size**3 + size**2)
        if not isinstance(actions, gym.spaces.Discrete) or actions.n not in counts:
            raise ValueError(f"a symmetry maps the {size**3} placements of a board, not {actions}")
        self._group, self._size = group_of(geometry), size
        self._cells = np.zeros((count, size**2), np.int64)  # what each of the agent's cells is
        self._digits = np.zeros((count, size), np.int64)  # and each digit, less 1
        self._images = np.zeros((count, size + 1), np.int8)  # the agent's name of each digit
        self._streams = np.zeros((count, 2), np.uint64)
        return observations, actions

    def begin(
        self, chosen: NDArray[np.bool_], observations: Any, seeds: Sequence[int | None] = ()
    ) -> None:
        for index, seed in enumerate(seeds):
            if seed is not None or not self._streams[index].any():
                entropy = None if seed is None else [seed, _SALT]
                self._streams[index] = new_stream(np.random.default_rng(entropy))
        if chosen.any():
            _draw(self._streams, chosen, self._group, self._cells, self._digits, self._images)

    def map_actions(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        size, erased = self._size, actions - self._size**3
        cells = np.where(erased < 0, actions // size, erased)
        known = (cells >= 0) & (cells < size**2)  # others are no actions, and stay as they are
        boards = np.arange(len(actions))
        below = self._cells[boards, np.where(known, cells, 0)]
        placements = below * size + self._digits[boards, actions % size]
        return np.where(known, np.where(erased < 0, placements, size**3 + below), actions)

    def map_masks(self, masks: NDArray[np.int8], which: Which = slice(None)) -> NDArray[np.int8]:
        return _move_masks(masks, self._cells[which], self._digits[which])

    def show(self, observations: Any, masks: NDArray[np.int8], which: Which) -> tuple[Any, Any]:
        cells = self._cells[which]
        shown = _move_boards(observations.reshape(cells.shape), cells, self._images[which])
        return shown.reshape(observations.shape), self.map_masks(masks, which)


class SymmetryAugmentation(_Symmetries, SudokuWrapper):
    """Shows each episode under a random symmetry; actions and masks are mapped too.

    Args:
        env: an environment over `SudokuEnv` whose observation is a board, in any shape, and whose
            actions are its placements, with or without erasures.

    Raises:
        ValueError: if the observations or actions are others.
    """


class VectorSymmetryAugmentation(_Symmetries, SudokuVectorTransform):
    """`SymmetryAugmentation` for a batch, each board under a symmetry of its own.

    Board i equals a single environment in `SymmetryAugmentation`, seeded with `seed + i`.
    Arguments and errors are those of `SymmetryAugmentation`, around a `SudokuVectorEnv`.
    """


@njit(cache=True)
def _draw(streams, chosen, group, cells, digits, images):
    """Draw symmetries of the chosen boards: images of the digits, origins of cells and digits."""
    size = digits.shape[1]
    rows, columns = np.empty(size, np.int32), np.empty(size, np.int32)
    for b in np.flatnonzero(chosen):
        transpose = draw_symmetry(streams[b], group, rows, columns, images[b])
        row_step, column_step = (1, size) if transpose else (size, 1)
        for cell in range(size * size):
            image = rows[cell // size] * row_step + columns[cell % size] * column_step
            cells[b, image] = cell
        for digit in range(size):
            digits[b, images[b, digit + 1] - 1] = digit


@njit(cache=True)
def _move_boards(boards, cells, images):
    moved = np.empty(boards.shape, boards.dtype)
    for b in range(len(boards)):
        for cell in range(cells.shape[1]):
            moved[b, cell] = images[b, boards[b, cells[b, cell]]]
    return moved


@njit(cache=True)
def _move_masks(masks, cells, digits):
    moved = np.empty(masks.shape, masks.dtype)
    size = digits.shape[1]
    for b in range(len(masks)):
        for cell in range(cells.shape[1]):
            start = cells[b, cell] * size
            for digit in range(size):
                moved[b, cell * size + digit] = masks[b, start + digits[b, digit]]
            if masks.shape[1] > size**3:
                moved[b, size**3 + cell] = masks[b, size**3 + cells[b, cell]]
    return moved
