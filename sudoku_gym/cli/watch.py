"""`sudoku-gym watch`: see a policy play a puzzle, in the terminal or as a film."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any, Literal

from tyro.conf import Positional

from sudoku_gym.cli.inputs import parse_blanks, read_boards
from sudoku_gym.envs.films import save_film
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.evaluation.episode import Episode
from sudoku_gym.policy import load_policy
from sudoku_gym.puzzles import banks, files

_TO_TOP = "\x1b[H\x1b[J"  # clears the screen of the terminal


@dataclass(frozen=True)
class Watch:
    """See a policy play a puzzle, in the terminal or as a film."""

    puzzle: Positional[str] = "9x9"
    """A bank to draw from (4x4, 6x6, 9x9, 16x16, 25x25, x9x9, windows9x9, jigsaw9x9, latin9x9,
    named), a file of puzzles (.txt, .csv, .npz), or a puzzle row by row."""
    policy: str = "hidden-singles"
    """An installed policy, module:attribute, or the folder of a checkpoint; with options, if any,
    as in 'calphazero?simulations=64'."""
    split: Literal["train", "validation", "test", "all"] | None = None
    """Part of a bank to draw from; the test split if the bank has one."""
    blanks: str = ""
    """Reveal cells until so many blanks are left: a number or a range, 30-40."""
    seed: int = 0
    """Of the draw of the puzzle and of the policy."""
    out: str = ""
    """Save a film, .gif or .mp4, instead of playing in the terminal."""
    heat: bool = False
    """Colour the candidates in the film by the chance that the policy gives them; needs a policy
    with a method probabilities(boards, action_masks)."""
    fps: float = 4.0
    """Moves a second."""

    def run(self) -> int:
        """Play; return 0 if the puzzle is solved and 1 if not."""
        if not self.fps > 0:
            raise ValueError(f"fps={self.fps}: use a number above 0")
        if self.heat and not self.out:
            raise ValueError("--heat colours the pictures of a film: name one with --out film.gif")
        env, options = self._environment()
        game = Episode(env, load_policy(self.policy), self.seed, options, self.heat)
        if self.out:
            Path(self.out).parent.mkdir(parents=True, exist_ok=True)
            save_film((moment.picture for moment in game.play()), self.out, self.fps)
        elif sys.stdout.isatty():
            self._animate(game)
        else:
            self._list(game)
        print(f"{self.policy}: {game.result}{f', film in {self.out}' if self.out else ''}")
        return 0 if game.is_solved else 1

    def _environment(self) -> tuple[SudokuEnv, dict[str, Any]]:
        if self.puzzle in banks.NAMES or self.puzzle.endswith(files.SUFFIXES):
            blanks, split = parse_blanks(self.blanks), self.split
            split = split or ("all" if self.puzzle == "named" else "test")
            return SudokuEnv(self.puzzle, split=split, blanks=blanks, augment=False), {}
        given = read_boards(self.puzzle, None)[0]
        return SudokuEnv(f"{len(given)}x{len(given)}"), {"puzzle": given}

    def _animate(self, game: Episode) -> None:
        for moment in game.play():
            print(f"{_TO_TOP}{moment.text}\n{moment.caption}", flush=True)
            sleep(1 / self.fps)

    def _list(self, game: Episode) -> None:
        """Print the first and the last board and a line for each move between them."""
        last = ""
        for moment in game.play():
            print(moment.caption if moment.caption else moment.text)
            last = moment.text
        print(last)
