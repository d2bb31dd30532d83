"""Depth-first search on the exact cover, compiled.

A candidate is tried in a copy of the node and, if that fails, ruled out in the node itself. It is
taken from an item with few bits left that has often failed, as in Boussemart et al., "Boosting
systematic search by weighting constraints" (ECAI 2004).
"""

# mypy: disable-error-code="no-untyped-def,call-arg"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.intrinsics import lowest_bit, popcount
from sudoku_gym.compiler.jit import njit
from sudoku_gym.solver.cover_bits import (
    DIGIT_BITS,
    DIGIT_MASK,
    FAILED,
    NO_RUNTIME_JIT,
    SIMD_BLOCK,
    CoverTables,
    Workspace,
    allocate_workspace,
    candidate_of,
    load_board,
    propagate,
    remove_candidate,
    reset_weights,
)

UNDECIDED = -1
_EXPONENT = np.int32(23)  # where the exponent of a float32 starts
_SHORT, _LONG = 100, 1_000  # tries before the first restart, and where restarts get rare


class Searcher(NamedTuple):
    """The arrays and the limits that the searches of many boards share."""

    workspace: Workspace
    scratch: NDArray[np.int8]  # [4, N**2]: cells filled so far, first solution, zeros, free
    tables: CoverTables
    node_limit: int


@njit(cache=True, nogil=True)
def new_searcher(tables, node_limit):
    """Allocate what searches of up to `node_limit` candidates need."""
    scratch = np.zeros((4, len(tables.first_item)), np.int8)
    return Searcher(allocate_workspace(tables), scratch, tables, node_limit)


@njit(**NO_RUNTIME_JIT)
def _score(mask, weight):
    """Rate an item for branching: its weight, halved for each bit; -1 if it is covered.

    Weights are positive floats read as int32, which compare alike; 1 off the exponent halves.
    """
    bits = np.int32(popcount(mask))
    return weight - (bits << _EXPONENT) if bits else np.int32(-1)


@njit(**NO_RUNTIME_JIT)
def _best_score(items, weights):
    """Return the best score of a block; a plain loop of fixed length, which compiles to SIMD."""
    best = np.int32(-1)
    for k in range(SIMD_BLOCK):
        best = max(best, _score(items[k], weights[k]))
    return best


@njit(**NO_RUNTIME_JIT)
def _choose(items, weights):
    """Return the open item with the best score."""
    best, start = np.int32(-1), 0
    for block in range(0, len(items), SIMD_BLOCK):
        end = block + SIMD_BLOCK
        score = _best_score(items[block:end], weights[block:end])
        if score > best:
            best, start = score, block
    for item in range(start, start + SIMD_BLOCK):
        if _score(items[item], weights[item]) == best:
            return np.uint32(item)
    return np.uint32(start)


@njit(**NO_RUNTIME_JIT)
def try_candidate(workspace, depth, cell, digit_index, solution, tables):
    """Try a candidate in a copy of node `depth`, one deeper; returns what `propagate` returns."""
    stack, num_filled, queue = workspace.stack, workspace.num_filled, workspace.queue
    workspace.tried_candidate[depth] = cell << DIGIT_BITS | digit_index
    for item in range(stack.shape[1]):
        stack[depth + 1, item] = stack[depth, item]
    queue[0] = workspace.tried_candidate[depth]
    more = propagate(stack[depth + 1], queue, 1, solution, tables)
    num_filled[depth + 1] = num_filled[depth] + more
    return more


@njit(**NO_RUNTIME_JIT)
def rule_out_candidate(workspace, depth, solution, tables):
    """Remove the candidate tried at node `depth` from it; returns what `propagate` returns."""
    node, queue, candidate = (
        workspace.stack[depth],
        workspace.queue,
        workspace.tried_candidate[depth],
    )
    cell, digit_index = candidate >> DIGIT_BITS, candidate & DIGIT_MASK
    tail = remove_candidate(node, queue, 0, cell, digit_index, tables)
    more = tail if tail < 0 else propagate(node, queue, tail, solution, tables)
    workspace.num_filled[depth] += more
    return more


@njit(**NO_RUNTIME_JIT)
def explore(workspace, limit, node_limit, solution, first_solution, tables):
    """Search below the root for up to `limit` solutions; write the first to `first_solution`.

    Until one is found the search restarts after 100 tries, 200, 400, 800 and 1,600 more, with the
    weights it has learnt, and then hardly ever: an early mistake can hide all of many solutions,
    but a proof of uniqueness must not be broken off. `solution` holds the cells filled so far.
    Returns the number of solutions found, or `-1 - found` at the node limit, and the number of
    candidates tried.
    """
    stack, num_filled = workspace.stack, workspace.num_filled
    conflict_weights = workspace.conflict_weights
    weights_as_int = conflict_weights.view(np.int32)
    cells = len(tables.first_item)
    found, nodes, depth = 0, 0, 0
    span, restart = _SHORT, _SHORT
    state = np.int64(0)
    while True:
        if state < 0:
            conflict_weights[-1 - state] += np.float32(1)
        elif num_filled[depth] == cells:
            if found == 0:
                for cell in range(cells):
                    first_solution[cell] = solution[cell]
            found += 1
            state = np.int64(FAILED)
        if state < 0:
            if depth == 0 or found >= limit:
                return found, nodes
            depth -= 1
            state = rule_out_candidate(workspace, depth, solution, tables)
            continue
        if found == 0 and nodes >= restart:
            depth = 0
            span *= 2 if span < _LONG else 40
            restart = nodes + span
        if nodes >= node_limit:
            return UNDECIDED - found, nodes
        nodes += 1
        item = _choose(stack[depth], weights_as_int)
        cell, digit_index = candidate_of(item, lowest_bit(stack[depth, item]), tables)
        state = try_candidate(workspace, depth, cell, digit_index, solution, tables)
        depth += 1


@njit(cache=True, nogil=True)
def search_boards(boards, limit, node_limit, tables, solutions, found, decided, nodes):
    """Search each board of int8 `[B, N**2]`; write its first solution, or zeros, and numbers.

    `found` and `nodes`, int64 `[B]`, are the solutions found and the candidates tried; `decided`,
    bool `[B]`, is False where the node limit ended the search.
    """
    workspace = allocate_workspace(tables)
    solution, no_bans = np.empty(boards.shape[1], np.int8), np.zeros(boards.shape[1], np.int8)
    for b in range(len(boards)):
        solutions[b], found[b], nodes[b] = 0, 0, 0
        if load_board(workspace, boards[b], no_bans, solution, tables) >= 0:
            reset_weights(workspace)
            found[b], nodes[b] = explore(
                workspace, limit, node_limit, solution, solutions[b], tables
            )
        decided[b] = found[b] >= 0
        if not decided[b]:
            found[b] = UNDECIDED - found[b]
