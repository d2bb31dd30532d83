"""The training loop of all learners: folder, held-out games, curriculum, curves, resuming."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import torch
import tyro
from rich.console import Console

from sudoku_curricula import curves
from sudoku_curricula.curriculum import Curriculum, check_held_out
from sudoku_gym.evaluation.tables import duration
from sudoku_gym.policies.loading import checkpoints_of
from sudoku_gym.puzzles.sources import Blanks, table_of
from sudoku_gym.puzzles.tasks import PuzzleWeights, TaskWeights
from sudoku_gym.storage.atomic import locked, write_json
from sudoku_gym.storage.reading import error_context
from sudoku_learning.training.checkpoint import (
    CONFIG_FILE,
    LOCK,
    Checkpoint,
    check_run_folder,
    read_checkpoint,
    save_checkpoint,
)
from sudoku_learning.training.config import TrainingConfig, saved_config
from sudoku_learning.training.environments import HeldOut
from sudoku_learning.training.learner import Learner, Progress, RunGenerators

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

_Config = TypeVar("_Config", bound=TrainingConfig)
_CONFIG = (tyro.conf.CascadeSubcommandArgs,)  # options may stand behind `curriculum:x` too


class Iteration(NamedTuple):
    """Results of one iteration."""

    number: int  # counted from 1
    steps: int  # environment steps of the run so far, see `Report.steps`
    curves: dict[str, float]  # the points of all curves, by their tags
    columns: dict[str, str]  # `{head: text}`, what the console shows
    seconds: float  # wall time


class Training(Generic[_Config]):
    """One run of any learner.

    Args:
        config: everything about the run; with `resume` it continues from the run's latest
            checkpoint, or begins again if it was interrupted before the first one. The result is
            that of a run that was never interrupted.
        make_learner: makes the learner; what is random in it comes from the generators.

    `iteration` and `steps` count what is done; `seconds` are those of the processor, all resumed
    parts together.

    Raises:
        ValueError: if there is nothing to resume, the folder is not free, the environment is
            unknown or lacks the last level, or the learner can't supply the schedule's metric.
    """

    def __init__(
        self, config: _Config, make_learner: Callable[[_Config, RunGenerators], Learner]
    ) -> None:
        self.config = config
        self.random = RunGenerators(config.seed)
        self._source, self._others = config.held_out_source(), config.other_sources()
        self.learner = make_learner(config, self.random)
        self.curriculum = Curriculum(
            config.curriculum.build(),
            self._set_blanks,
            metrics=("completion", *self.learner.metrics),
        )
        check_held_out(self.curriculum.schedule)
        self.iteration = self.steps = 0
        self.seconds = 0.0
        self._iterations_after_the_end = 0
        check_run_folder(config.run, config.resume)
        if config.resume:
            self._resume()

    @property
    def limit_met(self) -> str:
        """The option that ended the run, with its value; empty while the run goes on."""
        minutes, extra = self.config.minutes, self.config.extra_iterations
        if self.iteration >= self.config.iterations:
            return f"--iterations {self.config.iterations}"
        if self.curriculum.schedule.finished and self._iterations_after_the_end >= extra:
            return f"--extra-iterations {extra}"
        is_late = minutes is not None and self.seconds >= 60 * minutes
        return f"--minutes {minutes:g}" if is_late else ""

    def run(self, console: Console | None = None) -> None:
        """Train to the end, reporting to `console`; of a run that is over nothing is written.

        Raises:
            ValueError: if another process trains in the folder.
        """
        from sudoku_learning.training.tensorboard import open_writer, write_settings

        if self.limit_met:
            if console is not None:
                console.print(f"Nothing to train, the run has met {self.limit_met}: raise it")
            return
        resumed_at = self.steps if self.config.resume else None
        run, config = self.config.run, self.config.to_json()
        run.mkdir(parents=True, exist_ok=True)
        with locked(run / LOCK, f"another training is running in {run}: give another folder"):
            write_json(run / CONFIG_FILE, config)
            with open_writer(run, resumed_at) as writer:
                write_settings(writer, config, self.steps)
                self._run(writer, console)

    def step(self) -> Iteration:
        """Do one iteration."""
        start, processor_start = time.perf_counter(), time.process_time()
        level, was_finished = self.curriculum.level, self.curriculum.schedule.finished
        share = self.iteration / self.config.iterations
        progress = Progress(self.iteration, share, self.steps)
        try:
            report = self.learner.learn(self._blanks, self.random, progress)
        except ValueError as error:
            last = [Path("none"), *checkpoints_of(self.config.run)][-1]
            number = self.iteration + 1
            raise ValueError(f"iteration {number}: {error} (last checkpoint: {last})") from error
        self.iteration += 1
        self.steps += report.steps
        self.curriculum.steps = self.steps
        of_level = {} if isnan(level) else {curves.BLANKS_LEVEL: level}
        points: dict[str, float] = {**of_level, curves.ITERATION: self.iteration}
        if self.iteration % self.config.evaluate_every == 0:
            points |= self._evaluate()
        self.curriculum.report(report.metrics)
        self._iterations_after_the_end += was_finished
        self.seconds += time.process_time() - processor_start
        seconds = time.perf_counter() - start
        points[curves.STEPS_PER_SECOND] = report.steps / seconds
        shares = {"at level": curves.SUCCESS_RATE, "minimal": curves.COMPLETION_RATE}
        columns = {
            "iteration": str(self.iteration),
            "steps": f"{self.steps:,}",
            **({"task": self.curriculum.heaviest} if isnan(level) else {"blanks": f"{level:.3g}"}),
            **{head: f"{points[tag]:.1%}" if tag in points else "" for head, tag in shares.items()},
            **report.columns,
            "time": f"{seconds:.1f} s",
        }
        return Iteration(self.iteration, self.steps, points | report.curves, columns, seconds)

    def _run(self, writer: SummaryWriter, console: Console | None) -> None:
        heads: tuple[str, ...] = ()
        times: list[float] = []
        while not self.limit_met:
            done = self.step()
            times.append(done.seconds)
            for tag, value in done.curves.items():
                writer.add_scalar(tag, value, done.steps)
            self.curriculum.write_tasks(writer)
            if console is not None:
                columns = done.columns | {"left": self._left(times)}
                if heads != tuple(columns):
                    heads = tuple(columns)
                    _print_line(console, heads, heads, style="bold")
                _print_line(console, columns.values(), heads)
            first = self.iteration == 1  # so that a run which is soon interrupted can be played
            if first or self.limit_met or self.iteration % self.config.checkpoint_every == 0:
                writer.flush()
                keep = self.config.keep_checkpoints
                save_checkpoint(self.config.run, self.iteration, self._checkpoint(), keep)
        if console is not None:
            console.print(f"The run has met {self.limit_met}")

    def _left(self, times: list[float]) -> str:
        """Return how long the run will take at most, from the seconds of its iterations so far."""
        left = (self.config.iterations - self.iteration) * sum(times) / len(times)
        if self.config.minutes is not None:
            left = min(left, max(60 * self.config.minutes - self.seconds, 0.0))
        return duration(left)

    def _evaluate(self) -> dict[str, float]:
        """Play held-out games, and return the points of their curves."""
        learner, games = self.learner, self.config.validation_games
        held_out = HeldOut(
            learner.policy(), self._source, games, self.random.numpy, learner.actions, self._others
        )
        at_level, minimal = self.curriculum.report_held_out(held_out)
        assert held_out.latest is not None
        return {
            curves.SUCCESS_RATE: at_level,
            curves.COMPLETION_RATE: minimal,
            curves.CONSTRAINT_FRACTION: held_out.latest.constraint_fraction,
        }

    def _set_blanks(self, blanks: Blanks) -> None:
        if isinstance(blanks, TaskWeights) and blanks.tasks.boards:
            sources = {each.geometry.name: each for each in (*self._others, self._source)}
            for board in blanks.tasks.boards:
                if board not in sources:
                    raise ValueError(
                        f"tasks={blanks.tasks.text!r}: no environment here has {board}"
                    )
                if blanks.on(board).any():
                    table_of(sources[board], blanks)
        elif not isinstance(blanks, PuzzleWeights):
            table_of(self._source, blanks)  # refuses tasks that can't be played
        self._blanks = blanks

    def _checkpoint(self) -> Checkpoint:
        learner = self.learner.state()
        learner = replace(learner, tensors={**learner.tensors, **self.random.tensors()})
        progress = {
            "iteration": self.iteration,
            "steps": self.steps,
            "iterations_after_the_end": self._iterations_after_the_end,
            "curriculum": self.curriculum.state_dict(),
            "rng": self.random.numbers(),
        }
        return Checkpoint(self.config.to_json(), learner, progress, self.seconds)

    def _resume(self) -> None:
        saved_options = saved_config(self.config.run, type(self.config))
        for name in self.config.fixed:
            was, wanted = getattr(saved_options, name), getattr(self.config, name)
            if was != wanted:
                raise ValueError(
                    f"the run in {self.config.run} has {name} {was}, not {wanted}: "
                    "resume with the configuration it was started with"
                )
        folders = checkpoints_of(self.config.run)
        if not folders:
            return
        folder = folders[-1]
        saved = read_checkpoint(folder)
        self.seconds = saved.seconds
        with error_context(folder, "it does not fit this run"):
            progress = saved.progress
            self.iteration = progress["iteration"]
            self.steps = progress["steps"]
            self._iterations_after_the_end = progress["iterations_after_the_end"]
            self.curriculum.load_state_dict(progress["curriculum"])
            self.random.restore_numbers(progress["rng"])
            tensors = self.random.restore_tensors(saved.learner.tensors)
            self.learner.restore(replace(saved.learner, tensors=tensors))


def train_cli(
    config_class: type[_Config],
    make_learner: Callable[[_Config, RunGenerators], Learner],
    name: str,
    argv: Sequence[str] | None = None,
) -> int:
    """Train from the command line; with `--resume`, options default to the saved ones.

    But for the address of a Ray cluster: who answers there can run code in this process, so it is
    joined only if the command line names it. `name` is the trainer's in the help text, `argv` by
    default the arguments of the process. Returns 0, the exit status; raises as `Training`.
    """
    program = f"sudoku-gym train {name}"
    arguments = sys.argv[1:] if argv is None else list(argv)
    if "--reward" in arguments and not hasattr(config_class, "reward"):
        raise ValueError(f"{name} has no --reward: {config_class.no_reward}")
    read = partial(tyro.cli, config_class, args=arguments, prog=program, config=_CONFIG)
    config: _Config = read()
    if config.resume and (config.run / CONFIG_FILE).exists():
        # Options not given again keep their saved values.
        saved = saved_config(config.run, config_class)
        if ":" in (reward := getattr(saved, "reward", "")) and "--reward" not in arguments:
            raise ValueError(f"the run's reward is code: give --reward {reward} again")
        saved = replace(saved, run=config.run, resume=True, ray=replace(saved.ray, address=None))
        config = read(default=saved)
    torch.set_num_threads(1)  # results do not depend on the number of cores
    Training(config, make_learner).run(Console())
    print(f"The run is in {config.run}: tensorboard --logdir {config.run}")
    return 0


def _print_line(
    console: Console, texts: Iterable[str], heads: Iterable[str], style: str | None = None
) -> None:
    widths = (max(len(head), {"steps": 9, "task": 14}.get(head, 6)) for head in heads)
    line = "  ".join(text.rjust(width) for text, width in zip(texts, widths, strict=True))
    console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)
