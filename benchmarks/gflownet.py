"""How well GFlowNets learn to draw the solutions of small boards, each as often as another.

Each part but the first trains networks of its own, for a number of processor seconds each:

    dead     what the dead ends of minimal puzzles are worth without an order
    empty    the empty 4x4 board in the two trees: exact total variation, by each loss and body
    any      the empty 4x4 board without an order: sampled total variation beside ideal draws
    rows     the same row by row

`gflownet_several.py` has boards with several solutions, `gflownet_play.py` puzzles.

    python benchmarks/gflownet.py --out docs/results/gflownet.json
    python benchmarks/gflownet.py empty --seconds 60 --seeds 0 1 2
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, get_args

import numpy as np
import torch
import tyro
from numpy.typing import NDArray

from gflownet_exact import StateGraph, total_variation
from results import Row, command_of, keep, share_of, some
from sudoku_agents.gflownet.config import Balance, BalanceConfig, GFlowNetConfig, Kind
from sudoku_agents.gflownet.estimates import log_pb, log_z_estimates
from sudoku_agents.gflownet.flows import FlowNetwork
from sudoku_agents.gflownet.learner import GFlowNetLearner
from sudoku_agents.gflownet.orders import ForwardMasks, Order
from sudoku_agents.gflownet.sampler import sample_trajectories
from sudoku_agents.gflownet.trajectories import Trajectories, rollout
from sudoku_gym import board, puzzles, solver
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.geometry import Geometry, symmetry
from sudoku_gym.puzzles.complete4x4 import solution_grids
from sudoku_gym.puzzles.sources import PuzzleSource
from sudoku_learning.networks import BodyConfig, FactorGraphConfig, MLPConfig
from sudoku_learning.training import OptimizerConfig, Progress, RunGenerators

Part = Literal["dead", "empty", "any", "rows"]

DEAD_END_GAMES = 2000
FOUR = Geometry.standard(4)
EMPTY = np.zeros((4, 4), np.int8)
BODIES: dict[str, BodyConfig] = {
    "perceptron": MLPConfig((256, 256)),
    "exact cover": FactorGraphConfig(16, 6),
    "exact cover, walks": FactorGraphConfig(16, 6, walks=8),
}
FOR_DRAWS = FactorGraphConfig(24, 8, walks=12)
AIM = 0.036  # too much of the larger orbit is 1.1 times the sampled variation of ideal draws


@dataclass(frozen=True)
class Config:
    """What to measure."""

    parts: Annotated[tuple[Part, ...], tyro.conf.Positional] = get_args(Part)
    """see above"""
    seeds: tuple[int, ...] = (0, 1, 2)
    """of the networks and of everything drawn"""
    seconds: float = 60.0
    """processor seconds of each training"""
    bodies: tuple[str, ...] = tuple(BODIES)
    """of the part `empty`"""
    losses: tuple[Kind, ...] = get_args(Balance)
    """of the part `empty`, held against each other"""
    draws: int = 10_000
    """of the parts `any` and `rows`"""
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
    parts = {
        "dead": dead_ends,
        "empty": empty_board,
        "any": partial(empty_draws, order="any"),
        "rows": partial(empty_draws, order="rows"),
    }
    rows_of = {part: partial(parts[part], config) for part in config.parts}
    return measured(rows_of, command_of(__file__, argv), config.out)


def measured(
    parts: Mapping[str, Callable[[], Iterator[Row]]], command: str, out: Path | None
) -> list[Row]:
    """Print the rows of parts, and write them into a file in which other parts stay."""
    torch.set_num_threads(1)
    found = []
    for part, measure in parts.items():
        rows = []
        for row in measure():
            rows.append(row)
            print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
        keep(out, part, command, rows)
        found += rows
    return found


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


def dead_ends(config: Config) -> Iterator[Row]:
    """Estimate their worth by random play: the mean of P_B / P_F over games that end at one.

    That is their share of Z at a reward of 1 each: the number of dead ends, each times the share
    of the orders of its placements that lead to it past no other dead end. Those that are never
    met are missing, so it is an estimate from below.
    """
    for bank in ("4x4", "6x6", "9x9"):
        test = puzzles.load(bank, "test")
        for one in some(test, 3).puzzles:
            rng = np.random.default_rng(0)
            log_ratios = np.zeros(DEAD_END_GAMES)

            def choose(
                rows: NDArray[np.int64], _: NDArray[np.int8], found: ForwardMasks
            ) -> NDArray[np.int64]:
                log_ratios[rows] += np.log(found.num_allowed)  # noqa: B023 (called at once)
                return sample_actions(found.allowed, rng)  # noqa: B023

            games = rollout(one[None].repeat(DEAD_END_GAMES, 0), test.geometry, "any", choose)
            log_ratios += log_pb(games, "any").sum(1)
            dead = torch.from_numpy(log_ratios[~games.solved])
            yield {
                "puzzles": bank,
                "blanks": int((one == 0).sum()),
                "dead by chance": round(1 - float(games.solved.mean()), 4),
                "log of their worth": round(dead.logsumexp(0).item() - np.log(len(games)), 2),
            }


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
        **log_z_errors(network, made, EMPTY[None], seed),
    }


def log_z_errors(
    network: FlowNetwork, made: GFlowNetConfig, boards: NDArray[np.int8], seed: int
) -> dict[str, float]:
    """Hold three estimates of log Z against the log of the true number of completions.

    One is what the head of the flow says. The others are made of 256 trajectories of each board:
    the mean of log R P_B / P_F, which stands for log Z in the log-partition variance, and the log
    of the mean of R P_B / P_F, the importance estimate.
    """
    true = np.log(solver.count_solutions(boards, 1_000_000))
    repeats = 256
    head, drawn_mean, importance = [], [], []
    for one, wanted in zip(boards, true, strict=True):
        rng = np.random.default_rng(seed)
        copies = one[None].repeat(repeats, 0)
        drawn = sample_trajectories(network, copies, FOUR, made.order, rng)
        with torch.inference_mode():
            found = log_z_estimates(
                network, drawn, FOUR, made.order, made.reward, inner_flows=False
            )
        ends = found.values[-1, np.arange(repeats), drawn.lengths]
        head.append(abs(found.log_z(made.loss.kind)[-1, 0].item() - wanted))
        drawn_mean.append(abs(ends.mean().item() - wanted))
        importance.append(abs(ends.logsumexp(0).item() - np.log(repeats) - wanted))
    errors = {"log Z error": np.mean(head)}
    if len(boards) > 1:
        errors["median log Z error"] = np.median(head)
    errors["error of the mean"] = np.mean(drawn_mean)
    errors["importance error"] = np.mean(importance)
    return {name: round(float(error), 4) for name, error in errors.items()}


def empty_draws(config: Config, order: Order) -> Iterator[Row]:
    """The empty board without an order, or row by row: draws are held against ideal draws.

    Beside them stands where the policy ends exactly: without an order all paths are added up over
    the orbits of boards, which is exact for equivariant networks. They are trained on boards with 4
    to 16 blanks, four fifths of them empty: few blanks teach in a moment what the way to dead ends
    looks like. As many trajectories as are drawn lead back from solutions that were found.
    """
    boards = partly_blank(empty=0.8)
    ideal = readings(2 / 3, config.draws)
    graph = StateGraph(EMPTY, FOUR, order, symmetric=order == "any")
    ends = symmetry.canonical_form(solution_grids(), FOUR) if order == "any" else solution_grids()
    truth = np.array([(ends == end).all((1, 2)).mean() for end in graph.terminal_boards()])
    chances = [-np.log(layer.masks.num_allowed[layer.parents]) for layer in graph.layers]
    yield {
        "order": order,
        "player": "random play in the same order",
        **drawn_from(by_chance(order, config.draws), ideal.mean()),
        "exact variation": round(
            total_variation(graph.terminating_distribution(chances), truth), 4
        ),
    }
    for excess, found in ((0.0, ideal), (AIM, readings(2 / 3 + AIM, config.draws))):
        yield {
            "order": order,
            "player": f"ideal but for the larger orbit's share, {excess} too much",
            "times ideal": round(float(found.mean() / ideal.mean()), 3),
            "standard deviation": round(float(found.std() / ideal.mean()), 3),
            "exact variation": excess,
        }
    for seed in config.seeds:
        made = settings("trajectory-balance", order, FOR_DRAWS)
        made = replace(made, replayed=1.0, optimizer=OptimizerConfig(3e-3, constant_share=0.2))
        learner, spent, _ = trained(made, config.seconds, seed, Fixed(boards))
        generator = np.random.default_rng(seed)
        empty = EMPTY[None].repeat(config.draws, 0)
        drawn = sample_trajectories(learner.network, empty, FOUR, order, generator)
        reached = graph.terminating_distribution(graph.log_policies(learner.network))
        yield {
            "order": order,
            "player": "trajectory-balance",
            "seed": seed,
            "seconds": round(spent, 1),
            **drawn_from(drawn, ideal.mean()),
            "exact variation": round(total_variation(reached, truth), 4),
            **log_z_errors(learner.network, made, EMPTY[None], seed),
        }


def readings(share: float, draws: int) -> NDArray[np.float64]:
    """Return 200 sampled total variations of a player who draws within each orbit evenly.

    Args:
        share: how often its draws are of the larger orbit, which has 192 of the 288 grids.
        draws: of each reading.
    """
    rng = np.random.default_rng(0)
    chances = np.r_[np.full(192, share / 192), np.full(96, (1 - share) / 96)]
    uniform = np.full(288, 1 / 288)
    drawn = rng.multinomial(draws, chances, size=200) / draws
    return np.array([total_variation(one, uniform) for one in drawn])


def partly_blank(empty: float = 0.2) -> NDArray[np.int8]:
    """Return 5,000 boards with 4 to 15 blanks, and with a chance of `empty` 16."""
    rng = np.random.default_rng(0)
    boards = solution_grids()[rng.integers(288, size=5000)].copy()
    blanks = np.where(rng.random(5000) < empty, 16, rng.integers(4, 16, size=5000))
    hidden = rng.random((5000, 16)).argsort(1) < blanks[:, None]
    boards[hidden.reshape(-1, 4, 4)] = 0
    return boards


def by_chance(order: Order, draws: int) -> Trajectories:
    rng = np.random.default_rng(0)
    boards = EMPTY[None].repeat(draws, 0)
    return rollout(boards, FOUR, order, lambda _, __, found: sample_actions(found.allowed, rng))


def drawn_from(drawn: Trajectories, ideal: float) -> Row:
    """Count the solutions among draws; `times ideal` is the total variation beside ideal draws."""
    keys = solution_grids().reshape(288, 16)
    ends = drawn.terminal_boards[drawn.solved].reshape(-1, 16)
    which = {key.tobytes(): number for number, key in enumerate(keys)}
    counts = np.bincount([which[end.tobytes()] for end in ends], minlength=288)
    variation = total_variation(counts / max(counts.sum(), 1), np.full(288, 1 / 288))
    return {
        **share_of(drawn.solved),
        "distinct": int((counts > 0).sum()),
        "sampled variation": round(variation, 4),
        "times ideal": round(variation / ideal, 3),
    }


if __name__ == "__main__":
    main()
