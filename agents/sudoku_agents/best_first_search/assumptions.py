"""Placements and the masks that they leave, and the placements that the rules force."""

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.jit import njit

# mypy: disable-error-code="no-untyped-def"

FULL, OPEN, DEAD = 0, 1, 2


@njit(cache=True, nogil=True)
def assume(board, mask, placements, table, members):
    """Make placements one after the other, leaving out those that earlier ones rule out.

    The board int8 `[N**2]` and its mask bool `[N**3]` change in place; `table` and `members` are
    those of `sudoku_gym.geometry.exact_cover`. Returns the placements made, int64.
    """
    made = np.empty(len(placements), np.int64)
    count, size = 0, members.shape[1]
    for placement in placements:
        if mask[placement]:
            board[placement // size] = placement % size + 1
            for constraint in table[placement]:
                if constraint < len(members):
                    for other in members[constraint]:
                        mask[other] = False
            made[count] = placement
            count += 1
    return made[:count]


@njit(cache=True, nogil=True)
def board_status(board, mask, table, members):
    """Return `FULL`, `OPEN`, or `DEAD` if an open constraint has no placement left; see `assume`.

    The board has no conflicts.
    """
    size = members.shape[1]
    is_fulfilled = np.zeros(len(members) + 1, np.bool_)
    blanks = 0
    for cell in range(len(board)):
        if board[cell] > 0:
            for constraint in table[cell * size + board[cell] - 1]:
                is_fulfilled[constraint] = True
        else:
            blanks += 1
    if blanks == 0:
        return FULL
    for constraint in range(len(members)):
        if not is_fulfilled[constraint]:
            has_placement = False
            for placement in members[constraint]:
                has_placement |= mask[placement]
            if not has_placement:
                return DEAD
    return OPEN


@njit(cache=True, nogil=True)
def fail_first(mask, logits, members):
    """Return the likeliest placement of the open constraint that is hardest to fulfil.

    That is one with the fewest placements left in the mask bool `[N**3]`, which has at least one,
    and of these the one whose logits, float32 `[N**3]`, have the lowest sum. So a board without a
    solution is refuted soon. Source: Haralick and Elliott, 1980; the network breaks ties here.
    """
    fewest, lowest, chosen = members.shape[1] + 1, 0.0, -1
    for constraint in range(len(members)):
        count, total, best = 0, 0.0, -1
        for placement in members[constraint]:
            if mask[placement]:
                count += 1
                total += logits[placement]
                if best < 0 or logits[placement] > logits[best]:
                    best = placement
        if 0 < count < fewest or (count == fewest and total < lowest):
            fewest, lowest, chosen = count, total, best
    return chosen


@njit(cache=True, nogil=True)
def propagate_singles(board, mask, table, members):
    """Make the only placement of each open constraint that has just one, as long as there is any.

    These are the naked and hidden singles of the board. It changes in place, and its mask; see
    `assume`. Returns the status of the board after them, as `board_status` does.
    """
    status = board_status(board, mask, table, members)
    num_blanks = len(board) + 1
    while status == OPEN and (board == 0).sum() < num_blanks:
        num_blanks = (board == 0).sum()
        for constraint in range(len(members)):
            single, count = 0, 0
            for placement in members[constraint]:
                if mask[placement]:
                    single, count = placement, count + 1
            if count == 1:
                assume(board, mask, np.array([single]), table, members)
        status = board_status(board, mask, table, members)
    return status
