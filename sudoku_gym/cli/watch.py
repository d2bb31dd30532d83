"""`sudoku-gym watch`: see a policy play a puzzle, in the terminal or as a film."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tyro.conf import Positional

from sudoku_gym import board
from sudoku_gym.board import SYMBOLS
from sudoku_gym.cli.inputs import BankFileOrPuzzle, Board, Split, environment
from sudoku_gym.envs.films import save_film
from sudoku_gym.envs.rendering import draw, to_ansi
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.geometry import Geometry
from sudoku_gym.policy import Policy, load_policy

_TO_TOP = "\x1b[H\x1b[J"  # clears the screen of the terminal


@dataclass(frozen=True)
class Watch:
    """See a policy play a puzzle, in the terminal or as a film."""

    puzzle: Positional[BankFileOrPuzzle] = "9x9"
    board: Board = ""
    policy: str = "hidden-singles"
    """An installed policy, module:attribute, or the folder of a checkpoint; with options, if any,
    as in 'calphazero?simulations=64'."""
    trust: bool = False
    """Let the folder of a checkpoint name any code as its agent, and run it."""
    split: Split | None = None
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
        if self.out and not self.out.lower().endswith((".gif", ".mp4")):
            raise ValueError(f"a film in {self.out!r}: use a name that ends in .gif or .mp4")
        env, options = environment(
            self.puzzle, self.board, self.split, self.blanks, erase=False, max_steps=2**31
        )
        policy = load_policy(self.policy, trust=self.trust)
        game = _Episode(env, policy, self.seed, options, self.heat)
        if self.out:
            Path(self.out).parent.mkdir(parents=True, exist_ok=True)
            save_film((moment.picture for moment in game.play()), self.out, self.fps)
        elif sys.stdout.isatty():
            self._animate(game)
        else:
            self._list(game)
        print(f"{self.policy}: {game.result}{f', film in {self.out}' if self.out else ''}")
        return 0 if game.is_solved else 1

    def _animate(self, game: _Episode) -> None:
        for moment in game.play():
            print(f"{_TO_TOP}{moment.text}\n{moment.said}", flush=True)
            sleep(1 / self.fps)

    def _list(self, game: _Episode) -> None:
        """Print the first and the last board and a line for each move between them."""
        last = ""
        for moment in game.play():
            print(moment.said if moment.said else moment.text)
            last = moment.text
        print(last)


@dataclass(frozen=True)
class _Moment:
    """A board of an episode, and the move that led to it."""

    board: NDArray[np.int8]
    givens: NDArray[np.bool_]
    geometry: Geometry
    last: tuple[int, int] | None
    heat: NDArray[np.floating[Any]] | None
    said: str

    @property
    def text(self) -> str:
        return to_ansi(self.board, self.givens, self.geometry, last=self.last)

    @property
    def picture(self) -> NDArray[np.uint8]:
        return draw(
            self.board,
            self.givens,
            self.geometry,
            last=self.last,
            show_candidates=True,
            heat=self.heat,
        )


class _Episode:
    """One game of a policy."""

    def __init__(
        self, env: SudokuEnv, policy: Policy, seed: int, options: dict[str, Any], heat: bool
    ) -> None:
        self.env, self.policy = env, policy
        self.seed, self.options = seed, options
        self.probabilities = getattr(policy, "probabilities", None)
        if heat and self.probabilities is None:
            raise ValueError(
                f"{type(policy).__name__} tells no probabilities: leave out --heat, or give it a "
                "method probabilities(boards, action_masks) -> [B, A]"
            )
        self.shows_heat = heat
        self.is_solved = False
        self.result = "no game yet"

    def play(self) -> Iterator[_Moment]:
        """Yield every board, the first one before any move."""
        shown, info = self.env.reset(seed=self.seed, options=self.options)
        givens, geometry = shown > 0, self.env.geometry
        self.policy.reset(shown[None].copy(), geometry, np.random.default_rng(self.seed))
        moves, is_over = 0, not info["action_mask"].any()
        yield _Moment(shown, givens, geometry, None, self._heat(shown), "")
        while not is_over:
            masks = self.env.action_masks()[None]
            action = int(self.policy.act(shown[None].copy(), masks)[0])
            shown, _, terminated, truncated, info = self.env.step(action)
            moves += 1
            is_over = terminated or truncated
            cell, digit = divmod(action, geometry.size)
            said = f"{moves}. {SYMBOLS[digit + 1]} at {board.place(cell, geometry.size)}"
            if info["illegal_action"]:
                said, is_over = f"{said}: illegal", True
            elif info["dead_end"]:
                said += " (a blank cell has no candidate now)"
            last = divmod(cell, geometry.size)
            yield _Moment(shown, givens, geometry, last, self._heat(shown), said)
        self.is_solved = bool(info["is_success"])
        ending = "solved" if self.is_solved else f"not solved, {info['blanks']} cells left"
        self.result = f"{ending} after {moves} moves"

    def _heat(self, shown: NDArray[np.int8]) -> NDArray[np.floating[Any]] | None:
        masks = self.env.action_masks()[None]
        if not self.shows_heat or self.probabilities is None or not masks.any():
            return None
        heat: NDArray[np.floating[Any]] = np.asarray(self.probabilities(shown[None].copy(), masks))
        return heat[0, : self.env.geometry.num_placements]
