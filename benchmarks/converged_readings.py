"""How often a converged reading of a network is wrong, by kind of board.

Boards that the network was not trained on are read once: puzzles of the validation and test
splits, those made harder, positions on the way to their solutions, and positions with one wrong
digit, which have none. A converged reading is wrong if the grid of its best digits is not the
solution. Each kind of board is a row of the file and is measured once, so a run that was stopped
goes on.

    python benchmarks/converged_readings.py --out docs/results/calphazero-readings.json
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from time import process_time

import numpy as np
import torch
import tyro

from results import Results, Row, command_of, table
from sudoku_gym import board, load_policy, puzzles
from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_learning.networks import Network, Prediction, predict_grids

VARIANTS = ("x9x9", "windows9x9", "jigsaw9x9", "latin9x9")
STANDARD = "standard 9x9, all with a solution"
MOST_REVEALED = 12  # digits of the solution in a position, at most


@dataclass(frozen=True)
class Config:
    """What to read."""

    policy: str = "calphazero?restarts=0"
    """name of a policy with a network that can converge"""
    positions: int = 4
    """positions of each puzzle"""
    steps: int = 600
    """exchanges of givens to try on a puzzle that is made harder"""
    count: int = 100_000
    """at most so many puzzles of each split"""
    seed: int = 20
    """of the changes and the positions"""
    out: Path = Path("docs/results/calphazero-readings.json")
    """the JSON file of the rows"""


def main(argv: Sequence[str] | None = None) -> list[Row]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    torch.set_num_threads(1)
    network = load_policy(config.policy).network
    results = Results(config.out, command_of(__file__, argv))
    for kind, make in kinds(config).items():
        if results.lacks({"boards": kind}):
            chosen, began = make(), process_time()
            prediction = predict_grids(network, chosen.puzzles, chosen.geometry)
            results.add(verdicts(kind, chosen, prediction, process_time() - began))
    no_solution = "9x9-hard, positions with a wrong digit"
    if results.lacks({"boards": no_solution}):
        results.add(told_of_wrong_digits(no_solution, network, config))
    if results.lacks({"boards": STANDARD}):
        whole = [row for row in results.rows if "wrong" in row and row["boards"][:3] == "9x9"]
        sums = {name: sum(row[name] for row in whole) for name in ("count", "converged", "wrong")}
        results.add({"boards": STANDARD, **sums} | interval(sums))
    print(table(results.rows))
    return results.rows


def kinds(config: Config) -> dict[str, Callable[[], PuzzleSet]]:
    """Return what makes the boards of each kind."""
    found: dict[str, Callable[[], PuzzleSet]] = {}
    for name, make in (
        ("9x9-hard", partial(held_out, "9x9-hard", config)),
        ("9x9-hard made harder", partial(made_harder, config)),
        ("9x9-hardest", partial(held_out, "9x9-hardest", config)),
        ("9x9", partial(held_out, "9x9", config)),
    ):
        found[f"{name}, puzzles"] = make
        found[f"{name}, positions"] = partial(positions_of, make, config)
    for name in VARIANTS:
        found[f"{name}, puzzles"] = partial(held_out, name, config)
    return found


def held_out(bank: str, config: Config) -> PuzzleSet:
    """Return the validation and test puzzles of a bank."""
    parts = [puzzles.load(bank, split)[: config.count] for split in ("validation", "test")]
    return PuzzleSet.join(parts, same_orbits=True)


@cache
def made_harder(config: Config) -> PuzzleSet:
    """Make the puzzles of `9x9-hard` harder; they stay in their splits."""
    rng = np.random.default_rng(config.seed)
    return puzzles.harden(held_out("9x9-hard", config), rng, steps=config.steps)


def positions_of(make: Callable[[], PuzzleSet], config: Config) -> PuzzleSet:
    """Return positions of each puzzle, with 1 to `MOST_REVEALED` digits of its solution more."""
    chosen, rng = make(), np.random.default_rng(config.seed)
    many = PuzzleSet.join([chosen] * config.positions, same_orbits=True)
    boards, solutions = many.puzzles.copy(), many.solutions
    order = rng.random(boards.shape) + (boards > 0)  # blanks first, in any order
    rank = order.reshape(len(boards), -1).argsort(1).argsort(1).reshape(boards.shape)
    revealed = rank < rng.integers(1, MOST_REVEALED + 1, len(boards))[:, None, None]
    boards[revealed] = solutions[revealed]
    return PuzzleSet(boards, solutions, many.geometry)


def told_of_wrong_digits(kind: str, network: Network, config: Config) -> Row:
    """Return how many readings of positions with a legal but wrong digit converge.

    One position of each puzzle is read, since most of them take all rounds.
    """
    chosen = positions_of(partial(held_out, "9x9-hard", config), replace(config, positions=1))
    rng = np.random.default_rng(config.seed)
    legal = board.candidates(chosen.puzzles, chosen.geometry)
    legal &= np.arange(1, legal.shape[3] + 1) != chosen.solutions[..., None]
    keys = (rng.random(legal.shape, np.float32) * legal).reshape(len(chosen), -1)
    kept = keys.max(1) > 0
    boards, picked = chosen.puzzles[kept].copy(), keys[kept].argmax(1)
    flat, size = boards.reshape(len(boards), -1), boards.shape[1]
    flat[np.arange(len(flat)), picked // size] = picked % size + 1
    began = process_time()
    prediction = predict_grids(network, boards, chosen.geometry)
    row = {"boards": kind, "count": len(boards), "converged": int(prediction.converged.sum())}
    return row | {"seconds": round(process_time() - began, 1)}


def verdicts(kind: str, chosen: PuzzleSet, prediction: Prediction, seconds: float) -> Row:
    """Return how many readings had converged, and how many of these are wrong."""
    wrong = (prediction.grids != chosen.solutions).any((1, 2))
    row: Row = {
        "boards": kind,
        "count": len(chosen),
        "converged": int(prediction.converged.sum()),
        "wrong": int((wrong & prediction.converged).sum()),
    }
    others = {"wrong of the others": int((wrong & ~prediction.converged).sum())}
    return row | interval(row) | others | {"seconds": round(seconds, 1)}


def interval(row: Row) -> Row:
    """Return the 95 % interval of the share of wrong ones in %; with none, by the rule of three."""
    wrong, converged = row["wrong"], row["converged"]
    if not converged:
        return {}
    low, high = (0.0, 3 / converged) if wrong == 0 else wilson_interval(wrong, converged)
    return {"lowest %": round(100 * low, 4), "highest %": round(100 * min(high, 1.0), 4)}


if __name__ == "__main__":
    main()
