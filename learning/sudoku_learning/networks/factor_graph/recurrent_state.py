"""Memory: where the rounds of boards stopped, so that they can go on from there.

A recurrent network can think about a board for as long as it takes. Training needs no gradient
through all of it: some rounds at a time are trained, each time from where the last ones stopped
(truncated backpropagation through time).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_learning.networks.factor_graph.graph import FactorGraph
from sudoku_learning.networks.factor_graph.vectors import LANES, inner, load, store

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,var-annotated"


class RecurrentState(NamedTuple):
    """What the rounds of one board, or of B boards in the order of their graph, left behind.

    It fits the board and the mask that it was made with, and no others.

    Attributes:
        states: float32 `[P, H]`, of the placements.
        replies: float32 `[S, H]`, on the seats.
        views: float32 `[Q, H]`, of the intersections.
    """

    states: NDArray[np.float32]
    replies: NDArray[np.float32]
    views: NDArray[np.float32]


class Beginning(NamedTuple):
    """Where rounds begin.

    Attributes:
        is_fresh: bool `[B]`, the boards that begin with the learned first states; none of them is
            to be looked up in `memory`. Empty if that goes for all.
        memory: where the others stopped; whatever it holds of fresh ones is not read.
    """

    is_fresh: NDArray[np.bool_]
    memory: RecurrentState


def empty(graph: FactorGraph, channels: int) -> RecurrentState:
    """Return room for the memory of all boards of a graph, not filled in."""
    counts = len(graph.positions), len(graph.occupants), len(graph.first_part) // 4
    return RecurrentState(*(np.empty((count, channels), np.float32) for count in counts))


def nothing(channels: int) -> RecurrentState:
    """Return the memory of no board."""
    return RecurrentState(*(np.empty((0, channels), np.float32) for _ in range(3)))


def join(
    parts: Sequence[RecurrentState | None] | None, graph: FactorGraph, channels: int
) -> Beginning:
    """Put the memories of single boards together; None stands for a board that begins anew.

    Raises:
        ValueError: if there is not one for each board, or one belongs to another board or mask.
    """
    if parts is None:
        return Beginning(np.empty(0, np.bool_), nothing(channels))
    if len(parts) != len(graph.first_placement) - 1:
        raise ValueError(
            f"{len(parts)} memories for {len(graph.first_placement) - 1} boards: give one for "
            "each, None for those that begin anew"
        )
    whole = empty(graph, channels)
    for number, (part, room) in enumerate(zip(parts, split(whole, graph), strict=True)):
        if part is None:
            continue
        for array, place in zip(part, room, strict=True):
            if array.shape != place.shape:
                raise ValueError(
                    f"the memory of board {number} is of another board, mask or network: its "
                    f"shapes are {[a.shape for a in part]}, not {[a.shape for a in room]}"
                )
            place[:] = array
    return Beginning(np.array([part is None for part in parts]), whole)


def split(memory: RecurrentState, graph: FactorGraph) -> list[RecurrentState]:
    """Return the memory of each board; they are views of the whole."""
    firsts = first_rows(graph)
    return [
        RecurrentState(
            *(
                array[first[board] : first[board + 1]]
                for array, first in zip(memory, firsts, strict=True)
            )
        )
        for board in range(len(graph.first_placement) - 1)
    ]


def first_rows(graph: FactorGraph) -> tuple[NDArray[np.integer], ...]:
    """Return where the placements, seats and intersections of each board begin, `[B + 1]` each."""
    first_seat = graph.first_seat[graph.first_constraint]
    return graph.first_placement, first_seat, graph.first_intersection


@inner
def recall(beginning, board, span, x, x_width, replies, views, width):
    """Overwrite the first states and replies of a board that goes on.

    `beginning` and `memory` are tuples of flat arrays, of `Beginning` and of `Memory`; the others
    are a step of a `forward.Trace`.
    """
    is_fresh, (old_states, old_replies, old_views) = beginning
    if len(is_fresh) and not is_fresh[board]:
        first, count = span.placement, span.last_placement - span.placement
        _copy(old_states, first, width, x, 0, x_width, count, width)
        first, count = span.seat, span.last_seat - span.seat
        _copy(old_replies, first, width, replies, 0, width, count, width)
        first, count = span.intersection, span.last_intersection - span.intersection
        _copy(old_views, first, width, views, 0, 3 * width, count, width)


@inner
def remember(memory, span, x, x_width, replies, views, width):
    """Write where the rounds of a board stopped."""
    states, kept_replies, kept_views = memory
    first, count = span.placement, span.last_placement - span.placement
    _copy(x, 0, x_width, states, first, width, count, width)
    first, count = span.seat, span.last_seat - span.seat
    _copy(replies, 0, width, kept_replies, first, width, count, width)
    first, count = span.intersection, span.last_intersection - span.intersection
    _copy(views, 0, 3 * width, kept_views, first, width, count, width)


@inner
def _copy(source, source_row, source_width, target, target_row, target_width, num_rows, width):
    """Copy the first part of rows, `width` wide."""
    for row in range(num_rows):
        at = (target_row + row) * target_width
        source_at = (source_row + row) * source_width
        for j in range(0, width, LANES):
            store(target, at + j, load(source, source_at + j))
