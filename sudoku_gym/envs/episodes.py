"""Compiled episodes: what one step does to a board, and to a batch of boards.

The single and the vector environment both call `step_board`, so they cannot differ. A batch is
`rows [B, W]` and `counts [B, NUM_COUNTS]` as `sudoku_gym.kernels` lays them out, with the columns
below added; `streams [B, 2]` decides the puzzles.
"""

# mypy: disable-error-code="no-untyped-def,call-arg"

from __future__ import annotations

import numpy as np
from numba import njit

from sudoku_gym.kernels import (
    BLANKS,
    CANDIDATES,
    SATISFIED,
    STUCK,
    borrowed,
    copy_row,
    erase,
    fill_row,
    place,
    prefetch_placement,
    sections,
    set_up,
    write_mask,
)
from sudoku_gym.puzzles.sources import choose_puzzle, write_puzzle
from sudoku_gym.symmetry import draw_symmetry

LEVEL, STEPS, PHASE, LAST_CELL, NUM_COUNTS = 4, 5, 6, 7, 8
RUNNING, TERMINATED, TRUNCATED, RENEWED, UNUSED = range(5)  # RENEWED: ignores the next action
TERMINAL, DENSE, SPARSE, CUSTOM = range(4)  # the kinds of reward
NOTHING, NAKED_SINGLES, HIDDEN_SINGLES = range(3)  # what is filled in for the agent

# rows of the arrays that a batch is told in
TERMINATIONS, TRUNCATIONS, DEAD_END, ILLEGAL_ACTION, IS_SUCCESS, NUM_FLAGS = range(6)
BLANKS_LEFT, START_BLANKS, NUM_INTEGERS = range(3)
REWARD, CONSTRAINT_FRACTION, NUM_FLOATS = range(3)


@njit(cache=True, inline="always")
def _play(rows, counts, b, action, any_digit, sizes, cell_units, peers):
    """Place or erase if the action is legal; return whether it was."""
    size = sizes[0]
    legal = 2 * size * size
    if action >= size**3:
        if rows[b, legal + action] == 0:
            return False
        cell = action - size**3
        erase(rows, counts, b, cell, sizes, cell_units, peers)
    else:
        cell = action // size
        if rows[b, cell] > 0 or (not any_digit and rows[b, legal + action] == 0):
            return False
        place(rows, counts, b, cell, action - cell * size + 1, sizes, cell_units, peers)
    counts[b, LAST_CELL] = cell
    return True


@njit(cache=True)
def _fill_singles(rows, counts, b, hidden, sizes, units, cell_units, peers):
    """Place naked singles, with `hidden` hidden ones too, until there are none."""
    size = sizes[0]
    _, legal, choices, _, _ = sections(sizes)
    found = True
    while found:
        found = False
        for cell in range(size * size):
            if rows[b, choices + cell] == 1:
                digit = 1
                while rows[b, legal + cell * size + digit - 1] == 0:
                    digit += 1
                place(rows, counts, b, cell, digit, sizes, cell_units, peers)
                found = True
        if not found and hidden:
            found = _fill_hidden_singles(rows, counts, b, sizes, units, cell_units, peers)


@njit(cache=True)
def _fill_hidden_singles(rows, counts, b, sizes, units, cell_units, peers):
    """Place each digit that has one cell left in some unit; return whether there was any."""
    size = sizes[0]
    legal = 2 * size * size
    found = False
    for unit in range(len(units)):
        for digit in range(1, size + 1):
            places, last = 0, np.int64(0)
            for k in range(size):
                if rows[b, legal + units[unit, k] * size + digit - 1]:
                    places += 1
                    last = np.int64(units[unit, k])
            if places == 1:
                place(rows, counts, b, last, digit, sizes, cell_units, peers)
                found = True
    return found


@njit(cache=True, inline="always")
def step_board(rows, counts, b, action, sizes, tables, rules):
    """Play one action on running board b.

    Args:
        rows: int8 `[B, W]`.
        counts: int64 `[B, NUM_COUNTS]`.
        b: which board.
        action: 0 to A - 1.
        sizes: (N, A, number of units).
        tables: (cell_units, peers, units) of the geometry.
        rules: (kind of reward, any digit, erase, end at a dead end, illegal reward, what is filled
            in, step limit).

    Returns:
        The reward (0 where it is CUSTOM) and whether the action was illegal.
    """
    num_units = sizes[2]
    cell_units, peers, units = tables
    kind, any_digit, can_erase, end_at_dead_end, illegal_reward, filled_in, max_steps = rules
    satisfied = counts[b, SATISFIED]
    is_legal = _play(rows, counts, b, action, any_digit, sizes, cell_units, peers)
    if filled_in != NOTHING and is_legal:
        hidden = filled_in == HIDDEN_SINGLES
        _fill_singles(rows, counts, b, hidden, sizes, units, cell_units, peers)
    solved = counts[b, SATISFIED] == num_units
    if can_erase:
        terminated = solved
    else:
        terminated = counts[b, BLANKS if any_digit else CANDIDATES] == 0
    terminated |= end_at_dead_end and counts[b, STUCK] > 0
    counts[b, STEPS] += 1
    if terminated:
        counts[b, PHASE] = TERMINATED
    elif counts[b, STEPS] >= max_steps:
        counts[b, PHASE] = TRUNCATED
    reward = 0.0 if is_legal else illegal_reward
    if kind == TERMINAL and counts[b, PHASE] != RUNNING:
        reward += counts[b, SATISFIED] / num_units
    elif kind == DENSE:
        reward += (counts[b, SATISFIED] - satisfied) / num_units
    elif kind == SPARSE and terminated and solved:
        reward += 1.0
    return reward, not is_legal


@njit(cache=True)
def step_one(rows, counts, action, board_rules, rules, observation, mask):
    """Step a batch of one board; all results but `observation [N, N]` and `mask [A]` are scalars.

    Returns:
        reward, terminated, truncated, blanks, level, dead end, illegal action, solved, constraint
        fraction; a reward of NaN says that the action is none of this board, or the episode over.
    """
    sizes, tables = board_rules[0], _borrowed_tables(board_rules)
    num_actions, num_units = sizes[1], sizes[2]
    rows, counts = borrowed(rows), borrowed(counts)
    reward, illegal = np.nan, False
    b = np.int64(0)  # a constant would have functions compiled for it alone
    if counts[0, PHASE] == RUNNING and 0 <= action < num_actions:
        reward, illegal = step_board(rows, counts, b, action, sizes, tables, rules)
    boards, masks = borrowed(observation.reshape(1, -1)), borrowed(mask.reshape(1, -1))
    _show(rows, counts, 0, rules[1], sizes, boards, masks)
    return (
        reward,
        counts[0, PHASE] == TERMINATED,
        counts[0, PHASE] == TRUNCATED,
        counts[0, BLANKS],
        counts[0, LEVEL],
        counts[0, STUCK] > 0,
        illegal,
        counts[0, SATISFIED] == num_units,
        counts[0, SATISFIED] / num_units,
    )


@njit(cache=True)
def first_refused(counts, actions, may_renew, num_actions):
    """Return the first board that can't be stepped, or -1.

    Its episode is over (and it may not be renewed), or its action is none of 0 to A - 1.
    """
    for b in range(len(counts)):
        if counts[b, PHASE] == RUNNING:
            refused = not 0 <= actions[b] < num_actions
        else:
            refused = counts[b, PHASE] == UNUSED or not may_renew
        if refused:
            return b
    return -1


@njit(cache=True, nogil=True)
def step_boards(
    part, rows, counts, streams, actions, board_rules, rules, drawing, observations, masks, told
):
    """Step boards that `first_refused` allows; one whose episode is over gets a new puzzle instead.

    Args:
        part: (first, last), the boards to step, `last` not included; threads take a part each.
        rows: int8 `[B, W]`.
        counts: int64 `[B, NUM_COUNTS]`.
        streams: uint64 `[B, 2]`.
        actions: int64 `[B]`.
        board_rules: ((N, A, number of units), cell_units, peers, units).
        rules: see `step_board`.
        drawing: (bank, cdf, augment, group), see `sudoku_gym.puzzles.sources.draw_puzzle`.
        observations: int8 `[B, N, N]`, written.
        masks: int8 `[B, A]`, written, or `[B, 0]`.
        told: (bool `[NUM_FLAGS, B]`, int64 `[NUM_INTEGERS, B]`, float64 `[NUM_FLOATS, B]`),
            written.
    """
    sizes, tables = board_rules[0], _borrowed_tables(board_rules)
    rows, counts, actions = borrowed(rows), borrowed(counts), borrowed(actions)
    boards, masks = borrowed(observations.reshape(len(rows), -1)), borrowed(masks)
    flags, integers, floats = borrowed(told[0]), borrowed(told[1]), borrowed(told[2])
    drawing, streams = _borrowed_drawing(drawing), borrowed(streams)
    any_digit = rules[1]
    scratch = _new_scratch(sizes)
    running = np.int64(RUNNING)  # a constant would have functions compiled for it alone
    first, last = part
    for b in range(first, last):
        if b + 1 < last:
            prefetch_placement(rows, b + 1, actions[b + 1], sizes, tables[1])
        reward, illegal = 0.0, False
        if counts[b, PHASE] == RUNNING:
            reward, illegal = step_board(rows, counts, b, actions[b], sizes, tables, rules)
        elif counts[b, PHASE] == RENEWED:
            counts[b, PHASE] = RUNNING
        else:
            _draw_board(rows, counts, streams, b, running, sizes, tables[0], drawing, scratch)
        floats[REWARD, b] = reward
        flags[TERMINATIONS, b] = counts[b, PHASE] == TERMINATED
        flags[TRUNCATIONS, b] = counts[b, PHASE] == TRUNCATED
        _tell(counts, b, illegal, sizes[2], flags, integers, floats)
        _show(rows, counts, b, any_digit, sizes, boards, masks)


@njit(cache=True)
def step_chosen(rows, counts, actions, chosen, board_rules, rules):
    """Play `actions[b]` on every board with `chosen [B]`, without telling what happened.

    Every chosen board must be running, and its action one of 0 to A - 1.
    """
    sizes, tables = board_rules[0], _borrowed_tables(board_rules)
    rows, counts = borrowed(rows), borrowed(counts)
    for b in range(len(rows)):
        if chosen[b]:
            step_board(rows, counts, b, actions[b], sizes, tables, rules)


@njit(cache=True, inline="always")
def _tell(counts, b, illegal, num_units, flags, integers, floats):
    """Write the info of board b."""
    flags[DEAD_END, b] = counts[b, STUCK] > 0
    flags[ILLEGAL_ACTION, b] = illegal
    flags[IS_SUCCESS, b] = counts[b, SATISFIED] == num_units
    integers[BLANKS_LEFT, b] = counts[b, BLANKS]
    integers[START_BLANKS, b] = counts[b, LEVEL]
    floats[CONSTRAINT_FRACTION, b] = counts[b, SATISFIED] / num_units


@njit(cache=True, inline="always")
def _show(rows, counts, b, any_digit, sizes, boards, masks):
    """Write what the agent sees into `boards[b]` and `masks[b]`."""
    copy_row(rows, b, 0, sizes[0] * sizes[0], boards)
    if masks.shape[1] > 0:
        _write_mask(rows, counts, b, any_digit, sizes, masks)


@njit(cache=True, inline="always")
def _write_mask(rows, counts, b, any_digit, sizes, masks):
    """Write the mask, which allows nothing once the episode has terminated or before a reset."""
    if counts[b, PHASE] == TERMINATED or counts[b, PHASE] == UNUSED:
        fill_row(masks, b, 0, sizes[1], 0)
    else:
        write_mask(rows, b, any_digit, sizes, masks)


@njit(cache=True)
def _start_episode(rows, counts, b, phase, sizes, cell_units, scratch):
    """Begin an episode on the board in `rows[b, :N**2]`."""
    set_up(rows, counts, b, sizes, cell_units, scratch)
    counts[b, LEVEL] = counts[b, BLANKS]
    counts[b, STEPS] = 0
    counts[b, PHASE] = phase
    counts[b, LAST_CELL] = -1


@njit(cache=True)
def _new_scratch(sizes):
    """Return what `set_up` and what `write_puzzle` overwrite."""
    size, _, num_units = sizes
    return (
        (np.empty(num_units + 1, np.uint32), np.empty(size * size, np.int32)),
        (np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size + 1, np.int8)),
    )


@njit(cache=True, inline="always")
def _borrowed_tables(board_rules):
    _, cell_units, peers, units = board_rules
    return borrowed(cell_units), borrowed(peers), borrowed(units)


@njit(cache=True, inline="always")
def _borrowed_drawing(drawing):
    bank, cdf, augment, group = drawing
    row_block, column_block, can_transpose, listed = group
    return (
        (borrowed(bank[0]), borrowed(bank[1]), borrowed(bank[2])),
        borrowed(cdf),
        augment,
        (row_block, column_block, can_transpose, borrowed(listed)),
    )


@njit(cache=True, inline="always")
def _draw_board(rows, counts, streams, b, phase, sizes, cell_units, drawing, scratch):
    """Begin an episode on a puzzle from the bank."""
    bank, cdf, augment, group = drawing
    for_set_up, for_puzzle = scratch
    stream, solutions = streams[b], rows[:, sizes[0] * sizes[0] :]  # where `set_up` puts the givens
    index, wanted = choose_puzzle(stream, bank, cdf)
    write_puzzle(stream, bank, index, wanted, augment, group, for_puzzle, rows, solutions, b)
    _start_episode(rows, counts, b, phase, sizes, cell_units, for_set_up)


@njit(cache=True)
def draw_boards(rows, counts, streams, chosen, phase, board_rules, drawing):
    """Begin an episode on a puzzle from the bank for every board with `chosen [B]`."""
    sizes, cell_units = board_rules[0], board_rules[1]
    rows, counts, cell_units = borrowed(rows), borrowed(counts), borrowed(cell_units)
    drawing, streams = _borrowed_drawing(drawing), borrowed(streams)
    scratch = _new_scratch(sizes)
    for b in range(len(rows)):
        if chosen[b]:
            _draw_board(rows, counts, streams, b, phase, sizes, cell_units, drawing, scratch)


@njit(cache=True)
def load_boards(rows, counts, streams, chosen, phase, board_rules, augment, group, puzzles):
    """Begin an episode on `puzzles[i]`, int8 `[B, N**2]`, for every board i with `chosen [B]`.

    With `augment` each puzzle is moved by a symmetry drawn from the board's own stream.
    """
    sizes, cell_units = board_rules[0], board_rules[1]
    size = sizes[0]
    rows, counts, cell_units = borrowed(rows), borrowed(counts), borrowed(cell_units)
    for_set_up, (lines, columns, digits) = _new_scratch(sizes)
    for b in range(len(rows)):
        if chosen[b]:
            copy_row(puzzles, b, 0, size * size, rows)
            if augment:
                transpose = draw_symmetry(streams[b], group, lines, columns, digits)
                row_step, column_step = (1, size) if transpose else (size, 1)
                for cell in range(size * size):
                    image = lines[cell // size] * row_step + columns[cell % size] * column_step
                    rows[b, image] = digits[puzzles[b, cell]]
            _start_episode(rows, counts, b, phase, sizes, cell_units, for_set_up)


@njit(cache=True)
def show_boards(rows, counts, chosen, board_rules, any_digit, observations, masks, told):
    """Write what the boards with `chosen [B]` show after a reset; leave the others' output."""
    sizes = board_rules[0]
    rows, counts, masks = borrowed(rows), borrowed(counts), borrowed(masks)
    boards = borrowed(observations.reshape(len(rows), -1))
    flags, integers, floats = borrowed(told[0]), borrowed(told[1]), borrowed(told[2])
    for b in range(len(rows)):
        if chosen[b]:
            _tell(counts, b, False, sizes[2], flags, integers, floats)
            _show(rows, counts, b, any_digit, sizes, boards, masks)


@njit(cache=True)
def write_masks(rows, counts, board_rules, any_digit, masks):
    """Write the action mask of every board into int8 `masks [B, A]`; zero after its end."""
    sizes = board_rules[0]
    rows, counts, masks = borrowed(rows), borrowed(counts), borrowed(masks)
    for b in range(len(rows)):
        _write_mask(rows, counts, b, any_digit, sizes, masks)
