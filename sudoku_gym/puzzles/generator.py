"""Make puzzles: draw a random solved grid, then remove givens while the solution stays unique.

Cells are tried in random order, many at a time first, then one by one; one whose removal allows a
second solution stays. Afterwards the puzzle is minimal, unless the node limit ended a search.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.intrinsics import lowest_bit, popcount
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.compiler.lanes import NUM_LANES
from sudoku_gym.compiler.random_stream import new_stream, next_below
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.difficulty import grade
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.solver.band_words import ban_candidate
from sudoku_gym.solver.chunks import in_chunks
from sudoku_gym.solver.cover_bits import (
    NO_RUNTIME_JIT,
    candidate_of,
    cover_tables,
    load_board,
    reset_weights,
)
from sudoku_gym.solver.depth_first import explore, new_searcher, rule_out_candidate, try_candidate
from sudoku_gym.solver.lane_search import lane_search, search_round, start_search

_FILL_NODES = 2_000
_TRIES = 100  # to fill a grid
_CHUNKS = 4  # so large a share of the cells is removed at once, first
_ONE = np.uint32(1)
_NOT_KNOWN = -1  # whether there are other solutions


def generate(
    count: int,
    geometry: Geometry,
    rng: np.random.Generator,
    *,
    givens: int = 0,
    node_limit: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> PuzzleSet:
    """Make puzzles, each with exactly one solution.

    Args:
        count: number of puzzles.
        geometry: geometry of the boards.
        rng: random generator of the grids and of the order of removal.
        givens: number of givens at which removal stops; 0 goes on until the puzzle is minimal. Not
            every grid has a puzzle with few givens: `.blanks` holds the numbers reached.
        node_limit: candidates to try in one proof of uniqueness; a given stays if it ends without
            a proof. None means 100,000 up to 9 digits, and 200 above.
        on_progress: called with the share that is done, 0 to 1.

    Returns:
        A graded PuzzleSet; `.minimal` says where minimality is proven.

    Raises:
        ValueError: if a number is out of range.
        RuntimeError: if no solved grid was found (a geometry that may have none).
    """
    if node_limit is None:
        node_limit = 100_000 if geometry.size <= 9 else 200
    if count < 0 or node_limit < 1 or not 0 <= givens <= geometry.num_cells:
        raise ValueError(
            f"count={count}, givens={givens}, node_limit={node_limit}: count must not be negative, "
            f"givens be 0 to {geometry.num_cells} and node_limit at least 1"
        )
    shape = (count, geometry.num_cells)
    puzzles, solutions = np.zeros(shape, np.int8), np.zeros(shape, np.int8)
    minimal = np.zeros(count, np.bool_)
    order = np.arange(geometry.num_cells)
    arguments = new_stream(rng), order, givens, node_limit, cover_tables(geometry)
    has_lanes = geometry == Geometry.standard(9)
    for part in in_chunks(count):
        outputs = puzzles[part], solutions[part], minimal[part]
        if has_lanes:
            made = _generate_in_lanes(lane_search(), *arguments, outputs)
        else:
            made = _generate(*arguments, outputs)
        if made < part.stop - part.start:
            raise RuntimeError(
                f"{geometry.name}: found no solved grid; check that its units allow one"
            )
        if on_progress is not None:
            on_progress(part.stop / count)
    boards = puzzles.reshape(count, geometry.size, geometry.size)
    return PuzzleSet(
        boards,
        solutions.reshape(boards.shape),
        geometry,
        "generated",
        grades=grade(boards, geometry),
        minimal=minimal,
    )


@njit(cache=True, nogil=True)
def _generate(stream, order, givens, node_limit, tables, outputs):
    """Fill the rows of (puzzles, solutions, minimal); return the number of puzzles made.

    `order` holds the cells, in an order from which the next one is shuffled.
    """
    puzzles, solutions, minimal = outputs
    searcher, dig = new_searcher(tables, node_limit), new_dig(1, len(order))
    for b in range(len(puzzles)):
        if not _draw(stream, searcher, order, solutions[b]):
            return b
        puzzles[b] = solutions[b]
        dig.order[0] = order
        start_dig(dig, 0, len(order), max(1, len(order) // _CHUNKS), puzzles[b])
        remove_givens(searcher, dig, 0, givens, puzzles[b], solutions[b])
        minimal[b] = is_minimal(dig, 0)
    return len(puzzles)


@njit(cache=True, nogil=True)
def _generate_in_lanes(search, stream, order, givens, node_limit, tables, outputs):
    """Do what `_generate` does, and make the same puzzles, for boards of `lane_search`."""
    puzzles, solutions, minimal = outputs
    searcher, dig = new_searcher(tables, node_limit), new_dig(NUM_LANES, len(order))
    index = np.full(NUM_LANES, -1, np.int64)
    started, active = 0, np.uint32(0)
    done = np.uint32((1 << NUM_LANES) - 1)
    while True:
        while done:
            lane = lowest_bit(done)
            b = index[lane]
            if b >= 0:
                conclude(dig, lane, others_of_lane(search, lane, dig), puzzles[b], solutions[b])
            while b < 0 or not remove_next(dig, lane, givens, puzzles[b], solutions[b]):
                if b >= 0:
                    minimal[b] = is_minimal(dig, lane)
                b = index[lane] = -1
                if started == len(puzzles):
                    break
                b = index[lane] = started
                started += 1
                if not _draw(stream, searcher, order, solutions[b]):
                    return b
                puzzles[b] = solutions[b]
                dig.order[lane] = order
                start_dig(dig, lane, len(order), max(1, len(order) // _CHUNKS), puzzles[b])
            if b >= 0:
                start_lane(search, lane, dig, puzzles, b, solutions)
                active |= _ONE << lane
            else:
                active &= ~(_ONE << lane)
            done ^= _ONE << lane
        if not active:
            return len(puzzles)
        done = search_round(search, active, node_limit, node_limit)


@njit(cache=True, nogil=True)
def _draw(stream, searcher, order, grid):
    """Draw a solved grid and shuffle the order of removal; return False if no grid was found."""
    for _ in range(_TRIES):
        if _fill(stream, searcher.workspace, grid, searcher.scratch[2], searcher.tables):
            break
    else:
        return False
    for i in range(len(order) - 1, 0, -1):
        j = next_below(stream, i + 1)
        order[i], order[j] = order[j], order[i]
    return True


@njit(**NO_RUNTIME_JIT)
def _fill(stream, workspace, grid, no_bans, tables):
    """Search for a random solved grid; return False if the node limit came first."""
    stack, num_filled = workspace.stack, workspace.num_filled
    for cell in range(len(grid)):
        grid[cell] = 0
    depth = 0
    state = load_board(workspace, grid, no_bans, grid, tables)
    for _ in range(_FILL_NODES):
        if state >= 0 and num_filled[depth] == len(grid):
            return True
        if state >= 0:
            item = _random_item(stream, stack[depth])
            mask = stack[depth, item]
            for _ in range(next_below(stream, popcount(mask))):
                mask &= mask - np.uint32(1)
            cell, digit_index = candidate_of(item, lowest_bit(mask), tables)
            state = try_candidate(workspace, depth, cell, digit_index, grid, tables)
            depth += 1
        elif depth == 0:
            return False
        else:
            depth -= 1
            state = rule_out_candidate(workspace, depth, grid, tables)
    return False


@njit(**NO_RUNTIME_JIT)
def _random_item(stream, items):
    """Return an open item with the fewest bits, the first one from a random index on."""
    fewest, best = np.uint32(99), np.uint32(0)
    offset = np.uint32(next_below(stream, len(items)))
    for k in range(np.uint32(len(items))):
        item = offset + k if offset + k < len(items) else offset + k - np.uint32(len(items))
        bits = popcount(items[item])
        if 0 < bits < fewest:
            fewest, best = bits, item
            if bits == 2:
                break
    return best


class Dig(NamedTuple):
    """How far the removal of givens has come, for each of L puzzles."""

    order: NDArray[np.int64]  # [L, N**2], the cells to try
    num_cells: NDArray[np.int64]  # [L], how many these are
    start: NDArray[np.int64]  # [L], those before it are done
    stop: NDArray[np.int64]  # [L], those from `start` to it have been removed and are in question
    chunk: NDArray[np.int64]  # [L], cells to remove at once
    givens: NDArray[np.int64]  # [L], number of givens, with those in question
    proven: NDArray[np.bool_]  # [L], whether each given that was put back alone is needed


@njit(cache=True, nogil=True)
def new_dig(puzzles, cells):
    """Allocate what the removal of up to `cells` cells needs, for a number of puzzles."""
    count, start, stop, chunk, givens = np.zeros((5, puzzles), np.int64)
    order, proven = np.zeros((puzzles, cells), np.int64), np.ones(puzzles, np.bool_)
    return Dig(order, count, start, stop, chunk, givens, proven)


@njit(**NO_RUNTIME_JIT)
def start_dig(dig, k, count, chunk, puzzle):
    """Begin with puzzle k, int8 `[N**2]`; the first of `dig.order[k]`, all filled, are tried."""
    dig.num_cells[k], dig.start[k], dig.chunk[k], dig.proven[k] = count, 0, chunk, True
    dig.givens[k] = 0
    for cell in range(len(puzzle)):
        dig.givens[k] += puzzle[cell] != 0


@njit(**NO_RUNTIME_JIT)
def remove_next(dig, k, least, puzzle, solution):
    """Remove the next cells of puzzle k, while `least` givens stay; returns False at the end."""
    while dig.start[k] < dig.num_cells[k] and dig.givens[k] > least:
        dig.stop[k] = min(dig.start[k] + dig.chunk[k], dig.num_cells[k])
        for i in range(dig.start[k], dig.stop[k]):
            puzzle[dig.order[k, i]] = 0
        if dig.givens[k] - (dig.stop[k] - dig.start[k]) >= least:
            return True
        conclude(dig, k, _NOT_KNOWN, puzzle, solution)
    return False


@njit(**NO_RUNTIME_JIT)
def conclude(dig, k, others, puzzle, solution):
    """Put the cells in question back if there are other solutions, or it isn't known (negative).

    After several cells fewer are tried, so that a single one ends it.
    """
    if others == 0:
        dig.givens[k] -= dig.stop[k] - dig.start[k]
        dig.start[k] = dig.stop[k]
        return
    for i in range(dig.start[k], dig.stop[k]):
        puzzle[dig.order[k, i]] = solution[dig.order[k, i]]
    if dig.chunk[k] > 1:
        dig.chunk[k] //= 2
    else:
        dig.proven[k] = dig.proven[k] and others > 0
        dig.start[k] = dig.stop[k]


@inlined
def is_minimal(dig, k):
    """Return whether all cells of puzzle k were tried, and all that are left are needed."""
    return dig.proven[k] and dig.start[k] == dig.num_cells[k]


@inlined
def single_cell(dig, k):
    """Return the cell of puzzle k in question, or -1 if there are several."""
    return dig.order[k, dig.start[k]] if dig.stop[k] - dig.start[k] == 1 else -1


@njit(**NO_RUNTIME_JIT)
def remove_givens(searcher, dig, k, least, puzzle, solution):
    """Remove what can be removed from puzzle k, which has been started, to `least` givens."""
    reset_weights(searcher.workspace)
    while remove_next(dig, k, least, puzzle, solution):
        others = count_other_solutions(searcher, single_cell(dig, k), puzzle, solution)
        conclude(dig, k, others, puzzle, solution)


@njit(**NO_RUNTIME_JIT)
def count_other_solutions(searcher, removed, puzzle, solution):
    """Count solutions besides the known one, up to 1; negative if the node limit came first.

    `removed` is the only cell in which they can differ from it in a given of before, or -1. In that
    cell its digit is banned, and the solution that is found is left in `searcher.scratch[1]`.
    """
    workspace, scratch, tables, node_limit = searcher
    filled, other, banned = scratch[0], scratch[1], scratch[2]
    known = 1 if removed < 0 else 0
    if removed >= 0:
        banned[removed] = solution[removed]
    state = load_board(workspace, puzzle, banned, filled, tables)
    if removed >= 0:
        banned[removed] = 0
    if state < 0:
        return 0
    found = explore(workspace, 1 + known, node_limit, filled, other, tables)[0]
    return found - known if found > 0 else found


@inlined
def start_lane(search, lane, dig, puzzles, index, solutions):
    """Let a lane look for other solutions of puzzle `index`, whose dig has the lane's number."""
    cell = single_cell(dig, lane)
    start_search(search, lane, puzzles, index, 2 if cell < 0 else 1)
    if cell >= 0:
        ban_candidate(search.rows, lane, cell, solutions[index, cell])


@inlined
def others_of_lane(search, lane, dig):
    """Return what `count_other_solutions` does, of a lane that is done."""
    state = search.lanes[lane]
    if not state.decided:
        return _NOT_KNOWN
    return state.found - (1 if single_cell(dig, lane) < 0 else 0)
