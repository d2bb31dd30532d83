"""How well GFlowNets learn to draw the solutions of 4x4 boards, each as often as another.

The empty board in two trees, and boards with several solutions, by each loss and body; networks are
trained for a number of processor seconds each. Exact total variation, bounds of log Z, and the
share of the solutions that draws find.

    python benchmarks/gflownet.py --out docs/results/gflownet.json
    python benchmarks/gflownet.py --parts several --seconds 60 --seeds 0 1 2
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

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
from sudoku_agents.gflownet.trajectories import (
    Trajectories,
    sample_backward_trajectories,
    sample_trajectories,
)
from sudoku_gym import board, puzzles, solver
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import PuzzleSource
from sudoku_learning.networks import BodyConfig, FactorGraphConfig, MLPConfig
from sudoku_learning.training import OptimizerConfig, Progress, RunGenerators

Part = Literal["empty", "several"]
FOUR = Geometry.standard(4)
EMPTY = np.zeros((4, 4), np.int8)
BOARDS, DRAWS = 100, 256  # boards with several solutions; draws from each at least
BODIES: dict[str, BodyConfig] = {
    "perceptron": MLPConfig((256, 256)),
    "exact cover": FactorGraphConfig(16, 6),
}


@dataclass(frozen=True)
class Config:
    """What to measure."""

    parts: tuple[Part, ...] = get_args(Part)
    """the empty board, and boards with several solutions"""
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
    for part in config.parts:
        measured = list(empty_board(config) if part == "empty" else several_solutions(config))
        keep(config.out, part, command_of(__file__, argv), measured)
        rows += measured
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


def several_solutions(config: Config) -> Iterator[Row]:
    """Boards that miss two givens of a minimal puzzle, at the most constrained cell."""
    tests = boards_with_several("test")[:BOARDS]
    graphs = [StateGraph(one, FOUR, "constrained") for one in tests]
    for name in config.bodies:
        for kind in config.losses:
            for seed in config.seeds:
                made = settings(kind, "constrained", BODIES[name])
                source = Fixed(boards_with_several("train"))
                learner, spent, _ = trained(made, config.seconds, seed, source)
                found = [arrived(graph, learner.network, made, seed) for graph in graphs]
                yield {
                    **{"body": name, "loss": kind, "seed": seed},
                    **{"seconds": round(spent, 1), "boards": len(found)},
                    **{
                        key: round(float(np.mean([row[key] for row in found])), 4)
                        for key in found[0]
                    },
                    "worst total variation": max(row["total variation"] for row in found),
                }


def boards_with_several(split: str) -> NDArray[np.int8]:
    """Return boards int8 `[M, 4, 4]` with 2 to 50 solutions, of the orbits of a split."""
    rng = np.random.default_rng(0)
    some = puzzles.load("4x4", split).puzzles
    boards = some[rng.choice(len(some), 400, replace=False)].copy()
    for cells in boards.reshape(len(boards), -1):
        cells[rng.choice(np.flatnonzero(cells), 2, replace=False)] = 0
    counts = solver.count_solutions(boards, 51)
    return boards[(counts >= 2) & (counts <= 50)]


def arrived(
    graph: StateGraph, network: FlowNetwork, made: GFlowNetConfig, seed: int
) -> dict[str, float]:
    """Say where a network's policy ends, all paths added up, and what its draws say.

    `ELBO gap` is how far the mean of log R P_B / P_F over trajectories drawn from the policy lies
    below log Z, `EUBO gap` how far that over trajectories led back from solutions lies above it
    (Blessing et al., "Beyond ELBOs", 2024); `coverage` the share of the solutions among the ends of
    four times as many draws as there are solutions, of which ideal draws find 98 % or more.
    """
    ends, puzzle = graph.terminal_boards(), graph.layers[0].boards
    is_solution = board.is_solved(ends)
    solutions = ends[is_solution]
    reached = graph.terminating_distribution(graph.log_policies(network))
    rng = np.random.default_rng(seed)
    starts = puzzle.repeat(max(DRAWS, 4 * len(solutions)), 0)
    drawn = sample_trajectories(network, starts, FOUR, made.order, rng)
    chosen = solutions[rng.integers(len(solutions), size=len(starts))]
    back = sample_backward_trajectories(starts, chosen, FOUR, made.order, rng)
    head, elbo = log_z_of(network, drawn, made)
    first = drawn[np.arange(4 * len(solutions))]
    log_z = np.log(len(solutions))
    figures = {
        "total variation": total_variation(reached, is_solution / is_solution.sum()),
        "dead": reached[~is_solution].sum(),
        "log Z error": abs(head - log_z),
        "ELBO gap": log_z - elbo.mean(),
        "EUBO gap": log_z_of(network, back, made)[1].mean() - log_z,
        "importance error": abs(np.logaddexp.reduce(elbo) - np.log(len(starts)) - log_z),
        "coverage": len(np.unique(first.terminal_boards[first.solved], axis=0)) / len(solutions),
    }
    return {name: round(float(figure), 5) for name, figure in figures.items()}


def log_z_of(
    network: FlowNetwork, played: Trajectories, made: GFlowNetConfig
) -> tuple[float, NDArray[np.float64]]:
    """Return log Z by the head of the flow, and log R P_B / P_F of each trajectory, `[G]`."""
    with torch.inference_mode():
        found = log_z_estimates(network, played, FOUR, made.order, made.min_log_reward, False)
    values = found.values[-1].double().numpy()
    return float(values[0, 0]), values[np.arange(len(played)), played.lengths]


if __name__ == "__main__":
    main()
