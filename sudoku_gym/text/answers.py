"""Whole boards, read from a model's text."""

from __future__ import annotations

import re

from sudoku_gym.board import SYMBOLS
from sudoku_gym.text.regions import answer_regions, last_values

_VALUES = {symbol: digit for digit, symbol in enumerate(SYMBOLS)}
_VALUES |= {symbol.lower(): digit for symbol, digit in _VALUES.items()} | {"0": 0, "_": 0}
_VALUES |= {str(digit): digit for digit in range(10, len(SYMBOLS))}
_PLAIN = str.maketrans(dict.fromkeys("|,;[](){}'\"`*\t\r", " "))
_ROW_NAME = re.compile(r"^\s*(?:row|r)\s*\d{1,2}\s*[:.)=]", re.IGNORECASE)
_RULE = re.compile(r"^[\s+\-=|─┼│]*$")
_LISTS = re.compile(r"\[(?=\s*\[)")


def read_answer(text: str, size: int) -> bytes | str:
    """Read the last board of N x N cells in a model's text.

    Rows may be lines of N symbols, with or without spaces, commas and rules between them; a line
    of N**2 symbols; or a list of rows in JSON. Digits above 9 are letters or, with separators,
    numbers; `.`, `0` and `_` are blanks.

    Returns:
        N**2 digits row by row, 0 for a blank; or a sentence that says why there is no board.
    """
    regions = answer_regions(text)
    for region in regions:
        board, end = _last_list(region, size)
        board = _last_rows(region[end:], size) or board
        if board:
            return board
    rows = sum(_row(line, size) is not None for line in regions[0].splitlines())
    return (
        f"No board of {size} rows of {size} symbols was found in the answer, only "
        f"{rows} such {'row' if rows == 1 else 'rows'} on end or apart."
        if rows
        else f"No board was found: write {size} rows of {size} symbols each."
    )


def _last_list(text: str, size: int) -> tuple[bytes | None, int]:
    """Return the last board that is a list in JSON, and where it ends; None and 0 without one."""
    for rows, end in last_values(text, _LISTS):
        if len(rows) == size and all(isinstance(row, list) and len(row) == size for row in rows):
            digits = [digit for row in rows for digit in row]
            if all(type(digit) is int and 0 <= digit <= size for digit in digits):
                return bytes(digits), end
    return None, 0


def _last_rows(text: str, size: int) -> bytes | None:
    rows: list[bytes] = []  # from the last one up
    for line in reversed(text.splitlines()):
        row = _row(line, size)
        if row is not None and len(row) > size:
            return row
        if row is not None:
            rows.append(row)
            if len(rows) == size:
                return b"".join(reversed(rows))
        elif not _RULE.match(line):
            rows = []
    return None


def _row(line: str, size: int) -> bytes | None:
    """Read N symbols, or all N**2."""
    if not size <= len(line) <= 8 * size * size:
        return None
    for part in (line, _ROW_NAME.sub("", line)):
        words = part.translate(_PLAIN).split()
        for symbols in (words, "".join(words)):
            if len(symbols) in (size, size * size):
                digits = [_VALUES.get(symbol, size + 1) for symbol in symbols]
                if max(digits) <= size:
                    return bytes(digits)
    return None
