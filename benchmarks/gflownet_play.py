"""How well GFlowNets play puzzles with one solution, beside the floors.

Each part adds its figures to those of `gflownet.py`:

    minimal  minimal 4x4 puzzles of the test orbits: each loss, with and without curriculum
    shipped  the network that comes with the package, at 9x9

    python benchmarks/gflownet_play.py --out docs/results/gflownet.json
    python benchmarks/gflownet_play.py minimal --seconds 60 --seeds 0 1 2
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
import tyro

from gflownet import measured, settings
from results import Row, command_of, played, some
from sudoku_agents.gflownet import agent
from sudoku_agents.gflownet.agent import GFlowNetPolicy
from sudoku_agents.gflownet.config import GFlowNetConfig, Kind
from sudoku_agents.gflownet.learner import GFlowNetLearner
from sudoku_baselines.classical.floors import MaskedRandom, hidden_singles, naked_singles
from sudoku_curricula.schedules import ConstantConfig, SuccessRateConfig
from sudoku_gym import evaluate, puzzles
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_learning.networks import BodyConfig, FactorGraphConfig
from sudoku_learning.recurrent import RecurrentConfig
from sudoku_learning.training import OptimizerConfig, RunGenerators, Training

Part = Literal["minimal", "shipped"]

FLOORS: dict[str, Callable[[], Policy]] = {
    "masked-random": MaskedRandom,
    "naked singles": naked_singles,
    "naked + hidden singles": hidden_singles,
}


@dataclass(frozen=True)
class Config:
    """What to measure."""

    parts: Annotated[tuple[Part, ...], tyro.conf.Positional] = get_args(Part)
    """see above"""
    seeds: tuple[int, ...] = (0, 1, 2)
    """of the networks and of everything drawn"""
    seconds: float = 60.0
    """processor seconds of each training"""
    losses: tuple[Kind, ...] = get_args(Kind)
    """of the part `minimal`, held against each other"""
    count: int = 1000
    """puzzles that are played, at most"""
    drawn: bool = True
    """whether the shipped network draws its placements too, which takes longest"""
    out: Path | None = None
    """a JSON file; the figures of other parts in it stay"""


def main(argv: Sequence[str] | None = None) -> list[Row]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    parts = {"minimal": minimal_puzzles, "shipped": shipped_network}
    rows_of = {part: partial(parts[part], config) for part in config.parts}
    return measured(rows_of, command_of(__file__, argv), config.out)


def minimal_puzzles(config: Config) -> Iterator[Row]:
    """Minimal test puzzles in the full action space, with all orders, greedy and drawn."""
    chosen = some(puzzles.load("4x4", "test"), config.count)
    for title, make in FLOORS.items():
        yield {"player": title, **played(evaluate(make(), chosen))}
    schedules = {
        "curriculum": SuccessRateConfig(window=64, min_count=64, threshold=0.9),
        "11 blanks": ConstantConfig(11),
    }
    body = FactorGraphConfig(16, 12)
    for seed in config.seeds:
        untrained = GFlowNetLearner(GFlowNetConfig(network=body, seed=seed), RunGenerators(seed))
        for sample in (False, True):
            policy = GFlowNetPolicy(untrained.network, sample)
            title = "untrained, " + ("drawn" if sample else "greedy")
            yield {"player": title, "seed": seed, **played(evaluate(policy, chosen))}
    for kind in config.losses:
        for name, schedule in schedules.items():
            for seed in config.seeds:
                learner, spent = run(kind, schedule, body, seed, config.seconds)
                for sample in (False, True):
                    yield {
                        "player": f"{kind}, {name}, " + ("drawn" if sample else "greedy"),
                        "seed": seed,
                        "seconds": round(spent, 1),
                        **played(evaluate(GFlowNetPolicy(learner.network, sample), chosen)),
                    }


def run(
    kind: Kind, schedule: Any, body: BodyConfig, seed: int, seconds: float
) -> tuple[GFlowNetLearner, float]:
    """Train on 4x4 puzzles as the command does, for so many processor seconds."""
    rate = 4e-3 if kind == "maximum-likelihood" else 3e-3
    with tempfile.TemporaryDirectory() as folder:
        made = replace(
            settings(kind, "any", body),
            run=Path(folder),
            seed=seed,
            updates=10,
            replayed=0.25,
            optimizer=OptimizerConfig(rate, 48, constant_share=0.4),
            recurrent=RecurrentConfig(updates=20, revealed=0.25, policy_weight=0.0),
            iterations=10_000,
            extra_iterations=10_000,
            validation_games=64,
            evaluate_every=2,
            checkpoint_every=10_000,
            curriculum=schedule,
        )
        start = time.process_time()
        trial = Training(made, GFlowNetLearner)
        for _ in range(4):
            trial.step()
        cost = (time.process_time() - start) / 4
        made = replace(made, iterations=max(1, round(seconds / cost)), minutes=seconds / 60)
        training = Training(made, GFlowNetLearner)
        while not training.finished:
            training.step()
    return training.learner, training.seconds


def shipped_network(config: Config) -> Iterator[Row]:
    """The network of the package at 9x9, beside the floors and untrained networks of its kind."""
    test = puzzles.load("9x9", "test")
    made = GFlowNetConfig(network=agent.load().network.body.config, env="Sudoku9x9-v0")
    players: dict[str, Callable[[], Policy]] = {
        **FLOORS,
        **{
            f"untrained, seed {seed}": partial(
                GFlowNetPolicy, GFlowNetLearner(made, RunGenerators(seed)).network
            )
            for seed in config.seeds
        },
        "greedy": agent.load,
    }
    if config.drawn:
        players["drawn"] = partial(agent.load, sample=True)
    for blanks in (None, 50, 40):
        chosen = some(revealed(test, blanks), config.count)
        for title, make in players.items():
            few = chosen[:64] if title.startswith("untrained") else chosen
            start = time.process_time()
            row = {"blanks": blanks or "minimal", "player": title, **played(evaluate(make(), few))}
            yield row | {"seconds": round(time.process_time() - start, 1)}


def revealed(chosen: PuzzleSet, blanks: int | None) -> PuzzleSet:
    """Reveal cells at random until so many are blank."""
    if blanks is None:
        return chosen
    rng = np.random.default_rng(0)
    boards = chosen.puzzles.copy()
    for one, solution in zip(boards, chosen.solutions, strict=True):
        cells = rng.permutation(np.flatnonzero(one.ravel() == 0))[blanks:]
        one.ravel()[cells] = solution.ravel()[cells]
    return replace(chosen, puzzles=boards)


if __name__ == "__main__":
    main()
