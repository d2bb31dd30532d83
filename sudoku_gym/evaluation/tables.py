"""Comparisons as tables: the cells, and Markdown that also reads well as plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from sudoku_gym.evaluation.games import Evaluation, percent
from sudoku_gym.evaluation.lists import ListRow, Share

Table: TypeAlias = tuple[list[str], list[list[str]]]  # the heads, and the cells of rows


def tabulate(results: Mapping[str, Evaluation]) -> Table:
    """Format a comparison as the heads of columns and the cells of rows.

    Columns that would say nothing are left out: those of orbits unless each holds several puzzles,
    illegal answers where there are none, and convergence where no policy can tell. Rounds and
    processor time are those of a puzzle.
    """
    evaluations = list(results.values())
    columns = {"policy": list(results)}
    columns["solved"] = [percent(e.completion_rate) for e in evaluations]
    columns["95 % interval"] = [_range(e.interval) for e in evaluations]
    if all(e.orbits_solved and e.orbits_solved[1] < len(e.solved) for e in evaluations):
        columns["orbits"] = ["{} of {}".format(*e.orbits_solved or ()) for e in evaluations]
        columns["over orbits"] = [_range(e.orbit_interval or e.interval) for e in evaluations]
    columns["units satisfied"] = [percent(e.constraint_fraction) for e in evaluations]
    if any(e.illegal for e in evaluations):
        columns["illegal"] = [f"{e.illegal:,}" for e in evaluations]
    if any(e.convergence for e in evaluations):
        columns["converged"] = [_converged(e) for e in evaluations]
        columns["rounds"] = [_rounds(e) for e in evaluations]
    columns["processor time"] = [_time(e.processor_seconds / len(e.solved)) for e in evaluations]
    columns["puzzles/s"] = [_speed(e) for e in evaluations]
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]


def tabulate_groups(groups: Mapping[str, Mapping[str, Share]]) -> Table:
    """Format the shares of groups of puzzles: a row a group, a column a policy."""
    counts = {name: share.count for shares in groups.values() for name, share in shares.items()}
    rows = [
        [name, f"{count:,}", *(_share(shares.get(name)) for shares in groups.values())]
        for name, count in counts.items()
    ]
    return ["puzzles of", "count", *groups], rows


def tabulate_cards(rows: Mapping[str, ListRow]) -> Table:
    """Format what must stand beside the figures of policies; a row a policy."""
    heads = ["policy", "class", "weights", "solutions shown", "play", "restarts"]
    heads += ["rounds", "processor time", "seed"]
    cells = []
    for name, row in rows.items():
        about = ["-"] * 5
        if card := row.card:
            sees = "sees the constraints" if card.sees == "constraints" else "sees only the grid"
            numbers = f"{card.weights:,}", f"{card.solutions:,}" if card.solutions else "none"
            about = [sees, *numbers, card.play, str(card.restarts)]
        rounds = "-" if row.rounds is None else f"{row.rounds:,.0f}"
        seconds = row.processor_seconds / max(row.all.count, 1)
        cells.append([name, *about, rounds, _time(seconds), str(row.options["seed"])])
    return heads, cells


def to_markdown(results: Mapping[str, Evaluation]) -> str:
    """Format a comparison as a Markdown table that also reads well as plain text."""
    heads, rows = tabulate(results)
    return markdown_table(heads, [[cell.replace("<", r"\<") for cell in row] for row in rows])


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]], names: int = 1) -> str:
    """Format cells, themselves Markdown, as a table; the first columns, `names`, are flush left.

    Control characters are left out.
    """
    rows = [[_plain(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    rule = ["-" * width if i < names else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    lines = [
        [cell.ljust(width) if i < names else cell.rjust(width) for i, (cell, width) in pairs]
        for pairs in (
            enumerate(zip(row, widths, strict=True)) for row in [list(heads), rule, *rows]
        )
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _plain(cell: str) -> str:
    printable = "".join(each for each in " ".join(cell.split()) if each.isprintable())
    return printable.replace("|", r"\|")


def duration(seconds: float) -> str:
    """Format a time to wait, as in `'45 s'` and `'12 min'`."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _share(share: Share | None) -> str:
    if share is None or not share.count:
        return "-"
    return f"{percent(share.solved / share.count)} ({share.low:.1f} to {share.high:.1f})"


def _range(interval: tuple[float, float]) -> str:
    low, high = (percent(share).removesuffix(" %") for share in interval)
    return f"{low} to {high} %"


def _converged(evaluation: Evaluation) -> str:
    found = evaluation.converged_solved
    return "" if found is None else percent(found[1] / len(evaluation.solved))


def _rounds(evaluation: Evaluation) -> str:
    rounds = evaluation.mean_rounds
    return "" if rounds is None else f"{rounds:,.0f}"


def _time(seconds: float) -> str:
    scale, unit = (1, "s") if seconds >= 1 else (1e3, "ms") if seconds >= 1e-3 else (1e6, "µs")
    return f"{float(f'{seconds * scale:.2g}'):,g} {unit}"


def _speed(evaluation: Evaluation) -> str:
    rate = len(evaluation.solved) / max(evaluation.seconds, 1e-9)
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
