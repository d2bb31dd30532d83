"""The factor graph of a board's open exact-cover problem, packed for message passing.

Its variables are the placements that a mask allows, its factors the open constraints (one for each
blank cell, one for each digit that a unit lacks), its edges the (placement, constraint) pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.exact_cover import constraint_table, intersection_table
from sudoku_learning.networks.factor_graph.vectors import inner

# mypy: disable-error-code="no-untyped-def"


class FactorGraph(NamedTuple):
    """The graphs of B boards, one after the other, without padding.

    There are V variables, F factors, E edges and Q intersections (none if they are not asked for)
    over all boards. Factors of a board are in the order of their numbers of edges, since loops of
    equal lengths that follow each other are half again as fast; equal ones in the order of the
    cells, then of the units and their digits. Edges are in the order of their factors, those of a
    factor in the order of the variables. A `ptr` says where each range begins, and ends with the
    total, as in CSR.

    The mask is taken as it is given. A narrower one than the candidates leaves placements out. In
    a wider one a placement may meet a constraint that another cell fulfils already; it has no edge
    there, and always receives the largest message.

    Two units that share more than one cell have an intersection for each digit: the placements of
    that digit in the shared cells.
    """

    positions: NDArray[np.int64]
    """`[V]`, position of each variable in the flattened masks `[B * N**3]`"""
    variable_edges: NDArray[np.int32]
    """`[V, K]`, the edges of each variable. E stands for no constraint (cells of a variant lie in
    different numbers of units), E + 1 for a fulfilled one"""
    edge_variable: NDArray[np.int32]
    """`[E]`, the variable of each edge"""
    factor_ptr: NDArray[np.int32]
    """`[F + 1]`, the edges of each factor"""
    board_variable_ptr: NDArray[np.int64]
    """`[B + 1]`, the variables of each board"""
    board_factor_ptr: NDArray[np.int64]
    """`[B + 1]`, the factors of each board"""
    variable_intersections: NDArray[np.int32]
    """`[V, J]`, the intersections of each variable; Q stands for none"""
    board_intersection_ptr: NDArray[np.int64]
    """`[B + 1]`, the intersections of each board"""
    intersection_lists: NDArray[np.int32]
    """`[Q, 4]`, four lists of edges for each intersection: inside and outside of it in its first
    constraint, then in its second. Shorter lists of a board have smaller numbers"""
    list_ptr: NDArray[np.int32]
    """`[4 Q + 1]`, the range of each list in `list_edges`"""
    list_edges: NDArray[np.int32]
    """the edges of all lists"""

    @staticmethod
    def of(
        boards: NDArray[np.int8],
        masks: NDArray[np.bool_],
        geometry: Geometry,
        intersections: bool = False,
    ) -> FactorGraph:
        """Build the graph of boards int8 `[B, N, N]` and masks bool `[B, N**3]`.

        Raises:
            ValueError: if boards, masks and geometry do not fit each other, or a digit is none.
        """
        size = geometry.size
        if boards.shape[1:] != (size, size) or masks.shape != (len(boards), size**3):
            raise ValueError(
                f"boards {boards.shape} and masks {masks.shape} are not [B, {size}, {size}] and "
                f"[B, {size**3}], the shapes of {geometry.name}"
            )
        if boards.size and not 0 <= boards.min() <= boards.max() <= size:
            raise ValueError(
                f"digits of {geometry.name} are 0 (blank) to {size}, not {boards.min()} to "
                f"{boards.max()}"
            )
        edges = _pack_edges(
            np.ascontiguousarray(boards, np.int8).reshape(len(boards), geometry.num_cells),
            np.ascontiguousarray(masks, np.bool_),
            constraint_table(geometry),
            geometry.num_cells + len(geometry.units) * size,
            size,
        )
        table = intersection_table(geometry)
        lists = _pack_intersections(*edges[:5], table if intersections else table[:, :0], size)
        return FactorGraph._make((*edges, *lists))


class Span(NamedTuple):
    """The ranges of one board in its graph: the first of each kind, and one past the last."""

    first_variable: np.int64
    end_variable: np.int64
    first_factor: np.int64
    end_factor: np.int64
    first_edge: np.int64
    end_edge: np.int64
    first_intersection: np.int64
    end_intersection: np.int64


@inner
def span_of(graph, board):
    """Return the span of a board."""
    first, end = graph.board_factor_ptr[board], graph.board_factor_ptr[board + 1]
    return Span(
        graph.board_variable_ptr[board],
        graph.board_variable_ptr[board + 1],
        first,
        end,
        np.int64(graph.factor_ptr[first]),
        np.int64(graph.factor_ptr[end]),
        graph.board_intersection_ptr[board],
        graph.board_intersection_ptr[board + 1],
    )


@njit(cache=True, nogil=True)
def _pack_edges(boards, masks, table, num_constraints, size):
    """Number the variables, factors and edges of all boards."""
    num_variables = np.count_nonzero(masks)
    positions = np.empty(num_variables, np.int64)
    variable_edges = np.empty((num_variables, table.shape[1]), np.int32)
    edge_variable = np.empty(variable_edges.size, np.int32)
    factor_ptr = np.empty(len(boards) * num_constraints + 1, np.int32)
    board_variable_ptr = np.empty(len(boards) + 1, np.int64)
    board_factor_ptr = np.empty(len(boards) + 1, np.int64)
    number = np.empty(num_constraints + 1, np.int32)
    degrees = np.empty(num_constraints, np.int32)
    next_edge = np.empty(num_constraints, np.int32)
    variable = factor = edge = 0
    for b in range(len(boards)):
        board_variable_ptr[b], board_factor_ptr[b] = variable, factor
        num_open = _number_open(boards[b], size, table, number)
        degrees[:num_open] = 0
        for p in range(masks.shape[1]):
            if masks[b, p]:
                positions[variable] = b * masks.shape[1] + p
                for k in range(table.shape[1]):
                    c = number[table[p, k]]
                    variable_edges[variable, k] = c
                    if c >= 0:
                        degrees[c] += 1
                variable += 1
        for degree in range(size + 1):
            for c in range(num_open):
                if degrees[c] == degree:
                    factor_ptr[factor], next_edge[c] = edge, edge
                    edge += degree
                    factor += 1
        _number_edges(variable_edges, edge_variable, next_edge, board_variable_ptr[b], variable)
    board_variable_ptr[-1], board_factor_ptr[-1] = variable, factor
    factor_ptr[factor] = edge
    for v in range(num_variables):
        for k in range(table.shape[1]):
            if variable_edges[v, k] < 0:  # -1: no constraint, -2: fulfilled
                variable_edges[v, k] = edge - 1 - variable_edges[v, k]
    return (
        positions,
        variable_edges,
        edge_variable[:edge],
        factor_ptr[: factor + 1],
        board_variable_ptr,
        board_factor_ptr,
    )


@inner
def _number_edges(variable_edges, edge_variable, next_edge, first, end):
    """Replace the constraints in `variable_edges` by edges."""
    for v in range(first, end):
        for k in range(variable_edges.shape[1]):
            c = variable_edges[v, k]
            if c >= 0:
                variable_edges[v, k] = next_edge[c]
                edge_variable[next_edge[c]] = v
                next_edge[c] += 1


@inner
def _number_open(board, size, table, number):
    """Count the open constraints of a board; write -2 for fulfilled ones, -1 for the padding."""
    number[:] = 0
    for cell in range(len(board)):
        if board[cell] > 0:
            for k in range(table.shape[1]):
                number[table[cell * size + board[cell] - 1, k]] = -2
    number[-1] = -1
    num_open = 0
    for c in range(len(number) - 1):
        if number[c] == 0:
            number[c] = num_open
            num_open += 1
    return num_open


@njit(cache=True, nogil=True)
def _pack_intersections(
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
