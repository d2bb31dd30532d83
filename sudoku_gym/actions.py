"""Random legal actions for a whole batch at once."""

# mypy: disable-error-code="no-untyped-def,call-arg"

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sudoku_gym.kernels import borrowed
from sudoku_gym.stream import new_stream, next_below

_BLOCK, _PART = 64, 8


def sample_actions(
    masks: NDArray[np.int8] | NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw an action for each board, uniformly from its legal ones.

    Args:
        masks: int8 or bool `[B, A]`, 1 = legal; `info["action_mask"]` of a vector environment.
        rng: the generator that decides; one draw is taken from it.

    Returns:
        int64 `[B]`; 0 where nothing is legal.

    Raises:
        ValueError: if the masks are of another shape.
        TypeError: if they are neither int8 nor bool.
    """
    if masks.ndim != 2:
        raise ValueError(f"masks must be [B, A], not {list(masks.shape)} (one mask: mask[None])")
    if masks.dtype not in (np.dtype(np.int8), np.dtype(np.bool_)):
        raise TypeError(f"masks must be int8 or bool, not {masks.dtype}")
    actions = np.zeros(len(masks), np.int64)
    counts = np.zeros(-(-masks.shape[1] // _BLOCK), np.int64)
    _sample(np.ascontiguousarray(masks).view(np.int8), new_stream(rng), counts, actions)
    return actions


@njit(cache=True)
def _sample(masks, stream, counts, actions):
    """Draw by counting the legal actions of each block of 64, then of one block's parts."""
    masks, stream, counts = borrowed(masks), borrowed(stream), borrowed(counts)
    for b in range(len(masks)):
        total = 0
        for block in range(len(counts)):
            counts[block] = _count(masks, b, block * _BLOCK)
            total += counts[block]
        if total == 0:
            continue
        left = next_below(stream, total)
        block = 0
        while left >= counts[block]:
            left -= counts[block]
            block += 1
        start = block * _BLOCK
        while start + _PART <= masks.shape[1]:
            legal = _count_part(masks, b, start)
            if left < legal:
                break
            left -= legal
            start += _PART
        action = start - 1
        while left >= 0:
            action += 1
            left -= masks[b, action] != 0
        actions[b] = action


@njit(cache=True, inline="always")
def _count(masks, b, start):
    """Count the legal actions of one block; whole blocks have a loop of fixed length."""
    row, first, legal = np.uint64(b), np.uint64(start), np.int8(0)
    if start + _BLOCK <= masks.shape[1]:
        for i in range(np.uint64(_BLOCK)):
            legal += masks[row, first + i] != 0
    else:
        for i in range(first, np.uint64(masks.shape[1])):
            legal += masks[row, i] != 0
    return np.int64(legal)


@njit(cache=True, inline="always")
def _count_part(masks, b, start):
    """Count the legal actions of an eighth of a block."""
    row, first, legal = np.uint64(b), np.uint64(start), np.int8(0)
    for i in range(np.uint64(_PART)):
        legal += masks[row, first + i] != 0
    return np.int64(legal)
