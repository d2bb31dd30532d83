"""`sudoku-gym leaderboard`: policies on fixed sets of puzzles, as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator
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

from sudoku_gym.cli.terminal import plain
from sudoku_gym.evaluation.leaderboard import LeaderboardConfig, play_leaderboard
from sudoku_gym.evaluation.leaderboard.play import PHASES, OnStep


@dataclass(frozen=True, kw_only=True)
class Leaderboard(LeaderboardConfig):
    """Play policies on fixed sets of puzzles, and write what came of every puzzle.

    Only what is missing or out of date is played, so a run that was stopped goes on where it was.
    The documentation makes its page and its plots from the file.
    """

    out: Path = Path("docs/results/leaderboard.json")
    """The results. What they hold already is kept."""

    def run(self) -> int:
        """Play and write."""
        with _progress() as on_step:
            _, lost = play_leaderboard(self.out, self, on_step)
        print(f"Wrote {plain(str(self.out))}")
        for line in lost:
            print(f"{plain(line)}; the same command tries again", file=sys.stderr)
        return 1 if lost else 0


@contextmanager
def _progress() -> Iterator[OnStep]:
    """Show on standard error what is done: a bar on a terminal, else a line for each cell."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda phase, done, total, text: print(
            f"{phase} {done} of {total}: {plain(text)}", file=sys.stderr
        )
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
        tasks = {phase: shown.add_task(phase, total=None, visible=False) for phase in PHASES}

        def on_step(phase: str, done: int, total: int, text: str) -> None:
            shown.console.print(plain(text), markup=False)
            shown.update(tasks[phase], total=total, completed=done, visible=True)

        yield on_step
