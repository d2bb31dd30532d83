"""The rules as compiled kernels on batches of flat boards.

Shapes: boards int8 `[B, N**2]`, units int32 `[U, N]`, cell_units int32 `[N**2, K]` (padded with
U). A set of digits is a uint32 with bit `digit - 1`. Nothing here knows rewards or episodes.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,import-untyped"


@njit(cache=True)
def used_digits(board, units, used):
    """Write into `used [U + 1]` the digits each unit holds; the last entry (padding) stays 0."""
    for unit in range(units.shape[0]):
        digits = np.uint32(0)
        for cell in units[unit]:
            if board[cell] > 0:
                digits |= np.uint32(1) << np.uint32(board[cell] - 1)
        used[unit] = digits
    used[units.shape[0]] = 0


@njit(cache=True)
def candidate_masks(boards, units, cell_units):
    """Return the candidates of each cell, uint32 `[B, N**2]`; 0 for filled cells."""
    size = units.shape[1]
    full = np.uint32((1 << size) - 1)
    masks = np.zeros(boards.shape, np.uint32)
    used = np.empty(len(units) + 1, np.uint32)
    for b in range(len(boards)):
        used_digits(boards[b], units, used)
        for cell in range(boards.shape[1]):
            if boards[b, cell] == 0:
                digits = np.uint32(0)
                for unit in cell_units[cell]:
                    digits |= used[unit]
                masks[b, cell] = full & ~digits
    return masks


@njit(cache=True)
def conflicting_cells(boards, units):
    """Return which filled cells share a unit with their own digit: bool `[B, N**2]`."""
    conflicting = np.zeros(boards.shape, np.bool_)
    size = units.shape[1]
    first = np.empty(size + 1, np.int64)
    for b in range(len(boards)):
        for unit in range(len(units)):
            first[:] = -1
            for cell in units[unit]:
                digit = boards[b, cell]
                if digit > 0:
                    if first[digit] >= 0:
                        conflicting[b, cell] = True
                        conflicting[b, first[digit]] = True
                    first[digit] = cell
    return conflicting


@njit(cache=True)
def satisfied_units(boards, units):
    """Return which units hold all N digits: bool `[B, U]`."""
    full = np.uint32((1 << units.shape[1]) - 1)
    satisfied = np.zeros((len(boards), len(units)), np.bool_)
    used = np.empty(len(units) + 1, np.uint32)
    for b in range(len(boards)):
        used_digits(boards[b], units, used)
        for unit in range(len(units)):
            satisfied[b, unit] = used[unit] == full
    return satisfied


# A position is one int8 row, so that a board's whole state lies together in memory, and the
# numbers that follow from it in an int64 row of `counts`:
#
#   board N**2 | givens N**2 | legal A | choices N**2 | distinct U + 1 | seen (U + 1) * N
#
# `legal` marks candidates, then (A = N**3 + N**2 only) the cells that may be cleared; `choices`
# counts the candidates of each blank cell, `distinct` the different digits of each unit. `seen`
# counts each digit in each unit; it is left out where digits cannot clash or be taken back.
#
# Two habits of numba shape the code. Every slice, and every array handed to a function that is not
# inlined, has its references counted by atomic operations, which take longer than a placement; so
# kernels take `rows [B, W]` with an index b, callers pass `borrowed` arrays, and small functions
# are inlined. Signed indices are wrapped if negative, which keeps the compiler from moving many
# bytes at once; so loops over whole rows count in uint64.

BLANKS, CANDIDATES, STUCK, SATISFIED = 0, 1, 2, 3  # STUCK: blank cells without a candidate


@intrinsic
def borrowed(_typing, array):
    """Return the same array without a count of references; the caller must hold the original."""

    def generate(context, builder, signature, arguments):
        view = cgutils.create_struct_proxy(signature.return_type)(
            context, builder, value=arguments[0]
        )
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()

    return array(array), generate


@intrinsic
def prefetch(_typing, array, row, column):
    """Ask for `array[row, column]` of a C-contiguous array to be brought near; changes nothing."""

    def generate(context, builder, signature, arguments):
        view = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
        row, column = (
            context.cast(builder, value, kind, types.intp)
            for value, kind in zip(arguments[1:], signature.args[1:], strict=True)
        )
        strides = cgutils.unpack_tuple(builder, view.strides, 2)
        offset = builder.add(builder.mul(row, strides[0]), builder.mul(column, strides[1]))
        pointer = builder.bitcast(view.data, ir.IntType(8).as_pointer())
        address = builder.gep(pointer, [offset])
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [address, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.none(array, row, column), generate


@njit(cache=True, inline="always")
def sections(sizes):
    """Return where a row's parts begin: givens, legal, choices, distinct, seen.

    `sizes` is (N, A, U) here and below.
    """
    size, num_actions, num_units = sizes
    cells = size * size
    choices = 2 * cells + num_actions
    distinct = choices + cells
    return cells, 2 * cells, choices, distinct, distinct + num_units + 1


def row_width(sizes: tuple[int, int, int], counted: bool) -> int:
    """Return the length of a position's row; `counted` asks for `seen`."""
    size, num_actions, num_units = sizes
    return 3 * size**2 + num_actions + (num_units + 1) * (size + 1 if counted else 1)


@njit(cache=True, inline="always")
def set_up(rows, counts, b, sizes, cell_units, scratch):
    """Fill in all that follows from the board in `rows[b, :N**2]`; its digits are the givens.

    `scratch`, (uint32 `[U + 1]`, int32 `[N**2]`), is overwritten.
    """
    used, order = scratch
    size, _, num_units = sizes
    givens, legal, choices, distinct, seen = sections(sizes)
    cells = size * size
    fill_row(rows, b, cells, rows.shape[1] - cells, 0)
    for unit in range(num_units + 1):
        used[unit] = 0
    # First the cells in order, givens from the front and blanks from the back: the two loops below
    # then have no branch on what a cell holds, which would be mispredicted half of the time.
    num_givens = 0
    for cell in range(cells):
        is_given = rows[b, cell] > 0
        rows[b, givens + cell] = is_given
        order[num_givens if is_given else cells - 1 - cell + num_givens] = cell
        num_givens += is_given
    satisfied = 0
    for i in range(num_givens):
        cell = order[i]
        digit = rows[b, cell]
        bit = np.uint32(1) << np.uint32(digit - 1)
        for k in range(cell_units.shape[1]):
            unit = cell_units[cell, k]
            if unit < num_units:
                if seen < rows.shape[1]:
                    rows[b, seen + unit * size + digit - 1] += 1
                is_new = used[unit] & bit == 0
                used[unit] |= bit
                rows[b, distinct + unit] += is_new
                satisfied += is_new and rows[b, distinct + unit] == size
    candidates, stuck = 0, 0
    for i in range(num_givens, cells):
        cell = order[i]
        taken = np.uint32(0)
        for k in range(cell_units.shape[1]):
            taken |= used[cell_units[cell, k]]
        own = _write_candidates(rows, b, legal + cell * size, size, ~taken)
        rows[b, choices + cell] = own
        candidates += own
        stuck += own == 0
    counts[b, BLANKS], counts[b, CANDIDATES] = cells - num_givens, candidates
    counts[b, STUCK], counts[b, SATISFIED] = stuck, satisfied


@njit(cache=True, inline="always")
def _write_candidates(rows, b, start, size, digits):
    """Write a set of digits as N bytes; return how many there are."""
    row, first, count = np.uint64(b), np.uint64(start), 0
    for i in range(np.uint64(size)):
        is_free = np.int8((digits >> np.uint32(i)) & np.uint32(1))
        rows[row, first + i] = is_free
        count += int(is_free)
    return count


@njit(cache=True, inline="always")
def place(rows, counts, b, cell, digit, sizes, cell_units, peers):
    """Put `digit` into the blank `cell`; only the cell, its units and its peers are touched.

    Without `seen` the digit must be a candidate.
    """
    size, num_actions, num_units = sizes
    _, legal, choices, distinct, seen = sections(sizes)
    rows[b, cell] = digit
    if num_actions > size**3:
        rows[b, legal + size**3 + cell] = 1
    fill_row(rows, b, legal + cell * size, size, 0)
    own = np.int64(rows[b, choices + cell])
    rows[b, choices + cell] = 0
    candidates, stuck, satisfied = -own, -np.int64(own == 0), np.int64(0)
    offset = legal + digit - 1
    for k in range(peers.shape[1]):  # padding is the cell itself, which has no candidate now
        peer = np.int64(peers[cell, k])
        lost = rows[b, offset + peer * size]
        rows[b, offset + peer * size] = 0
        left = rows[b, choices + peer] - lost
        rows[b, choices + peer] = left
        candidates -= lost
        stuck += lost & (left == 0)
    for k in range(cell_units.shape[1]):
        unit = np.int64(cell_units[cell, k])
        if unit < num_units:
            is_new = True
            if seen < rows.shape[1]:
                rows[b, seen + unit * size + digit - 1] += 1
                is_new = rows[b, seen + unit * size + digit - 1] == 1
            rows[b, distinct + unit] += is_new
            satisfied += rows[b, distinct + unit] == size
    counts[b, BLANKS] -= 1
    counts[b, CANDIDATES] += candidates
    counts[b, STUCK] += stuck
    counts[b, SATISFIED] += satisfied


@njit(cache=True, inline="always")
def prefetch_placement(rows, b, action, sizes, peers):
    """Bring near what a placement on board b will touch, where rows are too long for the cache."""
    size = sizes[0]
    if size > 9 and 0 <= action < size**3:
        cell = action // size
        offset = 2 * size * size + action - cell * size
        for k in range(peers.shape[1]):
            prefetch(rows, b, offset + np.int64(peers[cell, k]) * size)


@njit(cache=True, inline="always")
def erase(rows, counts, b, cell, sizes, cell_units, peers):
    """Clear a filled `cell` that is no given; the row must have `seen`."""
    size, _, num_units = sizes
    _, legal, _, distinct, seen = sections(sizes)
    digit = rows[b, cell]
    rows[b, cell] = 0
    rows[b, legal + size**3 + cell] = 0
    for k in range(cell_units.shape[1]):
        unit = cell_units[cell, k]
        if unit < num_units:
            rows[b, seen + unit * size + digit - 1] -= 1
            if rows[b, seen + unit * size + digit - 1] == 0:
                counts[b, SATISFIED] -= rows[b, distinct + unit] == size
                rows[b, distinct + unit] -= 1
    counts[b, BLANKS] += 1
    counts[b, STUCK] += 1  # until the first candidate is found
    for other in range(1, size + 1):
        _return_candidate(rows, counts, b, cell, other, sizes, cell_units)
    for k in range(peers.shape[1]):
        if rows[b, peers[cell, k]] == 0:
            _return_candidate(rows, counts, b, peers[cell, k], digit, sizes, cell_units)


@njit(cache=True, inline="always")
def _return_candidate(rows, counts, b, cell, digit, sizes, cell_units):
    """Make `digit` a candidate of the blank `cell` if no unit holds it and it is none yet."""
    size = sizes[0]
    _, legal, choices, _, seen = sections(sizes)
    if rows[b, legal + cell * size + digit - 1] == 1:
        return
    for k in range(cell_units.shape[1]):  # padding is a unit that has seen nothing
        if rows[b, seen + cell_units[cell, k] * size + digit - 1] > 0:
            return
    rows[b, legal + cell * size + digit - 1] = 1
    counts[b, CANDIDATES] += 1
    counts[b, STUCK] -= rows[b, choices + cell] == 0
    rows[b, choices + cell] += 1


@njit(cache=True, inline="always")
def write_mask(rows, b, any_digit, sizes, masks):
    """Write the action mask of board b into `masks[b]`, int8 `[B, A]`.

    With `any_digit` every digit is legal in every blank cell, otherwise candidates are.
    """
    size, num_actions, _ = sizes
    copy_row(rows, b, 2 * size * size, num_actions, masks)
    if any_digit:
        for cell in range(size * size):
            fill_row(masks, b, cell * size, size, rows[b, cell] == 0)


@njit(cache=True, inline="always")
def copy_row(rows, b, start, length, target):
    """Copy `rows[b, start : start + length]` to the beginning of `target[b]`."""
    row, first = np.uint64(b), np.uint64(start)
    for i in range(np.uint64(length)):
        target[row, i] = rows[row, first + i]


@njit(cache=True, inline="always")
def fill_row(rows, b, start, length, value):
    """Set `rows[b, start : start + length]`."""
    row, first = np.uint64(b), np.uint64(start)
    for i in range(np.uint64(length)):
        rows[row, first + i] = value
