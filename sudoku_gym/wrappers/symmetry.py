"""Symmetry augmentation: the agent sees every board under a random symmetry.

The environment's own `augment` moves a puzzle once as it is drawn; these wrappers move any board,
also one given at reset, anew at every episode or step, and map the agent's actions back.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import njit
from sudoku_gym.compiler.random_stream import new_stream
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.symmetry import draw_symmetry, group_of
from sudoku_gym.wrappers.base import Spaces, SudokuVectorTransform, SudokuWrapper, Transform, Which

Period = Literal["episode", "step"]

_SALT = 0x51D0C0DE  # keeps these draws apart from the environment's own, which use the same seed


class _Symmetries(Transform):
    """The symmetries of B boards, each drawn from a random stream of its own."""

    maps_actions = True

    def set_up(
        self,
        count: int,
        observations: gym.Space[Any],
        actions: gym.Space[Any],
        every: Period = "episode",
    ) -> Spaces:
        geometry: Geometry = self.find("geometry")
        self._size = size = geometry.size
        if (  # compiled code trusts the sizes
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
        if every not in ("episode", "step"):
            raise ValueError(f"every={every!r}: use 'episode' or 'step'")
        self._every_step = every == "step"
        self._group = group_of(geometry)
        lines = np.tile(np.arange(size, dtype=np.int32), (count, 1))
        digits = np.tile(np.arange(size + 1, dtype=np.int8), (count, 1))
        self._elements = lines, lines.copy(), np.zeros(count, np.bool_), digits
        self._streams: NDArray[np.uint64] | None = None
        return observations, actions

    def begin(self, chosen: NDArray[np.bool_], seeds: Sequence[int | None] = ()) -> None:
        is_first = self._streams is None
        if self._streams is None:
            self._streams = np.zeros((len(chosen), 2), np.uint64)
        for index, seed in enumerate(seeds):
            if seed is not None or is_first:
                entropy = None if seed is None else [seed, _SALT]
                self._streams[index] = new_stream(np.random.default_rng(entropy))
        _draw(self._streams, chosen, self._group, self._elements)

    def go_on(self, chosen: NDArray[np.bool_]) -> None:
        if self._every_step:
            _draw(self._streams, chosen, self._group, self._elements)

    def map_actions(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        mapped = actions.copy()
        _turn_back(mapped, *self._elements)  # leaves invalid numbers as they are
        return mapped

    def map_masks(self, masks: NDArray[np.int8], which: Which = slice(None)) -> NDArray[np.int8]:
        turned = np.empty(masks.shape, np.int8)
        elements = (each[which] for each in self._elements)
        _turn_masks(np.ascontiguousarray(masks), *elements, turned)
        return turned

    def show(self, observations: Any, masks: NDArray[np.int8], which: Which) -> tuple[Any, Any]:
        turned = np.empty((len(observations), self._size**2), np.int8)
        flat = np.ascontiguousarray(observations, np.int8).reshape(turned.shape)
        _turn_boards(flat, *(each[which] for each in self._elements), turned)
        shown = turned.astype(observations.dtype, copy=False).reshape(observations.shape)
        return shown, self.map_masks(masks, which)


class SymmetryAugmentation(_Symmetries, SudokuWrapper):
    """Shows the board under a random symmetry; actions and masks are mapped too.

    Args:
        env: an environment over `SudokuEnv` whose observation is a board, in any shape, and whose
            actions are its placements, with or without erasures.
        every: a new symmetry at each `"episode"`, or at each `"step"`.

    Raises:
        ValueError: if the word is unknown, or the observations or actions are others.
    """

    def __init__(self, env: gym.Env[NDArray[np.int8], np.int64], every: Period = "episode") -> None:
        super().__init__(env, every=every)


class VectorSymmetryAugmentation(_Symmetries, SudokuVectorTransform):
    """`SymmetryAugmentation` for a batch, each board under a symmetry of its own.

    Board i equals a single environment in `SymmetryAugmentation`, seeded with `seed + i`.
    Arguments and errors are those of `SymmetryAugmentation`, around a `SudokuVectorEnv`.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], every: Period = "episode") -> None:
        super().__init__(env, every=every)


@njit(cache=True)
def _draw(streams, chosen, group, elements):
    rows, columns, transpose, digits = elements
    for b in range(len(rows)):
        if chosen[b]:
            transpose[b] = draw_symmetry(streams[b], group, rows[b], columns[b], digits[b])


@njit(cache=True)
def _image(cell, b, rows, columns, transpose):
    size = rows.shape[1]
    row, column = rows[b, cell // size], columns[b, cell % size]
    return column * size + row if transpose[b] else row * size + column


@njit(cache=True)
def _turn_boards(boards, rows, columns, transpose, digits, turned):
    size = rows.shape[1]
    for b in range(len(boards)):
        for cell in range(size * size):
            turned[b, _image(cell, b, rows, columns, transpose)] = digits[b, boards[b, cell]]


@njit(cache=True)
def _turn_masks(masks, rows, columns, transpose, digits, turned):
    size = rows.shape[1]
    for b in range(len(masks)):
        for cell in range(size * size):
            image = _image(cell, b, rows, columns, transpose)
            for digit in range(size):
                other = digits[b, digit + 1] - 1
                turned[b, image * size + other] = masks[b, cell * size + digit]
            if masks.shape[1] > size**3:
                turned[b, size**3 + image] = masks[b, size**3 + cell]


@njit(cache=True)
def _turn_back(actions, rows, columns, transpose, digits):
    """Replace each action by its preimage under the symmetry."""
    size = rows.shape[1]
    for b in range(len(actions)):
        action = actions[b]
        if not 0 <= action < size**3 + size**2:
            continue
        erases = action >= size**3
        image = action - size**3 if erases else action // size
        row, column = image // size, image % size
        if transpose[b]:
            row, column = column, row
        cell, digit = 0, 0
        for i in range(size):
            if rows[b, i] == row:
                cell += i * size
            if columns[b, i] == column:
                cell += i
            if digits[b, i + 1] == action % size + 1:
                digit = i
        actions[b] = size**3 + cell if erases else cell * size + digit
