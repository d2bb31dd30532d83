"""`sudoku-gym leaderboard`: policies on fixed sets of puzzles, as JSON."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from sudoku_gym.cli.terminal import strip_control
from sudoku_gym.evaluation.leaderboard import (
    LeaderboardConfig,
    play_leaderboard,
    verify_leaderboard,
)


@dataclass(frozen=True, kw_only=True)
class Leaderboard(LeaderboardConfig):
    """Play policies on fixed sets of puzzles, and write the outcome of every puzzle.

    Only what is missing or out of date is played, so a run that was stopped goes on where it was.
    The documentation page and its plots are generated from this file.
    """

    verify: bool = False
    """Play the rows of the file again, compare the outcomes, and write nothing."""

    def run(self) -> int:
        """Play and write, or compare."""

        def report(line: str) -> None:
            print(strip_control(line), file=sys.stderr)

        if self.verify:
            differing = verify_leaderboard(self, report)
            for line in differing:
                print(strip_control(line))
            print(
                f"{len(differing) or 'None'} of the games of {strip_control(str(self.out))} differ"
            )
            return 1 if differing else 0
        _, failures = play_leaderboard(self, report)
        print(f"Wrote {strip_control(str(self.out))}")
        for line in failures:
            report(f"{line}; rerun the command to retry")
        return 1 if failures else 0
