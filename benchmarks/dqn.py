"""Deep Q-learning: what is learned, beside what needs no learning.

Each part trains what it measures, but for `play`, which takes a checkpoint. All games are greedy,
one digit at a time, in the full action space.

    python benchmarks/dqn.py --parts 4x4
    python benchmarks/dqn.py --parts play --checkpoint runs/dqn --untrained 10
    python benchmarks/dqn.py --parts no-rules --minutes 10
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro

from results import Row, command_of, in_words, share_of, some, table, write_json
from sudoku_agents.dqn import agent
from sudoku_agents.dqn.config import (
    DQNConfig,
    DQNUpdatesConfig,
    TargetsConfig,
)
from sudoku_agents.dqn.learner import DQNLearner
from sudoku_baselines.classical.trivial import MaskedRandom, hidden_singles, naked_singles
from sudoku_curricula.schedules import ConstantConfig
from sudoku_gym import evaluate, puzzles
from sudoku_gym.evaluation import Evaluation
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource
from sudoku_learning.networks import MLPConfig, NetworkPolicy, seeded
from sudoku_learning.training import RunGenerators, Training
from sudoku_learning.training.config import config_from_json

FLOORS = {
    "masked-random": MaskedRandom,
    "naked singles": naked_singles,
    "naked + hidden singles": hidden_singles,
}
NO_RULES = DQNConfig(
    env="Sudoku9x9-v0",
    actions="blank",
    reward="dense",
    values="plain",
    targets=TargetsConfig(discount=0.9, backup="max", hindsight=False),
    updates=DQNUpdatesConfig(segments=1),
    network=MLPConfig((512, 512)),
    random_moves=2.0,
)
HEADS = (
    *("player", "puzzles", "count", "solved", "95 % interval"),
    *("orbits", "illegal", "steps", "seconds", "steps a second"),
)


@dataclass(frozen=True)
class Config:
    """What to measure."""

    parts: tuple[str, ...] = ("4x4", "play")
    """4x4, play, no-rules"""
    seeds: tuple[int, ...] = (0, 1, 2)
    """of the trainings"""
    minutes: float = 1.0
    """processor time of each training in `no-rules`"""
    iterations: int = 20
    """of each training in `4x4`"""
    checkpoint: Path = agent.PRETRAINED
    """what `play` plays; by default the network that comes with the package"""
    blanks: tuple[int, ...] = (40, 45, 50, 53)
    """beside puzzles as stored, in `play` and `no-rules`"""
    count: int = 1000
    """puzzles of a number of blanks"""
    stored: int = 100_000
    """at most so many puzzles as stored"""
    untrained: int = 0
    """how many untrained networks `play` plays, seeds from 0 on"""
    untrained_count: int = 256
    """at most so many puzzles for each of them"""
    out: Path | None = None
    """a JSON file for the figures"""


def main(argv: Sequence[str] | None = None) -> list[Row]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    torch.set_num_threads(1)
    rows = []
    for part in config.parts:
        if part not in PARTS:
            raise SystemExit(f"no part is called {part!r}: use {', '.join(PARTS)}")
        for row in PARTS[part](config):
            rows.append({"part": part, **row})
            print(f"{part}: {row['player']}, {row['puzzles']}: {in_words(row)}", flush=True)
    print("", table(rows, HEADS, names=2), sep="\n")
    write_json(config.out, {"command": command_of(__file__, argv), "rows": rows})
    return rows


def four(config: Config) -> Iterator[Row]:
    """Deep Q-learning on 4x4, beside the same networks before training."""
    title, test = minimal("4x4", config)
    for name, make in FLOORS.items():
        yield row(name, title, evaluate(make(), test))
    for seed in config.seeds:
        settings = DQNConfig(
            seed=seed, iterations=config.iterations, extra_iterations=config.iterations,
            validation_games=256,
        )  # fmt: skip
        before = DQNLearner(settings, RunGenerators(seed))
        yield row(f"untrained, seed {seed}", title, evaluate(before.policy(), test))
        trained, seconds = train(settings, DQNLearner)
        more = {"seconds": seconds, "steps": trained.steps}
        result = evaluate(trained.learner.policy(), test)
        yield row(f"deep Q, seed {seed}", title, result, more)


def play(config: Config) -> Iterator[Row]:
    """A checkpoint on 9x9, beside floors and untrained networks of the same body."""
    policy = agent.load(config.checkpoint)
    sets = nine(config)
    for title, chosen in sets:
        for name, make in FLOORS.items():
            yield row(name, title, evaluate(make(), chosen))
        start = time.process_time()
        result = evaluate(policy, chosen)
        yield row("deep Q", title, result, {"playing": time.process_time() - start})
    for seed in range(config.untrained):
        network = untrained(config_from_json(saved(config.checkpoint), DQNConfig), seed)
        for title, chosen in sets:
            part = chosen[: config.untrained_count]
            yield row(f"untrained, seed {seed}", title, evaluate(NetworkPolicy(network, "q"), part))


def no_rules(config: Config) -> Iterator[Row]:
    """Perceptrons that are told no rules, as Mehta's agent was: any digit in any blank cell."""
    for blanks in config.blanks:
        for seed in config.seeds:
            settings = replace(
                NO_RULES, seed=seed, minutes=config.minutes, iterations=100_000,
                evaluate_every=100_000, curriculum=ConstantConfig(blanks=blanks),
            )  # fmt: skip
            trained, seconds = train(settings, DQNLearner)
            more = {"seconds": seconds, "steps": trained.steps}
            test, policy = drawn("9x9", blanks, config), trained.learner.policy()
            title, name = f"9x9, {blanks} blanks", f"no rules, seed {seed}"
            yield row(name, title, evaluate(policy, test, actions="blank"), more)
            yield row(f"{name}, told at play", title, evaluate(policy, test), more)
        yield row("masked-random", title, evaluate(MaskedRandom(), test))


PARTS: dict[str, Callable[[Config], Iterator[Row]]] = {
    "4x4": four,
    "play": play,
    "no-rules": no_rules,
}


def train(settings: Any, learner: Any) -> tuple[Training[Any], float]:
    """Train in a folder that is not kept; return the training and its processor seconds."""
    with tempfile.TemporaryDirectory() as folder:
        training = Training(replace(settings, run=Path(folder, "run")), learner)
        training.run()
    return training, training.seconds


def minimal(bank: str, config: Config) -> tuple[str, PuzzleSet]:
    """The test puzzles of a bank as stored, and what they are called."""
    stored = puzzles.load(bank, "test")
    return f"{bank}, minimal", some(stored, config.stored)


def nine(config: Config) -> list[tuple[str, PuzzleSet]]:
    """The 9x9 test puzzles as stored, and with cells revealed."""
    title, stored = minimal("9x9", config)
    revealed = [(f"9x9, {n} blanks", drawn("9x9", n, config)) for n in config.blanks]
    return [(title, stored), *revealed]


def drawn(bank: str, blanks: int, config: Config) -> PuzzleSet:
    """Test puzzles with cells revealed until so many blanks are left."""
    source = BankSource(puzzles.load(bank, "test"))
    boards, solutions = source.sample(config.count, blanks, np.random.default_rng(0))
    return PuzzleSet(boards, solutions, source.geometry, bank)


def untrained(settings: DQNConfig, seed: int) -> Any:
    return seeded(seed, lambda: agent.make_q_network(settings, Geometry.standard(9)))


def saved(folder: Path) -> dict[str, Any]:
    from sudoku_learning.training import checkpoint
    from sudoku_learning.training.checkpoint import checkpoint_in

    return checkpoint.read_config_file(checkpoint_in(folder))


def row(player: str, title: str, result: Evaluation, more: Row | None = None) -> Row:
    found = {"player": player, "puzzles": title, **share_of(result.solved)}
    if "4x4, minimal" in title and result.orbit_interval:
        # Equivariant players solve an orbit whole or not at all.
        low, high = (round(100 * end, 2) for end in result.orbit_interval)
        found |= {"low": low, "high": high}
    if result.orbits_solved and "4x4" in title:
        found["orbits"] = "{} of {}".format(*result.orbits_solved)
    if result.illegal:
        found["illegal"] = result.illegal
    more = {name: round(value, 1) for name, value in (more or {}).items()}
    if {"steps", "seconds"} <= more.keys():
        more["steps a second"] = round(more["steps"] / more["seconds"])
    return found | more


if __name__ == "__main__":
    main()
