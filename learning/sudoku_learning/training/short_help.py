"""The help text of a trainer that fits on a screen: one line an option."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise
from shutil import get_terminal_size
from textwrap import dedent, shorten
from typing import Any

from sudoku_learning.training.config import TrainingConfig

HELP_ALL = "--help-all"
_WIDEST = 100  # columns
_LONGEST_DEFAULT = 16


def short_help(config_class: type[TrainingConfig], program: str) -> str:
    """Return a line for each option of a configuration, and one for each group of further ones."""
    texts, default = attribute_texts(config_class), config_class()
    options: list[tuple[str, ...]] = []
    groups: list[tuple[str, ...]] = []
    for field in fields(config_class):
        value, text = getattr(default, field.name), texts.get(field.name, "")
        name = field.name.replace("_", "-")
        if is_dataclass(value):
            groups.append((name, text))
        elif isinstance(value, bool):
            options.append((f"--[no-]{name}", "yes" if value else "no", _first_part(text)))
        else:
            options.append((f"--{name}", _shown(value), _first_part(text)))
    summary = inspect.getdoc(config_class) or ""
    return "\n".join(
        [
            f"usage: {program} [OPTIONS]\n",
            f"{summary.splitlines()[0]}\n",
            "Options, with their defaults:",
            *_aligned(options),
            f"\nGroups of further options, which {HELP_ALL} shows:",
            *_aligned(groups),
        ]
    )


def attribute_texts(config_class: type) -> dict[str, str]:
    """Return the docstring below each field of a dataclass, those of its bases included."""
    texts: dict[str, str] = {}
    for kind in reversed(config_class.__mro__):
        if is_dataclass(kind):
            body = ast.parse(dedent(inspect.getsource(kind))).body[0]
            texts |= dict(_texts_in(body))
    return texts


def _texts_in(body: Any) -> Iterator[tuple[str, str]]:
    statements = body.body
    for field, text in pairwise(statements):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            if isinstance(field.target, ast.Name) and isinstance(text.value, ast.Constant):
                yield field.target.id, " ".join(str(text.value.value).split())


def _first_part(text: str) -> str:
    """Return a text up to its first semicolon, colon or full stop."""
    for mark in ("; ", ": ", ". "):
        text = text.partition(mark)[0]
    return text


def _shown(value: object) -> str:
    """Return a default, cut to a few letters."""
    text = " ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    text = "none" if value is None else text
    return text if len(text) <= _LONGEST_DEFAULT else f"{text[: _LONGEST_DEFAULT - 3]}..."


def _aligned(rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Yield a line a row; the last column is cut to the width of the terminal."""
    columns = min(get_terminal_size().columns, _WIDEST)
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
    for row in rows:
        start = "".join(f"  {text:{width}}" for text, width in zip(row, widths, strict=False))
        room = max(columns - len(start) - 2, 20)
        yield f"{start}  {shorten(row[-1], room, placeholder=' ...')}"
