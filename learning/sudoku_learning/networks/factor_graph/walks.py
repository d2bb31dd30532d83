"""Closed walks: features of placements that break ties which message passing can't.

For each placement p: the log of the mean probability that a random walk of 4, 6, ..., L steps on
the board without p returns to where it began, and the difference of it from the board's mean.
docs/networks.md has the reason and the formula.

Source: Dwivedi et al., "Graph neural networks with learnable structural and positional
representations" (2022).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import njit
from sudoku_learning.networks.factor_graph.vectors import (
    LANES,
    inner,
    load,
    multiply_add,
    spread,
    spread_from,
    store,
)

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

_EPSILON = 1e-3
_SCALE = 0.5
_DIFFERENCE_SCALE = 4.0
_BLOCK = 2 * LANES  # columns multiplied at a time


class _Board(NamedTuple):
    """A board's part of the graph: its first variable, and edges of its factors."""

    first_variable: int
    first_factor: int
    end_factor: int
    edge_variable: NDArray[np.int32]
    factor_ptr: NDArray[np.int32]


@njit(cache=True, nogil=True)
def walk_features(
    variable_edges, edge_variable, factor_ptr, board_variable_ptr, board_factor_ptr, longest
):
    """Return the features of each variable: float32 `[V, longest - 2]`, `[V, 0]` without walks.

    The first half is 0.5 log(mean return probability + 0.001) for 4, 6, ..., `longest` steps,
    where the probability is 1 if nothing is left to walk on; the second half is 4 times the
    differences of the logs from the board's mean. The other arguments are those of `FactorGraph`.
    """
    lengths = max(longest - 2, 0) // 2
    features = np.zeros((len(variable_edges), 2 * lengths), np.float32)
    if lengths == 0 or len(variable_edges) == 0:
        return features
    most, degree = np.diff(board_variable_ptr).max(), variable_edges.shape[1]
    now, then = np.empty((2, most * _padded(most)), np.float32)
    steps = np.empty(most * most, np.int64), np.empty(most * most, np.float32)
    index, members, ends = np.empty((3, most), np.int64)
    lanes = np.empty(LANES, np.float32)
    for b in range(len(board_variable_ptr) - 1):
        first, end = board_variable_ptr[b], board_variable_ptr[b + 1]
        board = _Board(
            first, board_factor_ptr[b], board_factor_ptr[b + 1], edge_variable, factor_ptr
        )
        for v in range(first, end):
            count = _number_remaining(v, end, board, index)
            width = _padded(count)
            now[: count * width] = 0.0
            _add_transitions(now, width, degree, board, index, members)
            _list_steps(now, count, width, steps, ends)
            for j in range(lengths):
                _multiply(steps, ends, count, width, now, then)
                now, then = then, now
                probability = _sum_of_squares(now, count * width, lanes) / count if count else 1.0
                features[v, j] = np.log(probability + _EPSILON)
        for j in range(lengths if end > first else 0):
            mean = features[first:end, j].mean()
            for v in range(first, end):
                features[v, lengths + j] = _DIFFERENCE_SCALE * (features[v, j] - mean)
                features[v, j] *= _SCALE
    return features


@inner
def _padded(count):
    """Return the columns of a matrix of `count`: whole blocks."""
    return (count + _BLOCK - 1) // _BLOCK * _BLOCK


@inner
def _number_remaining(v, end, board, index):
    """Number the variables that share no factor with v; write -1 to `index` for the others."""
    first, edge_variable, factor_ptr = board.first_variable, board.edge_variable, board.factor_ptr
    index[: end - first] = 0
    index[v - first] = -1
    for f in range(board.first_factor, board.end_factor):
        is_neighbour = False
        for e in range(factor_ptr[f], factor_ptr[f + 1]):
            is_neighbour |= edge_variable[e] == v
        if is_neighbour:
            for e in range(factor_ptr[f], factor_ptr[f + 1]):
                index[edge_variable[e] - first] = -1
    count = 0
    for other in range(end - first):
        if index[other] == 0:
            index[other] = count
            count += 1
    return count


@inner
def _add_transitions(matrix, width, degree, board, index, members):
    """Add the probabilities of a step from each remaining variable to each other."""
    first, edge_variable, factor_ptr = board.first_variable, board.edge_variable, board.factor_ptr
    for f in range(board.first_factor, board.end_factor):
        size = 0
        for e in range(factor_ptr[f], factor_ptr[f + 1]):
            if index[edge_variable[e] - first] >= 0:
                members[size] = index[edge_variable[e] - first]
                size += 1
        probability = np.float32(1.0) / np.float32(max(size - 1, 1) * degree)
        for i in range(1, size):
            for j in range(i):
                matrix[members[i] * width + members[j]] += probability
                matrix[members[j] * width + members[i]] += probability


@inner
def _list_steps(matrix, count, width, steps, ends):
    """Write where each row is not 0 and what stands there, and where the rows' lists end."""
    columns, probabilities = steps
    n = 0
    for i in range(count):
        for k in range(count):
            columns[n] = k
            probabilities[n] = matrix[i * width + k]
            n += matrix[i * width + k] > 0
        ends[i] = n


@inner
def _multiply(steps, ends, count, width, now, then):
    """Write the product of the matrix of steps and another."""
    columns, probabilities = steps
    start = 0
    for i in range(count):
        for j in range(0, width, _BLOCK):
            left = right = spread(np.float32(0.0))
            for n in range(start, ends[i]):
                probability, at = spread_from(probabilities, n), columns[n] * width + j
                left = multiply_add(probability, load(now, at), left)
                right = multiply_add(probability, load(now, at + LANES), right)
            store(then, i * width + j, left)
            store(then, i * width + j + LANES, right)
        start = ends[i]


@inner
def _sum_of_squares(numbers, count, lanes):
    total = spread(np.float32(0.0))
    for j in range(0, count, LANES):
        part = load(numbers, j)
        total = multiply_add(part, part, total)
    store(lanes, 0, total)
    return lanes.sum()
