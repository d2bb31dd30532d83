"""`sudoku-gym text`: read what a language model reads, and answer in its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from sudoku_gym.board import parse
from sudoku_gym.cli.puzzle_arguments import Split, parse_blanks
from sudoku_gym.plugins import import_environment
from sudoku_gym.policies import load_policy
from sudoku_gym.registration import ENVIRONMENTS
from sudoku_gym.text import ScriptedModel, TextOptions, TextSudoku


@dataclass(frozen=True)
class Text:
    """Read what a language model reads of a puzzle, and answer in its place."""

    env: Annotated[
        Positional[str],
        arg(
            help=f"The id of an environment: {', '.join(ENVIRONMENTS)}; one of another package is "
            "given with its module, my_package.envs:My9x9-v0."
        ),
    ] = "Sudoku9x9-v0"
    puzzle: str = ""
    """Start from this puzzle, row by row, instead of one that is drawn."""
    split: Split = "train"
    """Part of the bank to draw from."""
    blanks: str = ""
    """Reveal cells until this many blanks are left: a number, or a range such as 30-40."""
    seed: int | None = None
    """The same seed draws the same puzzle; a new one each time if not given."""
    mode: Literal["turns", "answer"] = "turns"
    """One move a turn, or the whole board at once, ended by an empty line."""
    style: Literal["grid", "compact", "json"] = "grid"
    """How boards are written."""
    turns: int = 0
    """Turns of the episode; 0 allows three for each blank."""
    candidates: bool = False
    """Allow to ask for the candidates of a cell."""
    dead_ends: bool = False
    """Announce dead ends."""
    policy: str = ""
    """A policy that answers in the model's place."""

    def run(self) -> int:
        """Play one episode; the exit code is 0 if the puzzle was solved, else 1."""
        options = TextOptions(
            import_environment(self.env),
            mode=self.mode,
            style=self.style,
            blanks=parse_blanks(self.blanks),
            split=self.split,
            max_turns=self.turns or None,
            allow_candidates=self.candidates,
            announce_dead_ends=self.dead_ends,
        )
        game = TextSudoku(options)
        given = parse(self.puzzle, game.geometry) if self.puzzle else None
        model = ScriptedModel(load_policy(self.policy), game.geometry) if self.policy else None
        prompt = message = game.reset(self.seed, given)
        print(message)
        while not game.done:
            if model is None:
                text = self._typed()
            elif self.mode == "answer":
                text = model.whole_board(prompt)
            else:
                text = model.next_move(message, first=message is prompt)
            if text is None:
                break
            if model is not None:
                print(f"> {text}")
            message = game.step(text).message
            print(message)
        rewards = ", ".join(f"{name} {value:.3g}" for name, value in game.rewards().items())
        print(f"Rewards: {rewards}")
        return 0 if game.is_solved else 1

    def _typed(self) -> str | None:
        """Read a turn from standard input: a line, or a board up to an empty line; None at its end.

        What is left of a board at the end of the input counts too.
        """
        lines: list[str] = []
        try:
            while not lines or (self.mode == "answer" and lines[-1].strip()):
                lines.append(input("> " if not lines else ""))
        except EOFError:
            return "\n".join(lines) or None
        return "\n".join(lines)
