"""Leaderboards as JSON: written so that a difference is readable, read as a stranger's file.

Nothing that a file names is ever imported or loaded; a damaged or foreign one is one ValueError
with its name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from sudoku_gym.evaluation.leaderboard.standings import Standings
from sudoku_gym.storage.atomic import write_text
from sudoku_gym.storage.reading import read_json

FORMAT = "sudoku-gym leaderboard"
VERSION = 1
_LONGEST = 50_000_000  # bytes; ours has some hundred thousand
_DIGITS = 6
_MOST = 1e12

T = TypeVar("T")


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
        return _built(Standings, rest, "the leaderboard")
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


def _built(kind: type[T], data: Any, where: str) -> T:
    """Build a dataclass of what a file holds, checked field by field."""
    if not isinstance(data, dict):
        raise ValueError(f"{where} must be an object, not {_shown(data)}")
    hints = get_type_hints(kind)
    known = fields(kind)  # type: ignore[arg-type]
    unknown = sorted(data.keys() - {each.name for each in known})
    if unknown:
        raise ValueError(f"{where} has an unknown key {unknown[0]!r}")
    values = {}
    for each in known:
        if each.name in data:
            values[each.name] = _value(hints[each.name], data[each.name], f"{where}, {each.name}")
        elif each.default is MISSING and each.default_factory is MISSING:
            raise ValueError(f"{where} lacks {each.name!r}")
    try:
        return kind(**values)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _value(hint: Any, value: Any, where: str) -> Any:
    kind, parts = get_origin(hint), get_args(hint)
    if kind is UnionType:  # something, or None
        if value is None and NoneType in parts:
            return None
        return _value(next(part for part in parts if part is not NoneType), value, where)
    if kind is Literal and value in parts and isinstance(value, str):
        return value
    if kind is list and isinstance(value, list):
        return [_value(parts[0], each, f"{where} {i}") for i, each in enumerate(value)]
    if kind is dict and isinstance(value, dict):
        return {key: _value(parts[1], each, f"{where}, {key}") for key, each in value.items()}
    if kind is tuple and isinstance(value, list):
        wanted = [parts[0]] * len(value) if parts[1] is Ellipsis else parts
        if len(wanted) == len(value):
            return tuple(_value(*pair, where) for pair in zip(wanted, value, strict=True))
    if is_dataclass(hint) and isinstance(hint, type):
        return _built(hint, value, where)
    if hint is float and type(value) in (int, float) and abs(value) < _MOST:  # nor is it NaN
        return float(value)
    if hint in (int, str) and type(value) is hint:
        return value
    raise ValueError(f"{where}: {_shown(value)} is no {getattr(hint, '__name__', hint)}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
