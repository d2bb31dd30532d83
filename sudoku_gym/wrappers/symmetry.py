"""Symmetry augmentation: the agent sees every board under a random symmetry.

The environment's own `augment` moves a puzzle once as it is drawn; these wrappers move any board,
also one given at reset, anew at every episode or step, and map the agent's actions back.
"""

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
from sudoku_gym.geometry.symmetry import draw_symmetry, group_of, identity
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
        if every not in ("episode", "step"):
            raise ValueError(f"every={every!r}: use 'episode' or 'step'")
        self._group, self._drawn = group_of(geometry), identity(geometry, count)
        self._below = self._drawn.actions.astype(
            np.int32
        )  # what each of the agent's actions is, [B, A]
        self._size, self._every_step = size, every == "step"
        self._streams = np.zeros((count, 2), np.uint64)
        return observations, actions

    def begin(
        self, chosen: NDArray[np.bool_], observations: Any, seeds: Sequence[int | None] = ()
    ) -> None:
        for index, seed in enumerate(seeds):
            if seed is not None or not self._streams[index].any():
                entropy = None if seed is None else [seed, _SALT]
                self._streams[index] = new_stream(np.random.default_rng(entropy))
        self._draw(chosen)

    def go_on(self, chosen: NDArray[np.bool_]) -> None:
        self._draw(chosen & self._every_step)

    def map_actions(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        known = actions.clip(0, self._below.shape[1] - 1)
        below = self._below[np.arange(len(actions)), known]
        return np.where(known == actions, below, actions)  # invalid ones stay as they are

    def map_masks(self, masks: NDArray[np.int8], which: Which = slice(None)) -> NDArray[np.int8]:
        return _take(masks, self._below[which, : masks.shape[1]])

    def show(self, observations: Any, masks: NDArray[np.int8], which: Which) -> tuple[Any, Any]:
        cells = self._below[which, self._size**3 :] - self._size**3  # those of erasures
        below = _take(observations.reshape(cells.shape), cells)
        shown = _take(self._drawn.digits[which], below)
        shown = shown.astype(observations.dtype, copy=False).reshape(observations.shape)
        return shown, self.map_masks(masks, which)

    def _draw(self, chosen: NDArray[np.bool_]) -> None:
        drawn = self._drawn
        if chosen.any():
            arrays = drawn.rows, drawn.columns, drawn.transpose, drawn.digits
            _draw(self._streams, chosen, self._group, *arrays, self._below)


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
def _draw(streams, chosen, group, rows, columns, transpose, digits, below):  # type: ignore[no-untyped-def]
    """Draw symmetries of the chosen boards, and write `Symmetry.inverse().actions` to `below`."""
    size = rows.shape[1]
    first_erasure = size**3
    for b in np.flatnonzero(chosen):
        transpose[b] = draw_symmetry(streams[b], group, rows[b], columns[b], digits[b])
        for cell in range(size * size):
            row, column = rows[b, cell // size], columns[b, cell % size]
            image = column * size + row if transpose[b] else row * size + column
            below[b, first_erasure + image] = first_erasure + cell
            for digit in range(size):
                below[b, image * size + digits[b, digit + 1] - 1] = cell * size + digit


@njit(cache=True)
def _take(values, index):  # type: ignore[no-untyped-def]
    """Do what `np.take_along_axis(values, index, 1)` does, several times as fast."""
    taken = np.empty(index.shape, values.dtype)
    for b in range(index.shape[0]):
        for i in range(index.shape[1]):
            taken[b, i] = values[b, index[b, i]]
    return taken
