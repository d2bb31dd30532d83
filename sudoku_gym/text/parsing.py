"""Moves and whole boards, read from a model's text in the forms that people write."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from sudoku_gym.board import SYMBOLS, digit_range

CommandKind: TypeAlias = Literal["place", "erase", "undo", "give up"]
_Found = TypeVar("_Found")


class Command(NamedTuple):
    """What a model wants to do."""

    kind: CommandKind
    cell: int = -1  # row * N + column; -1 where the command has none
    digit: int = 0


_VERBS: dict[str, CommandKind] = {
    **dict.fromkeys("place put set fill enter write play".split(), "place"),
    **dict.fromkeys("erase clear remove delete".split(), "erase"),
}
_KINDS: dict[str, CommandKind] = _VERBS | {  # the actions of an object in JSON
    **dict.fromkeys("move placement insert add".split(), "place"),
    **dict.fromkeys("give giveup resign quit".split(), "give up"),
    "undo": "undo",
}
_KEYS = ("row r", "column col c", "digit value number num val d v n")


def _lower_case(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the fields of an object in JSON; nothing but None where a name stands twice."""
    fields = {name.lower(): field for name, field in pairs}
    return fields if len(fields) == len(pairs) else dict.fromkeys(fields)


_DECODER = json.JSONDecoder(object_pairs_hook=_lower_case)

# The grammar of a move on a line. A minus is a sign unless it follows a word or a bracket: 5-3-7.
_GAP = r"[-=]>|(?!(?<![\w)\]])-\d)[\s,;:=()\[\]\"'`*_.#-]"
_FILLER = (
    r"\b(?:to|is|with|the|cell|and|be|of|as|for|we|must|should|goes|please|move|answer|action"
    r"|digit|value|number)\b"
)
_IN = r"\b(?:in|into|at|on|from)\b"
_SKIP = rf"(?:{_GAP}|{_FILLER})*+"
_SKIP_IN = rf"(?:{_GAP}|{_FILLER}|{_IN})*+"
_SKIP_PUT = rf"(?:{_GAP}|{_FILLER}|\b(?:put|place|write|set)\b)*+"
_ROW, _COLUMN = rf"\b(?:row|r){_SKIP}", rf"(?:column|col|c){_SKIP}"
_NUMBER = r"(?:(?<![\w)\]])-)?\d{1,4}+"
_DIGIT = rf"(?<!\w)(?:{_NUMBER}|[A-P])(?!\w)"
_OR = r"(?:/|,|\bor\b)\s*"
_MOVE = re.compile(
    rf"""
    (?: \b(?P<verb>{"|".join(_VERBS)})\b {_SKIP_IN} )?
    (?: (?P<choice_before> {_DIGIT} \s* {_OR} )?
        (?P<marked>\b(?:digit|value)\b (?:{_GAP})*+ )?
        (?P<before>{_DIGIT}) {_SKIP} (?(marked) | {_IN}) {_SKIP_IN} )?
    (?: \b{_COLUMN} (?P<column_first>{_NUMBER}) {_SKIP_IN} {_ROW} (?P<row_second>{_NUMBER})
      | (?: (?P<row_named>{_ROW}) | (?<!\w) ) (?P<row>{_NUMBER})
        {_SKIP} (?(row_named){_COLUMN}) (?P<column>{_NUMBER}) ) (?!\w)
    (?(before) | (?: {_SKIP_PUT} (?P<after>{_DIGIT}) )?)
    (?P<choice_after> [\s)\]"'`*]* (?: {_OR} \d{{1,4}} (?! \w | {_SKIP}{_IN} ) | \.\d
        | (?:/|or\b) \s* [A-P] \s* (?: [^\w\s] | $ ) ) )?
    """,
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
_FILLED = re.compile(_SKIP, re.IGNORECASE | re.ASCII)
_THREE_DIGITS = re.compile(rf"{_SKIP}([1-9])([1-9])([1-9]){_SKIP}", re.IGNORECASE | re.ASCII)
_WITHOUT_CELL = re.compile(
    rf"(?:{_GAP}|{_FILLER}|\b(?:i|now)\b)*+(?:(undo)|give[ _]up|resign|quit)\b"
    r"(?:\s+(?:the|my|last|previous|move|that|it|now))*+(?:[\s\"'`*)\]]*$|\s*[-.,;:!]\D*$)",
    re.IGNORECASE | re.ASCII,
)
_DENIED = re.compile(
    r"(?:\b(?:not|never|cannot|without|instead of|rather than)\b|n['\u2019]t\b)[^,;:.!?]*$",
    re.IGNORECASE,
)

_LONGEST_TEXT = 100_000  # characters that are read, from the end
_VALUE = re.compile(r"\{|\[(?=\s*\[)")  # where an object or a list of lists in JSON may begin
_MOST_VALUES = 20  # such places that are tried, from the end
_TAGGED = re.compile(r"<(answer|move|action)>", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)

_VALUES = {symbol: digit for digit, symbol in enumerate(SYMBOLS)}
_VALUES |= {symbol.lower(): digit for symbol, digit in _VALUES.items()} | {"0": 0, "_": 0}
_VALUES |= {str(digit): digit for digit in range(10, len(SYMBOLS))}
_LINES = "".join(map(chr, range(0x2500, 0x2580)))  # box drawing
_PLAIN = str.maketrans(dict.fromkeys("|,;[](){}'\"`*&\\$\t\r" + _LINES, " "))
_LABEL = re.compile(
    r"""[\s>*#+•-]*
    (?: (?:(?:the|my|final|full|solved|completed)\s+)* (?:answer|solution|board|grid)
        (?:\s+is)? [\s*]* [:=]
      | (?:row|line|r) \s* (?P<row>\d{1,2}) \b (?: [\s*]* [:)=] | \.(?=\s) )?
      | (?P<item>\d{1,2}) [.:)] (?=\s) )? [\s*]*""",
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
_RULE = re.compile(rf"(?:[\s+\-=|:{_LINES}]|\\hline)*")

_EXAMPLE = "write one such as r1c2=3, with a row, a column and a digit."
_UNCLEAR = f"It is not clear which move is meant: {_EXAMPLE}"


def read_command(text: str, size: int) -> Command | str:
    """Read the last move in a model's text, for a board of N x N cells.

    These all place a 7 in row 5, column 3: `5 3 7`, `place 5 3 7`, `r5c3=7`, `(5, 3) = 7`,
    `put 7 in row 5, column 3`, `row 5 column 3: 7`, `{"row": 5, "column": 3, "digit": 7}`.
    Others are `erase r5c3`, `undo` and `give up`. Digits above 9 are numbers or letters. Prose
    around a move does no harm; of several moves the last one counts. What is denied (`not r5c3=7`)
    is no move, and neither is one with a choice of digits (`r5c3=7 or 8`).

    Returns:
        The command, or a sentence that says why there is none.
    """
    found: Command | str | None
    for region in answer_regions(text):
        found, end = _last_value(region, lambda value: _read_object(value, size))
        for line in reversed(region[end:].split("\n")):
            on_line = _read_line(line, size)
            if on_line is not None:
                return on_line
        if found is not None:
            return found
    return f"No move was understood: {_EXAMPLE}"


def _read_line(line: str, size: int) -> Command | str | None:
    """Read the last move on a line, or a verb that the line begins with."""
    found: Command | str | None = None
    for move in _MOVE.finditer(line):
        kind = _VERBS[move["verb"].lower()] if move["verb"] else "place"
        digit = move["before"] or move["after"]
        is_named = move["verb"] or move["row_named"] or move["row_second"]
        is_alone = _FILLED.fullmatch(line, 0, move.start()) and _FILLED.fullmatch(line, move.end())
        if (kind == "place" and not digit) or not (is_named or is_alone):
            continue  # numbers in prose
        before = line[max(0, move.start() - 40) : move.start()]
        if _DENIED.search(before) or (digit and digit.isalpha() and size <= 9):
            continue
        if move["choice_before"] or move["choice_after"]:
            found = _UNCLEAR
            continue
        row, column = move["row"] or move["row_second"], move["column"] or move["column_first"]
        found = _checked(kind, map(as_number, (row, column, digit)), size)
    if found is None and size <= 9 and (digits := _THREE_DIGITS.fullmatch(line)):
        return _checked("place", map(int, digits.groups()), size)
    if found is None and (verb := _WITHOUT_CELL.match(line)):
        return Command("undo" if verb[1] else "give up")
    return found


def _checked(kind: CommandKind, numbers: Iterable[int | None], size: int) -> Command | str:
    """Return a command on a cell, counted from 1, or a sentence that names what is out of range."""
    row, column, digit = (number or 0 for number in numbers)
    if not 1 <= row <= size:
        return f"There is no row {row}: rows are counted from 1 to {size}."
    if not 1 <= column <= size:
        return f"There is no column {column}: columns are counted from 1 to {size}."
    if not 0 <= digit <= size:
        return f"{digit} is no digit of this board: use {digit_range(size)}."
    cell = (row - 1) * size + column - 1
    return Command("place", cell, digit) if kind == "place" and digit else Command("erase", cell)


def _read_object(value: object, size: int) -> Command | str | None:
    """Read a move that is an object in JSON; two values of one thing make it none."""
    if not isinstance(value, dict):
        return None
    verb = next((value[key] for key in ("action", "move", "command") if key in value), None)
    kind: CommandKind | None = "place"
    if verb and not isinstance(verb, int | float):  # `place_digit` is `place`
        first = isinstance(verb, str) and re.fullmatch(r"([a-z]+)[a-z_ -]*", verb.lower().strip())
        kind = _KINDS.get(first[1]) if first else None
    if kind in ("undo", "give up"):
        return Command(kind)
    row, column, digit = (
        {as_number(value[key]) for key in keys.split() if key in value} for keys in _KEYS
    )
    if not row or not column:
        return None
    if kind is None:
        return f"There is no action {verb!r:.40}: use place, erase, undo or give up."
    digit = digit or ({None} if kind == "place" else {0})
    if None in row | column | digit or len(row) + len(column) + len(digit) > 3:
        return _UNCLEAR
    return _checked(kind, (number for (number,) in (row, column, digit)), size)


def as_number(value: object) -> int | None:
    """Read a whole number, also from a text or a letter above 9; None if it is none."""
    whole = isinstance(value, float) and value.is_integer()
    text = str(int(value) if whole else value).strip().upper()  # type: ignore[call-overload]
    if re.fullmatch(r"-?\d{1,4}", text, re.ASCII):
        return int(text)
    return SYMBOLS.index(text) if len(text) == 1 and text in SYMBOLS else None


def read_answer(text: str, size: int) -> bytes | str:
    """Read the last board of N x N cells in a model's text.

    Rows may be lines of N symbols, with or without separators, rules, labels and bullets; a line of
    N**2 symbols; or a list of rows in JSON. Digits above 9 are letters or, with separators,
    numbers; `.`, `0` and `_` are blanks. Rows whose numbers do not go up by one are no board.

    Returns:
        N**2 digits row by row, 0 for a blank; or a sentence that says why there is no board.
    """
    for region in answer_regions(text):
        board, end = _last_value(region, lambda value: _read_list(value, size))
        board = _last_rows(region[end:], size) or board
        if board:
            return board
    return f"No board was found: write {size} rows of {size} symbols each."


def _read_list(value: object, size: int) -> bytes | None:
    """Read a board that is a list of rows in JSON."""
    if not isinstance(value, list) or len(value) != size:
        return None
    digits = [d for row in value if isinstance(row, list) and len(row) == size for d in row]
    is_board = all(type(d) is int and 0 <= d <= size for d in digits)
    return bytes(digits) if is_board and len(digits) == size * size else None


def _last_rows(text: str, size: int) -> bytes | None:
    rows: list[bytes] = []  # from the last one up
    starts: set[int] = set()  # which number the last row has, by the numbers of all of them
    for line in reversed(text.splitlines()):
        row, number = _row(line, size)
        if len(row) > size:
            return row
        if row:
            starts |= {int(number) + len(rows)} if number else set()
            rows.append(row)
            if len(rows) == size:
                return b"".join(reversed(rows)) if len(starts) < 2 else None
        elif not _RULE.fullmatch(line):
            rows, starts = [], set()
    return None


def _row(line: str, size: int) -> tuple[bytes, str | None]:
    """Read N symbols, or all N**2, or none; and the number that the line has."""
    label = _LABEL.match(line)
    if label and size <= len(line) <= 8 * size * size:
        words = line[label.end() :].translate(_PLAIN).split()
        for symbols in (words, "".join(words)):
            digits = [_VALUES.get(symbol, size + 1) for symbol in symbols]
            if len(digits) in (size, size * size) and max(digits) <= size:
                return bytes(digits), label["row"] or label["item"]
    return b"", None


def answer_regions(text: str) -> list[str]:
    """Return where to look for an answer, the surest place first.

    What stands in `<think>` is left out, also where the tag is not closed. Then the last
    `<answer>`, `<move>` or `<action>` is looked at, then the last fenced block, then everything.

    Raises:
        TypeError: if it is no text.
    """
    if not isinstance(text, str):
        raise TypeError(f"a model's turn is a text, not {text!r:.60}")
    text = _BREAK.sub("\n", text[-_LONGEST_TEXT:].rpartition("</think>")[2].partition("<think>")[0])
    regions = []
    if tags := list(_TAGGED.finditer(text)):
        regions.append(text[tags[-1].end() :].partition("</")[0])
    fences = [match.span() for match in _FENCE.finditer(text)]
    if len(fences) % 2:  # the last block is not closed
        fences.append((len(text), len(text)))
    if fences:
        regions.append(text[fences[-2][1] : fences[-1][0]])
    return [*regions, text]


def _last_value(text: str, read: Callable[[object], _Found | None]) -> tuple[_Found | None, int]:
    """Read the last value in JSON that is, or holds, what is looked for; return where it ends.

    Of two that lie in one another, the outer one counts. Without any, the end is 0.
    """
    found, found_end, end = None, 0, 0
    for match in list(_VALUE.finditer(text))[-_MOST_VALUES:]:
        if match.start() < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, match.start())
            inside = _first_in(value, read)
        except (ValueError, RecursionError):
            continue
        if inside is not None:
            found, found_end = inside, end
    return found, found_end


def _first_in(value: Any, read: Callable[[object], _Found | None]) -> _Found | None:
    found = read(value)
    if found is None and isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return next((each for part in parts if (each := _first_in(part, read)) is not None), None)
    return found
