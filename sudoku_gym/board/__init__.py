"""Boards: as text, checked, and what the rules allow on them."""

from sudoku_gym.board.checks import (
    as_boards,
    candidates,
    check_puzzles,
    conflicts,
    constraint_fraction,
    flat_boards,
    is_solved,
    satisfied_units,
)
from sudoku_gym.board.notation import (
    SYMBOLS,
    cell_name,
    digit_range,
    parse,
    parse_many,
    to_line,
    to_lines,
    to_text,
)

__all__ = [
    "SYMBOLS",
    "as_boards",
    "candidates",
    "cell_name",
    "check_puzzles",
    "conflicts",
    "constraint_fraction",
    "digit_range",
    "flat_boards",
    "is_solved",
    "parse",
    "parse_many",
    "satisfied_units",
    "to_line",
    "to_lines",
    "to_text",
]
