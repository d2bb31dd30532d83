"""The leaderboard as a page of the documentation: `page.md`, filled in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from string import Template

from sudoku_gym.evaluation.games import percent
from sudoku_gym.evaluation.leaderboard.fixed_sets import FILE, programme
from sudoku_gym.evaluation.leaderboard.games import BATCH_CELLS, TIMED
from sudoku_gym.evaluation.leaderboard.standings import Played, Row, Standings
from sudoku_gym.evaluation.tables import markdown_table
from sudoku_gym.storage.atomic import write_text

_SHORT = 12  # letters of a checksum; the file has them all
_NOTHING = "-"
_LISTS = "Lists that are not shipped"
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


def page(standings: Standings, json_file: str) -> str:
    """Return the page.

    Args:
        standings: what was played.
        json_file: where the figures lie, as a link from the page.
    """
    template = resources.files("sudoku_gym.evaluation.leaderboard") / "page.md"
    left_out = (f"`{name}` has no row: {why}." for name, why in programme().left_out.items())
    return Template(template.read_text(encoding="utf-8")).substitute(
        json=json_file,
        seed=standings.seed,
        cells=f"{BATCH_CELLS:,}",
        timed=TIMED,
        tables="\n".join(_tables(standings)),
        times=_times(standings),
        sets=_sets(standings),
        rows=_rows(standings),
        left_out="\n".join(left_out),
        not_played="\n".join(_not_played(standings)) or "Everybody plays everything.",
        runs=_runs(standings),
    )


def write_page(path: Path, standings: Standings, json_file: Path) -> None:
    """Write the page."""
    link = Path(os.path.relpath(json_file, path.parent)).as_posix()
    write_text(path, page(standings, link))


def _tables(standings: Standings) -> Iterator[str]:
    tables = dict(programme().tables)
    lists = [name for name, each in standings.sets.items() if each.source.startswith(FILE)]
    if lists:
        tables[_LISTS] = tuple(lists)
    for title, sets in tables.items():
        yield f"## {title}\n\n{_shares(standings, sets)}\n"
        yield from (note for name, note in _NOTES.items() if name in sets)
        yield from (links for word, links in _PICTURES.items() if word in title)


def _shares(standings: Standings, sets: Sequence[str]) -> str:
    puzzles = [standings.sets[name] for name in sets]
    titles = [f"{_words(each.title)} ({each.count})" for each in puzzles]
    rows = sorted(standings.rows, key=lambda row: -_mean(row, standings, sets))
    cells = [
        [_code(row.policy), _words(row.kind), *(_share(row, name, standings) for name in sets)]
        for row in rows
    ]
    return markdown_table(["policy", "kind", *titles], cells, names=2)


def _mean(row: Row, standings: Standings, sets: Sequence[str]) -> float:
    solved = (
        row.cells[name].solved / standings.sets[name].count for name in sets if name in row.cells
    )
    return sum(solved) / len(sets)


def _share(row: Row, name: str, standings: Standings) -> str:
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
    count = standings.sets[name].count
    return text if cell.state == "finished" else f"{text}, {cell.played} of {count}"


def _times(standings: Standings) -> str:
    sets = [each.name for each in programme().sets if each.timed]
    heads = ["policy", *(_words(standings.sets[name].title) for name in sets)]
    rows = [
        [_code(row.policy), *(_time(row.cells.get(name), standings) for name in sets)]
        for row in standings.rows
    ]
    return markdown_table(heads, rows)


def _time(cell: Played | None, standings: Standings) -> str:
    if cell is None or cell.state == "cannot":
        return "not yet" if cell is None else _NOTHING
    if cell.times is None or cell.timed is None:
        return "not yet"
    seconds = cell.seconds_a_puzzle
    if seconds is None:
        return f"over {standings.runs[cell.timed].timing_budget:g} s"
    text = f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.2g} ms"
    if 0.1 <= seconds < 1:
        text = f"{1000 * seconds:.0f} ms"
    return text if len(cell.times) == TIMED else f"{text} ({len(cell.times)})"


def _sets(standings: Standings) -> str:
    heads = ["set", "column", "from", "board", "puzzles", "givens", "checksum"]
    rows = []
    for name, each in standings.sets.items():
        low, high = each.givens
        givens = str(low) if low == high else f"{low} to {high}"
        words = map(_words, (each.title, each.source, each.board))
        row = [_code(name), *words, str(each.count), givens, _code(each.sha256[:_SHORT])]
        rows.append(row)
    return markdown_table(heads, rows, names=4)


def _rows(standings: Standings) -> str:
    heads = ["policy", "kind", "package", "weights", "runs"]
    rows = []
    for row in standings.rows:
        runs = {cell.run for cell in row.cells.values()}
        runs |= {cell.timed for cell in row.cells.values() if cell.timed is not None}
        weights = _code(row.weights[:_SHORT]) if row.weights else _NOTHING
        numbers = ", ".join(str(run + 1) for run in sorted(runs)) or _NOTHING
        words = _words(row.kind), _words(row.package or _NOTHING)
        rows.append([_code(row.policy), *words, weights, numbers])
    return markdown_table(heads, rows, names=5)


def _not_played(standings: Standings) -> Iterator[str]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in standings.rows:
        for name, cell in row.cells.items():
            if cell.state == "cannot":
                reasons.setdefault((row.policy, cell.why), []).append(name)
    for (policy, why), names in reasons.items():
        yield f"- {_code(policy)} on {', '.join(map(_code, names))}: {_code(why)}"


def _runs(standings: Standings) -> str:
    heads = ["run", "begun", "commit", "machine", "cores", "processes", "versions"]
    rows = []
    for number, run in enumerate(standings.runs, start=1):
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
