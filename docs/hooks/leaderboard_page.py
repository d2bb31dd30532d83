"""The tables of the leaderboard's page, in the places that `docs/leaderboard.md` marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import marked
from sudoku_gym.evaluation import percent
from sudoku_gym.evaluation.leaderboard import LeaderboardResults, read_leaderboard
from sudoku_gym.evaluation.leaderboard.fixed_sets import fixed_sets
from sudoku_gym.evaluation.leaderboard.results import LeaderboardCell, LeaderboardRow
from sudoku_gym.evaluation.tables import markdown_table

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

_GRADES = ("naked-singles", "hidden-singles", "locked-candidates", "pairs", "search", "few-givens")
TABLES = {
    "grades": ("9x9", *(f"9x9-{grade}" for grade in _GRADES)),
    "sizes": ("4x4", "6x6", "9x9", "16x16-140-blanks", "16x16", "25x25-300-blanks", "25x25"),
    "variants": ("x9x9", "windows9x9", "jigsaw9x9", "latin9x9"),
    "blanks": tuple(f"9x9-{blanks}-blanks" for blanks in (40, 45, 50, 55)),
}
KINDS = {
    "search on top": "Search on top of a network: moves are tried, or taken back",
    "learned without solutions": "Learned, never shown a solution",
    "supervised": "Supervised: shown solutions",
    "message passing": "Message passing, nothing learned",
    "solver": "Solvers",
    "floor": "Floors: what needs no learning",
}
"""The kinds in the order of the page, each with its heading."""
SORTED_BY = "9x9-hard"
"""The set whose share decides the order of the rows of a kind."""
_THEN_BY = "9x9"
PLOTS = {
    "times": "Share of hard puzzles solved against processor time, all policies in one panel",
    "grades": "Share of 9x9 puzzles solved by grade",
    "blanks": "Share of 9x9 puzzles solved by blanks",
}
"""What the plots show, which `leaderboard_plots` draws."""
_PROCESS_SECONDS = 4.0  # of processor time to start the two processes of a cell, as measured
_SHORT = 12  # letters of a checksum; the file has them all
_NOTHING = "-"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Put the tables in their places."""
    if page.file.src_uri != "leaderboard.md":
        return markdown
    return fill_in(markdown, read_leaderboard(Path(config.docs_dir) / "results/leaderboard.json"))


def fill_in(markdown: str, results: LeaderboardResults, *, keep: bool = False) -> str:
    """Put the parts that are marked with `leaderboard` in their places, see `marked.fill_in`."""
    main_sets = [name for name in (SORTED_BY, _THEN_BY) if name in results.sets]
    lists = [name for name, each in results.sets.items() if each.is_file]
    parts = {name: _shares(results, sets) for name, sets in TABLES.items()} | {
        "best": _best(results),
        "all": _shares(results, main_sets, with_costs=True),
        "lists": _shares(results, lists) if lists else "None was played.",
        "times": _times(results),
        "sets": _sets(results),
        "rows": _rows(results),
        "not_played": "\n".join(_not_played(results)) or "Every policy plays every set.",
        "runs": _runs(results),
        "duration": _duration(results),
    }
    for name, shown in PLOTS.items():
        parts[f"site_{name}"] = f"![{shown}](images/leaderboard-{name}.png)"
    return marked.fill_in(markdown, "leaderboard", parts, keep=keep)


def by_kind(results: LeaderboardResults) -> dict[str, list[str]]:
    """Return the policies of each kind, the best first: by `SORTED_BY`, then 9x9, then time."""

    def key(policy: str) -> tuple[float, float, float]:
        cells = results.rows[policy].cells
        shares = [_standing_share(results, policy, name) for name in (SORTED_BY, _THEN_BY)]
        seconds = cells[SORTED_BY].puzzle_seconds if SORTED_BY in cells else None
        return -shares[0], -shares[1], float("inf") if seconds is None else seconds

    kinds = dict.fromkeys([*KINDS, *(row.kind for row in results.rows.values())])
    found = {
        kind: sorted((name for name, row in results.rows.items() if row.kind == kind), key=key)
        for kind in kinds
    }
    return {kind: policies for kind, policies in found.items() if policies}


def _standing_share(results: LeaderboardResults, policy: str, name: str) -> float:
    """Return the share that a policy stands with: 0 if an error, or a stopped run, has cut it."""
    cell = results.rows[policy].cells.get(name)
    if cell is None or not cell.stands or cell.played < results.sets[name].subset:
        return 0.0
    return cell.share


def _best(results: LeaderboardResults) -> str:
    """Show the first of each kind: few columns, for narrow screens too."""
    rows = []
    for kind, (policy, *_) in by_kind(results).items():
        row = results.rows[policy]
        cell = row.cells.get(SORTED_BY)
        name = f"{words(kind)}<br>{code(policy)}"
        share = _share(cell, results.sets[SORTED_BY].count if cell else 0)
        rows.append([name, share, _milliseconds(cell), _number(row)])
    heads = ["the best of each kind", _title(results, SORTED_BY), "ms a puzzle", "weights"]
    return markdown_table(heads, rows)


def hours_of(results: LeaderboardResults) -> float:
    """Return how many hours of processor time playing everything takes, by the recorded times."""
    cells = [cell for row in results.rows.values() for cell in row.cells.values()]
    return sum(cell.seconds + _PROCESS_SECONDS for cell in cells) / 3600


def _duration(results: LeaderboardResults) -> str:
    cells = sum(len(row.cells) for row in results.rows.values())
    hours = hours_of(results)
    return (
        f"Playing all {cells} cells anew takes {hours:.1f} hours of processor time by the recorded "
        f"times, {_PROCESS_SECONDS:g} s to start each cell included: about {hours / 2:.1f} hours "
        "on two cores."
    )


def _shares(results: LeaderboardResults, sets: Sequence[str], *, with_costs: bool = False) -> str:
    """Show all policies, each kind under its heading; costs are those of `SORTED_BY`."""
    rows = []
    for kind, policies in by_kind(results).items():
        width = len(sets) + 2 * with_costs
        rows.append([f"**{words(KINDS.get(kind, kind))}**", *[""] * width])
        for policy in policies:
            row = results.rows[policy]
            cells = [_share(row.cells.get(name), _count(results, name)) for name in sets]
            costs = [_milliseconds(row.cells.get(SORTED_BY)), _number(row)] if with_costs else []
            rows.append([code(policy), *cells, *costs])
    costs = ["ms a puzzle", "weights"] if with_costs else []
    return markdown_table(["policy", *(_title(results, name) for name in sets), *costs], rows)


def _count(results: LeaderboardResults, name: str) -> int:
    """Return the number of a set's puzzles; 0 of a set that the file does not have."""
    return results.sets[name].count if name in results.sets else 0


def _title(results: LeaderboardResults, name: str) -> str:
    """Return the heading of a set's column, with the number of its puzzles."""
    if name not in results.sets:
        return words(name)
    return f"{words(results.sets[name].title)} ({results.sets[name].count})"


def _number(row: LeaderboardRow) -> str:
    return f"{row.num_weights:,}" if row.num_weights else _NOTHING


def _milliseconds(cell: LeaderboardCell | None) -> str:
    """Return the processor time a puzzle of a cell, in ms, to two digits."""
    seconds = cell.puzzle_seconds if cell else None
    if seconds is None:
        return _NOTHING
    return f"{float(f'{1000 * seconds:.2g}'):,g}"


def _share(cell: LeaderboardCell | None, count: int) -> str:
    if cell is None or not cell.stands:
        return _NOTHING if cell and cell.error else "not yet"
    low, high = (percent(end).removesuffix(" %") for end in cell.interval)
    text = f"{percent(cell.share)} ({low} to {high})"
    if cell.orbits is not None:
        text += ", {} of {} orbits".format(*cell.orbits)
    return text if cell.played == count else f"{text}, first {cell.played}"


def _times(results: LeaderboardResults) -> str:
    sets = [each.name for each in fixed_sets() if each.timed and each.name in results.sets]
    rows = []
    for policies in by_kind(results).values():
        for policy in policies:
            cells = [results.rows[policy].cells.get(name) for name in sets]
            rows.append([code(policy), *map(_time, cells)])
    return markdown_table(["policy", *(words(results.sets[name].title) for name in sets)], rows)


def _time(cell: LeaderboardCell | None) -> str:
    """Return the processor time a puzzle; in brackets where it is that of games side by side."""
    is_timed = bool(cell and cell.timing and cell.timing.mean is not None)
    return (
        _milliseconds(cell)
        if is_timed or not cell or not cell.played
        else f"({_milliseconds(cell)})"
    )


def _sets(results: LeaderboardResults) -> str:
    heads = ["set", "column", "from", "board", "puzzles", "first", "givens", "checksum"]
    rows = []
    for name, each in results.sets.items():
        source = f"file {each.bank}" if each.is_file else f"bank {each.bank}, test split"
        cells = map(words, (each.title, source, each.board))
        givens = " to ".join(map(str, dict.fromkeys(each.givens)))
        counts = str(each.count), str(each.subset)
        rows.append([code(name), *cells, *counts, givens, code(each.sha256[:_SHORT])])
    return markdown_table(heads, rows, names=4)


def _rows(results: LeaderboardResults) -> str:
    heads = ["policy", "kind", "package", "weights", "runs"]
    rows = []
    for policy, row in results.rows.items():
        used = {run for cell in row.cells.values() for run in cell.runs}
        runs = [str(number) for number, run in enumerate(results.runs, start=1) if run in used]
        weights = code(row.weights[:_SHORT]) if row.weights else _NOTHING
        cells = words(row.kind), words(row.package or _NOTHING)
        rows.append([code(policy), *cells, weights, ", ".join(runs) or _NOTHING])
    return markdown_table(heads, rows, names=5)


def _not_played(results: LeaderboardResults) -> Iterator[str]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for policy, row in results.rows.items():
        for name, cell in row.cells.items():
            if cell.error:
                reasons.setdefault((policy, cell.error), []).append(name)
    for (policy, error), names in reasons.items():
        yield f"- {code(policy)} on {', '.join(map(code, names))}: {code(error)}"


def _runs(results: LeaderboardResults) -> str:
    heads = ["run", "begun", "commit", "machine", "cores", "processes", "versions"]
    rows = []
    for number, run in enumerate(results.runs.values(), start=1):
        commit, _, changes = run.commit.partition("+")
        shown = code(commit[:_SHORT]) + " (changed)" * bool(changes) if commit else "unknown"
        versions = words(", ".join(" ".join(each) for each in run.versions.items()))
        cells = [words(run.date), shown, words(run.machine)]
        rows.append([str(number), *cells, str(run.cores), str(run.jobs), versions])
    return markdown_table(heads, rows, names=7)


def words(text: str) -> str:
    """Return words of a file as Markdown that shows them and obeys none of them."""
    return re.sub(r"[\\`*_\[\]{}<>#!&]", r"\\\g<0>", text)


def code(text: str) -> str:
    """Return a name, or an error, as code in Markdown."""
    return f"`{' '.join(text.split()).replace('`', chr(39)) or _NOTHING}`"
