"""One run of belief propagation or of Sinkhorn balancing on each board: schedule and stopping.

Flooding renews every message once an iteration, all from the state at its beginning, as Khan et
al. do; the order of the units changes nothing. The residual schedule spends as many unit updates an
iteration, each on the unit whose cells have changed the most since its last. Placement factors
follow the units, one digit after the other.

A grid comes from beliefs by the solution check (section 5), the most probable placement first.
Sinkhorn balancing (section 4) scales the cells and digits of one unit after the other until rows
and columns sum to 1 (Moon and Gunther, "Multiple constraint satisfaction by belief propagation",
2006).
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Literal

import numpy as np

from sudoku_baselines.belief_propagation.engine import (
    BeliefState,
    update_belief,
    update_placements,
    update_unit,
)
from sudoku_baselines.belief_propagation.messages import POLYNOMIAL, popcounts
from sudoku_gym.compiler.jit import njit

OUTCOMES = ("solved", "contradiction", "unsolved")
VALID, CONTRADICTION, UNSOLVED = range(3)  # the same as numbers
Schedule = Literal["flooding", "residual"]
FLOODING, RESIDUAL = range(2)
Check = Literal["solution-check", "arg-max"]
SOLUTION_CHECK, ARG_MAX = range(2)
SINKHORN_TOLERANCE = 1e-3


@njit(cache=True, nogil=True)
def propagate_batch(supports, tables, config, grids, beliefs, outcomes, iterations):
    """Run belief propagation on each board, from supports bool `[B, C, N]`, which are spent.

    Written are the grids int8 `[B, C]` (the solution where the outcome is VALID, else the last one
    tried), the last beliefs float64 `[B, C, N]`, outcomes and iterations made, int64 `[B]`.
    """
    for b in range(len(supports)):
        arrays = supports[b], beliefs[b], grids[b]
        outcomes[b], iterations[b] = _propagate(*arrays, tables, config)


@njit(cache=True)
def _propagate(support, beliefs, grid, tables, config):
    """Run on one board; return the outcome and the iterations made."""
    cells, size = support.shape
    choices, log_messages = support.sum(1), np.zeros((tables.units.size + 1, size))
    logs = np.zeros((3, cells, size))
    state = BeliefState(support, choices, logs[0], log_messages, logs[1], logs[2], beliefs)
    if np.min(choices) == 0:
        return CONTRADICTION, 0
    digits = 0 if config.rule == POLYNOMIAL else size
    sets, square = np.empty((2, 1 << digits)), np.empty((2, size, size))
    unit_work = popcounts(digits), sets[0], sets[1], square[0], square[1]
    graph, first_edges = np.empty((size, *tables.graph.shape), np.int32), np.zeros(size, np.int64)
    graph[:] = tables.graph
    nodes = np.empty((2, tables.graph[-1, 1] + 1 if len(tables.graph) else 1))
    digit_work = nodes[0], nodes[1], np.empty(cells), np.empty(cells), np.empty(size)
    residuals = np.ones(len(tables.units) + 1)
    _update_all_beliefs(state, tables, config)
    for iteration in range(1, config.iterations + 1):
        if config.schedule == RESIDUAL:
            consistent = _residual_pass(state, tables, config, residuals, unit_work)
        else:
            consistent = _flood(state, tables, config, unit_work)
        if consistent and len(graph[0]) > 0:
            for digit in range(size):
                consistent = consistent and update_placements(
                    digit, graph, first_edges, state, config, digit_work
                )
        if not consistent:
            return CONTRADICTION, iteration
        _update_all_beliefs(state, tables, config)
        if config.sinkhorn_every and iteration % config.sinkhorn_every == 0:
            _balance(state, tables, config)
        if np.max(state.choices) == 1:
            solved = _decode_best(state.beliefs, tables.units, grid)
            return VALID if solved else CONTRADICTION, iteration
        if config.check_every and iteration % config.check_every == 0:
            if _decode(state.beliefs, tables, config.check, grid):
                return VALID, iteration
    return UNSOLVED, config.iterations


@njit(cache=True)
def _update_all_beliefs(state, tables, config):
    for cell in range(len(state.support)):
        update_belief(cell, state, tables, config)


@njit(cache=True)
def _flood(state, tables, config, work):
    """Renew the messages of all units from the same beliefs; return False at a contradiction."""
    known = BeliefState(state.support.copy(), state.choices.copy(), *state[2:])
    for unit in range(len(tables.units)):
        if not update_unit(unit, known, state, tables, config, work):
            return False
    return True


@njit(cache=True)
def _residual_pass(state, tables, config, residuals, work):
    """Renew U times the unit whose beliefs have moved the most; the last residual is padding."""
    for _ in range(len(tables.units)):
        unit = np.argmax(residuals[:-1])
        if residuals[unit] == 0.0:
            return True
        if not update_unit(unit, state, state, tables, config, work):
            return False
        for cell in tables.units[unit]:
            change = update_belief(cell, state, tables, config)
            for other in tables.cell_units[cell]:
                residuals[other] = max(residuals[other], change)
        residuals[unit] = 0.0
    return True


@njit(cache=True)
def _balance(state, tables, config):
    """Balance the beliefs; from now on they are the prior of their cells."""
    support, log_prior, beliefs = state.support, state.log_prior, state.beliefs
    balance_board(beliefs, tables.units, SINKHORN_TOLERANCE, config.sinkhorn_rounds)
    for cell in range(len(support)):
        for digit in range(support.shape[1]):
            if support[cell, digit]:
                beliefs[cell, digit] = max(beliefs[cell, digit], np.exp(config.min_log_message))
                log_prior[cell, digit] = np.log(beliefs[cell, digit])


@njit(cache=True)
def _decode(beliefs, tables, check, grid):
    """Derive a grid from the beliefs; return True if it satisfies every unit."""
    if check == ARG_MAX:
        return _decode_best(beliefs, tables.units, grid)
    return decode_grid(beliefs.copy(), tables, grid)


@njit(cache=True)
def _decode_best(beliefs, units, grid):
    """Give each cell its most likely digit; return True if that satisfies every unit."""
    for cell in range(len(grid)):
        grid[cell] = np.argmax(beliefs[cell]) + 1
    full = np.uint32((1 << units.shape[1]) - 1)
    for unit in range(len(units)):
        digits = np.uint32(0)
        for cell in units[unit]:
            digits |= np.uint32(1) << np.uint32(grid[cell] - 1)
        if digits != full:
            return False
    return True


@njit(cache=True)
def decode_grid(beliefs, tables, grid):
    """Fill a grid greedily; return True if it satisfies every unit.

    The relative probability of a placement is its probability divided by that of its digit in a
    whole unit, in the unit where this is highest. The placement with the highest is made, its digit
    is removed from all peers, and what a peer loses is divided equally among its other digits. The
    check fails if a peer has none. A filled grid is valid, since peers never share a digit.

    `beliefs` float64 `[C, N]`, whose rows sum to 1, are spent as work space.
    """
    units, peers = tables.units, tables.peers
    size = units.shape[1]
    highest = np.zeros((len(units), size))
    where = np.zeros((len(units), size), np.int64)
    grid[:] = 0
    if not _fill_known(beliefs, peers, grid):
        return False
    for _ in range(np.count_nonzero(grid == 0)):
        for unit in range(len(units)):
            _rank(beliefs, units[unit], grid, highest[unit], where[unit])
        best = np.argmax(highest)
        if highest.ravel()[best] == 0.0:
            return False
        cell, digit = where.ravel()[best], best % size
        grid[cell] = digit + 1
        for peer in peers[cell]:
            if grid[peer] == 0 and beliefs[peer, digit] > 0:
                if not _remove_digit(beliefs[peer], digit):
                    return False
    return True


@njit(cache=True)
def _fill_known(beliefs, peers, grid):
    """Fill cells with one possible digit, which come first; return False if two are in conflict."""
    for cell in range(len(grid)):
        if np.count_nonzero(beliefs[cell]) == 1:
            digit = np.argmax(beliefs[cell])
            grid[cell] = digit + 1
            for peer in peers[cell]:
                if peer != cell and beliefs[peer, digit] > 0:
                    if not _remove_digit(beliefs[peer], digit):
                        return False
    return True


@njit(cache=True)
def _rank(beliefs, unit, grid, highest, where):
    """Find the highest relative probability of each digit in one unit, and its cell."""
    for digit in range(len(unit)):
        total, most = 0.0, 0.0
        for cell in unit:
            if grid[cell] == 0:
                total += beliefs[cell, digit]
                if beliefs[cell, digit] > most:
                    most = beliefs[cell, digit]
                    where[digit] = cell
        highest[digit] = most / total if most > 0 else 0.0


@njit(cache=True)
def _remove_digit(belief, digit):
    """Move the probability of `digit` to the cell's other digits; return False if it has none."""
    left = np.count_nonzero(belief) - 1
    if left == 0:
        return False
    share = belief[digit] / left
    belief[digit] = 0.0
    for other in range(len(belief)):
        if belief[other] > 0:
            belief[other] += share
    return True


@njit(cache=True)
def _sweep(beliefs, cells):
    """Scale columns, then rows, of `beliefs[cells]`; return the change's squared Frobenius norm."""
    size = len(cells)
    scale = np.zeros(size)
    for cell in cells:
        for digit in range(size):
            scale[digit] += beliefs[cell, digit]
    for digit in range(size):
        scale[digit] = 1.0 / scale[digit] if scale[digit] > 0 else 1.0
    change = 0.0
    for cell in cells:
        total = 0.0
        for digit in range(size):
            total += beliefs[cell, digit] * scale[digit]
        inverse = 1.0 / total if total > 0 else 1.0
        for digit in range(size):
            scaled = beliefs[cell, digit] * scale[digit] * inverse
            change += (scaled - beliefs[cell, digit]) ** 2
            beliefs[cell, digit] = scaled
    return change


@njit(cache=True)
def balance_board(beliefs, units, tolerance, max_rounds):
    """Balance the units of a board `[C, N]` in turn, in place; return the rounds made.

    The last is the first that changes it by less than the tolerance (Frobenius norm).
    """
    for rounds in range(max_rounds):
        change = 0.0
        for unit in range(len(units)):
            change += _sweep(beliefs, units[unit])
        if np.sqrt(change) < tolerance:
            return rounds + 1
    return max_rounds


@njit(cache=True, nogil=True)
def sinkhorn_batch(supports, tables, limit, grids, beliefs, outcomes, iterations):
    """Balance each board in rounds, with the solution check after each; as `propagate_batch`."""
    for b in range(len(supports)):
        outcomes[b], iterations[b] = UNSOLVED, limit
        for cell in range(supports.shape[1]):
            beliefs[b, cell] = supports[b, cell] / max(np.count_nonzero(supports[b, cell]), 1)
        for iteration in range(1, limit + 1):
            balance_board(beliefs[b], tables.units, 0.0, 1)
            if not _is_possible(beliefs[b], tables.units):
                outcomes[b], iterations[b] = CONTRADICTION, iteration
                break
            if decode_grid(beliefs[b].copy(), tables, grids[b]):
                outcomes[b], iterations[b] = VALID, iteration
                break


@njit(cache=True)
def _is_possible(beliefs, units):
    """Return whether each cell, and each digit in each unit, has some probability left."""
    for unit in units:
        totals = np.zeros(len(unit))
        for cell in unit:
            totals += beliefs[cell]
            if np.max(beliefs[cell]) == 0.0:
                return False
        if np.min(totals) == 0.0:
            return False
    return True
