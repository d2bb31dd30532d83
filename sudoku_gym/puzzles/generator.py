"""Make puzzles: draw a random solved grid, then remove givens while the solution stays unique.

Cells are tried in random order, many at a time first, then one by one; one whose removal allows a
second solution stays. Afterwards the puzzle is minimal, unless the node limit ended a search.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.intrinsics import lowest_bit, popcount
from sudoku_gym.compiler.jit import njit
from sudoku_gym.compiler.random_stream import new_stream, next_below
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.difficulty import grade
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.solver.cover_bits import (
    NO_RUNTIME_JIT,
    candidate_of,
    cover_tables,
    load_board,
    reset_weights,
)
from sudoku_gym.solver.depth_first import explore, new_searcher, rule_out_candidate, try_candidate

Pattern = Literal["none", "rotation", "horizontal", "vertical", "diagonal"]

_FILL_NODES = 2_000


def generate(
    count: int,
    geometry: Geometry,
    rng: np.random.Generator,
    *,
    givens: int = 0,
    pattern: Pattern = "none",
    node_limit: int | None = None,
) -> PuzzleSet:
    """Make puzzles, each with exactly one solution.

    Args:
        count: number of puzzles.
        geometry: geometry of the boards.
        rng: random generator of the grids and of the order of removal.
        givens: number of givens at which removal stops; 0 goes on until the puzzle is minimal. Not
            every grid has a puzzle with few givens: `.blanks` holds the numbers reached.
        pattern: keep the givens symmetric: under a half turn, a reflection of the rows or of the
            columns, or the main diagonal. Such a puzzle is minimal for its pattern only.
        node_limit: candidates to try in one proof of uniqueness; a given stays if it ends without
            a proof. None means 100,000 up to 9 digits, and 200 above.

    Returns:
        A graded PuzzleSet; `.minimal` says where minimality is proven.

    Raises:
        ValueError: if a number is out of range or the pattern has no such name.
        RuntimeError: if no solved grid was found (a geometry that may have none).
    """
    if node_limit is None:
        node_limit = 100_000 if geometry.size <= 9 else 200
    if count < 0 or node_limit < 1 or not 0 <= givens <= geometry.num_cells:
        raise ValueError(
            f"count={count}, givens={givens}, node_limit={node_limit}: count must not be negative, "
            f"givens be 0 to {geometry.num_cells} and node_limit at least 1"
        )
    groups = _cell_groups(geometry, pattern)
    shape = (count, geometry.num_cells)
    puzzles, solutions = np.zeros(shape, np.int8), np.zeros(shape, np.int8)
    minimal = np.zeros(count, np.bool_)
    tables = cover_tables(geometry)
    stream = new_stream(rng)
    outputs = puzzles, solutions, minimal
    if _generate(stream, groups, givens, node_limit, tables, outputs) < count:
        raise RuntimeError(f"{geometry.name}: found no solved grid; check that its units allow one")
    boards = puzzles.reshape(count, geometry.size, geometry.size)
    return PuzzleSet(
        boards,
        solutions.reshape(boards.shape),
        geometry,
        "generated",
        grades=grade(boards, geometry),
        minimal=minimal & (pattern == "none"),
    )


def random_grids(count: int, geometry: Geometry, rng: np.random.Generator) -> NDArray[np.int8]:
    """Make solved grids by random search: int8 `[count, N, N]`. Not exactly uniform.

    Raises:
        RuntimeError: if no solved grid was found.
    """
    return generate(count, geometry, rng, givens=geometry.num_cells).solutions


def _cell_groups(geometry: Geometry, pattern: str) -> NDArray[np.int64]:
    """Return the cells that must be dug together, int64 `[G, 2]`; a single cell stands twice."""
    cells = np.arange(geometry.num_cells).reshape(geometry.size, geometry.size)
    images = {
        "none": cells,
        "rotation": cells[::-1, ::-1],
        "horizontal": cells[::-1],
        "vertical": cells[:, ::-1],
        "diagonal": cells.T,
    }
    if pattern not in images:
        raise ValueError(f"no pattern is called {pattern!r}: use one of {', '.join(images)}")
    pairs = np.stack([cells.ravel(), images[pattern].ravel()], axis=1)
    return np.ascontiguousarray(pairs[pairs[:, 0] <= pairs[:, 1]])


@njit(cache=True, nogil=True)
def _generate(stream, groups, givens, node_limit, tables, outputs):
    """Fill the rows of (puzzles, solutions, minimal); return the number of puzzles made."""
    puzzles, solutions, minimal = outputs
    searcher = new_searcher(tables, node_limit)
    order = groups.copy()
    for b in range(len(puzzles)):
        for _ in range(100):
            if _fill(stream, searcher.workspace, solutions[b], searcher.scratch[2], tables):
                break
        else:
            return b
        for i in range(len(order) - 1, 0, -1):
            j = next_below(stream, i + 1)
            for k in range(2):
                order[i, k], order[j, k] = order[j, k], order[i, k]
        puzzles[b] = solutions[b]
        chunk = max(1, len(order) // 4)
        minimal[b] = dig(searcher, order, chunk, givens, puzzles[b], solutions[b])
    return len(puzzles)


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


@njit(**NO_RUNTIME_JIT)
def dig(searcher, order, chunk, givens, puzzle, solution):
    """Remove groups of cells from `puzzle`, int8 `[N**2]`, in order, where it stays unique.

    `order`, int64 `[G, 2]`, holds the groups, a single cell twice. `chunk` of them are tried at
    once; it is halved when that fails. Returns whether all groups were tried and no group left in
    the puzzle can be removed.
    """
    reset_weights(searcher.workspace)
    num_givens = 0
    for cell in range(len(puzzle)):
        num_givens += puzzle[cell] != 0
    proven = True
    i = 0
    while i < len(order) and num_givens > givens:
        stop = min(i + chunk, len(order))
        removed = 0
        for g in range(i, stop):
            for k in range(2):
                removed += puzzle[order[g, k]] != 0
                puzzle[order[g, k]] = 0
        allowed = num_givens - removed >= givens
        others = 2
        if allowed:
            others = count_other_solutions(searcher, order[i:stop], puzzle, solution)
        if others == 0:
            num_givens -= removed
            i = stop
            continue
        for g in range(i, stop):
            for k in range(2):
                puzzle[order[g, k]] = solution[order[g, k]]
        if chunk > 1:
            chunk = chunk // 2
        else:
            proven = proven and others > 0 and allowed
            i = stop
    return proven and i == len(order)


@njit(**NO_RUNTIME_JIT)
def count_other_solutions(searcher, removed, puzzle, solution):
    """Count solutions besides the known one, up to 1; negative if the node limit came first.

    They differ in a cell just removed, so for a single cell the known digit is banned there; the
    one that is found is then left in `searcher.scratch[1]`.
    """
    workspace, scratch, tables, node_limit = searcher
    filled, other, banned = scratch[0], scratch[1], scratch[2]
    is_single = len(removed) == 1 and removed[0, 0] == removed[0, 1]
    cell = removed[0, 0]
    banned[cell] = solution[cell] if is_single else 0
    state = load_board(workspace, puzzle, banned, filled, tables)
    banned[cell] = 0
    if state < 0:
        return 0
    known = 0 if is_single else 1
    found = explore(workspace, 1 + known, node_limit, filled, other, tables)[0]
    return found - known if found > 0 else found
