"""The training loop of all learners: folder, held-out games, curriculum, curves, resuming."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rich.console import Console

from sudoku_curricula import curves
from sudoku_curricula.curriculum import Curriculum
from sudoku_gym.evaluation.tables import duration
from sudoku_gym.puzzles.sources import blanks_cdf
from sudoku_gym.storage.reading import error_context
from sudoku_learning.training import checkpoint
from sudoku_learning.training.checkpoint import Checkpoint
from sudoku_learning.training.config import TrainingConfig, saved_config
from sudoku_learning.training.environments import HeldOut
from sudoku_learning.training.learner import Learner, Progress, Report, RunGenerators
from sudoku_learning.training.run_folder import RunFolder

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

_Config = TypeVar("_Config", bound=TrainingConfig)


@dataclass(frozen=True)
class Iteration:
    """Results of one iteration; the shares are None where no held-out games were played."""

    number: int
    """counted from 1"""
    steps: int
    """environment steps of the run so far, see `Report.steps`"""
    level: int
    """the level it was trained at, a number of blanks"""
    report: Report
    at_level: float | None
    """share of held-out puzzles solved greedily at the level that is reached, maybe a higher one"""
    minimal: float | None
    """share of held-out puzzles as stored (minimal ones) that are solved greedily"""
    constraint_fraction: float | None
    """of the latter"""
    seconds: float
    """wall time"""

    def curves(self) -> dict[str, float]:
        """Return the points of all curves."""
        points: dict[str, float | None] = {
            curves.BLANKS_LEVEL: self.level,
            curves.ITERATION: self.number,
            curves.STEPS_PER_SECOND: self.report.steps / self.seconds,
            curves.SUCCESS_RATE: self.at_level,
            curves.COMPLETION_RATE: self.minimal,
            curves.CONSTRAINT_FRACTION: self.constraint_fraction,
        }
        return {tag: y for tag, y in points.items() if y is not None} | self.report.curves

    def columns(self) -> dict[str, str]:
        """Return what the console shows: heads and texts."""
        shares = {"at level": self.at_level, "minimal": self.minimal}
        return {
            "iteration": str(self.number),
            "steps": f"{self.steps:,}",
            "blanks": str(self.level),
            **{head: "" if y is None else f"{y:.1%}" for head, y in shares.items()},
            **self.report.columns,
            "time": f"{self.seconds:.1f} s",
        }


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
        self._source = config.held_out_source()
        self.learner = make_learner(config, self.random)
        self.curriculum = Curriculum(
            config.curriculum.build(),
            self._set_blanks,
            metrics=("completion", *self.learner.metrics),
            caller=type(self.learner).__name__,
        )
        self.iteration = self.steps = 0
        self.seconds = 0.0
        self._iterations_after_the_end = 0
        self._held_out: HeldOut | None = None  # the latest games
        self._folder = RunFolder(config.run, config.resume)
        if config.resume:
            self._resume()

    @property
    def finished(self) -> bool:
        """Whether the run is over."""
        minutes = self.config.minutes
        return (
            self.iteration >= self.config.iterations
            or self._iterations_after_the_end > self.config.extra_iterations
            or (minutes is not None and self.seconds >= 60 * minutes)
        )

    def run(self, console: Console | None = None) -> None:
        """Train to the end, reporting to `console`.

        Raises:
            ValueError: if another is in the folder, or a number in the configuration could not be
                read again.
        """
        from sudoku_learning.training.tensorboard import open_writer, write_settings

        resumed_at = self.steps if self.config.resume else None
        config = self.config.to_json()  # or it is refused before anything is written
        with self._folder:
            self._folder.write_config(config)
            self.learner.start()
            try:
                with open_writer(self.config.run, resumed_at) as writer:
                    write_settings(writer, config, self.steps)
                    self._run(writer, console)
            finally:
                self.learner.close()

    def step(self) -> Iteration:
        """Do one iteration."""
        start, processor_start = time.perf_counter(), time.process_time()
        level = self.curriculum.schedule.level
        self._iterations_after_the_end += self.curriculum.schedule.finished
        share = self.iteration / self.config.iterations
        progress = Progress(self.iteration, share, self.steps)
        report = self.learner.learn(self._blanks, self.random, progress)
        self.iteration += 1
        self.steps += report.steps
        self.curriculum.steps = self.steps
        at_level = minimal = fraction = None
        if self.iteration % self.config.evaluate_every == 0:
            at_level, minimal, fraction = self._evaluate(report)
        self.seconds += time.process_time() - processor_start
        shares, seconds = (at_level, minimal, fraction), time.perf_counter() - start
        return Iteration(self.iteration, self.steps, level, report, *shares, seconds)

    def _run(self, writer: SummaryWriter, console: Console | None) -> None:
        heads: tuple[str, ...] = ()
        times: list[float] = []
        while not self.finished:
            done = self.step()
            times.append(done.seconds)
            for tag, value in done.curves().items():
                writer.add_scalar(tag, value, done.steps)
            if console is not None:
                columns = done.columns() | {"left": self._left(times)}
                if heads != tuple(columns):
                    heads = tuple(columns)
                    _print_line(console, heads, heads, style="bold")
                _print_line(console, columns.values(), heads)
            first = self.iteration == 1  # so that a run which is soon interrupted can be played
            if first or self.finished or self.iteration % self.config.checkpoint_every == 0:
                if self._held_out is not None:
                    from sudoku_learning.training.tensorboard import write_boards

                    write_boards(writer, self._held_out, self._source.geometry, self.steps)
                writer.flush()
                keep = self.config.keep_checkpoints
                self._folder.save(self.iteration, self._checkpoint(), keep)

    def _left(self, times: list[float]) -> str:
        """Return how long the run will take at most, from the seconds of its iterations so far."""
        left = (self.config.iterations - self.iteration) * sum(times) / len(times)
        if self.config.minutes is not None:
            left = min(left, max(60 * self.config.minutes - self.seconds, 0.0))
        return duration(left)

    def _evaluate(self, report: Report) -> tuple[float, float, float]:
        held_out = HeldOut(
            self.learner.policy(), self._source, self.config.validation_games, self.random.numpy
        )
        self._held_out = held_out
        at_level, minimal = self.curriculum.report_held_out(held_out, report.metrics)
        assert held_out.latest is not None
        return at_level, minimal, held_out.latest.constraint_fraction

    def _set_blanks(self, blanks: Mapping[int, float]) -> None:
        blanks_cdf(blanks, self._source.max_blanks)  # refuses a level that can't be played
        self._blanks = dict(blanks)

    def _checkpoint(self) -> Checkpoint:
        learner = self.learner.state()
        learner = replace(learner, tensors={**learner.tensors, **self.random.tensors()})
        return Checkpoint(self.config.to_json(), learner, self._progress(), self.seconds)

    def _progress(self) -> dict[str, Any]:
        return {
            "iteration": self.iteration,
            "steps": self.steps,
            "iterations_after_the_end": self._iterations_after_the_end,
            "curriculum": self.curriculum.state_dict(),
            "rng": self.random.numbers(),
        }

    def _resume(self) -> None:
        self._check_config()
        folder = self._folder.latest()
        if folder is None:
            return
        saved = checkpoint.read_checkpoint(folder)
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

    def _check_config(self) -> None:
        saved = saved_config(self.config.run, type(self.config))
        for name in self.config.fixed:
            was, wanted = getattr(saved, name), getattr(self.config, name)
            if was != wanted:
                raise ValueError(
                    f"the run in {self.config.run} has {name} {was}, not {wanted}: "
                    "resume with the configuration it was started with"
                )


def _print_line(
    console: Console, texts: Iterable[str], heads: Iterable[str], style: str | None = None
) -> None:
    widths = (max(len(head), 9 if head == "steps" else 6) for head in heads)
    line = "  ".join(text.rjust(width) for text, width in zip(texts, widths, strict=True))
    console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)
