"""Boards and rules as a language model reads them."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from sudoku_gym.board import SYMBOLS, digit_range, to_text
from sudoku_gym.geometry import Geometry

BoardStyle: TypeAlias = Literal["grid", "compact", "json"]

STYLES = ("grid", "compact", "json")
"""How a board is written: drawn with rules between the boxes, as one line, or as a list of rows."""

_TO_SYMBOLS = bytes(SYMBOLS, "ascii").ljust(256, b"?")
_REGION_NAMES = "abcdefghijklmnopqrstuvwxy"


def format_board(cells: bytes | bytearray, geometry: Geometry, style: BoardStyle = "grid") -> str:
    """Write a board in one of `STYLES`.

    `cells` are N**2 digits row by row, 0 for a blank. `"grid"` has N lines of symbols, `.` for a
    blank and letters above 9; `"compact"` is one line of N**2 symbols; `"json"` a list of rows.
    """
    if style == "json":
        size = geometry.size
        rows = [list(cells[start : start + size]) for start in range(0, size * size, size)]
        return json.dumps(rows, separators=(",", ":"))
    line = cells.translate(_TO_SYMBOLS).decode("ascii")
    return line if style == "compact" else _grid_template(geometry) % tuple(line)


@lru_cache(64)
def _grid_template(geometry: Geometry) -> str:
    empty = np.zeros((geometry.size, geometry.size), np.int8)
    return to_text(empty, geometry).replace(".", "%s")


@lru_cache(64)
def describe_rules(geometry: Geometry) -> str:
    """State the rules of a board in words; regions that are no boxes are drawn as a map."""
    size = geometry.size
    has_regions = bool(geometry.regions.any())
    groups = ["each row", "each column"]
    if geometry.box_shape:
        height, width = geometry.box_shape
        groups.append(f"each box of {height} rows and {width} columns")
    elif has_regions:
        groups.append("each region of the map below")
    extra = geometry.units[(3 if has_regions else 2) * size :]
    if len(extra):
        groups.append("each further group of cells listed below")
    text = (
        f"Fill a board of {size} rows and {size} columns so that {', '.join(groups[:-1])} and "
        f"{groups[-1]} holds each of the digits {digit_range(size)} exactly once. Rows are counted "
        "from the top and columns from the left, both from 1. A blank is written as . or 0; the "
        "digits that stand at the start may not be changed."
    )
    if has_regions and not geometry.box_shape:
        rows = ("".join(_REGION_NAMES[region] for region in row) for row in geometry.regions)
        text += "\nRegions, a letter each:\n" + "\n".join(rows)
    for unit in extra.tolist():
        cells = " ".join(f"r{cell // size + 1}c{cell % size + 1}" for cell in unit)
        text += f"\nFurther group: {cells}"
    return text
