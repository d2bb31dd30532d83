"""Actions of whole batches: which placements are legal, and random draws among them."""

# mypy: disable-error-code="no-untyped-def,call-arg"

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from sudoku_gym.board import candidates
from sudoku_gym.compiler.intrinsics import borrowed, nonzero_bits, popcount
from sudoku_gym.compiler.jit import njit
from sudoku_gym.compiler.random_stream import new_stream, next_below
from sudoku_gym.geometry import Geometry, geometry_for

Actions = Literal["legal", "blank"]
"""Whether candidates alone may be placed, or any digit into any blank cell."""


def legal_placements(
    boards: NDArray[np.int8], geometry: Geometry, actions: Actions
) -> NDArray[np.bool_]:
    """Return which placements an environment with such `actions` allows: bool `[B, N**3]`."""
    if actions == "blank":
        return np.repeat(boards.reshape(len(boards), -1) == 0, geometry.size, axis=1)
    return candidates(boards, geometry).reshape(len(boards), -1)


def geometry_of_actions(action_space: spaces.Space[Any], geometry: Geometry | None) -> Geometry:
    """Return the geometry of an environment's placements; None takes the standard boxes."""
    if not isinstance(action_space, spaces.Discrete):
        raise ValueError(f"a board's actions are Discrete, not {action_space}")
    count = int(action_space.n)
    size = round(count ** (1 / 3))
    if size**3 != count or (geometry is not None and geometry.size != size):
        wanted = "N**3" if geometry is None else f"{geometry.size}**3"
        raise ValueError(
            f"{count} actions: need {wanted}, the placements of a board (no erase=True)"
        )
    return geometry_for(size, geometry)


def as_actions(actions: ArrayLike, count: int) -> NDArray[np.int64]:
    """Return actions as a new array, int64 `[count]`; ValueError unless they are integers."""
    array = np.asarray(actions)
    if array.shape != (count,) or array.dtype.kind not in "iu":
        raise ValueError(
            f"actions must be integers of shape ({count},), not {array.dtype} of shape "
            f"{array.shape}"
        )
    return np.array(array, np.int64)


def sample_actions(
    masks: NDArray[np.int8] | NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw an action for each board, uniformly from its legal ones: int64 `[B]`, 0 if none is.

    Args:
        masks: int8 or bool `[B, A]`, 1 = legal; `info["action_mask"]` of a vector environment.
        rng: one draw is taken from it.

    Raises:
        ValueError: if the masks are of another shape.
        TypeError: if they are neither int8 nor bool.
    """
    given = np.asarray(masks)
    if given.ndim != 2:
        raise ValueError(f"masks must be [B, A], not {list(given.shape)} (one mask: mask[None])")
    if given.dtype not in (np.dtype(np.int8), np.dtype(np.bool_)):
        raise TypeError(f"masks must be int8 or bool, not {given.dtype}")
    actions = np.zeros(len(given), np.int64)
    _sample(np.ascontiguousarray(given).view(np.int8), new_stream(rng), actions)
    return actions


@njit(cache=True)
def _sample(masks, stream, actions):
    """Draw one of the legal actions of each row; leave the actions of rows that have none."""
    masks, stream = borrowed(masks), borrowed(stream)
    whole, rest = divmod(masks.shape[1], 64)
    legal = np.zeros(whole + (rest > 0), np.uint64)  # one bit an action
    ends = np.zeros(len(legal), np.int64)  # how many are legal up to the end of each word
    for b in range(len(masks)):
        total = 0
        for k in range(np.uint64(whole)):
            legal[k] = nonzero_bits(masks, b, k * np.uint64(64))
            total += _count(legal[k])
            ends[k] = total
        if rest > 0:
            legal[whole] = _last_bits(masks, b, rest)
            total += _count(legal[whole])
            ends[whole] = total
        if total == 0:
            continue
        drawn = next_below(stream, total)
        k = 0
        while ends[k] <= drawn:
            k += 1
        below = drawn - ends[k] + _count(legal[k])
        actions[b] = 64 * k + _nth_bit(legal[k], below)


@njit(cache=True, inline="always")
def _count(word):
    """Count the set bits, as an int64: to compare signed with unsigned takes longer."""
    return np.int64(popcount(word))


@njit(cache=True, inline="always")
def _last_bits(masks, b, rest):
    """Return which of the last bytes of a row, fewer than 64, are not 0."""
    length = masks.shape[1]
    if length >= 64:
        return nonzero_bits(masks, b, length - 64) >> np.uint64(64 - rest)
    bits = np.uint64(0)
    for i in range(length):
        bits |= np.uint64(masks[b, i] != 0) << np.uint64(i)
    return bits


@njit(cache=True, inline="always")
def _nth_bit(word, n):
    """Return the place of a set bit, of which there are n below it: halve the word six times."""
    place, width = 0, 32
    for _ in range(6):
        lower = _count(word & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)))
        in_upper = n >= lower
        n -= lower if in_upper else 0
        skipped = width if in_upper else 0
        word >>= np.uint64(skipped)
        place += skipped
        width >>= 1
    return place
