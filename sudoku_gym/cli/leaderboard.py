"""`sudoku-gym leaderboard`: every policy on fixed sets of puzzles, as JSON, page and plots."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from sudoku_gym import plugins
from sudoku_gym.cli.terminal import plain
from sudoku_gym.evaluation.leaderboard import Order, Step, play_leaderboard
from sudoku_gym.evaluation.leaderboard.page import write_page
from sudoku_gym.evaluation.leaderboard.playing import VERBS


@dataclass(frozen=True)
class Leaderboard:
    """Play every policy on fixed sets of puzzles; write figures, a page and plots.

    Only what is missing or out of date is played, so a run that was stopped goes on where it was.
    """

    out: Path = Path("docs/results/leaderboard.json")
    """The figures. What they hold already is kept."""
    page: Path = Path("docs/leaderboard.md")
    """The page; the plots go into `images` beside it."""
    plots: bool = True
    """Draw the plots."""
    add: tuple[str, ...] = ()
    """Policies to give a row: names, module:attribute, or folders of checkpoints, each with
    options, if any, as in 'my_package.agents:MyAgent?depth=3'."""
    remove: tuple[str, ...] = ()
    """Rows to take away, of policies that were added."""
    again: tuple[str, ...] = ()
    """Rows to play anew, though nothing has changed."""
    only: tuple[str, ...] = ()
    """Rows to play now; all if not given."""
    sets: tuple[str, ...] = ()
    """Sets to play now; all if not given."""
    lists: tuple[Path, ...] = ()
    """Files of puzzles to play besides, of which at most 200 are taken."""
    jobs: int = 1
    """Processes that play side by side; times are measured in a single one."""
    budget: float = 40.0
    """Processor seconds that a policy has for a set."""
    timing_budget: float = 5.0
    """Processor seconds that it has for the ten puzzles whose times are measured."""

    def run(self) -> int:
        """Play and write."""
        order = Order(
            add=self.add,
            remove=self.remove,
            again=self.again,
            only=self.only,
            sets=self.sets,
            lists=self.lists,
            budget=self.budget,
            timing_budget=self.timing_budget,
            jobs=self.jobs,
        )
        self._check_page()
        draw = plugins.load(plugins.PLOTTERS, "leaderboard") if self.plots else None
        with _shown_steps() as on_step:
            standings, lost = play_leaderboard(self.out, order, on_step)
        write_page(self.page, standings, self.out)
        print(f"Wrote {plain(str(self.out))} and {plain(str(self.page))}")
        if draw is not None:
            folder = self.page.parent / "images"
            folder.mkdir(exist_ok=True)
            for path in draw(standings, folder):
                print(f"Wrote {plain(str(path))}")
        for line in lost:
            print(f"{plain(line)}; the same command tries again", file=sys.stderr)
        return 1 if lost else 0

    def _check_page(self) -> None:
        """Check that the page can be written, before there is anything to write."""
        if not self.page.parent.is_dir():
            raise ValueError(f"{self.page}: there is no folder {self.page.parent}; give --page")
        if self.page.is_dir():
            raise ValueError(f"{self.page} is a folder: give --page a file")
        if self.page.resolve() == self.out.resolve():
            raise ValueError(f"{self.page} can't be the page and the figures: give two files")


@contextmanager
def _shown_steps() -> Iterator[Callable[[Step], None]]:
    """Show on standard error what is done: a bar on a terminal, else a line for each cell."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield _print_step
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True, highlight=False)) as shown:
        tasks = {verb: shown.add_task(verb, total=None, visible=False) for verb in VERBS}

        def on_step(step: Step) -> None:
            shown.console.print(plain(step.text), markup=False)
            shown.update(tasks[step.verb], total=step.total, completed=step.done, visible=True)

        yield on_step


def _print_step(step: Step) -> None:
    print(f"{step.verb} {step.done} of {step.total}: {plain(step.text)}", file=sys.stderr)
