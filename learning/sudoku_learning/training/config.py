"""The configuration that every run has, and what a family of learners adds to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, Union

from tyro.conf import arg, subcommand

from sudoku_curricula import ScheduleConfig, all_schedules, schedules
from sudoku_gym.puzzles.sources import PuzzleSource
from sudoku_gym.storage.checks import check_counts, check_not_negative, check_positive
from sudoku_gym.storage.configs import from_json, registered, to_json
from sudoku_gym.storage.reading import error_context
from sudoku_learning.networks import BODIES, BodyConfig
from sudoku_learning.training import checkpoint
from sudoku_learning.training.environments import EnvId, held_out_source

_Config = TypeVar("_Config", bound="TrainingConfig")

if TYPE_CHECKING:
    CurriculumConfig = ScheduleConfig
    """The configuration of a schedule: any of `all_schedules`, a sub-command each."""
    NetworkConfig = BodyConfig
else:

    def _one_of(kinds):
        # A sub-command each on the command line, in the order of the list.
        return Union[  # noqa: UP007 - built from a list
            tuple(Annotated[kind, subcommand(name)] for name, kind in kinds.items())
        ]

    # Built when a command line is parsed, so that the schedules of other packages are among them.
    CurriculumConfig = Annotated[
        ScheduleConfig, arg(constructor_factory=lambda: _one_of(all_schedules()))
    ]
    NetworkConfig = _one_of(BODIES)


@registered("ray")
@dataclass(frozen=True)
class RayConfig:
    """Sampling on Ray; the learner stays in the process that was started."""

    actors: int = 0
    """sampling actors, each with a core of its own; 0 samples in this process, without Ray"""
    address: str | None = None
    """address of a cluster; without one Ray starts on this machine, or joins $RAY_ADDRESS. A run
    that is resumed needs it again"""
    games_per_task: int = 128
    """games an actor plays in parallel; the result depends on it, but not on the actors"""

    def __post_init__(self) -> None:
        check_not_negative(self, "actors")
        check_counts(self, "games_per_task")
        if self.address is not None and not self.actors:
            raise ValueError(f"ray.address={self.address}: say how many actors, ray.actors")


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """The options of every run; a family of learners inherits it, adds its own, and registers."""

    agent: ClassVar[str]
    """the registered policy that plays its checkpoints, e.g. `"expert-iteration"`"""
    fixed: ClassVar[tuple[str, ...]] = ("env", "seed", "curriculum")
    """the fields that a resumed run must not change; a family adds its own"""
    no_reward: ClassVar[str] = "it learns from solutions, not from rewards"
    """the answer to `--reward` of a family without that field"""

    env: EnvId = "Sudoku4x4-v0"
    """the puzzles, of which training draws from its part only: the id of an environment, a bank, or
    a file; 'mine.csv?board=x9x9' of a variant"""
    run: Path = Path("runs/run")
    """folder for checkpoints and curves"""
    resume: bool = False
    """continue the run in that folder from its latest checkpoint"""
    seed: int = 0
    """seed of everything random"""
    iterations: int = 60
    """most iterations; an iteration samples, learns and evaluates"""
    extra_iterations: int = 6
    """iterations after the curriculum is finished"""
    minutes: float | None = None
    """limit in minutes of this process's processor time, summed over resumed parts"""
    validation_games: int = 512
    """greedy games on held-out puzzles, at the level and on puzzles as stored each"""
    evaluate_every: int = 1
    """iterations between two rounds of held-out games"""
    checkpoint_every: int = 5
    """iterations between checkpoints; the first iteration has one too"""
    keep_checkpoints: int | None = 2
    """latest checkpoints that stay in the folder; None keeps all"""
    curriculum: CurriculumConfig = field(default_factory=schedules.SuccessRateConfig)
    """which tasks are trained on, and how they move"""
    ray: RayConfig = field(default_factory=RayConfig)
    """where sampling runs"""

    def __post_init__(self) -> None:
        check_counts(self, "iterations", "validation_games", "evaluate_every")
        check_counts(self, "checkpoint_every", "keep_checkpoints")
        check_positive(self, "minutes")
        check_not_negative(self, "extra_iterations", "seed")

    def held_out_source(self) -> PuzzleSource:
        """Return the puzzles of held-out games, by default the validation split of `env`."""
        return held_out_source(self.env)

    def other_sources(self) -> list[PuzzleSource]:
        """Return held-out puzzles of further boards that tasks may name, by default none."""
        return []

    def to_json(self) -> dict[str, Any]:
        """Return the configuration fit for JSON, with the name of the agent it makes."""
        return {"agent": self.agent, **to_json(self)}


def saved_config(run: Path, kind: type[_Config]) -> _Config:
    """Read the latest configuration of a run; raises ValueError if missing, damaged or unfit."""
    data = checkpoint.read_config_file(run)
    with error_context(run / checkpoint.CONFIG_FILE, "it can't be used"):
        return config_from_json(data, kind)


def config_from_json(data: dict[str, Any], kind: type[_Config]) -> _Config:
    """Make the configuration that `TrainingConfig.to_json` returned; raises as `from_json`."""
    return from_json({name: data[name] for name in data if name != "agent"}, kind)
