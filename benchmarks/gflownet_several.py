"""How well GFlowNets know boards with several solutions, of orbits that were not trained on.

4x4 boards with 2 to 50 solutions, in the tree of the most constrained cell: the exact total
variation between where the policy ends and the solutions alike, and estimates of log Z beside the
log of the true number of solutions.

    python benchmarks/gflownet_several.py --out docs/results/gflownet.json
    python benchmarks/gflownet_several.py --bodies perceptron --seconds 60 --seeds 0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import tyro
from numpy.typing import NDArray

from gflownet import BODIES, FOUR, Fixed, log_z_errors, measured, settings, trained
from results import Row, command_of
from sudoku_agents.gflownet.config import Kind
from sudoku_agents.gflownet.exact import StateGraph, total_variation
from sudoku_agents.gflownet.matching import log_z_by_flow_matching
from sudoku_gym import board, solver
from sudoku_gym.geometry import symmetry
from sudoku_gym.puzzles.complete4x4 import solution_grids
from sudoku_learning.networks import FactorGraphConfig

ORDER = "constrained"
WALKS = "exact cover, walks"
COUNTING = {"perceptron": BODIES["perceptron"], WALKS: FactorGraphConfig(16, 12, walks=12)}
LAST_ROUNDS = 6  # which the loss counts


@dataclass(frozen=True)
class Config:
    """What to measure."""

    seeds: tuple[int, ...] = (0, 1, 2)
    """of the networks and of everything drawn"""
    seconds: float = 250.0
    """processor seconds of each training"""
    bodies: tuple[str, ...] = tuple(COUNTING)
    """of the networks"""
    losses: tuple[Kind, ...] = (
        "trajectory-balance",
        "log-partition-variance",
        "sub-trajectory-balance",
    )
    """held against each other"""
    count: int = 100
    """boards, at most"""
    out: Path | None = None
    """a JSON file; the figures of other parts in it stay"""


def main(argv: Sequence[str] | None = None) -> list[Row]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    rows_of = {"several": partial(several_solutions, config)}
    return measured(rows_of, command_of(__file__, argv), config.out)


def several_boards() -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return 4x4 boards with 2 to 50 solutions, some to train on and 100 of other orbits."""
    rng = np.random.default_rng(0)
    boards = solution_grids()[rng.integers(288, size=6000)].copy()
    hidden = rng.random((6000, 16)).argsort(1) < rng.integers(9, 14, size=(6000, 1))
    boards[hidden.reshape(-1, 4, 4)] = 0
    counts = solver.count_solutions(boards, 51)
    boards = boards[(counts >= 2) & (counts <= 50)]
    forms = symmetry.canonical_form(boards, FOUR).reshape(len(boards), -1)
    _, orbits = np.unique(forms, axis=0, return_inverse=True)
    held_out = rng.permutation(orbits.max() + 1)[orbits.ravel()] % 4 == 0
    _, first = np.unique(orbits.ravel()[held_out], return_index=True)  # one board an orbit
    return boards[~held_out], boards[held_out][np.sort(first)[:100]]


def several_solutions(config: Config) -> Iterator[Row]:
    """Train on some orbits, and ask about others."""
    train, test = several_boards()
    test = test[: config.count]
    graphs = [StateGraph(one, FOUR, ORDER) for one in test]
    true = np.log(solver.count_solutions(test, 1_000_000))
    for name in config.bodies:
        for kind in config.losses:
            for seed in config.seeds:
                made = settings(kind, ORDER, COUNTING[name])
                made = replace(made, loss=replace(made.loss, rounds=LAST_ROUNDS))
                learner, spent, _ = trained(made, config.seconds, seed, Fixed(train))
                network = learner.network
                variations = []
                for graph in graphs:
                    reached = graph.terminating_distribution(graph.log_policies(network))
                    is_solution = board.is_solved(graph.terminal_boards())
                    variations.append(total_variation(reached, is_solution / is_solution.sum()))
                row: Row = {
                    "body": name,
                    "loss": kind,
                    "seed": seed,
                    "seconds": round(spent, 1),
                    "boards": len(test),
                    "mean total variation": round(float(np.mean(variations)), 4),
                    "worst": round(float(np.max(variations)), 4),
                    **log_z_errors(network, made, test, seed),
                }
                for steps in (1, 2) if kind != "log-partition-variance" else ():
                    found = log_z_by_flow_matching(network, test, FOUR, ORDER, made.reward, steps)
                    row[f"log Z error, {steps} on"] = round(float(np.abs(found - true).mean()), 4)
                yield row


if __name__ == "__main__":
    main()
