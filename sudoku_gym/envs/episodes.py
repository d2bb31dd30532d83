"""Compiled episodes: what one step does to a board, and to a batch of boards.

The single and the vector environment both call `step_board`, so they cannot differ. A batch is
`state = (rows, candidates, counts)` as `sudoku_gym.kernels.positions` lays it out, with the columns
of `counts` below added; `streams [B, 2]` decides the puzzles.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

import numpy as np

from sudoku_gym.kernels.compiler import njit
from sudoku_gym.kernels.intrinsics import borrowed
from sudoku_gym.kernels.masks import write_mask
from sudoku_gym.kernels.positions import (
    BLANKS,
    CANDIDATES,
    SATISFIED,
    STUCK,
    copy_row,
    erase,
    fill_row,
    is_candidate,
    may_erase,
    only_candidate,
    place,
    set_up,
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
def _play(state, b, action, any_digit, sizes, tables):
    """Place or erase if the action is legal; return whether it was."""
    rows, _, counts = state
    size = sizes[0]
    if action >= size**3:
        cell = action - size**3
        if not may_erase(state, b, cell, sizes):
            return False
        erase(state, b, cell, sizes, tables)
    else:
        cell = np.int64(np.uint64(action) // np.uint64(size))  # a signed division takes longer
        digit = action - cell * size + 1
        is_legal = rows[b, cell] == 0 if any_digit else is_candidate(state, b, cell, digit, tables)
        if not is_legal:
            return False
        place(state, b, cell, digit, sizes, tables)
    counts[b, LAST_CELL] = cell
    return True


@njit(cache=True)
def _fill_singles(state, b, hidden, sizes, tables):
    """Place naked singles, with `hidden` hidden ones too, until there are none."""
    found = True
    while found:
        found = False
        for cell in range(sizes[0] * sizes[0]):
            digit = only_candidate(state, b, cell, sizes, tables)
            if digit > 0:
                place(state, b, cell, digit, sizes, tables)
                found = True
        if not found and hidden:
            found = _fill_hidden_singles(state, b, sizes, tables)


@njit(cache=True)
def _fill_hidden_singles(state, b, sizes, tables):
    """Place each digit that has one cell left in some unit; return whether there was any."""
    size = sizes[0]
    units = tables[2]
    found = False
    for unit in range(len(units)):
        for digit in range(1, size + 1):
            places, last = 0, np.int64(0)
            for k in range(size):
                if is_candidate(state, b, np.int64(units[unit, k]), digit, tables):
                    places += 1
                    last = np.int64(units[unit, k])
            if places == 1:
                place(state, b, last, digit, sizes, tables)
                found = True
    return found


@njit(cache=True, inline="always")
def step_board(state, b, action, sizes, tables, rules):
    """Play one action on running board b.

    Args:
        state: (rows, candidates, counts).
        b: which board.
        action: 0 to A - 1.
        sizes: see `positions.sizes_of`.
        tables: see `positions.tables_of`.
        rules: (kind of reward, any digit, erase, end at a dead end, illegal reward, what is filled
            in, step limit).

    Returns:
        The reward (0 where it is CUSTOM) and whether the action was illegal.
    """
    counts, num_units = state[2], sizes[2]
    kind, any_digit, can_erase, end_at_dead_end, illegal_reward, filled_in, max_steps = rules
    satisfied = counts[b, SATISFIED]
    is_legal = _play(state, b, action, any_digit, sizes, tables)
    if filled_in != NOTHING and is_legal:
        hidden = filled_in == HIDDEN_SINGLES
        _fill_singles(state, b, hidden, sizes, tables)
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
def step_one(state, action, board_rules, rules, observation, mask):
    """Step a batch of one board; all results but `observation [N, N]` and `mask [A]` are scalars.

    Returns:
        reward, terminated, truncated, blanks, level, dead end, illegal action, solved, constraint
        fraction; a reward of NaN says that the action is none of this board, or the episode over.
    """
    state, tables = _borrowed_state(state), _borrowed_tables(board_rules)
    sizes, counts = board_rules[0], state[2]
    num_actions, num_units = sizes[1], sizes[2]
    reward, illegal = np.nan, False
    b = np.uint64(0)  # a constant would have functions compiled for it alone
    if counts[0, PHASE] == RUNNING and 0 <= action < num_actions:
        reward, illegal = step_board(state, b, action, sizes, tables, rules)
    boards, masks = borrowed(observation.reshape(1, -1)), borrowed(mask.reshape(1, -1))
    _show(state, b, rules[1], sizes, boards, masks)
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
    part, state, streams, actions, board_rules, rules, drawing, observations, masks, told
):
    """Step boards that `first_refused` allows; one whose episode is over gets a new puzzle instead.

    Args:
        part: (first, last), the boards to step, `last` not included; threads take a part each.
        state: (rows, candidates, counts).
        streams: uint64 `[B, 2]`.
        actions: int64 `[B]`.
        board_rules: (sizes, tables), see `sudoku_gym.kernels.positions`.
        rules: see `step_board`.
        drawing: (bank, cdf, augment, group), see `sudoku_gym.puzzles.sources.draw_puzzle`.
        observations: int8 `[B, N, N]`, written.
        masks: int8 `[B, A]`, written, or `[B, 0]`.
        told: (bool `[NUM_FLAGS, B]`, int64 `[NUM_INTEGERS, B]`, float64 `[NUM_FLOATS, B]`),
            written.
    """
    first, last = part
    over = np.empty(last - first, np.bool_)
    for i in range(np.uint64(last - first)):
        phase = state[2][np.uint64(first) + i, PHASE]
        over[i] = phase == TERMINATED or phase == TRUNCATED
    renewed = np.int64(RENEWED)  # a constant would have functions compiled for it alone
    drawn = (streams, drawing, _new_scratch(board_rules[0]))
    _draw_boards(state, first, over, renewed, board_rules, drawn)
    state, tables = _borrowed_state(state), _borrowed_tables(board_rules)
    sizes, counts, actions = board_rules[0], state[2], borrowed(actions)
    boards, masks = borrowed(observations.reshape(len(counts), -1)), borrowed(masks)
    flags, integers, floats = borrowed(told[0]), borrowed(told[1]), borrowed(told[2])
    any_digit = rules[1]
    for b in range(np.uint64(first), np.uint64(last)):
        reward, illegal = 0.0, False
        if counts[b, PHASE] == RUNNING:
            reward, illegal = step_board(state, b, actions[b], sizes, tables, rules)
        else:  # it was renewed, and its action is ignored
            counts[b, PHASE] = RUNNING
        floats[REWARD, b] = reward
        flags[TERMINATIONS, b] = counts[b, PHASE] == TERMINATED
        flags[TRUNCATIONS, b] = counts[b, PHASE] == TRUNCATED
        _tell(counts, b, illegal, sizes[2], flags, integers, floats)
        _show(state, b, any_digit, sizes, boards, masks)


@njit(cache=True)
def step_chosen(state, actions, chosen, board_rules, rules):
    """Play `actions[b]` on every board with `chosen [B]`, without telling what happened.

    Every chosen board must be running, and its action one of 0 to A - 1.
    """
    state, tables = _borrowed_state(state), _borrowed_tables(board_rules)
    for b in range(np.uint64(len(chosen))):
        if chosen[b]:
            step_board(state, b, actions[b], board_rules[0], tables, rules)


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
def _show(state, b, any_digit, sizes, boards, masks):
    """Write what the agent sees into `boards[b]` and `masks[b]`."""
    copy_row(state[0], b, 0, sizes[0] * sizes[0], boards)
    if masks.shape[1] > 0:
        _write_mask(state, b, any_digit, sizes, masks)


@njit(cache=True, inline="always")
def _write_mask(state, b, any_digit, sizes, masks):
    """Write the mask, which allows nothing once the episode has terminated or before a reset."""
    phase = state[2][b, PHASE]
    if phase == TERMINATED or phase == UNUSED:
        fill_row(masks, b, 0, sizes[1], 0)
    else:
        write_mask(state, b, any_digit, sizes, masks)


@njit(cache=True, inline="always")
def _start_episode(state, b, phase, sizes, tables, for_board):
    """Begin an episode on the board in `rows[b, :N**2]`."""
    counts = state[2]
    set_up(state, b, sizes, tables, for_board)
    counts[b, LEVEL] = counts[b, BLANKS]
    counts[b, STEPS] = 0
    counts[b, PHASE] = phase
    counts[b, LAST_CELL] = -1


@njit(cache=True)
def _new_scratch(sizes):
    """Return what `set_up` and what `write_puzzle` overwrite."""
    size = sizes[0]
    return (
        (np.empty(size * size, np.int32), np.empty(sizes[2] + 1, np.uint64)),
        (np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size + 1, np.int8)),
    )


@njit(cache=True, inline="always")
def _borrowed_state(state):
    rows, candidates, counts = state
    return borrowed(rows), borrowed(candidates), borrowed(counts)


@njit(cache=True, inline="always")
def _borrowed_tables(board_rules):
    cell_units, peers, units, peer_bits, first_bits = board_rules[1]
    cell_units, peers, units = borrowed(cell_units), borrowed(peers), borrowed(units)
    return cell_units, peers, units, borrowed(peer_bits), borrowed(first_bits)


@njit(cache=True, inline="always")
def _borrowed_drawn(drawn):
    streams, (bank, cdf, augment, group), scratch = drawn
    (order, used), (lines, columns, digits) = scratch
    row_block, column_block, can_transpose, listed = group
    drawing = (
        (borrowed(bank[0]), borrowed(bank[1]), borrowed(bank[2])),
        borrowed(cdf),
        augment,
        (row_block, column_block, can_transpose, borrowed(listed)),
    )
    for_board = borrowed(order), borrowed(used)
    for_puzzle = borrowed(lines), borrowed(columns), borrowed(digits)
    return borrowed(streams), drawing, (for_board, for_puzzle)


@njit(cache=True, inline="always")
def _draw_board(state, streams, b, phase, sizes, tables, drawing, scratch):
    """Begin an episode on a puzzle from the bank."""
    bank, cdf, augment, group = drawing
    for_board, for_puzzle = scratch
    rows = state[0]
    stream, solutions = streams[b], rows[:, sizes[0] * sizes[0] :]  # where `set_up` puts the givens
    index, wanted = choose_puzzle(stream, bank, cdf)
    write_puzzle(stream, bank, index, wanted, augment, group, for_puzzle, rows, solutions, b)
    _start_episode(state, b, phase, sizes, tables, for_board)


@njit(cache=True)
def draw_boards(state, streams, chosen, phase, board_rules, drawing):
    """Begin an episode on a puzzle from the bank for every board with `chosen [B]`."""
    drawn = (streams, drawing, _new_scratch(board_rules[0]))
    _draw_boards(state, np.int64(0), chosen, phase, board_rules, drawn)


@njit(cache=True, nogil=True)
def _draw_boards(state, first, chosen, phase, board_rules, drawn):
    """Begin an episode on every board `first + i` with `chosen[i]`.

    The caller holds all arrays, so that they can be `borrowed`.
    """
    state, tables = _borrowed_state(state), _borrowed_tables(board_rules)
    streams, drawing, scratch = _borrowed_drawn(drawn)
    for i in range(np.uint64(len(chosen))):
        if chosen[i]:
            b = np.uint64(first) + i
            _draw_board(state, streams, b, phase, board_rules[0], tables, drawing, scratch)


@njit(cache=True)
def load_boards(state, streams, chosen, phase, board_rules, augment, group, puzzles):
    """Begin an episode on `puzzles[i]`, int8 `[B, N**2]`, for every board i with `chosen [B]`.

    With `augment` each puzzle is moved by a symmetry drawn from the board's own stream.
    """
    state, tables = _borrowed_state(state), _borrowed_tables(board_rules)
    sizes, rows = board_rules[0], state[0]
    size = sizes[0]
    for_board, (lines, columns, digits) = _new_scratch(sizes)
    for b in range(len(chosen)):
        if chosen[b]:
            copy_row(puzzles, b, 0, size * size, rows)
            if augment:
                transpose = draw_symmetry(streams[b], group, lines, columns, digits)
                row_step, column_step = (1, size) if transpose else (size, 1)
                for cell in range(size * size):
                    image = lines[cell // size] * row_step + columns[cell % size] * column_step
                    rows[b, image] = digits[puzzles[b, cell]]
            _start_episode(state, b, phase, sizes, tables, for_board)


@njit(cache=True)
def show_boards(state, chosen, board_rules, any_digit, observations, masks, told):
    """Write what the boards with `chosen [B]` show after a reset; leave the others' output."""
    state, sizes = _borrowed_state(state), board_rules[0]
    masks, boards = borrowed(masks), borrowed(observations.reshape(len(chosen), -1))
    flags, integers, floats = borrowed(told[0]), borrowed(told[1]), borrowed(told[2])
    for b in range(len(chosen)):
        if chosen[b]:
            _tell(state[2], b, False, sizes[2], flags, integers, floats)
            _show(state, b, any_digit, sizes, boards, masks)


@njit(cache=True)
def write_masks(state, board_rules, any_digit, masks):
    """Write the action mask of every board into int8 `masks [B, A]`; zero after its end."""
    state, masks = _borrowed_state(state), borrowed(masks)
    for b in range(len(masks)):
        _write_mask(state, b, any_digit, board_rules[0], masks)
