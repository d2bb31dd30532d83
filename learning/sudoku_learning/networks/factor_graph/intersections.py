"""Intersections of units: how a graph finds them, and their messages with derivatives.

Rows of `intersection_x` have three parts: an intersection's state, then the messages that it gets
from inside and from outside of it. Sums are taken list by list in the order of their lengths.
"""

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.jit import njit
from sudoku_learning.networks.factor_graph.messages import EPSILON, MESSAGE_SCALE
from sudoku_learning.networks.factor_graph.vectors import LANES, inner, load, log, spread, store

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"


@njit(cache=True, nogil=True)
def pack_intersections(
    positions, variable_edges, edge_variable, factor_ptr, board_variable_ptr, table, size
):
    """Return the five arrays of a `FactorGraph` that describe its intersections, in its order.

    Intersections have placements and two open constraints. `table` is that of
    `geometry.exact_cover.intersection_table`, or none of its columns; the rest is of the graph.
    """
    variable_intersections, sides, board_intersection_ptr = _find_intersections(
        positions, variable_edges, factor_ptr, board_variable_ptr, table, size
    )
    lengths = _list_lengths(variable_intersections, sides, factor_ptr)
    lists, list_ptr = _number_lists(lengths, board_intersection_ptr, size)
    edges = np.empty(list_ptr[-1], np.int32)
    for q in range(len(sides)):
        for side in range(2):
            f = sides[q, side]
            inside = list_ptr[lists[q, 2 * side]]
            outside = list_ptr[lists[q, 2 * side + 1]]
            for e in range(factor_ptr[f], factor_ptr[f + 1]):
                member = False
                for other in variable_intersections[edge_variable[e]]:
                    member |= other == q
                if member:
                    edges[inside] = e
                    inside += 1
                else:
                    edges[outside] = e
                    outside += 1
    return variable_intersections, board_intersection_ptr, lists, list_ptr, edges


@inner
def _find_intersections(positions, variable_edges, factor_ptr, board_variable_ptr, table, size):
    """Number the intersections; return those of variables, the factors `[Q, 2]`, and the ptr."""
    num_edges = factor_ptr[-1]
    edge_factor = np.empty(num_edges, np.int32)
    for f in range(len(factor_ptr) - 1):
        edge_factor[factor_ptr[f] : factor_ptr[f + 1]] = f
    columns = table.shape[1]
    variable_intersections = np.full((len(positions), columns), -1, np.int32)
    sides = np.empty((variable_intersections.size, 2), np.int32)
    board_intersection_ptr = np.zeros(len(board_variable_ptr), np.int64)
    num_pairs = table[:, :, 0].max() + 1 if columns else 0
    number = np.empty(num_pairs * size, np.int32)
    count = 0
    for b in range(len(board_variable_ptr) - 1):
        number[:] = -1
        for v in range(board_variable_ptr[b], board_variable_ptr[b + 1]):
            cell = positions[v] // size % len(table)
            for j in range(columns):
                pair = table[cell, j, 0]
                if pair < 0:
                    continue
                one = variable_edges[v, table[cell, j, 1]]
                other = variable_edges[v, table[cell, j, 2]]
                if one >= num_edges or other >= num_edges:
                    continue
                key = pair * size + positions[v] % size
                if number[key] < 0:
                    number[key] = count
                    sides[count, 0], sides[count, 1] = edge_factor[one], edge_factor[other]
                    count += 1
                variable_intersections[v, j] = number[key]
        board_intersection_ptr[b + 1] = count
    for v in range(len(positions)):
        for j in range(columns):
            if variable_intersections[v, j] < 0:
                variable_intersections[v, j] = count
    return variable_intersections, sides[:count], board_intersection_ptr


@inner
def _list_lengths(variable_intersections, sides, factor_ptr):
    """Return the lengths of the four lists of each intersection, int32 `[Q, 4]`."""
    count = len(sides)
    inside = np.zeros(count + 1, np.int32)
    for v in range(len(variable_intersections)):
        for q in variable_intersections[v]:
            inside[q] += 1
    lengths = np.empty((count, 4), np.int32)
    for q in range(count):
        for side in range(2):
            f = sides[q, side]
            lengths[q, 2 * side] = inside[q]
            lengths[q, 2 * side + 1] = factor_ptr[f + 1] - factor_ptr[f] - inside[q]
    return lengths


@inner
def _number_lists(lengths, board_intersection_ptr, size):
    """Number the lists of each board by their lengths; return the numbers and `list_ptr`."""
    intersection_lists = np.empty(lengths.shape, np.int32)
    list_ptr = np.empty(lengths.size + 1, np.int32)
    number = edge = 0
    for b in range(len(board_intersection_ptr) - 1):
        for length in range(size + 1):
            for q in range(board_intersection_ptr[b], board_intersection_ptr[b + 1]):
                for part in range(4):
                    if lengths[q, part] == length:
                        intersection_lists[q, part], list_ptr[number] = number, edge
                        number += 1
                        edge += length
    list_ptr[number] = edge
    return intersection_lists, list_ptr


@inner
def sum_lists(graph, span, to_factor, list_sums, width):
    """Write the sum of the messages on each list of edges, rows `[4 Q]`."""
    first = 4 * span.first_intersection
    for row in range(first, 4 * span.end_intersection):
        for j in range(0, width, LANES):
            total = spread(EPSILON)
            for i in range(graph.list_ptr[row], graph.list_ptr[row + 1]):
                total = total + load(to_factor, (graph.list_edges[i] - span.first_edge) * width + j)
            store(list_sums, (row - first) * width + j, total)


@inner
def intersection_messages(graph, span, list_sums, intersection_x, width):
    """Write the messages to each intersection from inside and from outside, in both its units."""
    scale = spread(MESSAGE_SCALE)
    first = 4 * span.first_intersection
    for q in range(span.first_intersection, span.end_intersection):
        for outside in range(2):
            a = (graph.intersection_lists[q, outside] - first) * width
            b = (graph.intersection_lists[q, 2 + outside] - first) * width
            at = (3 * (q - span.first_intersection) + 1 + outside) * width
            for j in range(0, width, LANES):
                product = load(list_sums, a + j) * load(list_sums, b + j)
                store(intersection_x, at + j, scale * log(product))


@inner
def intersection_messages_backward(graph, span, list_sums, grad_x, width):
    """Replace `list_sums` by their derivatives, given those of the messages to intersections."""
    scale = spread(MESSAGE_SCALE)
    first = 4 * span.first_intersection
    for q in range(span.first_intersection, span.end_intersection):
        for outside in range(2):
            a = (graph.intersection_lists[q, outside] - first) * width
            b = (graph.intersection_lists[q, 2 + outside] - first) * width
            at = (3 * (q - span.first_intersection) + 1 + outside) * width
            for j in range(0, width, LANES):
                left, right = load(list_sums, a + j), load(list_sums, b + j)
                grad = scale * load(grad_x, at + j) / (left * right)
                store(list_sums, a + j, grad * right)
                store(list_sums, b + j, grad * left)


@inner
def sum_lists_backward(graph, span, grad_sums, grad_to_factor, width):
    """Add the derivatives of the messages to factors, given those of the sums."""
    first = 4 * span.first_intersection
    for row in range(first, 4 * span.end_intersection):
        for j in range(0, width, LANES):
            grad = load(grad_sums, (row - first) * width + j)
            for i in range(graph.list_ptr[row], graph.list_ptr[row + 1]):
                at = (graph.list_edges[i] - span.first_edge) * width + j
                store(grad_to_factor, at, load(grad_to_factor, at) + grad)


@inner
def aggregate_intersections(graph, span, intersection_x, x, width):
    """Write the sum of the states of each variable's intersections to its row's third part."""
    for v in range(span.first_variable, span.end_variable):
        for j in range(0, width, LANES):
            total = spread(0.0)
            for k in range(graph.variable_intersections.shape[1]):
                q = graph.variable_intersections[v, k]
                if q < span.end_intersection:
                    at = 3 * (q - span.first_intersection) * width + j
                    total = total + load(intersection_x, at)
            store(x, (3 * (v - span.first_variable) + 2) * width + j, total)


@inner
def aggregate_intersections_backward(graph, span, grad_x, grad_intersection_x, width):
    """Add the derivatives of the states of intersections, given those of their sums."""
    for v in range(span.first_variable, span.end_variable):
        for k in range(graph.variable_intersections.shape[1]):
            q = graph.variable_intersections[v, k]
            if q < span.end_intersection:
                for j in range(0, width, LANES):
                    at = 3 * (q - span.first_intersection) * width + j
                    grad = load(grad_x, (3 * (v - span.first_variable) + 2) * width + j)
                    store(grad_intersection_x, at, load(grad_intersection_x, at) + grad)
