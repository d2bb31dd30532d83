"""Tables, texts and progress bars in the terminal.

User text (names, paths) is passed to rich as `Text`, never as markup.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import TextIOWrapper
from textwrap import wrap
from typing import Literal, TypeAlias

from rich import progress as bars
from rich.console import Console
from rich.table import Table
from rich.text import Text

_WIDEST = 10_000  # characters that a table is measured in
OnProgress: TypeAlias = Callable[[float], None]  # takes the share that is done, 0 to 1


def replace_unprintable() -> None:
    """Make standard output print ? for characters that its encoding lacks."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def occupy_closed_streams() -> None:
    """Open the null device in place of each standard stream that is closed.

    Else the next file to be opened, a lock say, gets its number, and what others print.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


@contextmanager
def streams_aside() -> Iterator[None]:
    """Let code of others, and programs that it starts, print to standard error: it is no result.

    The code may exchange the streams for its log until then.
    """
    if sys.stdout is not None:
        sys.stdout.flush()
    before = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr), redirect_stderr(sys.stderr):
            yield
    finally:
        os.dup2(before, 1)
        os.close(before)


def strip_control(text: str) -> str:
    """Return a text in one line, control characters replaced by ?."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.splitlines()))


def report(text: str) -> None:
    """Print a line on standard error, if there is one."""
    if sys.stderr is not None:
        print(strip_control(text), file=sys.stderr)


def console() -> Console:
    """Return a console for standard output; it wraps no lines if output goes to a file."""
    screen = Console(highlight=False)
    return screen if screen.is_terminal else Console(highlight=False, width=200)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> Table:
    """Lay out text cells; the first column is a name, the others are numbers.

    A table that is wider than the terminal gets no lines, and several rows for heads and intervals.
    """
    cells = [[strip_control(cell) for cell in row] for row in rows]
    whole, screen = _lay_out(heads, cells, title), console()
    if screen.measure(whole, options=screen.options.update(width=_WIDEST)).maximum <= screen.width:
        return whole
    heads = ["\n".join(head.rsplit(" ", 1)) for head in heads]
    cells = [[cell.replace(" to ", " to\n") for cell in row] for row in cells]
    for row in cells:
        row[0] = "\n".join(wrap(row[0], max(screen.width // 3, 1)))
    narrow = _lay_out(heads, cells, title)
    narrow.columns[0].no_wrap = True  # the others are broken first
    narrow.box, narrow.padding = None, (0, 1, 0, 0)
    return narrow


def _lay_out(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> Table:
    shown = Text(strip_control(title), "bold") if title else None
    laid_out = Table(title=shown, title_justify="left")
    for i, head in enumerate(heads):
        side: Literal["left", "right"] = "left" if i == 0 else "right"
        laid_out.add_column(Text(head), justify=side, overflow="fold")
    for row in rows:
        laid_out.add_row(*map(Text, row))
    return laid_out


@contextmanager
def progress(names: Sequence[str]) -> Iterator[Callable[[str], OnProgress]]:
    """Show a progress bar for each of some tasks on standard error, if that is a terminal.

    Yield a function to call with a task's name when it starts; it returns the function to call with
    the share that is done.
    """
    if not names or sys.stderr is None or not sys.stderr.isatty():
        yield lambda name: lambda share: None
        return
    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        bars.TimeElapsedColumn(),
        bars.TextColumn("left:"),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=1.0, visible=False)

        def start(name: str) -> OnProgress:
            number = f" ({names.index(name) + 1} of {len(names)})" if len(names) > 1 else ""
            shown.reset(task, description=f"{strip_control(name)}{number}", visible=True)
            return lambda share: shown.update(task, completed=share)

        yield start
