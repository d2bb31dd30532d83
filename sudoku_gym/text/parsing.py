"""Moves and whole boards, read from a model's text in the forms that people write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from sudoku_gym.board import SYMBOLS, digit_range

CommandKind: TypeAlias = Literal["place", "erase", "undo", "candidates", "give up"]


class Command(NamedTuple):
    """What a model wants to do."""

    kind: CommandKind
    cell: int = -1  # row * N + column; -1 where the command has none
    digit: int = 0


_VERBS: dict[str, CommandKind] = {
    **dict.fromkeys(("place", "put", "set", "fill", "enter", "write", "play"), "place"),
    **dict.fromkeys(("erase", "clear", "remove", "delete"), "erase"),
    **dict.fromkeys(("candidates", "candidate", "options"), "candidates"),
    "undo": "undo",
}
_PLACING = ("move", "placement", "insert", "add")  # as the action of an object in JSON
_TOKENS = re.compile(
    r"(?P<cell>\br\s?(\d{1,3})\s?,?\s?c\s?(\d{1,3})(?!\d))"
    r"|(?P<row>\brow\b)|(?P<column>\bcol(?:umn)?\b)"
    r"|(?P<value>\b(?:digit|value|number)\b)"
    r"|(?P<give_up>\b(?:give[ _]up|resign|quit)\b)"
    rf"|(?P<verb>\b(?a:{'|'.join(_VERBS)})\b)"  # ASCII: no \u017f is an s
    r"|(?P<inside>\b(?:in|into|at|on)\b)"
    r"|(?P<filler>\b(?:to|is|with|the|cell|and|be|of|as|for|we|must|should|goes|please|move|answer|action)\b"
    r"|(?:(?![!<>]=|<\s*\d|(?<![\w)\]])-\d)[\s,;:=()\[\]\"'`*<>→_.!#-])+)"
    r"|(?P<number>(?:(?<![\w)\]])-)?(?<!\w)\d{1,4}(?!\w))"  # 5-3-7 has no negative ones
    r"|(?P<letter>(?<!\w)(?a:[A-P])(?!\w))"
    r"|(?P<other>[!<>]=|<(?=\s*\d)|\w+|.)",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\{")
_KEYS = {
    "row": ("row", "r"),
    "column": ("column", "col", "c"),
    "digit": ("digit", "value", "number", "d", "v"),
    "verb": ("action", "move", "command"),
}
_LONGEST_LINE = 2_000  # characters of a line that are read, from its end
_MOST_LINES = 400

LONGEST_TEXT = 100_000
"""Characters of a model's text that are read, from its end."""

_MOST_VALUES = 20  # places at which a value in JSON may begin, from the end
_DECODER = json.JSONDecoder()
_TAGGED = re.compile(r"<(answer|move|action)>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)

_VALUES = {symbol: digit for digit, symbol in enumerate(SYMBOLS)}
_VALUES |= {symbol.lower(): digit for symbol, digit in _VALUES.items()} | {"0": 0, "_": 0}
_VALUES |= {str(digit): digit for digit in range(10, len(SYMBOLS))}
_PLAIN = str.maketrans(dict.fromkeys("|,;[](){}'\"`*\t\r", " "))
_ROW_NAME = re.compile(r"^\s*(?:row|r)\s*\d{1,2}\s*[:.)=]", re.IGNORECASE)
_RULE = re.compile(r"^[\s+\-=|─┼│]*$")
_LISTS = re.compile(r"\[(?=\s*\[)")


def read_command(text: str, size: int) -> Command | str:
    """Read the last move in a model's text, for a board of N x N cells.

    These all place a 7 in row 5, column 3: `5 3 7`, `place 5 3 7`, `r5c3=7`, `(5, 3) = 7`,
    `put 7 in row 5, column 3`, `row 5 column 3: 7`, `{"row": 5, "column": 3, "digit": 7}`.
    Others are `erase r5c3`, `undo`, `candidates r5c3` and `give up`. Digits above 9 are numbers or
    letters. Prose around a move does no harm; of several moves the last one counts.

    Returns:
        The command, or a sentence that says why there is none.
    """
    for region in answer_regions(text):
        in_object, end = _last_object(region, size)
        lines = region[end:].rstrip().rsplit("\n", _MOST_LINES)[-_MOST_LINES:]
        results = (_read_line(line[-_LONGEST_LINE:], size) for line in reversed(lines))
        found = next((result for result in results if result is not None), in_object)
        if found is not None:
            return found
    return "No move was understood: write one such as r5c3=7, with a row, a column and a digit."


class _Clause:
    """What a stretch of a line without unknown words has said so far."""

    def __init__(self, at_start: bool) -> None:
        self.at_start = at_start
        self.verb: CommandKind | None = None
        self.named: dict[str, int] = {}  # "row", "column" and "value", as far as they were marked
        self.bare: list[int] = []
        self.marker = ""  # what the next number is

    def add_number(self, number: int) -> None:
        if self.marker and self.marker not in self.named:
            self.named[self.marker] = number
        else:
            self.bare.append(number)
        self.marker = ""

    def place_bare_value(self) -> None:
        """Take the one number before `in` or `at` for the digit: `7 in row 5, column 3`."""
        if len(self.bare) == 1 and not self.named:
            self.named["value"] = self.bare.pop()

    def read(self, alone: bool, size: int) -> Command | str | None:
        """Return the command, a sentence why it cannot be, or None if there is none."""
        verb, named, bare = self.verb, dict(self.named), list(self.bare)
        if verb in ("undo", "give up"):
            return Command(verb) if self.at_start and not (named or bare) else None
        if verb == "candidates" and not self.at_start:
            return None
        if alone and len(bare) == 1 and not named and size <= 9 and 111 <= bare[0] <= 999:
            bare = [int(digit) for digit in str(bare[0])]
        if not {"row", "column"} <= named.keys() and not (verb or alone):
            if not ("value" in named and len(bare) == 2):
                return None
        for name in ("row", "column", "value"):
            if name not in named and bare:
                named[name] = bare.pop(0)
        if "row" not in named or "column" not in named or bare:
            return None
        if verb == "place" and "value" not in named:
            return "The move has no digit: write one such as r5c3=7."
        if verb is None and "value" not in named:
            return None
        return checked_command(
            verb or "place", named["row"], named["column"], named.get("value", 0), size
        )


def checked_command(
    kind: CommandKind, row: int, column: int, digit: int, size: int
) -> Command | str:
    """Return a command on a cell, counted from 1, or a sentence that names what is out of range."""
    if not 1 <= row <= size:
        return f"There is no row {row}: rows are counted from 1 to {size}."
    if not 1 <= column <= size:
        return f"There is no column {column}: columns are counted from 1 to {size}."
    if not 0 <= digit <= size:
        return f"{digit} is no digit of this board: use {digit_range(size)}."
    cell = (row - 1) * size + column - 1
    if kind == "place":
        return Command("place", cell, digit) if digit else Command("erase", cell)
    return Command(kind, cell)


def _read_line(line: str, size: int) -> Command | str | None:
    found: Command | str | None = None
    clause = _Clause(at_start=True)
    seen_other = False
    for token in _TOKENS.finditer(line):
        kind = token.lastgroup or ("cell" if token["cell"] else "other")
        if kind == "filler":
            continue
        if kind == "other" or (kind == "letter" and size <= 9):
            found = clause.read(False, size) or found
            clause, seen_other = _Clause(at_start=False), True
        elif kind in ("verb", "give_up"):
            if clause.verb or clause.bare or clause.named.keys() != {"row", "column"}:
                found = clause.read(False, size) or found
                clause = _Clause(at_start=clause.at_start and not (clause.named or clause.bare))
            clause.verb = _VERBS[token[0].lower()] if kind == "verb" else "give up"
        elif kind == "cell":
            if "row" in clause.named:  # another move begins
                found = clause.read(False, size) or found
                clause = _Clause(at_start=False)
            clause.place_bare_value()
            clause.named["row"], clause.named["column"] = int(token[2]), int(token[3])
        elif kind == "inside":
            clause.place_bare_value()
        elif kind in ("row", "column", "value"):
            if kind == "row" and "row" in clause.named:
                found = clause.read(False, size) or found
                clause = _Clause(at_start=False)
            if kind != "value":
                clause.place_bare_value()
            clause.marker = kind
        else:
            is_letter = kind == "letter"
            clause.add_number(SYMBOLS.index(token[0].upper()) if is_letter else int(token[0]))
    return clause.read(not seen_other, size) or found


def _last_object(text: str, size: int) -> tuple[Command | str | None, int]:
    """Read the last object in JSON that is a move; return where it, or what it is in, ends.

    Of a move within a move, as one that is rejected, the outer one counts.
    """
    found, end = None, 0
    for fields, stop in last_values(text, _OBJECT):
        if found is None or stop >= end:
            move = _read_object(fields, size)
            end = stop if found or move else 0
            found = move or found
    return found, end


def _read_object(given: dict[str, Any], size: int) -> Command | str | None:
    fields = {str(key).lower(): value for key, value in given.items()}
    values = {name: _first_of(fields, keys) for name, keys in _KEYS.items()}
    verb = values["verb"]
    kind = "place" if verb in (None, "") or isinstance(verb, int | float) else _kind_of(verb)
    if kind in ("undo", "give up"):
        return Command(kind)
    row, column = as_number(values["row"]), as_number(values["column"])
    digit = 0 if values["digit"] is None else as_number(values["digit"])
    if row is None or column is None or digit is None:
        return None
    if kind is None:
        return f"There is no action {verb!r:.40}: use place, erase, candidates, undo or give up."
    if kind == "place" and values["digit"] is None:
        return "The move has no digit: write one such as r5c3=7."
    return checked_command(kind, row, column, digit, size)


def _kind_of(verb: object) -> CommandKind | None:
    """Read what an action is called: `place`, `Fill`, `place_digit`; None if it is no verb."""
    words = re.split(r"[\s_-]+", verb.lower().strip()) if isinstance(verb, str) else [""]
    if "".join(words) == "giveup":
        return "give up"
    return "place" if words[0] in _PLACING else _VERBS.get(words[0])


def _first_of(fields: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((fields[key] for key in keys if key in fields), None)


def as_number(value: object) -> int | None:
    """Read a whole number, also from a text or a letter above 9; None if it is none."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1000:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < 1000 else 1000
    if isinstance(value, str) and 0 < len(value.strip()) <= 3:
        text = value.strip().upper()
        if text.isdecimal():
            return int(text)
        return SYMBOLS.index(text) if len(text) == 1 and text in SYMBOLS else None
    return None


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


def answer_regions(text: str) -> list[str]:
    """Return where to look for an answer, the surest place first.

    What stands in `<think>` is left out, also where the tag is not closed. Then the last
    `<answer>`, `<move>` or `<action>` is looked at, then the last fenced block, then everything.

    Raises:
        TypeError: if it is no text.
    """
    if not isinstance(text, str):
        raise TypeError(f"a model's turn is a text, not {text!r:.60}")
    text = text[-LONGEST_TEXT:]
    text = text.rpartition("</think>")[2].partition("<think>")[0]
    regions = []
    tags = list(_TAGGED.finditer(text))
    if tags:
        regions.append(text[tags[-1].end() :].partition("</")[0])
    fences = [match.span() for match in _FENCE.finditer(text)]
    if len(fences) % 2:  # the last block is not closed
        fences.append((len(text), len(text)))
    if fences:
        regions.append(text[fences[-2][1] : fences[-1][0]])
    return [*regions, text]


def last_values(text: str, opening: re.Pattern[str]) -> Iterator[tuple[Any, int]]:
    """Yield the values in JSON that begin where a pattern matches, and where each ends.

    The last comes first; the last 20 places are tried.
    """
    starts = [match.start() for match in opening.finditer(text)]
    for start in reversed(starts[-_MOST_VALUES:]):
        try:
            found = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield found
