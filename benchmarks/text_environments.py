"""What scripted players earn in text environments of Sudoku, and how many blanks their boards have.

Each peer is installed from the package index into an environment of its own, and plays there in a
process of its own. Three players, none of which can solve a puzzle:

- one copies the grid: it writes the givens again, and 1 into the blanks of a whole board;
- one tries the digits of a cell until the reply takes one;
- one answers, on a board with two solutions, the one that the environment was not handed.

    python benchmarks/text_environments.py --out docs/results/text-environments.json
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from itertools import chain, product
from pathlib import Path
from statistics import fmean
from typing import Any

TURNS = 1_000  # of an episode: more than any player takes


@dataclass(frozen=True)
class Config:
    """What to measure.

    Attributes:
        peers: packages to compare, by their names on the index.
        folder: where the peers' environments are made.
        games: games of a player, and boards of each number of blanks.
        play_with: blanks of the boards that are played.
        asked: numbers of blanks that are asked for.
        out: a JSON file; the figures of other parts in it stay.
    """

    peers: tuple[str, ...] = ("textarena", "gem-llm", "reasoning-gym", "sudoku-gym")
    folder: Path = Path("build/text")
    games: int = 20
    play_with: int = 30
    asked: tuple[int, ...] = (30, 50, 54)
    out: Path | None = None


def rows_of(cells: Sequence[int]) -> list[list[int]]:
    return [list(cells[start : start + 9]) for start in range(0, 81, 9)]


def written(cells: Sequence[int]) -> str:
    return "\n".join(" ".join(map(str, row)) for row in rows_of(cells))


class TextArena:
    """A game of TextArena; `given` is a puzzle and its solution in place of a drawn one."""

    def __init__(self, blanks: int, seed: int, given: Sequence[Sequence[int]] = ()) -> None:
        from textarena.envs.Sudoku.env import SudokuEnv

        random.seed(seed)
        self.env = SudokuEnv(clues=81 - blanks, max_turns=TURNS)
        if given:
            self.env._generate_board = lambda: (rows_of(given[1]), rows_of(given[0]))
        self.env.reset(num_players=1, seed=seed)
        self.givens = [*chain(*self.env.game_board)]
        self.earned, self.done = 0.0, False

    def place(self, row: int, column: int, digit: int) -> bool:
        """Write a move, and return whether the board shows it."""
        self.done, _ = self.env.step(f"[{row} {column} {digit}]")
        self.earned = self.env.state.rewards[0] if self.done else 0.0
        return self.env.state.game_state["board"][row - 1][column - 1] == digit


class Gem:
    """A game of GEM, whose `clues` is documented as the number of givens."""

    def __init__(self, blanks: int, seed: int, given: Sequence[Sequence[int]] = ()) -> None:
        from gem.envs.game_env.sudoku import SudokuEnv

        random.seed(seed)
        self.env = SudokuEnv(clues=81 - blanks, max_turns=TURNS)
        if given:
            self.env._generate_board = lambda: (rows_of(given[1]), rows_of(given[0]))
        self.env.reset(seed)
        self.givens = [*chain(*self.env.board)]
        self.earned, self.done = 0.0, False

    def place(self, row: int, column: int, digit: int) -> bool:
        """Write a move, and return whether the board shows it."""
        _, reward, *ends, _ = self.env.step(f"\\boxed{{{row} {column} {digit}}}")
        self.earned += reward
        self.done = any(ends)
        return self.env.board[row - 1][column - 1] == digit


class ReasoningGym:
    """An item of reasoning-gym, which takes one whole board."""

    def __init__(self, blanks: int, seed: int, given: Sequence[Sequence[int]] = ()) -> None:
        import reasoning_gym

        sizes = {"min_empty": blanks, "max_empty": blanks, "size": 1}
        self.data = reasoning_gym.create_dataset("sudoku", seed=seed, **sizes)
        self.entry = self.data[0]
        if given:
            known = {"puzzle": rows_of(given[0]), "solution": rows_of(given[1])}
            self.entry = {"answer": written(given[1]), "metadata": known}
        self.givens = [*chain(*self.entry["metadata"]["puzzle"])]

    def answer(self, cells: Sequence[int]) -> float:
        """Answer with a whole board, in the form that the question shows."""
        return float(self.data.score_answer(written(cells), self.entry))


class Ours:
    """A game of this repository, one move a turn."""

    def __init__(self, blanks: int, seed: int, given: Sequence[Sequence[int]] = ()) -> None:
        from sudoku_gym.text import TextSudoku

        self.game = TextSudoku(blanks=None if given else blanks, max_turns=TURNS)
        self.game.reset(seed, puzzle="".join(map(str, given[0])) if given else None)
        self.givens = self.game.puzzle.ravel().tolist()
        self.earned, self.done = 0.0, False

    def place(self, row: int, column: int, digit: int) -> bool:
        """Write a move, and return whether the board shows it."""
        self.done = self.game.step(f"r{row}c{column}={digit}").done
        self.earned = self.game.rewards()["solved"]
        return bool(self.game.board[row - 1, column - 1] == digit)


GAMES: dict[str, Callable[..., Any]] = {
    "textarena": TextArena,
    "gem-llm": Gem,
    "reasoning-gym": ReasoningGym,
    "sudoku-gym": Ours,
}


def play_out(game: Any, digits: Callable[[int], Sequence[int]]) -> float:
    """Write digits of each cell until one is taken, and return what was earned."""
    for cell in range(81):
        for digit in digits(cell):
            if game.done or game.place(cell // 9 + 1, cell % 9 + 1, digit):
                break
    return game.earned


def copy_grid(game: Any) -> float:
    if isinstance(game, ReasoningGym):
        return game.answer([digit or 1 for digit in game.givens])
    return play_out(game, lambda cell: [game.givens[cell]] if game.givens[cell] else [])


def try_digits(game: Any) -> float | None:
    if isinstance(game, ReasoningGym):
        return None  # it takes one answer
    return play_out(game, lambda cell: [] if game.givens[cell] else range(1, 10))


def answer_other(game: Any, other: Sequence[int]) -> float:
    if isinstance(game, ReasoningGym):
        return game.answer(other)
    return play_out(game, lambda cell: [] if game.givens[cell] else [other[cell]])


def spread(values: Sequence[float | None]) -> str:
    """Return the mean of some numbers, and the range that they lie in."""
    known = [value for value in values if value is not None]
    if not known:
        return "one answer only"
    mean, low, high = (f"{value:.3g}" for value in (fmean(known), min(known), max(known)))
    return mean if low == high else f"{mean} ({low} to {high})"


def play(peer: str, task: dict[str, Any]) -> dict[str, Any]:
    """Let the players play, in the peer's environment."""
    *two, other = task["two"]
    make, seeds, blanks = GAMES[peer], range(task["games"]), task["play_with"]
    row: dict[str, Any] = {"package": peer, "version": version(peer), "games": task["games"]}
    row["copies the grid"] = spread([copy_grid(make(blanks, seed)) for seed in seeds])
    row["tries digits"] = spread([try_digits(make(blanks, seed)) for seed in seeds])
    row["another solution"] = spread([answer_other(make(blanks, 0, two), other)])
    for asked in task["asked"]:
        found = [make(asked, seed).givens.count(0) for seed in seeds]
        row[f"blanks for {asked}"] = spread(found)
    return row


def two_solutions() -> list[list[int]]:
    """Return a board of four blanks that may be filled in two ways, and both solutions."""
    from sudoku_gym import board, puzzles

    for solution in puzzles.load("9x9", "test").solutions:
        for top, low, a, b in product(range(3), range(3, 9), range(9), range(9)):
            corners = ([top, top, low, low], [a, b, a, b])
            other = solution.copy()
            other[corners] = solution[[low, low, top, top], [a, b, a, b]]
            if a < b and board.is_solved(other[None])[0]:
                puzzle = solution.copy()
                puzzle[corners] = 0
                return [cells.ravel().tolist() for cells in (puzzle, solution, other)]
    raise ValueError("no solution has such a rectangle")


def measure(peer: str, config: Config, task: str) -> dict[str, Any]:
    """Install a peer if it is not there yet, and run this file in its environment."""
    python: str | Path = sys.executable
    try:
        if peer != "sudoku-gym":
            python = config.folder / peer / "bin" / "python"
            if not python.exists():
                venv.create(config.folder / peer, with_pip=True)
            install = [python, "-m", "pip", "install", "--quiet", peer]
            subprocess.run(install, check=True, capture_output=True, text=True)
        command = [python, __file__, "--play", peer, task]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        reason = (error.stderr.strip().splitlines() or ["?"])[-1]
        what = "not installed" if "install" in error.cmd else "did not run"
        return {"package": peer, "version": f"{what}: {reason:.80}"}
    return json.loads(done.stdout.splitlines()[-1])


def main(argv: Sequence[str] | None = None) -> None:
    import tyro

    from results import command_of, keep

    config = tyro.cli(Config, args=argv)
    task = {name: getattr(config, name) for name in ("games", "play_with", "asked")}
    text, today = json.dumps(task | {"two": two_solutions()}), {"date": date.today().isoformat()}
    rows = [measure(peer, config, text) | today for peer in config.peers]
    keep(config.out, "text environments", command_of(__file__, argv), rows, names=2)


if __name__ == "__main__":
    if "--play" in sys.argv:
        print(json.dumps(play(sys.argv[-2], json.loads(sys.argv[-1]))))
    else:
        main()
