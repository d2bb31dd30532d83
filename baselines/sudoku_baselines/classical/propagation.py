"""Constraint propagation and search: the digits still possible in each cell, kept arc-consistent.

A cell left with one digit takes it away from its peers, until nothing changes; then a cell is
chosen and its digits are tried in ascending order. Hidden singles are not looked for, as in the
paper.

Paper: Panchal, "Sudoku solving AI agents", Algorithm 3. Its pseudo-code sorts the *values* by
degree; its text defines the degree heuristic for *variables*, as is usual and as done here.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

import numpy as np

from sudoku_baselines.classical.tree_search import FOUND, LIMIT_REACHED, NO_SOLUTION, TreeSearch
from sudoku_gym.compiler.intrinsics import lowest_bit, popcount
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry

Heuristic = Literal["degree", "mrv", "first"]
HEURISTICS: tuple[Heuristic, ...] = get_args(Heuristic)
_DEGREE, _MRV, _FIRST = range(3)
_ONE = np.uint32(1)


@njit(cache=True)
def _propagate(domain, queue, tail, peers):
    """Eliminate from peers what the queued cells hold; return the length of the queue, or -1.

    `domain` uint32 `[N**2]` has a bit for each digit left in a cell, `queue[:tail]` the cells that
    have one digit left since the last call.
    """
    head = 0
    while head < tail:
        cell = queue[head]
        head += 1
        bit = domain[cell]
        for k in range(peers.shape[1]):
            peer = peers[cell, k]
            if peer != cell and domain[peer] & bit:
                left = domain[peer] ^ bit
                if left == 0:
                    return -1
                domain[peer] = left
                if left & (left - _ONE) == 0:
                    queue[tail] = peer
                    tail += 1
    return tail


@njit(cache=True)
def _set_up(grid, domain, queue, peers):
    """Give cells their given, or all digits (lines 1-10); return the cells decided, or -1."""
    domain[:] = (_ONE << np.uint32(np.sqrt(len(grid)))) - _ONE
    givens = 0
    for cell in range(len(grid)):
        if grid[cell] > 0:
            domain[cell] = _ONE << np.uint32(grid[cell] - 1)
            queue[givens] = cell
            givens += 1
    decided = _propagate(domain, queue, givens, peers)
    return -1 if decided < 0 else decided - givens


@njit(cache=True)
def _select(domain, peers, heuristic):
    """Return the open cell whose digits are tried next (lines 11-16), or -1 if there is none."""
    best, fewest, degree = -1, np.uint32(99), 0
    for cell in range(len(domain)):
        left = popcount(domain[cell])
        if left == 1 or left > fewest:
            continue
        if heuristic == _FIRST:
            return cell
        affected = _open_peers(domain, peers, cell) if heuristic == _DEGREE else 0
        if left < fewest or affected > degree:
            best, fewest, degree = cell, left, affected
    return best


@njit(cache=True)
def _open_peers(domain, peers, cell):
    """Return how many open cells share a unit with a cell: its degree."""
    count = 0
    for k in range(peers.shape[1]):
        if peers[cell, k] != cell and popcount(domain[peers[cell, k]]) > 1:
            count += 1
    return count


@njit(cache=True)
def _search(space, peers, heuristic, counts, node_limit):
    """Try digits until every cell has one left; return the outcome.

    `domains[depth]` is what is possible after `depth` tried digits; `cells[depth]` is the cell
    whose digits are being tried there, `untried[depth]` has a bit for each that is left.
    """
    domains, cells, untried, queue = space
    nodes, depth, assignments = counts.nodes, counts.depth, counts.assignments
    outcome = FOUND
    while cells[depth] >= 0:
        if untried[depth] == 0:  # every digit leads to a contradiction: backtrack
            if depth == 0:
                outcome = NO_SOLUTION  # line 17
                break
            depth -= 1
            continue
        if nodes == node_limit:
            outcome = LIMIT_REACHED
            break
        nodes += 1
        bit = untried[depth] & ~(untried[depth] - _ONE)
        untried[depth] ^= bit
        domain = domains[depth + 1]
        domain[:] = domains[depth]
        domain[cells[depth]] = bit
        queue[0] = cells[depth]
        decided = _propagate(domain, queue, 1, peers)
        if decided > 0:
            assignments += decided
            depth += 1
            cells[depth] = _select(domain, peers, heuristic)
            if cells[depth] >= 0:
                untried[depth] = domain[cells[depth]]
        else:
            assignments += 1
    counts.nodes, counts.depth, counts.assignments = nodes, depth, assignments
    return outcome


@njit(cache=True, nogil=True)
def _search_all(grids, outcomes, counts, node_limit, tables, space):
    peers, heuristic = tables
    domains, cells, untried, queue = space
    for b in range(len(grids)):
        decided = _set_up(grids[b], domains[0], queue, peers)
        if decided < 0:
            outcomes[b] = NO_SOLUTION
            continue
        counts[b].assignments = decided
        cells[0] = _select(domains[0], peers, heuristic)
        if cells[0] >= 0:
            untried[0] = domains[0, cells[0]]
        outcomes[b] = _search(space, peers, heuristic, counts[b], node_limit)
        if outcomes[b] == FOUND:
            domain = domains[counts[b].depth]
            for cell in range(len(domain)):
                grids[b, cell] = lowest_bit(domain[cell]) + 1


class Propagation(TreeSearch):
    """Algorithm 3 as a solver; assignments are digits tried and cells left with one digit.

    `heuristic` is which cell is branched on. `"degree"`: one with the fewest digits left; among
    these the one with the most open peers, the paper's best form. `"mrv"`: the first one with the
    fewest digits left. `"first"`: the first open cell in reading order. ValueError if unknown; for
    the limit see `TreeSearch`.
    """

    default_node_limit: ClassVar[int] = 1_000_000
    _kernel = staticmethod(_search_all)

    def __init__(self, node_limit: int | None = None, heuristic: Heuristic = "degree") -> None:
        super().__init__(node_limit)
        self._heuristic = HEURISTICS.index(heuristic)

    def _prepare(self, geometry: Geometry) -> tuple[Any, Any]:
        cells = geometry.num_cells
        domains = np.zeros((cells + 1, cells), np.uint32)
        order, untried = np.zeros(cells + 1, np.int64), np.zeros(cells + 1, np.uint32)
        space = (domains, order, untried, np.zeros(cells, np.int64))
        return (geometry.peers, self._heuristic), space
