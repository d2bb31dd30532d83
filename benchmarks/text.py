"""The text environment: its speed on one core, and a policy that writes its moves.

Speed is in processor seconds of one process. Starts draw a puzzle by its seed and write the prompt;
turns read a move, carry it out and write the board.

    python benchmarks/text.py --out docs/results/text.json
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
import tyro

from results import Row, command_of, keep, share_of
from sudoku_gym import puzzles
from sudoku_gym.policies import load_policy
from sudoku_gym.text import ScriptedModel, TextSudoku, verify

IDS = ("Sudoku4x4-v0", "Sudoku9x9-v0", "Sudoku16x16-v0", "Sudoku25x25-v0")


@dataclass(frozen=True)
class Config:
    """What to measure.

    Attributes:
        starts: episodes that are started, for each id.
        turns: turns that are taken, for each id.
        puzzles: puzzles that the policy solves in text.
        policy: writes its moves.
        smoke: measure a little of each, to see that the script runs.
        out: a JSON file; the figures of other parts in it stay.
    """

    starts: int = 20_000
    turns: int = 20_000
    puzzles: int = 100
    policy: str = "expert-iteration"
    smoke: bool = False
    out: Path | None = None


def starts_a_second(env_id: str, count: int) -> float:
    game = TextSudoku(env_id=env_id)
    game.reset(seed=0)
    start = process_time()
    for seed in range(count):
        game.reset(seed=seed)
    return count / (process_time() - start)


def turns_a_second(env_id: str, count: int) -> float:
    """Time random placements, of which some are legal and some clash."""
    game = TextSudoku(env_id=env_id)
    rng, size = np.random.default_rng(0), game.geometry.size
    texts = [f"r{r}c{c}={d}" for r, c, d in rng.integers(1, size + 1, (count, 3)).tolist()]
    spent = 0.0
    game.reset(seed=0)
    for seed, text in enumerate(texts):
        if game.done:
            game.reset(seed=seed)
        start = process_time()
        game.step(text)
        spent += process_time() - start
    return count / spent


def solve_in_text(policy: str, count: int) -> Row:
    """Let a policy read the boards of the test split and write its moves."""
    game = TextSudoku(split="test")
    model = ScriptedModel(load_policy(policy), game.geometry)
    solved = []
    for seed in range(count):
        message, first = game.reset(seed=seed), True
        while not game.done:
            message, first = game.step(model.next_move(message, first=first)).message, False
        solved.append(game.is_solved)
    return share_of(solved)


def verify_row(count: int) -> Row:
    """Verify solved 9x9 puzzles, in one batch and one by one."""
    bank = puzzles.load("9x9")
    drawn = np.random.default_rng(0).integers(len(bank), size=count)
    given, answers = bank.puzzles[drawn], bank.solutions[drawn]
    verify(given, answers)
    start = process_time()
    accepted = verify(given, answers)
    batch = process_time() - start
    alone = min(count, 2_000)
    start = process_time()
    accepted &= all(verify(given[i], answers[i]) for i in range(alone))
    one_by_one = process_time() - start
    if not accepted.all():
        raise AssertionError("a solution was refused")
    return {
        "boards": f"{count:,}, 9x9",
        "in a batch, µs a board": round(1e6 * batch / count, 2),
        "one by one, µs a board": round(1e6 * one_by_one / alone, 1),
    }


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, args=argv)
    command, few = command_of(__file__, argv), config.smoke
    speeds: list[Row] = []
    for env_id in IDS:
        starts = starts_a_second(env_id, 200 if few else config.starts)
        turns = turns_a_second(env_id, 200 if few else config.turns)
        speeds.append({"id": f"`{env_id}`", "starts/s": round(starts), "turns/s": round(turns)})
    keep(config.out, "speed", command, speeds)
    keep(config.out, "verify", command, [verify_row(1_000 if few else 100_000)])
    solved = solve_in_text(config.policy, 2 if few else config.puzzles)
    keep(config.out, "solved in text", command, [{"policy": config.policy, **solved}])


if __name__ == "__main__":
    main()
