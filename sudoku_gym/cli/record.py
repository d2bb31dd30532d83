"""`sudoku-gym record`: games of a policy as an offline data set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from sudoku_gym import plugins
from sudoku_gym.cli.puzzle_arguments import BankOrFile, Split, parse_blanks
from sudoku_gym.cli.terminal import progress
from sudoku_gym.evaluation.games import percent
from sudoku_gym.trajectories import RecordedGames, record


@dataclass(frozen=True)
class Record:
    """Record games of a policy as a data set that Minari loads; the same command goes on."""

    policy: Positional[str]
    """A policy's name with options, module:attribute, or the folder of a checkpoint."""
    out: Path
    """Folder of the data set; its name, which must end in -v and a number, is its id."""
    puzzles: BankOrFile = "9x9"
    split: Split = "train"
    """Part of a bank to draw from."""
    blanks: str = ""
    """Reveal cells until this many blanks are left: a number, or a range such as 30-40."""
    reward: Literal["terminal", "dense", "sparse"] = "terminal"
    """The reward of the environment."""
    episodes: int = 1_000
    """Games to record, in all."""
    seed: int = 0
    """Game i is that of the environment's seed + i."""
    trust: bool = False
    """Allow checkpoints to load and run arbitrary code."""

    def run(self) -> int:
        """Play, write, and say where it is."""
        blanks = parse_blanks(self.blanks)
        assert blanks is None or isinstance(blanks, int | tuple)
        games = RecordedGames(
            self.policy,
            self.puzzles,
            self.split,
            [*blanks] if isinstance(blanks, tuple) else blanks,
            self.reward,
            self.seed,
        )
        with progress(["record"]) as start, plugins.suggest_extra("sudoku-gym record"):
            found = record(
                games,
                self.episodes,
                self.out.absolute(),  # a policy may change the working folder
                trust=self.trust,
                on_progress=start("record"),
            )
        print(
            f"{self.out}: {found['total_episodes']:,} games, {found['total_steps']:,} moves, "
            f"{percent(found['solved'])} solved"
        )
        print(f"MINARI_DATASETS_PATH={self.out.parent}  minari.load_dataset({self.out.name!r})")
        return 0
