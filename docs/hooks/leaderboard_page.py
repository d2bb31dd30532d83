"""The tables of the leaderboard's page, in the places that `docs/leaderboard.md` marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudoku_gym.evaluation import percent
from sudoku_gym.evaluation.leaderboard import LeaderboardResults, read_leaderboard
from sudoku_gym.evaluation.leaderboard.cells import TIMED_PUZZLES
from sudoku_gym.evaluation.leaderboard.fixed_sets import fixed_sets
from sudoku_gym.evaluation.leaderboard.results import LeaderboardCell, LeaderboardRow
from sudoku_gym.evaluation.tables import markdown_table

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

_GRADES = ("naked-singles", "hidden-singles", "locked-candidates", "pairs", "search", "few-givens")
TABLES = {
    "grades": ("9x9-hard", "9x9", *(f"9x9-{grade}" for grade in _GRADES)),
    "sizes": ("4x4", "6x6", "9x9", "16x16-140-blanks", "16x16", "25x25-300-blanks", "25x25"),
    "variants": ("x9x9", "windows9x9", "jigsaw9x9", "latin9x9"),
    "blanks": tuple(f"9x9-{blanks}-blanks" for blanks in (40, 45, 50, 55)),
}
_PLACE = re.compile(r"^.*<!-- leaderboard: (\w+) -->$", re.MULTILINE)
_SHORT = 12  # letters of a checksum; the file has them all
_NOTHING = "-"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Put the tables in their places."""
    if page.file.src_uri != "leaderboard.md":
        return markdown
    return fill_in(markdown, read_leaderboard(Path(config.docs_dir) / "results/leaderboard.json"))


def fill_in(markdown: str, results: LeaderboardResults) -> str:
    """Replace each line that ends in `<!-- leaderboard: NAME -->` by the part of that name."""
    parts = {name: _shares(results, sets) for name, sets in TABLES.items()} | {
        "lists": _shares(results, [name for name, each in results.sets.items() if each.is_file]),
        "times": _times(results),
        "sets": _sets(results),
        "rows": _rows(results),
        "not_played": "\n".join(_not_played(results)) or "Every policy plays every set.",
        "runs": _runs(results),
    }
    return _PLACE.sub(lambda place: parts[place[1]], markdown)


def _shares(results: LeaderboardResults, sets: Sequence[str]) -> str:
    if not sets:
        return "None was played."
    counts = {name: results.sets[name].count for name in sets}

    def mean(row: LeaderboardRow) -> float:
        played = [name for name in sets if name in row.cells]
        return sum(row.cells[name].solved / counts[name] for name in played) / len(sets)

    titles = [f"{_words(results.sets[name].title)} ({counts[name]})" for name in sets]
    rows = []
    for policy, row in sorted(results.rows.items(), key=lambda each: -mean(each[1])):
        shares = [_share(row.cells.get(name), counts[name]) for name in sets]
        rows.append([_code(policy), _words(row.kind), *shares])
    return markdown_table(["policy", "kind", *titles], rows, names=2)


def _share(cell: LeaderboardCell | None, count: int) -> str:
    if cell is None or cell.error:
        return "not yet" if cell is None else _NOTHING
    if not cell.played:
        return f"none in {cell.budget:g} s"
    low, high = (percent(end).removesuffix(" %") for end in cell.interval)
    text = f"{percent(cell.share)} ({low} to {high})"
    if cell.orbits is not None:
        text += ", {} of {} orbits".format(*cell.orbits)
    return text if cell.played == count else f"{text}, {cell.played} of {count}"


def _times(results: LeaderboardResults) -> str:
    sets = [each.name for each in fixed_sets() if each.timed]
    heads = ["policy", *(_words(results.sets[name].title) for name in sets)]
    rows = [
        [_code(policy), *(_time(row.cells.get(name)) for name in sets)]
        for policy, row in results.rows.items()
    ]
    return markdown_table(heads, rows)


def _time(cell: LeaderboardCell | None) -> str:
    if cell is None or cell.timing is None:
        return _NOTHING if cell and cell.error else "not yet"
    seconds, count = cell.timing.mean, len(cell.timing.seconds)
    if seconds is None:
        return f"over {cell.timing.budget:g} s"
    digits = ".0f" if seconds >= 0.1 else ".2g"
    text = f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:{digits}} ms"
    return text if count == TIMED_PUZZLES else f"{text} ({count})"


def _sets(results: LeaderboardResults) -> str:
    heads = ["set", "column", "from", "board", "puzzles", "givens", "checksum"]
    rows = []
    for name, each in results.sets.items():
        source = f"file {each.bank}" if each.is_file else f"bank {each.bank}, test split"
        words = map(_words, (each.title, source, each.board))
        givens = " to ".join(map(str, dict.fromkeys(each.givens)))
        rows.append([_code(name), *words, str(each.count), givens, _code(each.sha256[:_SHORT])])
    return markdown_table(heads, rows, names=4)


def _rows(results: LeaderboardResults) -> str:
    heads = ["policy", "kind", "package", "weights", "runs"]
    rows = []
    for policy, row in results.rows.items():
        used = {run for cell in row.cells.values() for run in cell.runs}
        runs = [str(number) for number, run in enumerate(results.runs, start=1) if run in used]
        weights = _code(row.weights[:_SHORT]) if row.weights else _NOTHING
        words = _words(row.kind), _words(row.package or _NOTHING)
        rows.append([_code(policy), *words, weights, ", ".join(runs) or _NOTHING])
    return markdown_table(heads, rows, names=5)


def _not_played(results: LeaderboardResults) -> Iterator[str]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for policy, row in results.rows.items():
        for name, cell in row.cells.items():
            if cell.error:
                reasons.setdefault((policy, cell.error), []).append(name)
    for (policy, error), names in reasons.items():
        yield f"- {_code(policy)} on {', '.join(map(_code, names))}: {_code(error)}"


def _runs(results: LeaderboardResults) -> str:
    heads = ["run", "begun", "commit", "machine", "cores", "processes", "versions"]
    rows = []
    for number, run in enumerate(results.runs.values(), start=1):
        commit, _, changes = run.commit.partition("+")
        shown = _code(commit[:_SHORT]) + " (changed)" * bool(changes) if commit else "unknown"
        versions = _words(", ".join(" ".join(each) for each in run.versions.items()))
        words = [_words(run.date), shown, _words(run.machine)]
        rows.append([str(number), *words, str(run.cores), str(run.jobs), versions])
    return markdown_table(heads, rows, names=7)


def _words(text: str) -> str:
    """Return words of a file as Markdown that shows them and obeys none of them."""
    return re.sub(r"[\\`*_\[\]<>#!&]", r"\\\g<0>", text)


def _code(text: str) -> str:
    """Return a name, or an error, as code in Markdown."""
    return f"`{' '.join(text.split()).replace('`', chr(39))}`"
