"""Which start to play from where no start of the rounds has converged, and how much noise to add.

Boards are read with restarts; of those on which nothing converges, each way to choose a start plays
its best placement, which is in the solution or not. (A start that converges ends the reading, so
only such boards depend on the choice.)

    python benchmarks/closest_reading.py --out docs/results/calphazero-closest.json
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray

from results import Row, command_of, share_of, some, table, write_rows
from sudoku_gym import board, load_policy, puzzles
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_learning.networks import Network, Restarts

CHOICES = (
    "first start",
    "highest logit",
    "fewest undecided",
    "largest smallest |logit|",
    "smallest change",
    "mean of the logits",
    "any start",
)
"""Ways to choose; the last counts boards of which at least one start has a right best placement."""


@dataclass(frozen=True)
class Config:
    """What to read, and how."""

    policy: str = "calphazero"
    """name of a policy with a network that can converge"""
    banks: tuple[str, ...] = ("9x9-hard", "9x9-hardest")
    """of which the test puzzles are read"""
    lists: tuple[Path, ...] = ()
    """files of puzzles with solutions, in place of the banks"""
    count: int = 100_000
    """at most so many puzzles of each"""
    restarts: int = 4
    """further starts of a board"""
    noise: tuple[float, ...] = (0.1, 0.3, 1.0, 2.0)
    """sizes of the noise to try"""
    rounds: int = 1024
    """of each start"""
    seed: int = 0
    """of the draw of puzzles and of the noise"""
    out: Path | None = None
    """a JSON file for the figures"""


@dataclass(frozen=True)
class Ends:
    """How a start has ended, for B boards."""

    logits: NDArray[np.float32]  # [B, N**3]
    undecided: NDArray[np.int64]  # [B], legal placements within the margin
    least: NDArray[np.float32]  # [B], the smallest |logit|
    change: NDArray[np.float32]  # [B], mean change of a logit in the last segment
    early: list[Any]  # the states after the first segment


def main(argv: Sequence[str] | None = None) -> list[Row]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    torch.set_num_threads(1)
    network = load_policy(config.policy).network
    sets = {} if config.lists else {name: puzzles.load(name, "test") for name in config.banks}
    sets |= {path.stem: puzzles.read(path) for path in config.lists}
    rows = [
        row
        for name, chosen in sets.items()
        for row in compare_choices(name, some(chosen, config.count, config.seed), network, config)
    ]
    write_rows(config.out, command_of(__file__, argv), rows)
    return rows


def compare_choices(name: str, chosen: PuzzleSet, network: Network, config: Config) -> list[Row]:
    """Read the puzzles of a set with each size of noise; return rows of figures."""
    masks = board.candidates(chosen.puzzles, chosen.geometry).reshape(len(chosen), -1)
    first = run_start(network, chosen, masks, None, config.rounds)
    rows = []
    still = np.flatnonzero(first.undecided)
    for noise in config.noise:
        starts = [take(first, still)]
        for number in range(1, config.restarts + 1):
            restarts = Restarts(config.restarts, noise, config.seed)
            states = [
                restarts.perturb(
                    first.early[row],
                    number,
                    torch.from_numpy(chosen.puzzles[row]),
                    torch.from_numpy(masks[row]),
                )
                for row in still
            ]
            starts.append(run_start(network, chosen[still], masks[still], states, config.rounds))
        converged = np.array([start.undecided == 0 for start in starts])  # [starts, boards]
        solutions = chosen.solutions[still].reshape(len(still), -1)
        grids = np.array([best_digits(start, chosen.puzzles[still]) for start in starts])
        is_right = (grids == solutions).all(2)
        told = {
            "puzzles": name,
            "read": len(chosen),
            "starting again": len(still),
            "noise": noise,
            "converged": int(converged.any(0).sum()),
            "wrong of these": int((converged & ~is_right).any(0).sum()),
        }
        open_boards = ~converged.any(0)
        choices = right_placements(starts, solutions) if open_boards.any() else {}
        found = [
            told | {"choice": choice} | share_of(right[open_boards])
            for choice, right in choices.items()
        ]
        rows.extend(found or [told])
        print(table(found or [told]), flush=True)
    return rows


def right_placements(
    starts: Sequence[Ends], solutions: NDArray[np.int8]
) -> dict[str, NDArray[np.bool_]]:
    """Return of each choice whether the placement that it plays is right, bool `[B]`."""
    rows = np.arange(len(solutions))
    logits = np.array([start.logits for start in starts])  # [starts, B, N**3]
    size = round(logits.shape[2] ** (1 / 3))

    def is_right(placements: NDArray[np.int64]) -> NDArray[np.bool_]:
        return solutions[rows, placements // size] == placements % size + 1

    best = logits.argmax(2)
    right = np.array([is_right(each) for each in best])
    scores = {
        "first start": -np.arange(len(starts))[:, None] * np.ones(len(rows)),
        "highest logit": logits.max(2),
        "fewest undecided": -np.array([start.undecided for start in starts]),
        "largest smallest |logit|": np.array([start.least for start in starts]),
        "smallest change": -np.array([start.change for start in starts]),
    }
    found = {name: right[score.argmax(0), rows] for name, score in scores.items()}
    found["mean of the logits"] = is_right(logits.mean(0).argmax(1))
    found["any start"] = right.any(0)
    return found


def run_start(
    network: Network,
    chosen: PuzzleSet,
    masks: NDArray[np.bool_],
    states: list[Any] | None,
    rounds: int,
) -> Ends:
    """Run the rounds of one start, a segment at a time, of each board until it has converged."""
    count, margin = len(chosen), network.body.convergence_margin
    latest: list[Any] = [None] * count if states is None else list(states)
    early: list[Any] = []
    logits = np.zeros(masks.shape, np.float32)
    undecided, rows = np.zeros(count, np.int64), np.arange(count)
    least, change = np.zeros((2, count), np.float32)
    for segment in network.body.segments(rounds):
        given = torch.from_numpy(chosen.puzzles[rows]), torch.from_numpy(masks[rows])
        with torch.inference_mode():
            before = [latest[row] for row in rows]
            features = network.body(
                *given, chosen.geometry, recurrent_states=before, rounds=segment
            )
            found = network.heads["policy"](features)[-1].numpy()
        for row, state in zip(rows, features.recurrent_states, strict=True):
            latest[row] = state
        early = early or list(latest)
        legal = masks[rows]
        change[rows] = np.abs(found - logits[rows]).sum(1, where=legal) / legal.sum(1)
        logits[rows] = found
        distances = np.abs(found)
        undecided[rows] = ((distances < margin) & legal).sum(1)
        least[rows] = distances.min(1, where=legal, initial=np.inf)
        rows = rows[undecided[rows] > 0]
        if not len(rows):
            break
    return Ends(logits, undecided, least, change, early)


def best_digits(ends: Ends, boards: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the boards with the best digit in each blank, int8 `[B, N**2]`."""
    size = boards.shape[1]
    best = ends.logits.reshape(len(boards), -1, size).argmax(2) + 1
    flat = boards.reshape(len(boards), -1)
    return np.where(flat > 0, flat, best).astype(np.int8)


def take(ends: Ends, rows: NDArray[np.int64]) -> Ends:
    """Return the ends of some of the boards."""
    arrays = ends.logits, ends.undecided, ends.least, ends.change
    return Ends(*(array[rows] for array in arrays), [ends.early[row] for row in rows])


if __name__ == "__main__":
    main()
