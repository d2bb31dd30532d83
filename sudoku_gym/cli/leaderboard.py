"""`sudoku-gym leaderboard`: policies on fixed sets of puzzles, as JSON."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from sudoku_gym.cli.terminal import strip_control
from sudoku_gym.evaluation.leaderboard import LeaderboardConfig, play_leaderboard


@dataclass(frozen=True, kw_only=True)
class Leaderboard(LeaderboardConfig):
    """Play policies on fixed sets of puzzles, and write the outcome of every puzzle.

    Only what is missing or out of date is played, so a run that was stopped goes on where it was.
    The documentation page and its plots are generated from this file.
    """

    def run(self) -> int:
        """Play and write."""

        def report(line: str) -> None:
            print(strip_control(line), file=sys.stderr)

        _, failures = play_leaderboard(self, report)
        print(f"Wrote {strip_control(str(self.out))}")
        for line in failures:
            report(f"{line}; rerun the command to retry")
        return 1 if failures else 0
