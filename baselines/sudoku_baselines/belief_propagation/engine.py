"""Message passing on one board: beliefs, the messages of units and digits, and their order.

Everything is kept as logarithms, where a floor keeps products of messages from underflowing. What
is impossible is no small number but a cleared entry of `support`: a digit leaves a cell as soon as
a constraint's message to it is exactly zero, and never comes back.

Shapes: support bool `[C, N]`, choices int64 `[C]` (digits left in each cell), log_prior and
log_beliefs float64 `[C, N]`, beliefs float64 `[C, N]`, log_messages float64 `[U * N + 1, N]` from
the i-th cell of unit u at `u * N + i` (the last row stays 0), log_odds float64 `[C, N]` (what the
placement factor of digit x says of cell c).
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudoku_baselines.belief_propagation.messages import (
    MAX_PRODUCT,
    POLYNOMIAL,
    exact_messages,
    polynomial_messages,
)
from sudoku_baselines.belief_propagation.placements import placement_messages
from sudoku_gym import board
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry

IMPOSSIBLE = -1e300


def edge_table(geometry: Geometry) -> NDArray[np.int32]:
    """Return where the messages to each cell stand: int32 `[C, K]`, padded with U * N."""
    edges = np.full(geometry.cell_units.shape, geometry.units.size, np.int32)
    filled = np.zeros(geometry.num_cells, np.int64)
    for edge, cell in enumerate(geometry.units.ravel().tolist()):
        edges[cell, filled[cell]] = edge
        filled[cell] += 1
    return edges


def initial_support(boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.bool_]:
    """Return the digits each cell starts with, its own or its candidates: bool `[B, C, N]`."""
    cells, size = geometry.num_cells, geometry.size
    support = board.candidates(boards, geometry).reshape(-1, cells, size)
    is_digit = boards.reshape(-1, cells, 1) == np.arange(1, size + 1)
    return support | is_digit


def log_floor(size: int) -> float:
    """Return the lowest log message: 1e-15, or higher where a product of N of them would vanish."""
    return max(-15 * np.log(10), -280 * np.log(10) / size)


@njit(cache=True)
def update_unit(u, units, support, choices, log_beliefs, log_messages, rule, damping, floor, work):
    """Renew the messages of unit u to its cells; return False if it finds a contradiction.

    Cells whose digit is known take no part but for taking their digit from the others.
    """
    counts, forward, backward, incoming, outgoing = work
    places, digits = _open_part(units[u], support, choices)
    if len(places) != len(digits):
        return False
    is_possible = _write_incoming(
        units[u], u * units.shape[1], places, digits, support, log_beliefs, log_messages, floor,
        incoming,
    )  # fmt: skip
    if not is_possible:
        return False
    if rule == POLYNOMIAL:
        polynomial_messages(incoming, len(places), outgoing)
    else:
        is_max = rule == MAX_PRODUCT
        exact_messages(incoming, len(places), is_max, counts, forward, backward, outgoing)
    return _write_outgoing(
        units[u], u * units.shape[1], places, digits, support, choices, log_messages, damping,
        floor, outgoing,
    )  # fmt: skip


@njit(cache=True)
def _open_part(unit, support, choices):
    """Return the places in the unit of undecided cells, and the digits that decided ones leave.

    There are as many of the one as of the other unless two decided cells hold the same digit.
    """
    size = len(unit)
    places = np.empty(size, np.int64)
    is_free = np.ones(size, np.bool_)
    count = 0
    for place, cell in enumerate(unit):
        if choices[cell] > 1:
            places[count] = place
            count += 1
        else:
            is_free[np.argmax(support[cell])] = False
    return places[:count], np.flatnonzero(is_free)


@njit(cache=True)
def _write_incoming(
    unit, first_edge, places, digits, support, log_beliefs, log_messages, floor, incoming
):
    """Write what each open cell hears from elsewhere (eq. 3); return False if one has no digit."""
    for i, place in enumerate(places):
        cell, edge = unit[place], first_edge + place
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
                incoming[i, j] = np.exp(max(incoming[i, j] - highest, floor))
                total += incoming[i, j]
        for j in range(len(digits)):
            incoming[i, j] /= total
    return True


@njit(cache=True)
def _write_outgoing(
    unit, first_edge, places, digits, support, choices, log_messages, damping, floor, outgoing
):
    """Keep the messages, highest 0, and clear what they rule out; return False if that is all."""
    for i, place in enumerate(places):
        cell, edge = unit[place], first_edge + place
        highest = 0.0
        for j, digit in enumerate(digits):
            if support[cell, digit]:
                highest = max(highest, outgoing[i, j])
        if highest == 0.0:
            return False
        left = 0
        for j, digit in enumerate(digits):
            if support[cell, digit] and outgoing[i, j] > 0:
                message = max(np.log(outgoing[i, j] / highest), floor)
                kept = damping * log_messages[edge, digit]
                log_messages[edge, digit] = kept + (1 - damping) * message
                left += 1
            else:
                support[cell, digit] = False
        if left < choices[cell]:  # the digits of decided cells are not among `digits`
            _keep_only(support[cell], digits)
            choices[cell] = left
    return True


@njit(cache=True)
def _keep_only(row, digits):
    """Clear the entries of `row [N]` that are not among `digits`, which ascend."""
    j = 0
    for digit in range(len(row)):
        if j < len(digits) and digits[j] == digit:
            j += 1
        else:
            row[digit] = False


@njit(cache=True)
def update_belief(
    cell, support, log_prior, edges, weight, log_messages, odds_weight, log_odds, log_beliefs,
    beliefs,
):  # fmt: skip
    """Combine prior and messages to the belief of one cell (eq. 2); return how much it changed.

    Weights other than 1 make it a fractional belief: each factor counts as a part of one, since
    what factors say on a graph with many short loops is partly the same thing.
    """
    size = support.shape[1]
    highest = IMPOSSIBLE
    for digit in range(size):
        if support[cell, digit]:
            combined = 0.0
            for edge in edges[cell]:
                combined += log_messages[edge, digit]
            combined *= weight
            combined += log_prior[cell, digit] + odds_weight * log_odds[cell, digit]
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
def update_placements(
    digit, graph, first_edges, support, choices, log_beliefs, log_odds, damping, floor, work
):  # fmt: skip
    """Renew what the placement factor of a digit says; return False if it has no placement left."""
    forward, backward, weights, messages, scales = work
    size = support.shape[1]
    _write_odds(digit, support, choices, log_beliefs, log_odds, floor, weights, scales)
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
            odds = min(
                max(np.log(messages[cell] / elsewhere) - np.log(scales[cell // size]), 2 * floor),
                -2 * floor,
            )
            log_odds[cell, digit] = damping * log_odds[cell, digit] + (1 - damping) * odds
    return True


@njit(cache=True)
def _write_odds(digit, support, choices, log_beliefs, log_odds, floor, weights, scales):
    """Write the odds that each cell holds `digit`, as the other factors see it; rows' highest 1."""
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
                    log_weight = log_beliefs[cell, digit] - log_odds[cell, digit]
                    log_weight -= np.log(max(other, 1e-300))
                    weights[cell] = np.exp(min(max(log_weight, floor), -floor))
                highest = max(highest, weights[cell])
        scales[row // size] = highest
        for cell in range(row, row + size):
            if weights[cell] > 0:
                if known and choices[cell] > 1:
                    weights[cell] = 0.0
                else:
                    weights[cell] = max(weights[cell] / highest, np.exp(floor))
