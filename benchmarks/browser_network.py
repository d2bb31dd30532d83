"""The network of the page `docs/play.md`, in JavaScript, beside the same network in Python.

Both play the first test puzzles of a bank, with the shipped weights and the further starts that
both have by default. Numbers are 64 bits wide in JavaScript and 32 in Python, so logits differ in
their last digits, and further starts have other noise. A row counts the games with every move equal
and in the same order; with the same digits in the end; with the same outcome; those in which a
board took a further start, and those in which one did not converge at all. It has the rounds within
which 99 % of the boards that converged in their first start did so. Needs Node.

    python benchmarks/browser_network.py --out docs/results/browser-network.json
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray

from results import Row, command_of, table, write_rows
from sudoku_agents.calphazero.loading import DEFAULT_RESTARTS
from sudoku_gym import board, load_policy, puzzles
from sudoku_gym.puzzles import PuzzleSet

VARIANTS = {
    "x9x9": "x",
    "windows9x9": "windows",
    "jigsaw9x9": "jigsaw",
    "latin9x9": "latin",
}  # as the page calls them
SCRIPT = Path(__file__).parent.parent / "tests" / "browser" / "play_puzzles.js"


@dataclass(frozen=True)
class Config:
    """What to play.

    Attributes:
        banks: the banks, of which the first test puzzles are played.
        counts: how many of each.
        smoke: play two puzzles of the first bank only, to see that the script runs.
        out: a JSON file for the figures.
    """

    banks: tuple[str, ...] = ("9x9", "9x9-hard", *VARIANTS)
    counts: tuple[int, ...] = (40, 12, 6, 6, 6, 6)
    smoke: bool = False
    out: Path | None = None


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__, args=argv)
    plays = list(zip(config.banks, config.counts, strict=True))
    if config.smoke:
        plays = [(config.banks[0], 2)]
    rows = [agreement(bank, puzzles.load(bank, split="test")[:count]) for bank, count in plays]
    print(table(rows, names=1))
    write_rows(config.out, command_of(__file__, argv), rows, seed=0)


def agreement(bank: str, played: PuzzleSet) -> Row:
    """Play the puzzles of a set twice, and count in how many games both agree."""
    lines = [board.to_line(puzzle) for puzzle in played.puzzles]
    in_browser = games_in_browser(lines, VARIANTS.get(bank, "standard"))
    in_python = games_in_python(played)
    moves = [[move["action"] for move in game] for game in in_browser]
    pairs = list(zip(moves, in_python, strict=True))
    ends = [
        [is_solved(puzzle, game, played) for game in pair]
        for puzzle, pair in zip(played.puzzles, pairs, strict=True)
    ]
    return {
        "puzzles": bank,
        "count": len(played),
        "every move equal": sum(one == other for one, other in pairs),
        "same digits": sum(set(one) == set(other) for one, other in pairs),
        "same outcome": sum(one == other for one, other in ends),
        "solved in the browser": sum(one for one, _ in ends),
        "solved in Python": sum(other for _, other in ends),
        "further starts": sum(any(move["start"] for move in game) for game in in_browser),
        "not converged": sum(not all(move["hasConverged"] for move in game) for game in in_browser),
        "rounds of 99 %": rounds_to_converge(in_browser),
    }


def rounds_to_converge(games: Sequence[Sequence[dict[str, Any]]]) -> int:
    """Return the rounds within which 99 % of the first starts that converged did so."""
    rounds = [
        move["rounds"]
        for game in games
        for move in game
        if move["rounds"] and move["hasConverged"] and not move["start"]
    ]
    return int(np.quantile(rounds, 0.99, method="higher"))


def games_in_browser(lines: Sequence[str], variant: str) -> list[list[dict[str, Any]]]:
    """Let Node play puzzles; return the moves of each game."""
    command = ["node", str(SCRIPT), str(DEFAULT_RESTARTS), variant]
    text = "\n".join(lines)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def games_in_python(played: PuzzleSet) -> list[list[int]]:
    """Return the actions of each game that the shipped policy plays to its end."""
    policy = load_policy("calphazero")
    boards = played.puzzles.copy()
    actions: list[list[int]] = [[] for _ in boards]
    policy.reset(boards.copy(), played.geometry, np.random.default_rng(0))
    while (masks := board.candidates(boards, played.geometry).reshape(len(boards), -1)).any():
        chosen = policy.act(boards.copy(), masks)
        for row in np.flatnonzero(masks.any(1)):
            actions[row].append(int(chosen[row]))
            place(boards[row], int(chosen[row]))
    return actions


def is_solved(puzzle: NDArray[np.int8], actions: Sequence[int], played: PuzzleSet) -> bool:
    end = puzzle.copy()
    for action in actions:
        place(end, action)
    return bool(board.is_solved(end[None], played.geometry)[0])


def place(state: NDArray[np.int8], action: int) -> None:
    cell, digit = divmod(action, len(state))
    state.ravel()[cell] = digit + 1


if __name__ == "__main__":
    main()
