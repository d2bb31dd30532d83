"""How far restarts carry a network on boards as hard as a local search makes them.

The test puzzles of `9x9-hard` are hardened further (`puzzles.harden`); the hardest of them, by
their rating, are played by each policy, one digit at a time, with nothing taken back; and by
networks like that of `calphazero`, but with random weights.

    python benchmarks/restarts.py --out docs/results/restarts.json
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
import tyro

from results import Row, command_of, played, table, write_rows
from sudoku_gym import evaluate, load_policy, puzzles
from sudoku_gym.evaluation import Evaluation
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_learning.networks import POLICY_AND_VALUE, Network, NetworkPolicy, seeded


@dataclass(frozen=True)
class Config:
    """What to make and to play."""

    policies: tuple[str, ...] = (
        "naked-singles",
        "hidden-singles",
        "calphazero?restarts=0",
        "calphazero?rounds=2048&restarts=15&noise=1",
        "calphazero?rounds=2048&restarts=15",
        "calphazero",
    )
    """names of policies, with options"""
    untrained: int = 1
    """how many untrained networks to play beside them, seeds from 0 on"""
    count: int = 120
    """puzzles to play"""
    parents: int = 260
    """puzzles to harden"""
    steps: int = 8_000
    """exchanges of givens to try on each, see `puzzles.harden`"""
    seed: int = 7
    """of the draw of puzzles, of their changes and of the policies"""
    out: Path | None = None
    """a JSON file for the figures"""


def main(argv: Sequence[str] | None = None) -> list[Row]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    torch.set_num_threads(1)
    chosen, ratings = hardest(config)
    low, median, high = np.percentile(ratings, [0, 50, 100])
    print(f"ratings {low:.0f} to {high:.0f}, mean {ratings.mean():.1f}, median {median:.0f}")
    rows = []
    for name, policy in players(config, chosen.geometry):
        rows.append({"policy": name} | figures(evaluate(policy, chosen, seed=config.seed)))
        print(table(rows[-1:]), flush=True)
    print("", table(rows), sep="\n")
    write_rows(config.out, command_of(__file__, argv), rows, ratings=np.sort(ratings).tolist())
    return rows


def players(config: Config, geometry: Geometry) -> Iterator[tuple[str, Policy]]:
    """Yield the policies to play, each with its name."""
    shipped = load_policy("calphazero?restarts=0")
    make = partial(Network, shipped.network.body.config, POLICY_AND_VALUE, geometry)
    for seed in range(config.untrained):
        network = seeded(seed, make)
        yield f"untrained, seed {seed}", NetworkPolicy(network, threshold=shipped.threshold)
    for name in config.policies:
        yield name, load_policy(name)


def hardest(config: Config) -> tuple[PuzzleSet, np.ndarray]:
    """Make puzzles; return the hardest, and their ratings int64 `[count]`."""
    rng = np.random.default_rng(config.seed)
    bank = puzzles.load("9x9-hard", "test")
    parents = bank[rng.permutation(len(bank))[: config.parents]]
    made = puzzles.harden(parents, rng, steps=config.steps)
    ratings = puzzles.rate(made.puzzles, rng)
    order = np.argsort(-ratings)[: config.count]
    return made[order], ratings[order]


def figures(result: Evaluation) -> Row:
    """Return what a policy solved, what that took, and how far its converged games are right."""
    row = played(result)
    row.pop("orbits", None)
    if result.converged_solved is not None and result.mean_rounds is not None:
        right, converged = result.converged_solved
        row |= {"converged": converged, "wrong of these": converged - right}
        row |= {"rounds": round(result.mean_rounds)}
    return row | {"processor seconds": float(f"{result.processor_seconds / row['count']:.2g}")}


if __name__ == "__main__":
    main()
