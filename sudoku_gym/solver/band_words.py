"""Sixteen 9x9 boards side by side as candidate masks, and one round of propagation on all of them.

A word holds the 27 cells of a band, three rows, in which a digit may stand, bit `9 * row + column`.
The words of a board, `3 * digit_index + band`, stand in the rows of an array whose 16 columns, the
lanes, are boards: one vector instruction works on all of them, and no board waits for another.

Where a digit may stand in a band is condensed to a 3 x 3 pattern, row by box: has the mini-row a
place for it? The digit takes each row and each box once, so an entry can hold only if it belongs to
a permutation matrix within the pattern; without the others, every locked candidate is gone. The
same is done with bands and the columns of a stack. An entry that is left alone in its row, with one
cell, is a hidden single.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.intrinsics import equal_bytes, popcount, put_bytes
from sudoku_gym.compiler.jit import inlined
from sudoku_gym.compiler.lanes import load_lanes, nonzero_lanes, store_lanes

NUM_CELLS = 81
BAND_CELLS = 27
# Rows of the array: words, then masks of the cells of each band, three rows each.
WORDS = 27
SINGLES = 27  # cells with one candidate
PAIRS = 30  # cells with two
OPEN_CELLS = 33  # cells with two or more
STORED = 30  # the rows that say all of a board: words and singles
_HIDDEN = 36  # scratch: the hidden singles of each word
_FILLED = 63  # scratch: the cells of all hidden singles
NUM_ROWS = 66

_ONE = np.uint32(1)
_BAND = np.uint32(0o777777777)  # all cells of a band
_FIRST_ROW = np.uint32(0o777)  # the cells of its first row
_FIRST_CELLS = np.uint32(0o111111111)  # the first cell of each mini-row
_BAND_START = (0, 27, 49)  # 32 cells from there on hold a band, without leaving the board,
_BAND_SHIFT = (0, 0, 5)  # after so many cells of another


@inlined
def _on_permutations(pattern, once, twice):
    """Keep the entries of 3 x 3 patterns that are part of a permutation matrix within the pattern.

    Rows are 9 bits apart; `once` and `twice` have the columns rotated by one and by two.
    """
    down_once = (once << 9 | once >> 18) & _BAND
    up_once = (once << 18 | once >> 9) & _BAND
    down_twice = (twice << 9 | twice >> 18) & _BAND
    up_twice = (twice << 18 | twice >> 9) & _BAND
    return pattern & ((down_once & up_twice) | (down_twice & up_once))


@inlined
def _columns(word):
    """Return the columns of a word, 9 bits."""
    return (word | word >> 9 | word >> 18) & _FIRST_ROW


@inlined
def _in_each_row(columns):
    """Return the cells of some columns, 9 bits."""
    return columns | columns << 9 | columns << 18


@inlined
def _mini_rows(word):
    """Return the mini-rows of a word, each as its first cell."""
    return (word | word >> 1 | word >> 2) & _FIRST_CELLS


@inlined
def _in_each_cell(first_cells):
    """Return the cells of some mini-rows."""
    return first_cells | first_cells << 1 | first_cells << 2


@inlined
def _at_least_two(first, second, third):
    """Return the bits that two or three vectors have."""
    return (first & second) | ((first | second) & third)


@inlined
def _hidden_singles(word, mini_rows):
    """Return the cells of a word that stand alone in one of some mini-rows."""
    second, third = word >> 1, word >> 2
    alone = (word ^ second ^ third) & ~(word & second & third)
    return _in_each_cell(alone & mini_rows & _FIRST_CELLS) & word


@inlined
def propagate_round(rows):
    """Apply the rules to every lane once, to one digit after the other.

    Returns:
        The lanes that have failed, and those others in which a cell has become a single, as bits. A
        lane in neither, without an open cell, is solved.
    """
    single_0 = load_lanes(rows, SINGLES)
    single_1 = load_lanes(rows, SINGLES + 1)
    single_2 = load_lanes(rows, SINGLES + 2)
    nothing = single_0 ^ single_0
    filled_0, filled_1, filled_2, failed, changed = nothing, nothing, nothing, nothing, nothing
    for i in range(0, WORDS, 3):
        old_0, old_1, old_2 = load_lanes(rows, i), load_lanes(rows, i + 1), load_lanes(rows, i + 2)
        # A cell that is some other digit's hidden single is taken.
        word_0 = old_0 & ~filled_0
        word_1 = old_1 & ~filled_1
        word_2 = old_2 & ~filled_2
        # A naked single clears the rest of its box, where there must be no other.
        naked_0, naked_1, naked_2 = word_0 & single_0, word_1 & single_1, word_2 & single_2
        twice = _at_least_two(naked_0, naked_0 >> 9, naked_0 >> 18)
        twice |= _at_least_two(naked_1, naked_1 >> 9, naked_1 >> 18)
        twice |= _at_least_two(naked_2, naked_2 >> 9, naked_2 >> 18)
        failed |= twice & _FIRST_ROW
        columns = _columns(naked_0) | _columns(naked_1) << 9 | _columns(naked_2) << 18
        failed |= _at_least_two(columns, columns >> 1, columns >> 2) & _FIRST_CELLS
        boxes = _in_each_cell(_mini_rows(columns))
        word_0 &= naked_0 | ~_in_each_row(boxes & _FIRST_ROW)
        word_1 &= naked_1 | ~_in_each_row(boxes >> 9 & _FIRST_ROW)
        word_2 &= naked_2 | ~_in_each_row(boxes >> 18)
        # Bands and columns.
        pattern = _columns(word_0) | _columns(word_1) << 9 | _columns(word_2) << 18
        once = (pattern << 1) & np.uint32(0o666666666) | (pattern >> 2) & np.uint32(0o111111111)
        twice = (pattern << 2) & np.uint32(0o444444444) | (pattern >> 1) & np.uint32(0o333333333)
        pattern = _on_permutations(pattern, once, twice)
        word_0 &= _in_each_row(pattern & _FIRST_ROW)
        word_1 &= _in_each_row(pattern >> 9 & _FIRST_ROW)
        word_2 &= _in_each_row(pattern >> 18)
        # Rows and boxes, of the three bands in one word.
        pattern = _mini_rows(word_0) | _mini_rows(word_1) << 1 | _mini_rows(word_2) << 2
        once = (pattern << 3) & np.uint32(0o770770770) | (pattern >> 6) & np.uint32(0o007007007)
        twice = (pattern << 6) & np.uint32(0o700700700) | (pattern >> 3) & np.uint32(0o077077077)
        pattern = _on_permutations(pattern, once, twice)
        failed |= ~(pattern | pattern >> 3 | pattern >> 6) & np.uint32(0o7)
        word_0 &= _in_each_cell(pattern & _FIRST_CELLS)
        word_1 &= _in_each_cell(pattern >> 1 & _FIRST_CELLS)
        word_2 &= _in_each_cell(pattern >> 2 & _FIRST_CELLS)
        # Mini-rows that are alone in their row, and so in their box.
        once = (pattern << 3) & np.uint32(0o770770770) | (pattern >> 6) & np.uint32(0o007007007)
        twice = (pattern << 6) & np.uint32(0o700700700) | (pattern >> 3) & np.uint32(0o077077077)
        alone = pattern & ~(once | twice)
        hidden_0 = _hidden_singles(word_0, alone)
        hidden_1 = _hidden_singles(word_1, alone >> 1)
        hidden_2 = _hidden_singles(word_2, alone >> 2)
        filled_0, filled_1, filled_2 = filled_0 | hidden_0, filled_1 | hidden_1, filled_2 | hidden_2
        changed |= (old_0 ^ word_0) | (old_1 ^ word_1) | (old_2 ^ word_2)
        store_lanes(rows, i, word_0)
        store_lanes(rows, i + 1, word_1)
        store_lanes(rows, i + 2, word_2)
        store_lanes(rows, _HIDDEN + i, hidden_0)
        store_lanes(rows, _HIDDEN + i + 1, hidden_1)
        store_lanes(rows, _HIDDEN + i + 2, hidden_2)
    store_lanes(rows, _FILLED, filled_0)
    store_lanes(rows, _FILLED + 1, filled_1)
    store_lanes(rows, _FILLED + 2, filled_2)
    for band in range(3):
        filled = load_lanes(rows, _FILLED + band)
        one, two, three = nothing, nothing, nothing  # so many candidates, or more
        for i in range(band, WORDS, 3):
            old = load_lanes(rows, i)
            word = old & (load_lanes(rows, _HIDDEN + i) | ~filled)
            changed |= old ^ word
            store_lanes(rows, i, word)
            three |= two & word
            two |= one & word
            one |= word
        failed |= one ^ _BAND
        store_lanes(rows, SINGLES + band, one & ~two)
        store_lanes(rows, PAIRS + band, two & ~three)
        store_lanes(rows, OPEN_CELLS + band, two)
    failed_lanes = nonzero_lanes(failed)
    return failed_lanes, nonzero_lanes(changed) & ~failed_lanes


@inlined
def load_lane(rows, lane, boards, index):
    """Make board `index` of int8 `[B, 81]` the board of a lane."""
    for band in range(3):
        start, shift = _BAND_START[band], np.uint32(_BAND_SHIFT[band])
        blank = equal_bytes(boards, index, start, 0) >> shift & _BAND
        rows[SINGLES + band, lane] = blank ^ _BAND
        for digit in range(9):
            given = equal_bytes(boards, index, start, digit + 1) >> shift & _BAND
            rows[3 * digit + band, lane] = given | blank


@inlined
def ban_candidate(rows, lane, cell, digit):
    """Remove a digit, 1 to 9, from a blank cell of a lane."""
    bit = _ONE << np.uint32(cell % BAND_CELLS)
    rows[3 * (digit - 1) + cell // BAND_CELLS, lane] &= ~bit


@inlined
def write_solution(rows, lane, solutions, index):
    """Write the board of a lane, whose cells are all filled, to row `index` of int8 `[B, 81]`."""
    for band in range(3):
        start, shift = _BAND_START[band], np.uint32(_BAND_SHIFT[band])
        for digit in range(9):
            word = rows[3 * digit + band, lane]
            put_bytes(solutions, index, start, digit + 1, word << shift)


@inlined
def choose_cell(rows, lane):
    """Choose an open cell; return its band and its bit.

    It has two candidates, and stands in the row that has the most of such cells: each is settled by
    either guess, or by the next. If there is none, the cell has as few candidates as any.
    """
    band, bit, most = 0, np.uint32(0), np.uint32(0)
    for row in range(9):
        cells = rows[PAIRS + row // 3, lane] & (_FIRST_ROW << np.uint32(9 * (row % 3)))
        count = popcount(cells)
        if count > most:
            band, bit, most = row // 3, cells & -cells, count
    return (band, bit) if most else _fewest_candidates(rows, lane)


@inlined
def _fewest_candidates(rows, lane):
    """Return band and bit of an open cell with the fewest candidates."""
    band, bit, fewest = 0, np.uint32(0), 10
    for other in range(3):
        cells = rows[OPEN_CELLS + other, lane]
        while cells:
            cell = cells & -cells
            cells ^= cell
            count = 0
            for i in range(other, WORDS, 3):
                count += rows[i, lane] & cell != 0
            if count < fewest:
                band, bit, fewest = other, cell, count
    return band, bit
