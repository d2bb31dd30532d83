"""`sudoku-gym leaderboard`: policies on fixed sets of puzzles, as JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sudoku_gym.cli.terminal import plain, progress
from sudoku_gym.evaluation.leaderboard import LeaderboardConfig, play_leaderboard
from sudoku_gym.evaluation.leaderboard.play import PHASES


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
        shown: dict[str, Callable[[float], None]] = {}
        with progress(PHASES) as start:

            def on_step(phase: str, done: int, total: int, text: str) -> None:
                if phase not in shown:
                    shown[phase] = start(phase)
                shown[phase](done / total)
                print(f"{phase} {done} of {total}: {plain(text)}", file=sys.stderr)

            _, lost = play_leaderboard(self.out, self, on_step)
        print(f"Wrote {plain(str(self.out))}")
        for line in lost:
            print(f"{plain(line)}; the same command tries again", file=sys.stderr)
        return 1 if lost else 0
