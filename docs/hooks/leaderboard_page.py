"""The tables of the leaderboard's page, in the places that `docs/leaderboard.md` marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sudoku_gym.evaluation import percent
from sudoku_gym.evaluation.leaderboard import (
    LeaderboardCell,
    LeaderboardResults,
    LeaderboardRow,
)
from sudoku_gym.evaluation.leaderboard.cells import TIMED_PUZZLES
from sudoku_gym.evaluation.leaderboard.fixed_sets import fixed_sets
from sudoku_gym.evaluation.tables import markdown_table

_GRADES = ("naked-singles", "hidden-singles", "locked-candidates", "pairs", "search", "few-givens")
TABLES = {
    "9x9, by grade": ("9x9-hard", "9x9", *(f"9x9-{grade}" for grade in _GRADES)),
    "Sizes": ("4x4", "6x6", "9x9", "16x16-140-blanks", "16x16", "25x25-300-blanks", "25x25"),
    "Variants of 9x9": ("x9x9", "windows9x9", "jigsaw9x9", "latin9x9"),
    "9x9, by blanks": tuple(f"9x9-{blanks}-blanks" for blanks in (40, 45, 50, 55)),
}
_FILES = "Lists that are not shipped"
_PLACE = re.compile(r"^.*<!-- leaderboard: (\w+) -->$", re.MULTILINE)
_SHORT = 12  # letters of a checksum; the file has them all
_NOTHING = "-"
_NOTES = {
    "4x4": """\
*4x4 proves little*: naked singles alone solve every minimal puzzle there, and its test puzzles
are eight orbits under symmetry, which a policy that respects symmetry solves whole or not at all.
So orbits are counted beside the share, whose interval, made for independent puzzles, is narrow.
"""
}
_PICTURES = {
    "grade": "![Share of 9x9 puzzles solved by grade](images/leaderboard-grades.png)\n\n"
    "![Share of hard puzzles solved against processor time](images/leaderboard-times.png)\n",
    "blanks": "![Share of 9x9 puzzles solved by blanks](images/leaderboard-blanks.png)\n",
}


def fill_in(markdown: str, results: LeaderboardResults) -> str:
    """Replace each line that ends in `<!-- leaderboard: NAME -->` by the part of that name."""
    parts = {
        "tables": "\n".join(_tables(results)),
        "times": _times(results),
        "sets": _sets(results),
        "rows": _rows(results),
        "not_played": "\n".join(_not_played(results)) or "Every policy plays every set.",
        "runs": _runs(results),
    }
    return _PLACE.sub(lambda place: parts[place[1]], markdown)


def _tables(results: LeaderboardResults) -> Iterator[str]:
    tables = dict(TABLES)
    lists = [name for name, each in results.sets.items() if each.is_file]
    if lists:
        tables[_FILES] = tuple(lists)
    for title, sets in tables.items():
        yield f"## {title}\n\n{_shares(results, sets)}\n"
        yield from (note for name, note in _NOTES.items() if name in sets)
        yield from (links for word, links in _PICTURES.items() if word in title)


def _shares(results: LeaderboardResults, sets: Sequence[str]) -> str:
    puzzles = [results.sets[name] for name in sets]
    titles = [f"{_words(each.title)} ({each.count})" for each in puzzles]
    rows = sorted(results.rows, key=lambda row: -_mean(row, results, sets))
    cells = [
        [_code(row.policy), _words(row.kind), *(_share(row, name, results) for name in sets)]
        for row in rows
    ]
    return markdown_table(["policy", "kind", *titles], cells, names=2)


def _mean(row: LeaderboardRow, results: LeaderboardResults, sets: Sequence[str]) -> float:
    solved = (
        row.cells[name].solved / results.sets[name].count for name in sets if name in row.cells
    )
    return sum(solved) / len(sets)


def _share(row: LeaderboardRow, name: str, results: LeaderboardResults) -> str:
    cell = row.cells.get(name)
    if cell is None:
        return "not yet"
    if cell.state == "cannot":
        return _NOTHING
    if not cell.played:
        return f"none in {cell.budget:g} s"
    low, high = (percent(end).removesuffix(" %") for end in cell.interval)
    text = f"{percent(cell.share)} ({low} to {high})"
    if cell.orbits is not None:
        text += ", {} of {} orbits".format(*cell.orbits)
    count = results.sets[name].count
    return text if cell.state == "finished" else f"{text}, {cell.played} of {count}"


def _times(results: LeaderboardResults) -> str:
    sets = [each.name for each in fixed_sets() if each.timed]
    heads = ["policy", *(_words(results.sets[name].title) for name in sets)]
    rows = [
        [_code(row.policy), *(_time(row.cells.get(name), results) for name in sets)]
        for row in results.rows
    ]
    return markdown_table(heads, rows)


def _time(cell: LeaderboardCell | None, results: LeaderboardResults) -> str:
    if cell is None or cell.state == "cannot":
        return "not yet" if cell is None else _NOTHING
    if cell.times is None or cell.timing_run is None:
        return "not yet"
    seconds = cell.seconds_per_puzzle
    if seconds is None:
        return f"over {results.runs[cell.timing_run].timing_budget:g} s"
    text = f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.2g} ms"
    if 0.1 <= seconds < 1:
        text = f"{1000 * seconds:.0f} ms"
    return text if len(cell.times) == TIMED_PUZZLES else f"{text} ({len(cell.times)})"


def _sets(results: LeaderboardResults) -> str:
    heads = ["set", "column", "from", "board", "puzzles", "givens", "checksum"]
    rows = []
    for name, each in results.sets.items():
        low, high = each.givens
        givens = str(low) if low == high else f"{low} to {high}"
        words = map(_words, (each.title, each.source, each.board))
        row = [_code(name), *words, str(each.count), givens, _code(each.sha256[:_SHORT])]
        rows.append(row)
    return markdown_table(heads, rows, names=4)


def _rows(results: LeaderboardResults) -> str:
    heads = ["policy", "kind", "package", "weights", "runs"]
    rows = []
    for row in results.rows:
        runs = {run for cell in row.cells.values() for run in cell.runs}
        weights = _code(row.weights[:_SHORT]) if row.weights else _NOTHING
        numbers = ", ".join(str(run + 1) for run in sorted(runs)) or _NOTHING
        words = _words(row.kind), _words(row.package or _NOTHING)
        rows.append([_code(row.policy), *words, weights, numbers])
    return markdown_table(heads, rows, names=5)


def _not_played(results: LeaderboardResults) -> Iterator[str]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in results.rows:
        for name, cell in row.cells.items():
            if cell.state == "cannot":
                reasons.setdefault((row.policy, cell.error), []).append(name)
    for (policy, error), names in reasons.items():
        yield f"- {_code(policy)} on {', '.join(map(_code, names))}: {_code(error)}"


def _runs(results: LeaderboardResults) -> str:
    heads = ["run", "begun", "commit", "machine", "cores", "processes", "versions"]
    rows = []
    for number, run in enumerate(results.runs, start=1):
        commit, _, changes = run.commit.partition("+")
        shown = f"{_code(commit[:_SHORT])} {changes and '(changed)'}" if commit else "unknown"
        versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
        place = [_words(run.machine), str(run.cores), str(run.jobs), _words(versions)]
        rows.append([str(number), _words(run.date), shown.strip(), *place])
    return markdown_table(heads, rows, names=7)


def _words(text: str) -> str:
    """Return words of a file as Markdown that shows them and obeys none of them."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#!&" else letter for letter in text)


def _code(text: str) -> str:
    """Return a name, or an error, as code in Markdown."""
    return f"`{' '.join(text.split()).replace('`', chr(39))}`"
