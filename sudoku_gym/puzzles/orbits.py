"""Which boards are the same up to symmetry: canonical keys, and what the banks hold of a list.

Small groups are enumerated. For large ones (9x9: 3,359,232) the cells, units and digits of a board
become a graph, which igraph labels canonically (Junttila and Kaski, "Engineering an efficient
canonical labeling tool", ALENEX 2007).
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym import board, plugins
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.symmetry import MAX_LISTED, canonical_form, group_order
from sudoku_gym.puzzles import banks
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

_CELL, _LINE, _UNIT, _DIGIT = range(4)


def same_orbit(a: ArrayLike, b: ArrayLike, geometry: Geometry | None = None) -> bool:
    """Return whether a symmetry of the geometry turns board `a` into board `b`, int `[N, N]` each.

    Raises:
        ValueError: if the boards have a wrong shape or digit, or different sizes.
        ModuleNotFoundError: if the geometry has many symmetries and igraph is not installed.
    """
    first, second = canonical_keys(np.stack([a, b]), geometry)
    return bool(first == second)


def canonical_keys(boards: ArrayLike, geometry: Geometry | None = None) -> NDArray[np.uint64]:
    """Return a number for each board that is the same for all boards of an orbit: uint64 `[B]`."""
    flat, geometry = board.flat_boards(boards, geometry)
    if group_order(geometry) <= MAX_LISTED:
        forms = [form.tobytes() for form in canonical_form(flat, geometry)]
    else:
        forms = [_graph_form(cells, geometry) for cells in flat]
    digests = [blake2b(form, digest_size=8).digest() for form in forms]
    return np.frombuffer(b"".join(digests), np.uint64).copy()


def find_in_training(puzzle_set: PuzzleSet) -> NDArray[np.bool_]:
    """Return which puzzles are in the training split of a bank up to symmetry, bool `[M]`.

    All banks with the geometry of the set count; from 9x9 up the solutions are compared. It takes
    about 3 ms a puzzle.
    """
    geometry = puzzle_set.geometry
    names = [name for name in banks.SPLIT_NAMES if banks.named_geometry(name) == geometry]
    found = np.zeros(len(puzzle_set), np.bool_)
    if names:
        keys = canonical_keys(puzzle_set.orbit_boards, geometry)
        for name in names:
            found |= _splits_of(keys, name) == banks.SPLITS.index("train")
    return found


def _splits_of(keys: NDArray[np.uint64], name: str) -> NDArray[np.int8]:
    """Return the split of each key in a bank, int8 `[B]`: index into `SPLITS`, -1 for none."""
    representatives, splits, known = banks.orbits_of(name)
    geometry = banks.named_geometry(name)
    if not np.array_equal(canonical_keys(representatives[:1], geometry), known[:1]):
        known = canonical_keys(representatives, geometry)  # another igraph labels otherwise
    order = np.argsort(known)
    places = np.minimum(np.searchsorted(known, keys, sorter=order), len(known) - 1)
    found = order[places]
    return np.where(known[found] == keys, splits[found], np.int8(-1))


def _graph_form(cells: NDArray[np.int8], geometry: Geometry) -> bytes:
    """Return the edges of the board's graph, its vertices numbered canonically."""
    with plugins.suggest_extra("comparing boards of this geometry up to symmetry"):
        import igraph
    edges, colors = _graph(cells, geometry)
    graph = igraph.Graph(n=len(colors), edges=edges.tolist())
    canonical = graph.permute_vertices(graph.canonical_permutation(color=colors.tolist()))
    renamed = np.sort(np.array(canonical.get_edgelist(), np.int32), axis=1)
    return renamed[np.lexsort(renamed.T[::-1])].tobytes()


def _graph(
    cells: NDArray[np.int8], geometry: Geometry
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Join each cell to its units and each given to its digit: edges `[E, 2]`, colours `[V]`."""
    size, units = geometry.size, geometry.units
    unit_vertices = geometry.num_cells + np.arange(len(units))
    digit_vertices = geometry.num_cells + len(units) + np.arange(size)
    givens = np.flatnonzero(cells)
    edges = np.concatenate(
        [
            np.stack([units.ravel(), np.repeat(unit_vertices, size)], axis=1),
            np.stack([givens, digit_vertices[cells[givens] - 1]], axis=1),
        ]
    )
    kinds = [_CELL, _LINE, _UNIT, _DIGIT]
    counts = [geometry.num_cells, 2 * size, len(units) - 2 * size, size]
    return edges, np.repeat(kinds, counts)
