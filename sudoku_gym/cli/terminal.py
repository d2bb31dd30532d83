"""Tables and progress bars in the terminal.

User text (names, paths) is passed to rich as `Text` or escaped, never as markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

OnProgress: TypeAlias = Callable[[float], None]  # takes the share that is done, 0 to 1


def strip_control(text: str) -> str:
    """Return a text in one line, control characters replaced by ?."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.splitlines()))


def console() -> Console:
    """Return a console for standard output; it wraps no lines if output goes to a file."""
    screen = Console(highlight=False)
    return screen if screen.is_terminal else Console(highlight=False, width=200)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> Table:
    """Lay out text cells; the first column is a name, the others are numbers."""
    shown = Text(strip_control(title), "bold") if title else None
    laid_out = Table(title=shown, title_justify="left")
    for i, head in enumerate(heads):
        laid_out.add_column(Text(head), justify="right" if i else "left", overflow="fold")
    for row in rows:
        laid_out.add_row(*(Text(strip_control(cell)) for cell in row))
    return laid_out


@contextmanager
def progress(is_wanted: bool = True) -> Iterator[Callable[[str], OnProgress]]:
    """Show a progress bar for each task that has begun on standard error, if that is a terminal.

    Yield a function to call with a task's name when it starts; it returns the function to call with
    the share that is done.
    """
    screen = Console(stderr=True)
    is_shown = is_wanted and screen.is_terminal
    with Progress(console=screen, transient=True, disable=not is_shown) as bars:

        def start(name: str) -> OnProgress:
            task = bars.add_task(escape(strip_control(name)), total=1.0)
            return lambda share: bars.update(task, completed=share)

        yield start
