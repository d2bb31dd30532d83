"""Updates of belief propagation on one board: messages of units and digits to cells, and beliefs.

Beliefs and messages are logarithms, with a lower bound that keeps their products from underflowing.
Exact zeros are kept apart: a digit leaves the `support` of a cell when a factor's message to it is
zero, and never comes back, unless `exact_zeros` is off. Whose support a unit's messages start from
is the schedule's choice.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_baselines.belief_propagation.messages import (
    MAX_PRODUCT,
    POLYNOMIAL,
    exact_messages,
    placement_graph,
    placement_messages,
    polynomial_messages,
)
from sudoku_gym import board
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry

IMPOSSIBLE = -1e300


class FactorTables(NamedTuple):
    """The factors of a geometry, whose `units [U, N]`, `cell_units` and `peers` come first."""

    units: NDArray[np.int32]
    cell_units: NDArray[np.int32]
    peers: NDArray[np.int32]
    edges: NDArray[np.int32]  # [C, K], rows of `BeliefState.log_messages` to a cell; padding U N
    graph: NDArray[np.int32]  # [E, 3], `placement_graph`, or [0, 3] for none


class BeliefState(NamedTuple):
    """What is known of a board's C cells."""

    support: NDArray[np.bool_]  # [C, N], digits that are still possible
    choices: NDArray[np.int64]  # [C], how many these are
    log_prior: NDArray[np.float64]  # [C, N]
    log_messages: NDArray[np.float64]  # [U N + 1, N], unit u to its cell i: row u N + i; last row 0
    log_odds: NDArray[np.float64]  # [C, N], from the placement factor of each digit to each cell
    log_beliefs: NDArray[np.float64]  # [C, N]
    beliefs: NDArray[np.float64]  # [C, N]


@cache
def factor_tables(geometry: Geometry, with_placements: bool) -> FactorTables:
    """Return the tables of a geometry; without placement factors if they are not wanted."""
    edges = np.full(geometry.cell_units.shape, geometry.units.size, np.int32)
    filled = np.zeros(geometry.num_cells, np.int64)
    for edge, cell in enumerate(geometry.units.ravel().tolist()):
        edges[cell, filled[cell]] = edge
        filled[cell] += 1
    graph = placement_graph(geometry) if with_placements else np.empty((0, 3), np.int32)
    return FactorTables(geometry.units, geometry.cell_units, geometry.peers, edges, graph)


def initial_support(boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.bool_]:
    """Return the digits each cell starts with, its own or its candidates: bool `[B, C, N]`."""
    cells, size = geometry.num_cells, geometry.size
    support = board.candidates(boards, geometry).reshape(-1, cells, size)
    is_digit = boards.reshape(-1, cells, 1) == np.arange(1, size + 1)
    return support | is_digit


@njit(cache=True)
def update_unit(unit, known, state, tables, config, work):
    """Renew the messages of a unit to undecided cells; return False if it finds a contradiction.

    They are made from the support of the state `known`, and their zeros go into `state`.
    """
    counts, forward, backward, incoming, outgoing = work
    positions, is_free = _open_part(tables.units[unit], known, config.exact_zeros)
    digits = np.flatnonzero(is_free)
    if len(positions) != len(digits):
        return False
    if not _write_incoming(unit, positions, digits, known, state, tables, config, incoming):
        return False
    if config.rule == POLYNOMIAL:
        polynomial_messages(incoming, len(positions), outgoing)
    else:
        is_max = config.rule == MAX_PRODUCT
        exact_messages(incoming, len(positions), is_max, counts, forward, backward, outgoing)
    return _write_outgoing(unit, positions, is_free, known, state, tables, config, outgoing)


@njit(cache=True)
def _open_part(cells, known, exact_zeros):
    """Return the positions of undecided cells in a unit, and which digits decided ones leave.

    All positions and digits without `exact_zeros`.
    """
    size = len(cells)
    positions = np.empty(size, np.int64)
    is_free = np.ones(size, np.bool_)
    count = 0
    for position, cell in enumerate(cells):
        if known.choices[cell] > 1 or not exact_zeros:
            positions[count] = position
            count += 1
        else:
            is_free[np.argmax(known.support[cell])] = False
    return positions[:count], is_free


@njit(cache=True)
def _write_incoming(unit, positions, digits, known, state, tables, config, incoming):
    """Write the messages of open cells to the unit (eq. 3); return False if one has no digit."""
    support, log_beliefs, log_messages = known.support, state.log_beliefs, state.log_messages
    for i, position in enumerate(positions):
        cell, edge = tables.units[unit, position], unit * tables.units.shape[1] + position
        highest = IMPOSSIBLE
        for j, digit in enumerate(digits):
            incoming[i, j] = 0.0
            if support[cell, digit]:
                incoming[i, j] = log_beliefs[cell, digit] - log_messages[edge, digit]
                highest = max(highest, incoming[i, j])
        if highest == IMPOSSIBLE:
            return False
        total = 0.0
        for j, digit in enumerate(digits):
            if support[cell, digit]:
                incoming[i, j] = np.exp(max(incoming[i, j] - highest, config.min_log_message))
                total += incoming[i, j]
        for j in range(len(digits)):
            incoming[i, j] /= total
    return True


@njit(cache=True)
def _write_outgoing(unit, positions, is_free, known, state, tables, config, outgoing):
    """Store the messages, highest 0, and drop digits of message zero; return False if all are."""
    support, choices, log_messages = state.support, state.choices, state.log_messages
    digits, damping = np.flatnonzero(is_free), config.damping
    for i, position in enumerate(positions):
        cell, edge = tables.units[unit, position], unit * tables.units.shape[1] + position
        highest = 0.0
        for j, digit in enumerate(digits):
            if known.support[cell, digit]:
                highest = max(highest, outgoing[i, j])
        if highest == 0.0:
            return False
        for j, digit in enumerate(digits):
            if known.support[cell, digit] and outgoing[i, j] > 0:
                message = max(np.log(outgoing[i, j] / highest), config.min_log_message)
                kept = damping * log_messages[edge, digit]
                log_messages[edge, digit] = kept + (1 - damping) * message
            elif config.exact_zeros:
                support[cell, digit] = False
            else:
                log_messages[edge, digit] = config.min_log_message
        support[cell] &= is_free  # not the digits of decided cells
        choices[cell] = np.count_nonzero(support[cell])
        if choices[cell] == 0:
            return False
    return True


@njit(cache=True)
def update_belief(cell, state, tables, config):
    """Combine prior and messages to the belief of one cell (eq. 2); return how much it changed.

    Weights other than 1 make it a fractional belief: on a graph with many short loops the messages
    of different factors carry partly the same evidence.
    """
    support, log_messages, log_beliefs = state.support, state.log_messages, state.log_beliefs
    beliefs = state.beliefs
    size = support.shape[1]
    highest = IMPOSSIBLE
    for digit in range(size):
        if support[cell, digit]:
            combined = 0.0
            for edge in tables.edges[cell]:
                combined += log_messages[edge, digit]
            combined *= config.weight
            odds = config.placement_weight * state.log_odds[cell, digit]
            combined += state.log_prior[cell, digit] + odds
            log_beliefs[cell, digit] = combined
            highest = max(highest, combined)
    total = 0.0
    for digit in range(size):
        if support[cell, digit]:
            total += np.exp(log_beliefs[cell, digit] - highest)
    shift = highest + np.log(total)
    change = 0.0
    for digit in range(size):
        belief = 0.0
        if support[cell, digit]:
            log_beliefs[cell, digit] -= shift
            belief = max(np.exp(log_beliefs[cell, digit]), 1e-300)
        change = max(change, abs(belief - beliefs[cell, digit]))
        beliefs[cell, digit] = belief
    return change


@njit(cache=True)
def update_placements(digit, graph, first_edges, state, config, work):
    """Renew the messages of a digit's placement factor; return False if no placement is left."""
    forward, backward, weights, messages, scales = work
    support, choices, log_odds = state.support, state.choices, state.log_odds
    damping, bound = config.damping, 2 * config.min_log_message
    size = support.shape[1]
    _write_odds(digit, state, config, weights, scales)
    start = placement_messages(
        graph[digit], first_edges[digit], weights, forward, backward, messages
    )
    first_edges[digit] = start
    if start == graph.shape[1]:
        return False
    for cell in range(len(support)):
        if choices[cell] == 1 or not support[cell, digit]:
            continue
        if messages[cell] == 0.0:
            support[cell, digit] = False
            choices[cell] -= 1
            continue
        elsewhere = 0.0  # the digit stands in another cell of this row
        row = cell // size * size
        for other in range(row, row + size):
            if other != cell:
                elsewhere += weights[other] * messages[other]
        if elsewhere == 0.0:
            support[cell] = False
            support[cell, digit] = True
            choices[cell] = 1
        else:
            odds = np.log(messages[cell] / elsewhere) - np.log(scales[cell // size])
            odds = min(max(odds, bound), -bound)
            log_odds[cell, digit] = damping * log_odds[cell, digit] + (1 - damping) * odds
    return True


@njit(cache=True)
def _write_odds(digit, state, config, weights, scales):
    """Write the odds of `digit` in each cell without its placement factor; each row's highest 1."""
    support, choices, log_beliefs = state.support, state.choices, state.log_beliefs
    least = config.min_log_message
    size = support.shape[1]
    for row in range(0, len(support), size):
        highest, known = 0.0, False
        for cell in range(row, row + size):
            weights[cell] = 0.0
            if support[cell, digit]:
                if choices[cell] == 1:
                    weights[cell] = 1.0
                    known = True
                else:
                    other = 0.0
                    for rival in range(size):
                        if rival != digit and support[cell, rival]:
                            other += np.exp(log_beliefs[cell, rival])
                    log_weight = log_beliefs[cell, digit] - state.log_odds[cell, digit]
                    log_weight -= np.log(max(other, 1e-300))
                    weights[cell] = np.exp(min(max(log_weight, least), -least))
                highest = max(highest, weights[cell])
        scales[row // size] = highest
        for cell in range(row, row + size):
            if weights[cell] > 0:
                if known and choices[cell] > 1:
                    weights[cell] = 0.0
                else:
                    weights[cell] = max(weights[cell] / highest, np.exp(least))
