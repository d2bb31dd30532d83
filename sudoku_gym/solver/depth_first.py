"""Depth-first search on the exact cover, compiled.

A candidate is tried in a copy of the node and, if that fails, ruled out in the node itself. It is
taken from an item with few bits left that has often failed, as in Boussemart et al., "Boosting
systematic search by weighting constraints" (ECAI 2004).
"""

# mypy: disable-error-code="no-untyped-def,call-arg"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.intrinsics import lowest_bit, popcount
from sudoku_gym.compiler.jit import njit
from sudoku_gym.solver.cover_bits import (
    BLOCK,
    DIGIT,
    FAILED,
    INNER,
    SHIFT,
    CoverTables,
    candidate_of,
    load_board,
    new_space,
    propagate,
    remove_candidate,
    reset_weights,
)

UNDECIDED = -1
_EXPONENT = np.int32(23)  # where the exponent of a float32 starts
_SHORT, _LONG = 100, 1_000  # tries before the first restart, and where restarts get rare


class Searcher(NamedTuple):
    """What searches of many boards share."""

    space: Any  # see `new_space`
    scratch: NDArray[np.int8]  # [4, N**2]: digits filled in, first solution, zeros, free
    tables: CoverTables
    node_limit: int


@njit(cache=True, nogil=True)
def new_searcher(tables, node_limit):
    """Allocate what searches of up to `node_limit` candidates need."""
    scratch = np.zeros((4, len(tables.first_item)), np.int8)
    return Searcher(new_space(tables), scratch, tables, node_limit)


@njit(**INNER)
def _score(mask, weight):
    """Rate an item for branching: its weight, halved for each bit; -1 if it is covered.

    Weights are positive floats read as int32, which compare alike; 1 off the exponent halves.
    """
    bits = np.int32(popcount(mask))
    return weight - (bits << _EXPONENT) if bits else np.int32(-1)


@njit(**INNER)
def _best_score(items, weights):
    """Return the best score of a block; a plain loop of fixed length, which compiles to SIMD."""
    best = np.int32(-1)
    for k in range(BLOCK):
        best = max(best, _score(items[k], weights[k]))
    return best


@njit(**INNER)
def _choose(items, weights):
    """Return the open item with the best score."""
    best, start = np.int32(-1), 0
    for block in range(0, len(items), BLOCK):
        score = _best_score(items[block : block + BLOCK], weights[block : block + BLOCK])
        if score > best:
            best, start = score, block
    for item in range(start, start + BLOCK):
        if _score(items[item], weights[item]) == best:
            return np.uint32(item)
    return np.uint32(start)


@njit(**INNER)
def try_candidate(space, depth, cell, digit, work, tables):
    """Try a candidate in a copy of node `depth`, one deeper; returns what `propagate` returns."""
    stack, num_filled, tried, queue, _, _ = space
    tried[depth] = cell << SHIFT | digit
    for item in range(stack.shape[1]):
        stack[depth + 1, item] = stack[depth, item]
    queue[0] = tried[depth]
    more = propagate(stack[depth + 1], queue, 1, work, tables)
    num_filled[depth + 1] = num_filled[depth] + more
    return more


@njit(**INNER)
def rule_out_candidate(space, depth, work, tables):
    """Rule out for good what was tried at node `depth`; returns what `try_candidate` returns."""
    stack, num_filled, tried, queue, _, _ = space
    cell, digit = tried[depth] >> SHIFT, tried[depth] & DIGIT
    tail = remove_candidate(stack[depth], queue, 0, cell, digit, tables)
    more = tail if tail < 0 else propagate(stack[depth], queue, tail, work, tables)
    num_filled[depth] += more
    return more


@njit(**INNER)
def explore(space, limit, node_limit, work, first, tables):
    """Search below the root of `space` for up to `limit` solutions; the first goes into `first`.

    Until one is found the search restarts after 100 tries, 200, 400, 800 and 1,600 more, with the
    weights it has learnt, and then hardly ever: an early mistake can hide all of many solutions,
    but a proof of uniqueness must not be broken off. `work` holds the digits filled in so far.
    Returns the solutions found, or `-1 - found` at the node limit, and the candidates tried.
    """
    stack, num_filled, _, _, _, weights = space
    ratings = weights.view(np.int32)
    cells = len(tables.first_item)
    found, nodes, depth = 0, 0, 0
    span, restart = _SHORT, _SHORT
    state = np.int64(0)
    while True:
        if state < 0:
            weights[-1 - state] += np.float32(1)
        elif num_filled[depth] == cells:
            if found == 0:
                for cell in range(cells):
                    first[cell] = work[cell]
            found += 1
            state = np.int64(FAILED)
        if state < 0:
            if depth == 0 or found >= limit:
                return found, nodes
            depth -= 1
            state = rule_out_candidate(space, depth, work, tables)
            continue
        if found == 0 and nodes >= restart:
            depth = 0
            span *= 2 if span < _LONG else 40
            restart = nodes + span
        if nodes >= node_limit:
            return UNDECIDED - found, nodes
        nodes += 1
        item = _choose(stack[depth], ratings)
        cell, digit = candidate_of(item, lowest_bit(stack[depth, item]), tables)
        state = try_candidate(space, depth, cell, digit, work, tables)
        depth += 1


@njit(cache=True, nogil=True)
def search_boards(boards, limit, node_limit, tables, solutions, counts, nodes):
    """Search each board of int8 `[B, N**2]`; write `explore`'s results, solutions over zeros."""
    space = new_space(tables)
    work, nothing = np.empty(boards.shape[1], np.int8), np.zeros(boards.shape[1], np.int8)
    for b in range(len(boards)):
        counts[b], nodes[b] = 0, 0
        if load_board(space, boards[b], nothing, work, tables) >= 0:
            reset_weights(space)
            counts[b], nodes[b] = explore(space, limit, node_limit, work, solutions[b], tables)
