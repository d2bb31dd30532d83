"""The training loop of cAlphaZero: play, train, evaluate on held-out puzzles, move the curriculum.

Source: cAlphaZero (Agarwal et al.), Algorithm 1.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
import tyro
from rich.console import Console

from sudoku_agents import checkpoint
from sudoku_agents.alphazero.agent import AlphaZeroPolicy
from sudoku_agents.alphazero.config import AlphaZeroConfig
from sudoku_agents.alphazero.learner import Losses, train
from sudoku_agents.alphazero.replay import Replay
from sudoku_agents.alphazero.self_play import Games, LocalSelfPlay, SelfPlay
from sudoku_agents.checkpoint import Checkpoint
from sudoku_agents.networks import ExactCoverNetwork
from sudoku_curricula import tensorboard as curves
from sudoku_curricula.schedules import PaperAlgorithm1Config
from sudoku_gym.evaluation import Evaluation, evaluate
from sudoku_gym.plugins import naming_the_extra
from sudoku_gym.puzzles.sources import Blanks, PuzzleSource, resolve_source


@dataclass(frozen=True)
class Iteration:
    """What one iteration did.

    Attributes:
        number: counted from 1.
        level: blanks at which it trained.
        games: its self-play.
        losses: means over its updates.
        at_level: greedy games on held-out puzzles with so many blanks.
        minimal: greedy games on held-out minimal puzzles.
        seconds: wall time.
    """

    number: int
    level: int
    games: Games
    losses: Losses
    at_level: Evaluation
    minimal: Evaluation
    seconds: float


class Trainer:
    """One run of cAlphaZero.

    Args:
        config: everything about the run; with `resume` it continues from the run's latest
            checkpoint, or begins again if it was interrupted before the first one. The result is
            that of a run that was never interrupted.

    Attributes:
        network: the network under training.
        self_play: plays the games.
        schedule: the curriculum.
        iteration: iterations done.

    Raises:
        ValueError: if there is nothing to resume, or a run that would be overwritten.
        ModuleNotFoundError: if `config.ray` asks for actors and Ray is not installed.
    """

    def __init__(self, config: AlphaZeroConfig) -> None:
        self.config = config
        self.self_play = _self_play(config)
        self.schedule = config.curriculum.build()
        self.rng = np.random.default_rng(config.seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(self.rng.integers(2**32)))
            self.network = ExactCoverNetwork(config.network.channels, config.network.layers)
        self.optimiser = torch.optim.Adam(self.network.parameters(), config.loss.learning_rate)
        self.replay = Replay(config.replay_iterations)
        self.iteration = 0
        self._iterations_after_the_end = 0
        self._held_out = _held_out_source(config.env)
        if config.resume:
            self._resume()
        elif (config.run / checkpoint.CONFIG).exists():
            raise ValueError(
                f"{config.run} already holds a run: give another folder, or --resume to continue it"
            )

    @property
    def finished(self) -> bool:
        """Whether the run is over."""
        return (
            self.iteration >= self.config.iterations
            or self._iterations_after_the_end > self.config.extra_iterations
        )

    def run(self, console: Console | None = None) -> None:
        """Train to the end; write curves and checkpoints, and report to `console`."""
        resumed_at = self.iteration if self.config.resume else None
        self.self_play.start()
        with (
            closing(self.self_play),
            curves.CurveWriter(self.config.run, resume_step=resumed_at) as writer,
        ):
            checkpoint.write_json(self.config.run / checkpoint.CONFIG, self.config.to_json())
            if console is not None:
                console.print(_HEAD)
            while not self.finished:
                done = self.step()
                writer.add_scalars(_curves_of(done), done.number)
                if console is not None:
                    console.print(_line_of(done))
                if self.finished or self.iteration % self.config.checkpoint_every == 0:
                    writer.flush()
                    checkpoint.save(self.config.run, self._checkpoint())

    def step(self) -> Iteration:
        """Do one iteration."""
        start = time.perf_counter()
        config, level = self.config, self.schedule.level
        games = self.self_play.play(self.network, self.schedule.distribution(), self.rng)
        self.replay.add(games.positions)
        means = train(
            self.network,
            self.optimiser,
            self.replay.all(),
            len(games.positions),
            self._held_out.geometry,
            config.loss,
            self.rng,
            config.augment,
        )
        at_level, minimal = self._evaluate(level), self._evaluate(None)
        self._advance(level, means, at_level)
        self.iteration += 1
        seconds = time.perf_counter() - start
        return Iteration(self.iteration, level, games, means, at_level, minimal, seconds)

    def _evaluate(self, blanks: Blanks) -> Evaluation:
        puzzles, _ = self._held_out.sample(self.config.validation_games, blanks, self.rng)
        policy = AlphaZeroPolicy(self.network)
        return evaluate(policy, puzzles, geometry=self._held_out.geometry)

    def _advance(self, level: int, means: Losses, at_level: Evaluation) -> None:
        if self.schedule.finished:
            self._iterations_after_the_end += 1
        curriculum = self.config.curriculum
        if isinstance(curriculum, PaperAlgorithm1Config) and curriculum.metric == "policy_accuracy":
            successes, count = round(means.accuracy * means.positions), means.positions
        else:
            successes, count = int(at_level.solved.sum()), len(at_level.solved)
        self.schedule.update(level, successes, count)

    def _checkpoint(self) -> Checkpoint:
        return Checkpoint(
            config=self.config.to_json(),
            weights=self.network.state_dict(),
            optimiser=checkpoint.optimiser_tensors(self.optimiser),
            replay=self.replay.arrays(),
            state={
                "iteration": self.iteration,
                "iterations_after_the_end": self._iterations_after_the_end,
                "curriculum": self.schedule.state_dict(),
                "rng": self.rng.bit_generator.state,
            },
        )

    def _resume(self) -> None:
        run, wanted = self.config.run, self.config.to_json()
        found = checkpoint.load_config(run)
        for name in ("env", "network", "curriculum", "schedule", "replay_iterations"):
            if wanted[name] != found[name]:
                raise ValueError(
                    f"the run in {run} has {name} {found[name]}, not {wanted[name]}: "
                    "resume with the configuration it was started with"
                )
        if checkpoint.exists(run):
            self._restore(checkpoint.load(run))

    def _restore(self, saved: Checkpoint) -> None:
        self.network.load_state_dict(saved.weights)
        checkpoint.restore_optimiser(self.optimiser, saved.optimiser)
        self.replay.restore(saved.replay)
        self.schedule.load_state_dict(saved.state["curriculum"])
        self.rng.bit_generator.state = saved.state["rng"]
        self.iteration = saved.state["iteration"]
        self._iterations_after_the_end = saved.state["iterations_after_the_end"]


def main(argv: Sequence[str] | None = None) -> int:
    """Train from the command line.

    Args:
        argv: arguments, see `AlphaZeroConfig`; None takes the process's own.

    Returns:
        0, for the shell.
    """
    config = tyro.cli(AlphaZeroConfig, args=argv, prog="sudoku-gym train calphazero")
    torch.set_num_threads(1)
    console = Console()
    Trainer(config).run(console)
    console.print(f"The run is in {config.run}: tensorboard --logdir {config.run}")
    return 0


def _self_play(config: AlphaZeroConfig) -> SelfPlay:
    if not config.ray.actors:
        return LocalSelfPlay(config)
    with naming_the_extra("self-play with ray.actors"):
        from sudoku_agents.alphazero.distributed import RaySelfPlay
    return RaySelfPlay(config)


def _held_out_source(env: str) -> PuzzleSource:
    return resolve_source(gym.spec(env).kwargs["source"], "validation")


def _curves_of(done: Iteration) -> dict[str, float]:
    return {
        curves.BLANKS: done.level,
        curves.SUCCESS_RATE: done.at_level.completion_rate,
        curves.POLICY_ACCURACY: done.losses.accuracy,
        curves.COMPLETION_RATE: done.minimal.completion_rate,
        curves.CONSTRAINT_FRACTION: done.minimal.constraint_fraction,
        curves.EPISODIC_RETURN: float(done.games.returns.mean()),
        curves.EPISODIC_LENGTH: float(done.games.lengths.mean()),
        curves.GAMES_PER_SECOND: len(done.games.levels) / done.seconds,
        curves.POLICY_LOSS: done.losses.policy,
        curves.VALUE_LOSS: done.losses.value,
        curves.ENTROPY: done.losses.entropy,
    }


_HEAD = (
    "[bold]               solved greedily:        losses:[/]\n"
    "[bold]iteration  blanks  at level  minimal  policy   value  self-play  seconds[/]"
)


def _line_of(done: Iteration) -> str:
    return (
        f"{done.number:9d}  {done.level:6d}  {done.at_level.completion_rate:8.1%}  "
        f"{done.minimal.completion_rate:7.1%}  {done.losses.policy:6.3f}  "
        f"{done.losses.value:6.4f}  {done.games.solved.mean():9.1%}  {done.seconds:7.1f}"
    )
