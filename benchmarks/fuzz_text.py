"""Random replies to the text environment: each gets an answer that tells nothing of the solution.

    python benchmarks/fuzz_text.py --texts 200000 --out docs/results/checks.json

A text is strung together from pieces of moves, boards, tags and noise, or is a move on a random
cell, or a whole board with up to three digits changed. Each is given to two games of one puzzle,
of which the second was handed a false solution. A leak is a turn, a board or a reward in which the
two differ, or an answer to a digit placed whose form depends on whether the digit is right.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray

from results import Row, command_of, keep
from sudoku_gym import puzzles, solver
from sudoku_gym.board import SYMBOLS
from sudoku_gym.puzzles.sources import BankSource, Blanks
from sudoku_gym.text import TextSudoku, Turn

BANKS = {
    "Sudoku4x4-v0": "4x4",
    "Sudoku9x9-v0": "9x9",
    "Sudoku16x16-v0": "16x16",
    "Sudoku25x25-v0": "25x25",
}
PIECES = (
    *"r5c3=7 place row column in undo erase candidates give up 123456789".split(),
    *". 0 _ [ ] { } : \" '".split(),
    *("<think>", "</think>", "<answer>", "</answer>", "```", "\n", "[[", "]]", '{"row":', "٣", "²"),
    *("99999999999999", "-1", "\x00", "ab" * 40, "1 2 3 4\n", "12345678 9\n" * 9, "[" * 60),
)
MOVES = (
    "r{r}c{c}={d}",
    "put {d} in row {r}, column {c}",
    '{{"row": {r}, "col": {c}, "digit": {d}}}',
)
PLACED = re.compile(r"\w+ was placed at row (\d+), column (\d+)\.")
REST = re.compile(
    r" (?:Blank cells: \d+\. Turns left: \d+\.|No turn is left\.|The board is solved\.)"
)


@dataclass(frozen=True)
class Config:
    """What to try.

    Attributes:
        texts: random texts, shared out among sizes and modes.
        seed: of the texts and the puzzles.
        out: a JSON file; the figures of other parts in it stay.
    """

    texts: int = 200_000
    seed: int = 0
    out: Path | None = None


class Solutions:
    """Hands out the puzzles of a bank, with their solutions or with false ones.

    Args:
        bank: the bank's name.
        are_true: whether the solutions are right.
    """

    def __init__(self, bank: str, are_true: bool) -> None:
        self._source = BankSource(puzzles.load(bank))
        self._are_true = are_true
        self.geometry = self._source.geometry
        self.max_blanks = self._source.max_blanks

    def sample(
        self, count: int, blanks: Blanks, rng: np.random.Generator
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Draw puzzles and solutions, int8 `[count, N, N]` each; false ones have other digits."""
        drawn, solutions = self._source.sample(count, blanks, rng)
        if not self._are_true:
            solutions = solutions % self.geometry.size + 1
        return drawn, solutions


class Twins:
    """Two games of one puzzle, the second with a false solution, and what they did.

    Args:
        env_id: the id of the environment.
        mode: `"turns"` or `"answer"`.
        seed: of the puzzles.
    """

    def __init__(self, env_id: str, mode: Any, seed: int) -> None:
        sources = [Solutions(BANKS[env_id], are_true) for are_true in (True, False)]
        self._games = [TextSudoku(env_id=env_id, mode=mode, source=source) for source in sources]
        self._solution: NDArray[np.int8] | None = None  # of the puzzle, once it was asked for
        self._seed: int | None = seed
        self._mode = mode
        self.counts = Counter[str]()

    def answer(self, rng: random.Random) -> str:
        """Give a random text to both games and count what happened; return what was wrong."""
        if self._games[0].done:
            prompts = [game.reset(self._seed) for game in self._games]
            self._seed = self._solution = None
            if prompts[0] != prompts[1]:
                return "the prompts differ"
        text = self._random_text(rng)
        self.counts["texts"] += 1
        try:
            turns = [game.step(text) for game in self._games]
            rewards = [game.rewards() for game in self._games]
        except Exception as error:
            self.counts["exceptions"] += 1
            return f"{text!r}: {error!r}"
        self.counts["understood"] += turns[0].understood
        is_bounded = all(0 <= reward <= 1 for reward in rewards[0].values())
        equal = (self._games[0].board == self._games[1].board).all()
        if turns[0] != turns[1] or rewards[0] != rewards[1] or not equal:
            return self._leak(f"{text!r}: {turns}, {rewards}")
        if self._tells(turns[0]) or not is_bounded:
            return self._leak(f"{text!r}: {turns[0]}, {rewards[0]}")
        return ""

    def _leak(self, what: str) -> str:
        self.counts["leaks"] += 1
        return what

    def _tells(self, turn: Turn) -> bool:
        """Count a right or a wrong digit; return whether its answer has any other form."""
        said = turn.message.partition("\n")[0]
        placed = PLACED.match(said) if self._mode == "turns" else None
        if placed is None:
            self.counts["boards solved"] += self._games[0].is_solved
            return not said
        row, column = int(placed[1]) - 1, int(placed[2]) - 1
        is_right = self._games[0].board[row, column] == self._solve()[row, column]
        self.counts["right digits" if is_right else "wrong digits"] += 1
        return REST.fullmatch(said[placed.end() :]) is None

    def _solve(self) -> NDArray[np.int8]:
        """Return the solution, which a symmetry has moved since the source gave it."""
        if self._solution is None:
            game = self._games[0]
            self._solution = solver.solve(game.puzzle[None], geometry=game.geometry)[0]
        return self._solution

    def _random_text(self, rng: random.Random) -> str:
        if rng.random() < 0.5:
            return rng.choice(["", " "]).join(rng.choice(PIECES) for _ in range(rng.randrange(40)))
        size = self._games[0].geometry.size
        if self._mode == "turns":
            r, c, d = (rng.randint(1, size) for _ in "rcd")
            return rng.choice(MOVES).format(r=r, c=c, d=d)
        cells = self._solve().copy()
        for _ in range(rng.randrange(4)):
            cells[rng.randrange(size), rng.randrange(size)] = rng.randint(0, size)
        return "\n".join("".join(SYMBOLS[digit] for digit in row) for row in cells)


def try_texts(config: Config) -> list[Row]:
    """Answer the texts; return a row of counts for each size and mode."""
    rng = random.Random(config.seed)
    twins = {
        (env_id, mode): Twins(env_id, mode, config.seed)
        for env_id in BANKS
        for mode in ("turns", "answer")
    }
    pairs = list(twins.values())
    for number in range(config.texts):
        if problem := pairs[number % len(pairs)].answer(rng):
            print(problem, flush=True)
    kinds = ("texts", "understood", "right digits", "wrong digits", "boards solved")
    return [
        {"id": f"`{env_id}`", "mode": mode}
        | {kind: pair.counts[kind] for kind in (*kinds, "exceptions", "leaks")}
        for (env_id, mode), pair in twins.items()
    ]


def main(argv: Sequence[str] | None = None) -> list[Row]:
    config = tyro.cli(Config, description=__doc__, args=argv)
    rows = try_texts(config)
    part = f"{config.texts:,} random replies to the text environment, seed {config.seed}"
    keep(config.out, part, command_of(__file__, argv), rows)
    return rows


if __name__ == "__main__":
    sys.exit(any(row["exceptions"] or row["leaks"] for row in main()))
