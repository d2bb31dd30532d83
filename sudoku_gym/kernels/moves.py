"""Set up boards with their candidates, place and erase digits, compiled.

`state`, `sizes` and `tables` are those of `sudoku_gym.kernels.layout`.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.intrinsics import popcount
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.kernels.layout import BLANKS, CANDIDATES, SATISFIED, STUCK


@inlined
def word_and_bit(cell, tables):
    """Return in which word the candidates of a cell are, and from which bit on."""
    first = tables.first_bits[np.uint64(cell)]
    return first >> np.uint64(6), first & np.uint64(63)


@inlined
def candidates_of(candidates, b, cell, sizes, tables):
    """Return the candidates of a cell, a set of digits."""
    word, first = word_and_bit(cell, tables)
    return (candidates[b, word] >> first) & all_digits(sizes)


@inlined
def all_digits(sizes):
    """Return the set of all digits, uint64."""
    return (np.uint64(1) << np.uint64(sizes.size)) - np.uint64(1)


@inlined
def _open_cells(word, sizes):
    """Count the cells with a candidate among those of one word."""
    tops = sizes.top_bits
    below = tops - (tops >> np.uint64(sizes.size - 1))
    # adding all bits below a cell's top to those that are set carries into it if there are any
    return popcount((((word & below) + below) | word) & tops)


@inlined
def _count(state, b, sizes):
    """Count the candidates and the blank cells without one."""
    _, candidates, counts = state
    row, number, num_open = np.uint64(b), 0, 0
    for k in range(np.uint64(candidates.shape[1])):
        number += popcount(candidates[row, k])
        num_open += _open_cells(candidates[row, k], sizes)
    counts[b, CANDIDATES] = number
    counts[b, STUCK] = counts[b, BLANKS] - num_open


@njit(cache=True, inline="always")
def set_up(state, b, sizes, tables, scratch):
    """Fill in all that follows from the board in `rows[b, :N**2]`; its digits are the givens.

    Without `seen` no two may clash. `scratch`, (int32 `[N**2]`, uint64 `[U + 1]`), is overwritten.
    """
    rows, candidates, counts = state
    cells, distinct = sizes.num_cells, sizes.distinct_at
    order, used = scratch
    num_givens = _list_givens(rows, b, sizes, order)
    fill_row(rows, b, distinct, rows.shape[1] - distinct, 0)
    # The first way takes some K operations a given, the second some N**2 in all.
    if np.int64(num_givens) * candidates.shape[1] < 4 * cells:
        satisfied = _close_peers(state, b, num_givens, sizes, tables, order)
    else:
        satisfied = _note_givens(rows, b, num_givens, sizes, tables, order, used)
        _open_rest(state, b, sizes, tables, used)
    counts[b, BLANKS], counts[b, SATISFIED] = cells - np.int64(num_givens), satisfied
    _count(state, b, sizes)


@inlined
def _list_givens(rows, b, sizes, order):
    """Mark the givens, list their cells in `order`, return their number; branch-free."""
    row, num_givens, cells = np.uint64(b), np.uint64(0), np.uint64(sizes.num_cells)
    for cell in range(cells):
        is_given = rows[row, cell] > 0
        rows[row, cells + cell] = is_given
        order[num_givens] = cell
        num_givens += np.uint64(is_given)
    return num_givens


@inlined
def _close_peers(state, b, num_givens, sizes, tables, order):
    """Remove each given from its peers' candidates; return the number of satisfied units."""
    rows, candidates, _ = state
    size, num_units, distinct, seen = sizes.size, sizes.num_units, sizes.distinct_at, sizes.seen_at
    cell_units, peer_bits = tables.cell_units, tables.peer_bits
    row, satisfied = np.uint64(b), 0
    _open_all(candidates, b, sizes)
    for i in range(num_givens):
        given = np.uint64(order[i])
        digit = np.int64(rows[row, given])
        shift = np.uint64(digit - 1)
        for k in range(np.uint64(candidates.shape[1])):
            candidates[row, k] &= ~(peer_bits[given, k] << shift)
        word, first = word_and_bit(given, tables)
        candidates[row, word] &= ~(all_digits(sizes) << first)
        for j in range(np.uint64(cell_units.shape[1])):
            unit = np.int64(cell_units[given, j])
            if unit < num_units:
                is_new = True
                if seen < rows.shape[1]:
                    times = np.uint64(seen + unit * size + digit - 1)
                    rows[row, times] += 1
                    is_new = rows[row, times] == 1
                rows[row, np.uint64(distinct + unit)] += is_new
                satisfied += rows[row, np.uint64(distinct + unit)] == size
    return satisfied


@inlined
def _note_givens(rows, b, num_givens, sizes, tables, order, used):
    """Set `used`, `distinct` and `seen` of each unit; return the number of satisfied units."""
    size, num_units, distinct, seen = sizes.size, sizes.num_units, sizes.distinct_at, sizes.seen_at
    cell_units = tables.cell_units
    row, padding = np.uint64(b), np.uint64(num_units)
    for unit in range(padding):
        used[unit] = 0
    for i in range(num_givens):
        given = np.uint64(order[i])
        shift = np.uint64(rows[row, given] - 1)
        for j in range(np.uint64(cell_units.shape[1])):
            holder = np.uint64(cell_units[given, j])
            used[holder] |= np.uint64(1) << shift
            if seen < rows.shape[1]:
                rows[row, np.uint64(seen) + holder * np.uint64(size) + shift] += 1
    used[padding] = 0  # which holds nothing
    if seen < rows.shape[1]:
        fill_row(rows, b, seen + num_units * size, size, 0)
    satisfied = 0
    for unit in range(padding):
        number = popcount(used[unit])
        rows[row, np.uint64(distinct) + unit] = number
        satisfied += number == size
    return satisfied


@inlined
def _open_rest(state, b, sizes, tables, used):
    """Give each blank cell the digits that its units have not used."""
    rows, candidates, _ = state
    size, cell_units = sizes.size, tables.cell_units
    row, cell = np.uint64(b), np.uint64(0)
    for k in range(np.uint64(candidates.shape[1])):
        word, first = np.uint64(0), np.uint64(0)
        for _ in range(min(sizes.cells_a_word, sizes.num_cells - np.int64(cell))):
            taken = used[np.uint64(cell_units[cell, 0])] | used[np.uint64(cell_units[cell, 1])]
            for j in range(np.uint64(2), np.uint64(cell_units.shape[1])):
                taken |= used[np.uint64(cell_units[cell, j])]
            left = all_digits(sizes) & ~taken
            word |= (left if rows[row, cell] == 0 else np.uint64(0)) << first
            first += np.uint64(size)
            cell += np.uint64(1)
        candidates[row, k] = word


@inlined
def _open_all(candidates, b, sizes):
    """Make every digit a candidate of every cell."""
    size, a_word = sizes.size, sizes.cells_a_word
    row, last = np.uint64(b), np.uint64(candidates.shape[1] - 1)
    in_last = sizes.num_cells - np.int64(last) * a_word
    full = ~np.uint64(0)
    for k in range(last):
        candidates[row, k] = full >> np.uint64(64 - a_word * size)
    candidates[row, last] = full >> np.uint64(64 - in_last * size)


@inlined
def place(state, b, cell, digit, sizes, tables):
    """Put `digit` into the blank `cell`. Without `seen` the digit must be a candidate."""
    rows, candidates, counts = state
    size, num_units, distinct, seen = sizes.size, sizes.num_units, sizes.distinct_at, sizes.seen_at
    cell_units, peer_bits = tables.cell_units, tables.peer_bits
    row, origin, shift = np.uint64(b), np.uint64(cell), np.uint64(digit - 1)
    rows[row, origin] = digit
    number, num_open = 0, 0
    for k in range(np.uint64(candidates.shape[1])):
        left = candidates[row, k] & ~(peer_bits[origin, k] << shift)
        candidates[row, k] = left
        number += popcount(left)
        num_open += _open_cells(left, sizes)
    word, first = word_and_bit(cell, tables)
    own = candidates[row, word] & (all_digits(sizes) << first)
    candidates[row, word] ^= own
    satisfied = 0
    for k in range(np.uint64(cell_units.shape[1])):
        unit = np.int64(cell_units[origin, k])
        if unit < num_units:
            is_new = True
            if seen < rows.shape[1]:
                times = np.uint64(seen + unit * size + digit - 1)
                rows[row, times] += 1
                is_new = rows[row, times] == 1
            of_unit = np.uint64(distinct + unit)
            rows[row, of_unit] += is_new
            satisfied += rows[row, of_unit] == size
    counts[b, BLANKS] -= 1
    counts[b, CANDIDATES] = number - popcount(own)
    counts[b, STUCK] = counts[b, BLANKS] - num_open + (own != 0)
    counts[b, SATISFIED] += satisfied


@inlined
def erase(state, b, cell, sizes, tables):
    """Clear a filled `cell` that is no given; the row must have `seen`."""
    rows, _, counts = state
    size, num_units, distinct, seen = sizes.size, sizes.num_units, sizes.distinct_at, sizes.seen_at
    cell_units, peers = tables.cell_units, tables.peers
    row, origin = np.uint64(b), np.uint64(cell)
    digit = np.int64(rows[row, origin])
    rows[row, origin] = 0
    for k in range(np.uint64(cell_units.shape[1])):
        unit = np.int64(cell_units[origin, k])
        if unit < num_units:
            times, of_unit = np.uint64(seen + unit * size + digit - 1), np.uint64(distinct + unit)
            rows[row, times] -= 1
            if rows[row, times] == 0:
                counts[row, SATISFIED] -= rows[row, of_unit] == size
                rows[row, of_unit] -= 1
    for other in range(1, size + 1):
        _return_candidate(state, row, origin, other, sizes, tables)
    for k in range(np.uint64(peers.shape[1])):
        peer = np.uint64(peers[origin, k])
        if rows[row, peer] == 0:
            _return_candidate(state, row, peer, digit, sizes, tables)
    counts[row, BLANKS] += 1
    _count(state, row, sizes)


@inlined
def _return_candidate(state, row, cell, digit, sizes, tables):
    """Make `digit` a candidate of the blank `cell` if no unit holds it; both indices uint64."""
    rows, candidates, _ = state
    cell_units, at = tables.cell_units, sizes.seen_at + digit - 1
    for k in range(np.uint64(cell_units.shape[1])):  # padding is a unit that has seen nothing
        if rows[row, np.uint64(at + cell_units[cell, k] * sizes.size)] > 0:
            return
    word, first = word_and_bit(cell, tables)
    candidates[row, word] |= np.uint64(1) << (first + np.uint64(digit - 1))


@inlined
def is_candidate(state, b, cell, digit, tables):
    """Return whether `digit` is a candidate of the blank `cell`."""
    word, first = word_and_bit(cell, tables)
    return (state.candidates[b, word] >> (first + np.uint64(digit - 1))) & np.uint64(1) != 0


@inlined
def may_erase(state, b, cell, sizes):
    """Return whether `cell` holds a digit that is no given."""
    rows, row, at = state.rows, np.uint64(b), np.uint64(cell)
    return (rows[row, at] > 0) & (rows[row, np.uint64(sizes.num_cells) + at] == 0)


@inlined
def copy_row(rows, b, length, target, t):
    """Copy `rows[b, :length]` to the start of `target[t]`."""
    row, target_row = np.uint64(b), np.uint64(t)
    for i in range(np.uint64(length)):
        target[target_row, i] = rows[row, i]


@inlined
def copy_position(state, b, t):
    """Make position t the same as position b."""
    rows, candidates, counts = state
    copy_row(rows, b, rows.shape[1], rows, t)
    copy_row(candidates, b, candidates.shape[1], candidates, t)
    copy_row(counts, b, counts.shape[1], counts, t)


@inlined
def fill_row(rows, b, start, length, value):
    """Set `rows[b, start : start + length]`."""
    row, first = np.uint64(b), np.uint64(start)
    for i in range(np.uint64(length)):
        rows[row, first + i] = value
