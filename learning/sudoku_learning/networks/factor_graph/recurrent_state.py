"""Recurrent states: what the rounds of boards leave behind, from which later rounds go on.

Training takes gradients through one segment of rounds at a time, each from the state in which the
one before it stopped (truncated backpropagation through time).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_learning.networks.factor_graph.graph import FactorGraph
from sudoku_learning.networks.factor_graph.vectors import LANES, inner, load, store

# mypy: disable-error-code="no-untyped-def,call-arg"


class RecurrentState(NamedTuple):
    """The state of one board, or of the B boards of a graph; it fits that board and mask only."""

    variables: NDArray[np.float32]  # [V, H], their states
    to_variable: NDArray[np.float32]  # [E, H], the logs of the last messages from factors
    intersections: NDArray[np.float32]  # [Q, H], their states


def add_noise(state: RecurrentState, noise: float, rng: np.random.Generator) -> RecurrentState:
    """Return a board's state plus Gaussian noise.

    Its standard deviation is `noise` times that of the numbers of each array of the state.
    """
    return RecurrentState(*(_with_noise(array, noise, rng) for array in state))


def _with_noise(
    array: NDArray[np.float32], noise: float, rng: np.random.Generator
) -> NDArray[np.float32]:
    if not array.size:
        return array
    drawn = rng.standard_normal(array.shape, np.float32)
    return array + np.float32(noise) * array.std() * drawn


class InitialStates(NamedTuple):
    """The states that rounds begin with."""

    is_new: NDArray[np.bool_]  # [B], boards that begin with the learned first states; empty: all do
    states: RecurrentState  # of the other boards; what it holds of new ones is not read


def empty_states(graph: FactorGraph | None, channels: int) -> RecurrentState:
    """Return room for the states of all boards of a graph, not filled in; None: of no board."""
    counts = (0, 0, 0)
    if graph is not None:
        counts = len(graph.positions), len(graph.edge_variable), len(graph.list_ptr) // 4
    return RecurrentState(*(np.empty((count, channels), np.float32) for count in counts))


def join_states(
    states: Sequence[RecurrentState | None] | None, graph: FactorGraph, channels: int
) -> InitialStates:
    """Put the states of single boards together; None stands for a new board.

    Raises:
        ValueError: if there is not one for each board, or one belongs to another board or mask.
    """
    if states is None:
        return InitialStates(np.empty(0, np.bool_), empty_states(None, channels))
    joined = empty_states(graph, channels)
    for number, (state, target) in enumerate(zip(states, split_states(joined, graph), strict=True)):
        if state is None:
            continue
        for array, part in zip(state, target, strict=True):
            if array.shape != part.shape:
                raise ValueError(
                    f"the recurrent state of board {number} is of another board, mask or network"
                )
            part[:] = array
    return InitialStates(np.array([state is None for state in states]), joined)


def split_states(states: RecurrentState, graph: FactorGraph) -> list[RecurrentState]:
    """Return the state of each board; they are views of the whole."""
    pairs = list(zip(states, state_ptrs(graph), strict=True))
    return [
        RecurrentState(*(array[ptr[b] : ptr[b + 1]] for array, ptr in pairs))
        for b in range(len(graph.board_variable_ptr) - 1)
    ]


def state_ptrs(graph: FactorGraph) -> tuple[NDArray[np.integer], ...]:
    """Return where the rows of each board begin in the arrays of the states, `[B + 1]` each."""
    board_edge_ptr = graph.factor_ptr[graph.board_factor_ptr]
    return graph.board_variable_ptr, board_edge_ptr, graph.board_intersection_ptr


@inner
def load_state(initial, board, span, trace, x_width, width):
    """Overwrite the first states and messages of a `forward.Trace` by those of an older board."""
    is_new, (variables, to_variable, intersections) = initial
    if len(is_new) and not is_new[board]:
        first, count = span.first_variable, span.end_variable - span.first_variable
        _copy_rows(variables[first * width :], width, trace.x[0], x_width, count, width)
        first, count = span.first_edge, span.end_edge - span.first_edge
        _copy_rows(to_variable[first * width :], width, trace.to_variable[0], width, count, width)
        first, count = span.first_intersection, span.end_intersection - span.first_intersection
        source, target = intersections[first * width :], trace.intersection_x[0]
        _copy_rows(source, width, target, 3 * width, count, width)


@inner
def store_state(states, span, trace, x_width, width):
    """Write the states and messages after the last round of a board."""
    variables, to_variable, intersections = states
    first, count = span.first_variable, span.end_variable - span.first_variable
    _copy_rows(trace.x[0], x_width, variables[first * width :], width, count, width)
    first, count = span.first_edge, span.end_edge - span.first_edge
    _copy_rows(trace.to_variable[0], width, to_variable[first * width :], width, count, width)
    first, count = span.first_intersection, span.end_intersection - span.first_intersection
    source, target = trace.intersection_x[0], intersections[first * width :]
    _copy_rows(source, 3 * width, target, width, count, width)


@inner
def _copy_rows(source, source_width, target, target_width, num_rows, width):
    """Copy the first `width` numbers of each row."""
    for row in range(num_rows):
        for j in range(0, width, LANES):
            store(target, row * target_width + j, load(source, row * source_width + j))
