"""The arrays that hold the state of many boards, and the tables kernels read of a geometry.

Kernels take whole arrays with an index b, `borrowed` arrays and uint64 indices, and plain tuples
as arguments; docs/design.md gives the reasons.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry

# columns of `BoardState.counts`; STUCK: blank cells without a candidate
BLANKS, CANDIDATES, STUCK, SATISFIED, NUM_COUNTS = range(5)


class BoardState(NamedTuple):
    """The state of B boards, of which board b has row b of each array."""

    # [B, W]: board N**2 | givens N**2 | distinct U + 1 | seen (U + 1) * N. `distinct` counts the
    # different digits of each unit; `seen` counts each digit in each unit, and is left out where
    # digits cannot clash or be erased
    rows: NDArray[np.int8]
    # [B, K], a bit for each candidate of a blank cell; a word holds F = 64 // N whole cells
    candidates: NDArray[np.uint64]
    counts: NDArray[np.int64]  # [B, >= NUM_COUNTS], the columns above, and further ones of users


class BoardSizes(NamedTuple):
    """The numbers of a geometry that the kernels use."""

    size: int  # N
    num_cells: int  # N**2, which is also where a row's givens begin
    num_actions: int  # A
    num_units: int  # U, which is also the padding of `UnitTables.cell_units`
    distinct_at: int  # where in a row `distinct` begins
    seen_at: int  # where in a row `seen` begins, or where the row ends
    cells_a_word: int  # F
    whole_words: int  # words of candidates that are written to the mask 64 bytes at once
    top_bits: np.uint64  # the highest bit of each cell in a word of candidates


class UnitTables(NamedTuple):
    """The tables that the kernels read of a geometry; the first three are those of `Geometry`."""

    cell_units: NDArray[np.int32]  # [N**2, *]
    peers: NDArray[np.int32]  # [N**2, *]
    units: NDArray[np.int32]  # [U, N]
    peer_bits: NDArray[np.uint64]  # [N**2, K], the lowest bit of every peer in `candidates`
    first_bits: NDArray[np.uint64]  # [N**2], where a cell's candidates begin: 64 * word + bit


def sizes_of(geometry: Geometry, erase: bool = False) -> BoardSizes:
    """Return the numbers of a geometry; `erase` says whether cells can be cleared."""
    size, num_units, a_word = geometry.size, len(geometry.units), 64 // geometry.size
    distinct_at = 2 * geometry.num_cells
    return BoardSizes(
        size=size,
        num_cells=geometry.num_cells,
        num_actions=geometry.num_placements + erase * geometry.num_cells,
        num_units=num_units,
        distinct_at=distinct_at,
        seen_at=distinct_at + num_units + 1,
        cells_a_word=a_word,
        whole_words=(size**3 - 64) // (a_word * size) + 1,
        top_bits=np.uint64(sum(1 << (cell * size + size - 1) for cell in range(a_word))),
    )


def unit_tables(geometry: Geometry) -> UnitTables:
    """Return the tables of a geometry, as writable copies (numba types read-only arrays apart)."""
    size, a_word = geometry.size, 64 // geometry.size
    word, place = np.divmod(np.arange(geometry.num_cells), a_word)
    first_bits = (64 * word + size * place).astype(np.uint64)
    peer_bits = np.zeros((geometry.num_cells, word[-1] + 1), np.uint64)
    for cell, peers in enumerate(geometry.peers):
        words, bits = np.divmod(first_bits[peers[peers != cell]], np.uint64(64))
        np.bitwise_or.at(peer_bits[cell], words.astype(int), np.uint64(1) << bits)
    own = geometry.cell_units.copy(), geometry.peers.copy(), geometry.units.copy()
    return UnitTables(*own, peer_bits, first_bits)


def new_state(
    count: int, geometry: Geometry, counted: bool, num_counts: int = NUM_COUNTS
) -> BoardState:
    """Return the state of B boards, to be set up; with `seen` if digits are `counted`."""
    sizes = sizes_of(geometry)
    width = sizes.seen_at + counted * (sizes.num_units + 1) * sizes.size
    num_words = -(-sizes.num_cells // sizes.cells_a_word)
    return BoardState(
        np.zeros((count, width), np.int8),
        np.zeros((count, num_words), np.uint64),
        np.zeros((count, num_counts), np.int64),
    )
