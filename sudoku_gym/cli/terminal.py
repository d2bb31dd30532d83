"""How results look in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from sudoku_gym.evaluation import Evaluation, tabulate


def console() -> Console:
    """Return a console for standard output that wraps nothing where output goes to a file."""
    screen = Console(highlight=False)
    return screen if screen.is_terminal else Console(highlight=False, width=200)


def results_table(results: Mapping[str, Evaluation], title: str) -> Table:
    """Lay out a comparison, one row a policy."""
    heads, rows = tabulate(results)
    return table(heads, rows, title)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> Table:
    """Lay out text cells; the first column is a name, the others are figures."""
    laid_out = Table(title=title or None, title_justify="left", title_style="bold")
    for i, head in enumerate(heads):
        laid_out.add_column(head, justify="left" if i == 0 else "right", no_wrap=i == 0)
    for row in rows:
        laid_out.add_row(*row)
    return laid_out
