"""The episode of one board, compiled: how it starts, and what one step does to it.

The single and the vector environment both call `step_board`, so they cannot differ. A batch's
`state` is that of `sudoku_gym.kernels.layout`, with the columns of `counts` below added.
"""

# mypy: disable-error-code="no-untyped-def,call-arg"

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.intrinsics import lowest_bit, popcount
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.kernels.endings import DENSE, HIDDEN_SINGLES, end_value, is_over
from sudoku_gym.kernels.layout import BLANKS, NUM_COUNTS, SATISFIED
from sudoku_gym.kernels.moves import candidates_of, erase, is_candidate, may_erase, place, set_up

# further columns of `BoardState.counts`
START_BLANKS, STEPS_DONE, PHASE, LAST_CELL = range(NUM_COUNTS, NUM_COUNTS + 4)
TASK, PUZZLE_ID, NUM_EPISODE_COUNTS = range(NUM_COUNTS + 4, NUM_COUNTS + 7)
RUNNING, TERMINATED, TRUNCATED, AUTORESET_PENDING, UNUSED = range(5)


@njit(cache=True, inline="always")
def start_episode(state, b, phase, sizes, tables, scratch):
    """Start an episode on the board in `rows[b, :N**2]`."""
    counts = state.counts
    set_up(state, b, sizes, tables, scratch)
    counts[b, START_BLANKS] = counts[b, BLANKS]
    counts[b, STEPS_DONE] = 0
    counts[b, PHASE] = phase
    counts[b, LAST_CELL] = -1


@inlined
def _play(state, b, action, any_digit, can_erase, sizes, tables):
    """Place or erase if the action is legal; return whether it was."""
    rows, _, counts = state
    size = sizes.size
    if can_erase is not None:
        if action >= size**3:
            return _erase(state, b, action - size**3, sizes, tables)
    cell = np.int64(np.uint64(action) // np.uint64(size))  # a signed division takes longer
    digit = action - cell * size + 1
    is_legal = rows[b, cell] == 0 if any_digit else is_candidate(state, b, cell, digit, tables)
    if not is_legal:
        return False
    place(state, b, cell, digit, sizes, tables)
    counts[b, LAST_CELL] = cell
    return True


@njit(cache=True)
def _erase(state, b, cell, sizes, tables):
    """Clear the cell if that is legal; return whether it was."""
    if not may_erase(state, b, cell, sizes):
        return False
    erase(state, b, cell, sizes, tables)
    state.counts[b, LAST_CELL] = cell
    return True


@inlined
def _fill_in(state, b, filled_in, sizes, tables):
    """Place singles after a placement, unless `filled_in` is None."""
    if filled_in is not None:
        _fill_singles(state, b, filled_in == HIDDEN_SINGLES, sizes, tables)


@njit(cache=True)
def _fill_singles(state, b, hidden, sizes, tables):
    """Place naked singles, with `hidden` hidden ones too, until there are none."""
    found = True
    while found:
        found = False
        for cell in range(sizes.num_cells):
            digits = candidates_of(state.candidates, b, cell, sizes, tables)
            if popcount(digits) == 1:
                place(state, b, cell, 1 + np.int64(lowest_bit(digits)), sizes, tables)
                found = True
        if not found and hidden:
            found = _fill_hidden_singles(state, b, sizes, tables)


@njit(cache=True)
def _fill_hidden_singles(state, b, sizes, tables):
    """Place each digit that has one cell left in some unit; return whether there was any."""
    size, units = sizes.size, tables.units
    found = False
    for unit in range(len(units)):
        for digit in range(1, size + 1):
            cells_left, last = 0, np.int64(0)
            for k in range(size):
                if is_candidate(state, b, np.int64(units[unit, k]), digit, tables):
                    cells_left += 1
                    last = np.int64(units[unit, k])
            if cells_left == 1:
                place(state, b, last, digit, sizes, tables)
                found = True
    return found


@njit(cache=True, inline="always")
def step_board(state, b, action, sizes, tables, rules):
    """Play one action, 0 to A - 1, on running board b.

    Returns:
        The reward (0 where it is CUSTOM) and whether the action was illegal.
    """
    counts, num_units = state.counts, sizes.num_units
    satisfied = counts[b, SATISFIED]
    is_legal = _play(state, b, action, rules.any_digit, rules.can_erase, sizes, tables)
    if is_legal:
        _fill_in(state, b, rules.filled_in, sizes, tables)
    counts[b, STEPS_DONE] += 1
    if is_over(counts, b, num_units, rules):
        counts[b, PHASE] = TERMINATED
    elif counts[b, STEPS_DONE] >= rules.max_steps:
        counts[b, PHASE] = TRUNCATED
    reward = 0.0 if is_legal else rules.illegal_reward
    if rules.reward == DENSE:
        reward += (counts[b, SATISFIED] - satisfied) / num_units
    elif counts[b, PHASE] != RUNNING:
        reward += end_value(counts, b, num_units, rules.reward)
    return reward, not is_legal
