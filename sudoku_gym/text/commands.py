"""Single moves, read from a model's text in the forms that people write."""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple, TypeAlias

from sudoku_gym.board import SYMBOLS, digit_range
from sudoku_gym.text.regions import answer_regions, last_values

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
