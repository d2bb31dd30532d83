"""`sudoku-gym leaderboard`: policies on fixed sets of puzzles, as JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sudoku_gym.cli.terminal import progress, strip_control
from sudoku_gym.evaluation.leaderboard import LeaderboardConfig, play_leaderboard
from sudoku_gym.evaluation.leaderboard.play import PHASES


@dataclass(frozen=True, kw_only=True)
class Leaderboard(LeaderboardConfig):
    """Play policies on fixed sets of puzzles, and write the outcome of every puzzle.

    Only what is missing or out of date is played, so a run that was stopped goes on where it was.
    The documentation page and its plots are generated from this file.
    """

    out: Path = Path("docs/results/leaderboard.json")
    """Output file; existing results are kept."""

    def run(self) -> int:
        """Play and write."""
        progress_bars: dict[str, Callable[[float], None]] = {}
        with progress(PHASES) as start:

            def on_step(phase: str, done: int, total: int, text: str) -> None:
                if phase not in progress_bars:
                    progress_bars[phase] = start(phase)
                progress_bars[phase](done / total)
                print(f"{phase} {done} of {total}: {strip_control(text)}", file=sys.stderr)

            _, failures = play_leaderboard(self.out, self, on_step)
        print(f"Wrote {strip_control(str(self.out))}")
        for line in failures:
            print(f"{strip_control(line)}; rerun the command to retry", file=sys.stderr)
        return 1 if failures else 0
