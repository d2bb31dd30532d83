"""One run of belief propagation: in which order messages go, and when it is over.

Flooding renews every message once an iteration, as Khan et al. do. The residual schedule spends as
many unit updates an iteration, each on the unit whose cells have changed the most since its last.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_baselines.belief_propagation.engine import (
    edge_table,
    update_belief,
    update_placements,
    update_unit,
)
from sudoku_baselines.belief_propagation.messages import POLYNOMIAL, popcounts
from sudoku_baselines.belief_propagation.placements import placement_graph
from sudoku_baselines.belief_propagation.sinkhorn import balance_board
from sudoku_baselines.belief_propagation.solution_check import read_grid
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry

SOLVED, CONTRADICTION, UNSOLVED = 0, 1, 2
SOLUTION_CHECK, COVER_CHECK, ARG_MAX = 0, 1, 2
SINKHORN_TOLERANCE = 1e-3


class Tables(NamedTuple):
    """What a geometry gives: units, cell_units and peers as there, and two more.

    Attributes:
        edges: int32 `[C, K]`, `engine.edge_table`.
        graph: int32 `[E, 3]`, `placements.placement_graph`, or `[0, 3]` for none.
    """

    units: NDArray[np.int32]
    cell_units: NDArray[np.int32]
    peers: NDArray[np.int32]
    edges: NDArray[np.int32]
    graph: NDArray[np.int32]


class Plan(NamedTuple):
    """The numbers a run goes by; `BeliefPropagation` says what they mean."""

    rule: int
    iterations: int
    weight: float
    placement_weight: float
    damping: float
    residual: bool
    sinkhorn_every: int
    sinkhorn_sweeps: int
    check_every: int
    check: int
    decimate_after: int
    decimate_every: int
    floor: float


@cache
def tables_of(geometry: Geometry, with_placements: bool) -> Tables:
    """Return the tables of a geometry; without placement factors if they are not wanted."""
    empty = np.empty((0, 3), np.int32)
    return Tables(
        geometry.units,
        geometry.cell_units,
        geometry.peers,
        edge_table(geometry),
        placement_graph(geometry) if with_placements else empty,
    )


@njit(cache=True)
def run_batch(supports, tables, plan, grids, beliefs, statuses, iterations):
    """Run on each board; all outputs are overwritten.

    Args:
        supports: bool `[B, C, N]`, spent as work space.
        tables: `Tables`.
        plan: `Plan`.
        grids: int8 `[B, C]`, the solution where the status is SOLVED, else the last one read.
        beliefs: float64 `[B, C, N]`, as they were at the end.
        statuses: int64 `[B]`.
        iterations: int64 `[B]`, those made.
    """
    size = tables.units.shape[1]
    exact = plan.rule != POLYNOMIAL
    sets = 1 << size if exact else 1
    counts = popcounts(size if exact else 0)
    square = (size, size)
    unit_work = (counts, np.empty(sets), np.empty(sets), np.empty(square), np.empty(square))
    nodes = tables.graph[-1, 1] + 1 if len(tables.graph) else 1
    cells = supports.shape[1]
    digit_work = (
        np.empty(nodes),
        np.empty(nodes),
        np.empty(cells),
        np.empty(cells),
        np.empty(size),
    )
    graph = np.empty((size, *tables.graph.shape), np.int32)
    for b in range(len(supports)):
        for digit in range(size):
            graph[digit] = tables.graph
        statuses[b], iterations[b] = _run(
            supports[b], tables, plan, grids[b], beliefs[b], graph, unit_work, digit_work
        )


@njit(cache=True)
def _run(support, tables, plan, grid, beliefs, graph, unit_work, digit_work):
    """Run on one board; return its status and the iterations made."""
    cells, size = support.shape
    choices = np.zeros(cells, np.int64)
    log_prior = np.zeros((cells, size))
    log_odds = np.zeros((cells, size))
    log_beliefs = np.zeros((cells, size))
    log_messages = np.zeros((tables.units.size + 1, size))
    first_edges = np.zeros(size, np.int64)
    residuals = np.ones(len(tables.units) + 1)
    for cell in range(cells):
        choices[cell] = np.count_nonzero(support[cell])
        if choices[cell] == 0:
            return CONTRADICTION, 0
    state = (support, choices, log_prior, log_messages, log_odds, log_beliefs, beliefs)
    _update_all_beliefs(state, tables, plan)
    for iteration in range(1, plan.iterations + 1):
        if plan.residual:
            consistent = _residual_pass(state, tables, plan, residuals, unit_work)
        else:
            consistent = _flood(state, tables, plan, unit_work)
        if consistent and len(graph[0]) > 0:
            for digit in range(size):
                consistent = consistent and update_placements(
                    digit, graph, first_edges, support, choices, log_beliefs, log_odds,
                    plan.damping, plan.floor, digit_work,
                )  # fmt: skip
        if not consistent:
            return CONTRADICTION, iteration
        _update_all_beliefs(state, tables, plan)
        if plan.sinkhorn_every and iteration % plan.sinkhorn_every == 0:
            _balance(state, tables, plan)
        if np.max(choices) == 1:
            solved = _read_best(beliefs, tables.units, grid)
            return SOLVED if solved else CONTRADICTION, iteration
        if plan.check_every and iteration % plan.check_every == 0:
            if _read(beliefs, tables, plan.check, grid):
                return SOLVED, iteration
        since = iteration - plan.decimate_after
        if plan.decimate_every and since >= 0 and since % plan.decimate_every == 0:
            _fix_surest(state)
            residuals[:] = 1.0
    return UNSOLVED, plan.iterations


@njit(cache=True)
def _update_all_beliefs(state, tables, plan):
    support, _, log_prior, log_messages, log_odds, log_beliefs, beliefs = state
    for cell in range(len(support)):
        update_belief(
            cell, support, log_prior, tables.edges, plan.weight, log_messages,
            plan.placement_weight, log_odds, log_beliefs, beliefs,
        )  # fmt: skip


@njit(cache=True)
def _flood(state, tables, plan, work):
    """Renew the messages of all units from the same beliefs; return False at a contradiction."""
    support, choices, _, log_messages, _, log_beliefs, _ = state
    for unit in range(len(tables.units)):
        if not update_unit(
            unit, tables.units, support, choices, log_beliefs, log_messages, plan.rule,
            plan.damping, plan.floor, work,
        ):  # fmt: skip
            return False
    return True


@njit(cache=True)
def _residual_pass(state, tables, plan, residuals, work):
    """Renew U times the unit whose beliefs have moved the most; the last residual is padding."""
    support, choices, log_prior, log_messages, log_odds, log_beliefs, beliefs = state
    for _ in range(len(tables.units)):
        unit = np.argmax(residuals[:-1])
        if residuals[unit] == 0.0:
            return True
        if not update_unit(
            unit, tables.units, support, choices, log_beliefs, log_messages, plan.rule,
            plan.damping, plan.floor, work,
        ):  # fmt: skip
            return False
        for cell in tables.units[unit]:
            change = update_belief(
                cell, support, log_prior, tables.edges, plan.weight, log_messages,
                plan.placement_weight, log_odds, log_beliefs, beliefs,
            )  # fmt: skip
            for other in tables.cell_units[cell]:
                residuals[other] = max(residuals[other], change)
        residuals[unit] = 0.0
    return True


@njit(cache=True)
def _balance(state, tables, plan):
    """Balance the beliefs; from now on they are the prior of their cells."""
    support, _, log_prior, _, _, _, beliefs = state
    balance_board(beliefs, tables.units, SINKHORN_TOLERANCE, plan.sinkhorn_sweeps)
    for cell in range(len(support)):
        for digit in range(support.shape[1]):
            if support[cell, digit]:
                beliefs[cell, digit] = max(beliefs[cell, digit], np.exp(plan.floor))
                log_prior[cell, digit] = np.log(beliefs[cell, digit])


@njit(cache=True)
def _read(beliefs, tables, check, grid):
    """Read a grid off the beliefs; return True if it satisfies every unit."""
    if check == ARG_MAX:
        return _read_best(beliefs, tables.units, grid)
    count_cells = check == COVER_CHECK
    return read_grid(
        beliefs.copy(), tables.units, tables.cell_units, tables.peers, count_cells, grid
    )


@njit(cache=True)
def _read_best(beliefs, units, grid):
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
def _fix_surest(state):
    """Give the undecided cell of highest belief its digit, for good."""
    support, choices, _, _, _, _, beliefs = state
    best_cell, highest = -1, 0.0
    for cell in range(len(support)):
        if choices[cell] > 1 and np.max(beliefs[cell]) > highest:
            best_cell, highest = cell, np.max(beliefs[cell])
    digit = np.argmax(beliefs[best_cell])
    support[best_cell] = False
    support[best_cell, digit] = True
    choices[best_cell] = 1
    beliefs[best_cell] = 0.0
    beliefs[best_cell, digit] = 1.0
