"""How many boards lie in memory, and what the kernels know of a geometry.

A board's state is one row of each of three arrays, see `BoardState`. Signed indices, slices and
references cost the kernels more than what they compute; three habits follow:

- Every slice, and every array handed to a function that is not inlined, has its references counted
  by atomic operations, which take longer than a placement. So kernels take whole arrays with an
  index b, callers pass `uncounted` arrays, and small functions are inlined.
- Signed indices are wrapped if negative, which costs instructions and keeps the compiler from
  moving many bytes at once. So indices are uint64.
- Signed divisions are rounded down as Python does it, and checked. So what a division would find
  is looked up.

Numba finds out the type of a named tuple in Python, at every call. So the environments hand plain
tuples to the kernels, which give them their names.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.intrinsics import uncounted
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg"

# columns of `BoardState.counts`; STUCK: blank cells without a candidate
BLANKS, CANDIDATES, STUCK, SATISFIED, NUM_COUNTS = range(5)


class BoardState(NamedTuple):
    """The state of B boards, of which board b has row b of each array.

    Attributes:
        rows: int8 `[B, W]`: board N**2 | givens N**2 | distinct U + 1 | seen (U + 1) * N.
            `distinct` counts the different digits of each unit. `seen` counts each digit in each
            unit; it is left out where digits cannot clash or be taken back.
        candidates: uint64 `[B, K]`, one bit a cell and digit, set if the digit is a candidate of
            the blank cell. A word holds F = 64 // N cells of N bits each, so that no cell is cut
            in two: a few operations on all words find what a placement leaves, however many peers
            a cell has, and the mask is written 64 bytes at a time.
        counts: int64 `[B, >= NUM_COUNTS]`, with the columns above; its users may have further ones.
    """

    rows: NDArray[np.int8]
    candidates: NDArray[np.uint64]
    counts: NDArray[np.int64]


class BoardSizes(NamedTuple):
    """The numbers that the kernels know of a geometry.

    Attributes:
        size: N.
        num_cells: N**2, which is also where a row's givens begin.
        num_actions: A.
        num_units: U, which is also the padding of `UnitTables.cell_units`.
        distinct_at: where in a row `distinct` begins.
        seen_at: where in a row `seen` begins, or where the row ends.
        cells_a_word: F.
        whole_words: of how many words of candidates the mask's 64 bytes can be written at once.
        top_bits: the highest bit of each cell in a word of candidates.
    """

    size: int
    num_cells: int
    num_actions: int
    num_units: int
    distinct_at: int
    seen_at: int
    cells_a_word: int
    whole_words: int
    top_bits: np.uint64


class UnitTables(NamedTuple):
    """The tables that the kernels read of a geometry.

    Attributes:
        cell_units: int32 `[N**2, *]`, see `Geometry`.
        peers: int32 `[N**2, *]`, see `Geometry`.
        units: int32 `[U, N]`, see `Geometry`.
        peer_bits: uint64 `[N**2, K]`, for each cell the lowest bit of every peer in `candidates`.
        first_bits: uint64 `[N**2]`, where each cell's candidates begin: 64 times the word plus the
            lowest bit in it.
    """

    cell_units: NDArray[np.int32]
    peers: NDArray[np.int32]
    units: NDArray[np.int32]
    peer_bits: NDArray[np.uint64]
    first_bits: NDArray[np.uint64]


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
    """Return the tables of a geometry, which may be written to: numba likes that better."""
    size, a_word = geometry.size, 64 // geometry.size
    word, place = np.divmod(np.arange(geometry.num_cells), a_word)
    first_bits = (64 * word + size * place).astype(np.uint64)
    peer_bits = np.zeros((geometry.num_cells, num_words(geometry)), np.uint64)
    for cell, peers in enumerate(geometry.peers):
        words, bits = np.divmod(first_bits[peers[peers != cell]], np.uint64(64))
        np.bitwise_or.at(peer_bits[cell], words.astype(int), np.uint64(1) << bits)
    return UnitTables(
        geometry.cell_units.copy(),
        geometry.peers.copy(),
        geometry.units.copy(),
        peer_bits,
        first_bits,
    )


def num_words(geometry: Geometry) -> int:
    """Return K."""
    return -(-geometry.num_cells // (64 // geometry.size))


def new_state(
    count: int, geometry: Geometry, counted: bool, num_counts: int = NUM_COUNTS
) -> BoardState:
    """Return the state of so many boards, to be set up.

    Args:
        count: B.
        geometry: the shape of the boards.
        counted: whether digits can clash or be taken back, so that `seen` is needed.
        num_counts: columns of `counts`.
    """
    sizes = sizes_of(geometry)
    width = sizes.seen_at + counted * (sizes.num_units + 1) * sizes.size
    return BoardState(
        np.zeros((count, width), np.int8),
        np.zeros((count, num_words(geometry)), np.uint64),
        np.zeros((count, num_counts), np.int64),
    )


@njit(cache=True, inline="always")
def uncounted_state(state):
    """Return a `BoardState` without counts of references; the caller must hold the original."""
    rows, candidates, counts = state
    return BoardState(uncounted(rows), uncounted(candidates), uncounted(counts))


@njit(cache=True, inline="always")
def uncounted_tables(tables):
    """Return `UnitTables` without counts of references; the caller must hold the originals."""
    cell_units, peers, units, peer_bits, first_bits = tables
    return UnitTables(
        uncounted(cell_units),
        uncounted(peers),
        uncounted(units),
        uncounted(peer_bits),
        uncounted(first_bits),
    )
