"""The tables that `make tables` writes into `docs/leaderboard.md`."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import marked
from sudoku_gym.evaluation import percent
from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.evaluation.tables import markdown_table

PAGE = "leaderboard.md"
TABLES = {
    "sizes": ("4x4", "6x6", "16x16-140-blanks", "16x16", "25x25-300-blanks"),
    "variants": ("x9x9", "windows9x9", "jigsaw9x9", "latin9x9"),
}
KINDS = {
    "search on top": "Search on top of a network",
    "learned without solutions": "Learned, never shown a solution",
    "supervised": "Supervised",
    "message passing": "Message passing, nothing learned",
    "solver": "Solvers",
    "floor": "Floors",
}
"""The kinds in the order of the page, each with its heading."""
SORTED_BY = "9x9-hard"
"""The set whose share decides the order of the rows of a kind."""
_THEN_BY = "9x9"
_NOTHING = "-"

Cell = dict[str, Any]
Results = dict[str, Any]


def fill_in(markdown: str, results: Results) -> str:
    """Put the parts that are marked with `leaderboard` in their places, see `marked.fill_in`."""
    parts = {name: _shares(results, sets) for name, sets in TABLES.items()} | {
        "all": _shares(results, [SORTED_BY, _THEN_BY], with_costs=True)
    }
    return marked.fill_in(markdown, "leaderboard", parts)


def is_shown(cell: Cell | None) -> bool:
    """Whether games were played, and no error has stopped them."""
    return bool(cell and cell["outcomes"] and "error" not in cell)


def share_of(cell: Cell) -> tuple[float, float, float]:
    """Return the share of puzzles solved, and its Wilson 95 % interval."""
    solved, played = cell["outcomes"].count("1"), len(cell["outcomes"])
    return solved / played, *wilson_interval(solved, played)


def seconds_of(cell: Cell | None) -> float | None:
    """Return processor seconds a puzzle: as timed one by one, else of the games; None without."""
    if not cell or not cell["outcomes"]:
        return None
    if timed := cell.get("timing", {}).get("seconds"):
        return fmean(timed)
    seconds: float = cell["seconds"] / len(cell["outcomes"])
    return seconds


def by_kind(results: Results) -> dict[str, list[str]]:
    """Return the policies of each kind, the best first: by `SORTED_BY`, then 9x9, then time."""
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for policy, row in results["rows"].items():
        found.setdefault(row["kind"], []).append(policy)

    def key(policy: str) -> tuple[float, ...]:
        cells = [results["rows"][policy]["cells"].get(name) for name in (SORTED_BY, _THEN_BY)]
        shares = [-share_of(cell)[0] if is_shown(cell) else 0.0 for cell in cells]
        seconds = seconds_of(cells[0])
        return *shares, float("inf") if seconds is None else seconds

    return {kind: sorted(policies, key=key) for kind, policies in found.items() if policies}


def _shares(results: Results, sets: Sequence[str], *, with_costs: bool = False) -> str:
    """Show who plays any of the sets, each kind under its heading; costs are of `SORTED_BY`."""
    rows = []
    for kind, policies in by_kind(results).items():
        rows.append([f"**{KINDS.get(kind, kind)}**", *[""] * (len(sets) + 2 * with_costs)])
        for policy in policies:
            cells = results["rows"][policy]["cells"]
            if not any(is_shown(cells.get(each)) for each in sets):
                continue
            costs = _costs(results, policy) if with_costs else []
            rows.append([f"`{policy}`", *(_share(results, policy, each) for each in sets), *costs])
    costs = ["ms per puzzle", "weights"] if with_costs else []
    return markdown_table(["policy", *(_title(results, name) for name in sets), *costs], rows)


def _title(results: Results, name: str) -> str:
    """Return the heading of a set's column, with the number of its puzzles."""
    return f"{results['sets'][name]['title']} ({results['sets'][name]['count']})"


def _costs(results: Results, policy: str) -> list[str]:
    """Return the milliseconds a puzzle of a policy on `SORTED_BY`, and its trained weights."""
    row = results["rows"][policy]
    weights = f"{row['num_weights']:,}" if row["num_weights"] else _NOTHING
    return [_milliseconds(row["cells"].get(SORTED_BY)), weights]


def _milliseconds(cell: Cell | None) -> str:
    """Return the processor time a puzzle of a cell, in ms, to two digits."""
    seconds = seconds_of(cell)
    return _NOTHING if seconds is None else f"{float(f'{1000 * seconds:.2g}'):,g}"


def _share(results: Results, policy: str, name: str) -> str:
    cell = results["rows"][policy]["cells"].get(name)
    if not is_shown(cell):
        return _NOTHING if cell and "error" in cell else "not yet"
    share, *interval = share_of(cell)
    middle, low, high = (percent(each).removesuffix(" %") for each in (share, *interval))
    text = f"{middle} ({low}\N{NON-BREAKING HYPHEN}{high})"
    if "orbits" in cell and len({*cell["orbits"]}) > 1:  # not all of them
        text += ", {}/{} orbits".format(*cell["orbits"])
    played = len(cell["outcomes"])
    return text if played == results["sets"][name]["count"] else f"{text}, first {played}"
