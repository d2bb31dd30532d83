"""Leaderboards as JSON: written so that a difference is readable, read as a stranger's file.

Nothing that a file names is ever imported or loaded; a damaged or foreign one is one ValueError
with its name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sudoku_gym.evaluation.leaderboard.standings import Standings
from sudoku_gym.storage.atomic import write_text
from sudoku_gym.storage.configs import decode
from sudoku_gym.storage.reading import read_json

FORMAT = "sudoku-gym leaderboard"
VERSION = 1
_LONGEST = 50_000_000  # bytes; ours has some hundred thousand
_DIGITS = 6


def read(path: Path) -> Standings:
    """Read a leaderboard.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no sound leaderboard; the message names the file.
    """
    try:
        data = read_json(path, _LONGEST)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ValueError(f'it has no "format": "{FORMAT}"')
        if type(data.get("version")) is not int or data["version"] != VERSION:
            raise ValueError(f"version {data.get('version')!r} is unknown, this is {VERSION}")
        rest = {key: value for key, value in data.items() if key not in ("format", "version")}
        found: Standings = decode(Standings, rest, "the leaderboard")
        return found
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no sound leaderboard: {error}") from None


def write(path: Path, standings: Standings) -> None:
    """Write a leaderboard."""
    write_text(path, "".join(_lines(standings)))


def _lines(standings: Standings) -> Iterator[str]:
    """Yield the JSON, every set, run and cell on a line of its own."""
    data = {"format": FORMAT, "version": VERSION, **asdict(standings)}
    rows = data.pop("rows")
    yield "{\n"
    for key in ("format", "version", "seed", "batch_cells"):
        yield f' "{key}": {_text(data[key])},\n'
    sets = [f"  {_text(name)}: {_text(each)}" for name, each in data["sets"].items()]
    yield f' "sets": {_block(sets, "{}")},\n'
    yield f' "runs": {_block([f"  {_text(each)}" for each in data["runs"]], "[]")},\n'
    yield f' "rows": {_block([_row(row) for row in rows], "[]")}\n'
    yield "}\n"


def _row(row: dict[str, Any]) -> str:
    cells = [f"    {_text(name)}: {_text(cell)}" for name, cell in row.pop("cells").items()]
    head = "".join(f"   {_text(key)}: {_text(value)},\n" for key, value in row.items())
    return f'  {{\n{head}   "cells": {_block(cells, "{}")}\n  }}'


def _block(lines: list[str], brackets: str) -> str:
    inside = ",\n".join(lines)
    return f"{brackets[0]}\n{inside}\n {brackets[1]}" if lines else brackets


def _text(value: Any) -> str:
    return json.dumps(_rounded(value), ensure_ascii=True)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, Mapping):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list | tuple) else value
