"""Comparisons as tables: the cells, and Markdown that also reads well as plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sudoku_gym.evaluation.games import Evaluation, percent


def tabulate(results: Mapping[str, Evaluation]) -> tuple[list[str], list[list[str]]]:
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


def to_markdown(results: Mapping[str, Evaluation]) -> str:
    """Format a comparison as a Markdown table that also reads well as plain text."""
    return markdown_table(*tabulate(results))


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]], names: int = 1) -> str:
    """Format cells as a Markdown table; the first columns, `names` of them, are flush left."""
    rows = [[" ".join(cell.split()).replace("|", r"\|") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    rule = ["-" * width if i < names else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    lines = [
        [cell.ljust(width) if i < names else cell.rjust(width) for i, (cell, width) in pairs]
        for pairs in (
            enumerate(zip(row, widths, strict=True)) for row in [list(heads), rule, *rows]
        )
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
