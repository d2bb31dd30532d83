"""`sudoku-gym watch`: see a policy play a puzzle, in the terminal or as a film."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import sleep

from tyro.conf import Positional

from sudoku_gym.cli.puzzle_arguments import BankFileOrPuzzle, Board, Split, environment
from sudoku_gym.envs.rendering import save_film
from sudoku_gym.evaluation.episode import Episode
from sudoku_gym.plugins import default_policies
from sudoku_gym.policies import load_policy

_TO_TOP = "\x1b[H\x1b[J"  # clears the screen of the terminal


@dataclass(frozen=True)
class Watch:
    """Watch a policy play a puzzle, in the terminal or as a film."""

    puzzle: Positional[BankFileOrPuzzle] = "9x9"
    board: Board = ""
    policy: str = field(default_factory=lambda: "".join(default_policies("watch")[:1]))
    """An installed policy, module:attribute, or the folder of a checkpoint; with options, if any,
    as in 'expert-iteration?simulations=64'."""
    trust: bool = False
    """Allow checkpoints to load and run arbitrary code."""
    split: Split | None = None
    """Part of a bank to draw from; the test split if the bank has one."""
    blanks: str = ""
    """Reveal cells until this many blanks are left: a number, or a range such as 30-40."""
    seed: int = 0
    """Seed for drawing the puzzle and for the policy."""
    out: str = ""
    """Save a film, .gif or .mp4, instead of playing in the terminal."""
    heat: bool = False
    """Colour the candidates in the film by their probability under the policy; needs a policy
    with a method probabilities(boards, action_masks)."""
    fps: float = 4.0
    """Moves per second, 0.1 to 1000."""

    def run(self) -> int:
        """Play; return 0 if the puzzle is solved and 1 if not."""
        if self.heat and not self.out:
            raise ValueError("--heat colours the frames of a film: name one with --out film.gif")
        out = Path(self.out).absolute()  # a policy may change the working folder
        env, options = environment(
            self.puzzle, self.board, self.split, self.blanks, erase=False, max_steps=2**31
        )
        policy = load_policy(self.policy, trust=self.trust)
        game = Episode(env, policy, self.seed, options, self.heat)
        if self.out:
            out.parent.mkdir(parents=True, exist_ok=True)
            save_film((moment.render() for moment in game.play()), out, self.fps)
        elif sys.stdout.isatty():
            self._animate(game)
        else:
            self._list(game)
        print(f"{self.policy}: {game.result}{f', film in {self.out}' if self.out else ''}")
        return 0 if game.is_solved else 1

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
