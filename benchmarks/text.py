"""The text environment: its speed on one core, random texts, and a policy that writes its moves.

Speed is in processor seconds of one process. Starts draw a puzzle by its seed and write the prompt;
turns read a move, carry it out and write the board. Random texts are strung together from pieces of
moves, boards, tags and noise; each must be answered without an exception, with rewards in [0, 1].

    python benchmarks/text.py --out docs/results/text.json
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
import tyro

from results import Row, command_of, keep, share_of
from sudoku_gym.policies import load_policy
from sudoku_gym.text import ScriptedModel, TextSudoku, verify

IDS = ("Sudoku4x4-v0", "Sudoku9x9-v0", "Sudoku16x16-v0", "Sudoku25x25-v0")
PIECES = (
    *"r5c3=7 place row column in undo erase candidates give up 123456789".split(),
    *". 0 _ [ ] { } : \" '".split(),
    *("<think>", "</think>", "<answer>", "</answer>", "```", "\n", "[[", "]]", '{"row":', "٣", "²"),
    *("99999999999999", "-1", "\x00", "ab" * 40, "1 2 3 4\n", "12345678 9\n" * 9, "[" * 60),
)


@dataclass(frozen=True)
class Config:
    """What to measure.

    Attributes:
        starts: episodes that are started, for each id.
        turns: turns that are taken, for each id.
        texts: random texts.
        puzzles: puzzles that the policy solves in text.
        policy: writes its moves.
        smoke: measure a little of each, to see that the script runs.
        out: a JSON file; the figures of other parts in it stay.
    """

    starts: int = 20_000
    turns: int = 20_000
    texts: int = 200_000
    puzzles: int = 100
    policy: str = "calphazero"
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


def answer_random_texts(count: int) -> int:
    """Answer random texts, half of them as moves and half as boards; return how many."""
    rng = random.Random(0)
    games = [TextSudoku(env_id=env_id, mode=mode) for env_id in IDS for mode in ("turns", "answer")]
    for number in range(count):
        game = games[number % len(games)]
        if game.done:
            game.reset()
        text = rng.choice(["", " "]).join(rng.choice(PIECES) for _ in range(rng.randrange(40)))
        turn = game.step(text)
        rewards = game.rewards()
        if not turn.message or not all(0 <= reward <= 1 for reward in rewards.values()):
            raise AssertionError(f"{text!r}: {turn}, {rewards}")
    return count


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


def verified_a_second(count: int) -> float:
    boards = np.tile(np.array(game_solution()), (count, 1, 1))
    verify(boards, boards)
    start = process_time()
    verify(boards, boards)
    return count / (process_time() - start)


def game_solution() -> list[list[int]]:
    """Return a full 9x9 board."""
    return [[(3 * row + row // 3 + column) % 9 + 1 for column in range(9)] for row in range(9)]


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, args=argv)
    command, few = command_of(__file__, argv), config.smoke
    speeds: list[Row] = []
    for env_id in IDS:
        starts = starts_a_second(env_id, 200 if few else config.starts)
        turns = turns_a_second(env_id, 200 if few else config.turns)
        speeds.append({"id": env_id, "starts/s": round(starts), "turns/s": round(turns)})
    keep(config.out, "speed", command, speeds)
    verified = {"boards": "9x9", "a second": round(verified_a_second(100_000))}
    keep(config.out, "verify", command, [verified])
    solved = solve_in_text(config.policy, 2 if few else config.puzzles)
    keep(config.out, "solved in text", command, [{"policy": config.policy, **solved}])
    answered = answer_random_texts(400 if few else config.texts)
    keep(config.out, "random texts", command, [{"seed": 0, "answered": answered}])


if __name__ == "__main__":
    main()
