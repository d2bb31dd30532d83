"""The one store of results: rows of figures with their intervals, in JSON and in Markdown.

A benchmark writes a part of a file whose other parts stay (`keep`), or one row after the other, so
that it can be stopped and started again (`Results`).
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.evaluation.tables import markdown_table
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.storage.atomic import write_text

Row = dict[str, Any]


def command_of(script: str, argv: Sequence[str] | None) -> str:
    """Return the command that runs a benchmark; with None its arguments are this process's."""
    given = sys.argv[1:] if argv is None else argv
    return f"python benchmarks/{Path(script).name} {shlex.join(given)}".rstrip()


def share_of(solved: ArrayLike) -> Row:
    """Return how many puzzles were solved, with a 95 % interval in percent.

    Args:
        solved: bool `[M]`.
    """
    solved = np.asarray(solved)
    low, high = (round(100 * end, 2) for end in wilson_interval(int(solved.sum()), len(solved)))
    return {"count": len(solved), "solved": int(solved.sum()), "low": low, "high": high}


def in_words(row: Row) -> str:
    """Put a share into words: `9 of 10, 90.00 % (59.58 to 98.21)`."""
    share = 100 * row["solved"] / row["count"]
    return f"{row['solved']:,} of {row['count']:,}, {share:.2f} % ({row['low']} to {row['high']})"


def in_ms(seconds: float) -> float:
    """Return milliseconds, to three digits."""
    return float(f"{1e3 * seconds:.3g}")


def some(chosen: PuzzleSet, count: int, seed: int = 0) -> PuzzleSet:
    """Draw at most so many puzzles of a set, in their order."""
    if len(chosen) <= count:
        return chosen
    return chosen[np.sort(np.random.default_rng(seed).choice(len(chosen), count, replace=False))]


def read(path: Path | None) -> dict[str, Any]:
    """Return what a file of results holds: nothing if there is none."""
    return json.loads(path.read_text("utf-8")) if path is not None and path.exists() else {}


def write_json(path: Path | None, content: Any) -> None:
    """Write JSON atomically, one line a row, into a folder that need not exist; None: nothing."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, _laid_out(content, "") + "\n")


def _laid_out(value: Any, indent: str, is_item: bool = False) -> str:
    """Return JSON in which tables, and what holds one, take a line for each of their parts."""
    text = json.dumps(value, ensure_ascii=False)
    deeper = indent + " "
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        lines = [deeper + _laid_out(item, deeper, True) for item in value]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]"
    if not isinstance(value, dict) or not value:
        return text
    if _has_table(value) or not indent or (len(text) > 100 and not is_item):
        lines = [f"{deeper}{json.dumps(k)}: {_laid_out(v, deeper)}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return text


def _has_table(value: dict[str, Any]) -> bool:
    return any(
        (isinstance(part, list) and any(isinstance(item, dict) for item in part))
        or (isinstance(part, dict) and _has_table(part))
        for part in value.values()
    )


def keep(out: Path | None, part: str, command: str, rows: Sequence[Row], names: int = 1) -> None:
    """Print the rows of a part as a table, and write them into a file in which other parts stay.

    Args:
        out: a JSON file, or None.
        part: its name there.
        command: that measured it.
        rows: the figures.
        names: how many columns of the table are flush left.
    """
    print(f"\n{part}\n\n{table(rows, names=names)}", flush=True)
    write_json(out, read(out) | {part: {"command": command, "rows": list(rows)}})


class Results:
    """Rows in a JSON file, written one by one; each has a key, and is measured once.

    Args:
        path: of the file.
        command: that is running.
    """

    def __init__(self, path: Path, command: str) -> None:
        self._path = path
        content = read(path)
        self.rows: list[Row] = content.get("rows", [])
        self._commands: list[str] = content.get("commands", [])
        if command not in self._commands:
            self._commands.append(command)

    def lacks(self, key: Row) -> bool:
        """Whether no row has these values."""
        return self.find(key) is None

    def find(self, key: Row) -> Row | None:
        """Return the row with these values and no further name of what was measured."""
        return next(
            (row for row in self.rows if {name: row.get(name) for name in key} == key), None
        )

    def add(self, *rows: Row) -> None:
        """Write rows down, all of them or none."""
        self.rows += rows
        write_json(self._path, {"commands": self._commands, "rows": self.rows})
        for row in rows:
            print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)


def table(rows: Sequence[Row], heads: Sequence[str] = (), names: int = 1) -> str:
    """Format rows as a Markdown table, a column a name.

    A share is one cell, `solved`, with its interval beside it.

    Args:
        rows: the figures.
        heads: the names that are shown, in order; none shows all there are.
        names: how many columns are flush left.
    """
    shown = list(heads or dict.fromkeys(name for row in rows for name in row))
    if not heads and {"count", "solved", "low", "high"} <= set(shown):
        shown = [name for name in shown if name not in ("low", "high")]
        shown.insert(shown.index("solved") + 1, "95 % interval")
    return markdown_table(shown, [[_cell(row, head) for head in shown] for row in rows], names)


def pivot(rows: Sequence[Row], index: str, columns: str, told_cell: Callable[[Row], str]) -> str:
    """Format rows as a Markdown table with one of their values down the side, and one on top.

    Args:
        rows: the figures.
        index: the name of the value down the side.
        columns: the name of the value on top.
        told_cell: puts a row into a cell.
    """
    heads = list(dict.fromkeys(str(row[columns]) for row in rows))
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        cells.setdefault(str(row[index]), {})[str(row[columns])] = told_cell(row)
    body = [[name, *(found.get(head, "-") for head in heads)] for name, found in cells.items()]
    return markdown_table([index, *heads], body)


def _cell(row: Row, head: str) -> str:
    if head == "95 % interval" and "low" in row:
        return f"{row['low']} to {row['high']}"
    if head == "solved" and {"solved", "count", "low"} <= row.keys():
        return f"{100 * row['solved'] / row['count']:.2f} %"
    value = row.get(head, "")
    if isinstance(value, dict):
        return ", ".join(f"{name} {number}" for name, number in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
