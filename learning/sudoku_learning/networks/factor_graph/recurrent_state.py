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


def zero_states(graph: FactorGraph | None, width: int) -> RecurrentState:
    """Return room for the states of all boards of a graph; None: of no board."""
    counts = (0, 0, 0)
    if graph is not None:
        counts = len(graph.positions), len(graph.edge_variable), len(graph.list_ptr) // 4
    return RecurrentState(*(np.zeros((count, width), np.float32) for count in counts))


def join_states(
    states: Sequence[RecurrentState | None] | None, graph: FactorGraph, channels: int, width: int
) -> InitialStates:
    """Put the states of single boards together, in rows of `width`; None stands for a new board.

    Raises:
        ValueError: if there is not one for each board, or one belongs to another board or mask.
    """
    if states is None:
        return InitialStates(np.empty(0, np.bool_), zero_states(None, width))
    joined = zero_states(graph, width)
    for number, (state, target) in enumerate(zip(states, split_states(joined, graph), strict=True)):
        if state is None:
            continue
        for array, part in zip(state, target, strict=True):
            if array.shape != (len(part), channels):
                raise ValueError(
                    f"the recurrent state of board {number} is of another board, mask or network"
                )
            part[:, :channels] = array
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
def copy_state(states, span, trace, x_width, width, is_loaded):
    """Copy a board's states and messages into a `forward.Trace`, or from there; see `join_states`.

    The arrays of `states` are flat; those of the trace have rows that may hold more.
    """
    variable, end_variable, _, _, edge, end_edge, intersection, end_intersection = span
    for flat, rows, row_width, first, end in (
        (states[0], trace.x[0], x_width, variable, end_variable),
        (states[1], trace.to_variable[0], width, edge, end_edge),
        (states[2], trace.intersection_x[0], 3 * width, intersection, end_intersection),
    ):
        for row in range(first, end):
            for j in range(0, width, LANES):
                at, there = row * width + j, (row - first) * row_width + j
                if is_loaded:
                    store(rows, there, load(flat, at))
                else:
                    store(flat, at, load(rows, there))
