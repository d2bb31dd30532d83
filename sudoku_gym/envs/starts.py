"""Episodes begin on puzzles from a bank, or on given ones: whole batches, compiled."""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.intrinsics import borrowed
from sudoku_gym.compiler.jit import njit
from sudoku_gym.envs.episodes import start_episode
from sudoku_gym.geometry.symmetry import draw_symmetry
from sudoku_gym.kernels.layout import Sizes, borrowed_state, borrowed_tables
from sudoku_gym.kernels.positions import copy_row
from sudoku_gym.puzzles.sources import borrowed_drawing, choose_puzzle, write_puzzle

Scratch: TypeAlias = tuple[tuple[NDArray[Any], ...], tuple[NDArray[Any], ...]]


def new_scratch(sizes: Sizes) -> Scratch:
    """Return what `set_up` and what `write_puzzle` overwrite, for one thread."""
    size = sizes.size
    return (
        (np.empty(sizes.num_cells, np.int32), np.empty(sizes.num_units + 1, np.uint64)),
        (np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size + 1, np.int8)),
    )


@njit(cache=True, nogil=True)
def draw_boards(state, first, chosen, phase, sizes, tables, drawn):
    """Begin an episode on every board `first + i` with `chosen[i]`.

    The caller holds all arrays, so that they can be `borrowed`.
    """
    state, sizes, tables = borrowed_state(state), Sizes(*sizes), borrowed_tables(tables)
    streams, drawing, scratch = _borrowed_drawn(drawn)
    for i in range(np.uint64(len(chosen))):
        if chosen[i]:
            b = np.uint64(first) + i
            _draw_board(state, streams, b, phase, sizes, tables, drawing, scratch)


@njit(cache=True, inline="always")
def _draw_board(state, streams, b, phase, sizes, tables, drawing, scratch):
    """Begin an episode on a puzzle from the bank."""
    bank, cdf, augment, group = drawing
    for_board, for_puzzle = scratch
    rows = state.rows
    stream, solutions = streams[b], rows[:, sizes.num_cells :]  # where `set_up` puts the givens
    index, wanted = choose_puzzle(stream, bank, cdf)
    write_puzzle(stream, bank, index, wanted, augment, group, for_puzzle, rows, solutions, b)
    start_episode(state, b, phase, sizes, tables, for_board)


@njit(cache=True, inline="always")
def _borrowed_drawn(drawn):
    streams, drawing, ((order, used), (lines, columns, digits)) = drawn
    for_board = borrowed(order), borrowed(used)
    for_puzzle = borrowed(lines), borrowed(columns), borrowed(digits)
    return borrowed(streams), borrowed_drawing(drawing), (for_board, for_puzzle)


@njit(cache=True)
def load_boards(state, streams, chosen, phase, sizes, tables, augment, group, puzzles, scratch):
    """Begin an episode on `puzzles[i]`, int8 `[B, N**2]`, for every board i with `chosen [B]`.

    With `augment` each puzzle is moved by a symmetry drawn from the board's own stream.
    """
    state, sizes, tables = borrowed_state(state), Sizes(*sizes), borrowed_tables(tables)
    rows, size = state.rows, sizes.size
    (order, used), (lines, columns, digits) = scratch
    for_board = borrowed(order), borrowed(used)
    for b in range(np.uint64(len(chosen))):
        if chosen[b]:
            copy_row(puzzles, b, sizes.num_cells, rows, b)
            if augment:
                transpose = draw_symmetry(streams[b], group, lines, columns, digits)
                row_step, column_step = (1, size) if transpose else (size, 1)
                for cell in range(sizes.num_cells):
                    image = lines[cell // size] * row_step + columns[cell % size] * column_step
                    rows[b, image] = digits[puzzles[b, cell]]
            start_episode(state, b, phase, sizes, tables, for_board)
