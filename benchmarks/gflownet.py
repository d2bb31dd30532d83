"""How well GFlowNets learn to draw the solutions of the empty 4x4 board, each as often as another.

The exact total variation in two trees, by each loss and body; networks are trained for a number of
processor seconds each.

    python benchmarks/gflownet.py --out docs/results/gflownet.json
    python benchmarks/gflownet.py --seconds 60 --seeds 0 1 2
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import numpy as np
import torch
import tyro
from numpy.typing import NDArray

from gflownet_exact import StateGraph, total_variation
from results import Row, command_of, keep
from sudoku_agents.gflownet.config import Balance, BalanceConfig, GFlowNetConfig, Kind
from sudoku_agents.gflownet.flows import FlowNetwork
from sudoku_agents.gflownet.learner import GFlowNetLearner
from sudoku_agents.gflownet.losses import log_z_estimates
from sudoku_agents.gflownet.orders import Order
from sudoku_agents.gflownet.trajectories import sample_trajectories
from sudoku_gym import board, solver
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import PuzzleSource
from sudoku_learning.networks import BodyConfig, FactorGraphConfig, MLPConfig
from sudoku_learning.training import OptimizerConfig, Progress, RunGenerators

FOUR = Geometry.standard(4)
EMPTY = np.zeros((4, 4), np.int8)
BODIES: dict[str, BodyConfig] = {
    "perceptron": MLPConfig((256, 256)),
    "exact cover": FactorGraphConfig(16, 6),
}


@dataclass(frozen=True)
class Config:
    """What to measure."""

    seeds: tuple[int, ...] = (0, 1, 2)
    """of the networks and of everything drawn"""
    seconds: float = 60.0
    """processor seconds of each training"""
    bodies: tuple[str, ...] = tuple(BODIES)
    """held against each other"""
    losses: tuple[Kind, ...] = get_args(Balance)
    """held against each other"""
    out: Path | None = None
    """a JSON file; the figures of other parts in it stay"""


class Fixed:
    """A source of puzzles that draws from given boards.

    Args:
        boards: int8 `[M, N, N]`.
        geometry: their units.
    """

    def __init__(self, boards: NDArray[np.int8], geometry: Geometry = FOUR) -> None:
        self.geometry = geometry
        self.max_blanks = int((boards == 0).sum((1, 2)).max())
        self._boards = boards

    def sample(
        self, count: int, blanks: object, rng: np.random.Generator
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Draw boards; nobody looks at their solutions."""
        chosen = self._boards[rng.integers(len(self._boards), size=count)]
        return chosen, chosen


def main(argv: Sequence[str] | None = None) -> list[Row]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    torch.set_num_threads(1)
    rows = []
    for row in empty_board(config):
        rows.append(row)
        print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    keep(config.out, "empty", command_of(__file__, argv), rows)
    return rows


def trained(
    config: GFlowNetConfig, seconds: float, seed: int, source: PuzzleSource
) -> tuple[GFlowNetLearner, float, int]:
    """Train for so many processor seconds, as many iterations as that makes.

    Returns:
        The learner, the seconds it took, and the trajectories that it drew.
    """
    trial = GFlowNetLearner(config, RunGenerators(seed), source)
    trial.learn(None, RunGenerators(seed), Progress())  # compiles what is not compiled yet
    start = time.process_time()
    for _ in range(3):
        trial.learn(None, RunGenerators(seed), Progress())
    iterations = max(1, round(3 * seconds / (time.process_time() - start)))
    random = RunGenerators(seed)
    learner = GFlowNetLearner(replace(config, iterations=iterations), random, source)
    start = time.process_time()
    for done in range(iterations):
        learner.learn(None, random, Progress(done, done / iterations))
    drawn = iterations * config.updates * config.puzzles * config.repeats
    return learner, time.process_time() - start, drawn


def settings(kind: Kind, order: Order, body: BodyConfig) -> GFlowNetConfig:
    """Return how the small boards are trained, the same for all losses."""
    groups = {"puzzles": 16, "repeats": 4} if kind == "log-partition-variance" else {"puzzles": 64}
    return GFlowNetConfig(
        order=order,
        updates=5,
        replayed=0.0,
        loss=BalanceConfig(kind=kind),
        optimizer=OptimizerConfig(3e-3, constant_share=0.4),
        network=body,
        **groups,
    )


def empty_board(config: Config) -> Iterator[Row]:
    """The trees of the empty board are small enough to add up every path."""
    for order in ("constrained", "rows"):
        graph = StateGraph(EMPTY, FOUR, order)
        is_solution = board.is_solved(graph.terminal_boards())
        truth = is_solution / is_solution.sum()
        chances = [-np.log(layer.masks.num_allowed[layer.parents]) for layer in graph.layers]
        by_chance = graph.terminating_distribution(chances)
        yield {
            "order": order,
            "body": "random play in the tree",
            "loss": "",
            "total variation": round(total_variation(by_chance, truth), 5),
            "dead": round(float(by_chance[~is_solution].sum()), 4),
        }
        for name in config.bodies:
            kinds = config.losses if name == "perceptron" else config.losses[:1]
            for seed in config.seeds:
                made = settings(kinds[0], order, BODIES[name])
                network = GFlowNetLearner(made, RunGenerators(seed), Fixed(EMPTY[None])).network
                row = {"order": order, "body": name, "loss": "untrained", "seed": seed}
                yield row | arrived(graph, network, made, seed)
                for kind in kinds:
                    made = settings(kind, order, BODIES[name])
                    learner, spent, drawn = trained(made, config.seconds, seed, Fixed(EMPTY[None]))
                    row |= {"loss": kind, "seconds": round(spent, 1), "trajectories": drawn}
                    yield row | arrived(graph, learner.network, made, seed)


def arrived(graph: StateGraph, network: FlowNetwork, made: GFlowNetConfig, seed: int) -> Row:
    """Say where a network's policy ends on the empty board, and what it says of log Z."""
    is_solution = board.is_solved(graph.terminal_boards())
    reached = graph.terminating_distribution(graph.log_policies(network))
    return {
        "total variation": round(total_variation(reached, is_solution / is_solution.sum()), 5),
        "dead": round(float(reached[~is_solution].sum()), 4),
        **log_z_errors(network, made, seed),
    }


def log_z_errors(network: FlowNetwork, made: GFlowNetConfig, seed: int) -> dict[str, float]:
    """Hold three estimates of log Z against the log of the number of completions of the board.

    One is what the head of the flow says. The others are made of 256 trajectories: the mean of
    log R P_B / P_F, which stands for log Z in the log-partition variance, and the log of the mean
    of R P_B / P_F, the importance estimate.
    """
    wanted = np.log(solver.count_solutions(EMPTY[None], 1_000_000)[0])
    boards = EMPTY[None].repeat(256, 0)
    drawn = sample_trajectories(network, boards, FOUR, made.order, np.random.default_rng(seed))
    with torch.inference_mode():
        found = log_z_estimates(network, drawn, FOUR, made.order, made.min_log_reward, False)
    ends = found.values[-1, np.arange(len(boards)), drawn.lengths]
    errors = {
        "log Z error": found.log_z(made.loss.kind)[-1, 0].item() - wanted,
        "error of the mean": ends.mean().item() - wanted,
        "importance error": ends.logsumexp(0).item() - np.log(len(boards)) - wanted,
    }
    return {name: round(abs(float(error)), 4) for name, error in errors.items()}


if __name__ == "__main__":
    main()
