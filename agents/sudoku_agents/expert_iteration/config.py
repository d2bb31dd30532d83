"""The configuration of expert iteration: one frozen dataclass, which is the command line too."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from sudoku_agents.best_first_search import BestFirstConfig
from sudoku_curricula.schedules import ConstantConfig
from sudoku_gym.plugins import find_env
from sudoku_gym.puzzles.sources import PuzzleSource
from sudoku_gym.storage.checks import check_counts, check_shares
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks import FactorGraphConfig
from sudoku_learning.recurrent import RecurrentConfig
from sudoku_learning.training import CurriculumConfig, EnvId, OptimizerConfig, TrainingConfig
from sudoku_learning.training.environments import held_out_source

_USUAL = ("Sudoku4x4-v0", "Sudoku9x9-v0")  # with another `env`: 4x4, then that one


@registered("expert-iteration")
@dataclass(frozen=True, kw_only=True)
class ExpertIterationConfig(TrainingConfig):
    """Train by expert iteration: the best-first search labels, the network learns."""

    agent: ClassVar[str] = "expert-iteration"
    fixed: ClassVar[tuple[str, ...]] = (
        *TrainingConfig.fixed,
        *("average", "envs", "network", "optimizer", "recurrent", "weights"),
    )

    env: EnvId = "Sudoku9x9-v0"
    """id of the environment that held-out games are played in"""
    envs: tuple[EnvId, ...] = _USUAL
    """environments to train in, in the order in which they join; all stay to the end. Only their
    training puzzles are used, not the solutions. If not given, 4x4 and then `env`"""
    shares: tuple[float, ...] = (0.1, 0.9)
    """relative shares of the updates, among the environments that have joined"""
    join_at: float = 0.8
    """the next environment joins when the search solves this share of the latest one's puzzles. A
    curriculum whose tasks name boards chooses instead, and its weights take the place of `shares`:
    curriculum:bandit --curriculum.tasks board=4x4,9x9"""
    run: Path = Path("runs/expert-iteration")
    """folder for checkpoints and curves"""
    games: int = 128
    """puzzles of 81 cells that the search is given in an iteration, of each environment so far;
    more of smaller ones, fewer of larger ones"""
    as_stored: float = 1.0
    """share of the puzzles of `env` that are searched as stored; the others have as many blanks as
    the curriculum says"""
    pool: int = 4096
    """number of solved puzzles at which an environment gets no more of them"""
    validation_games: int = 128
    """greedy games on held-out puzzles, at the level and on puzzles as stored each"""
    evaluate_every: int = 5
    """iterations between two rounds of held-out games"""
    search: BestFirstConfig = field(default_factory=lambda: BestFirstConfig(evaluations=300))
    """the search that labels"""
    search_rounds: int | None = 32
    """rounds of the network in each of the search's evaluations, at most: taking a placement back
    is cheaper than many rounds. None takes those of play"""
    threshold: float | None = 5.0
    """in play, all placements with a logit above this are made, the best first, before the network
    is asked again: each time that it is asked about a hard board it may be misled. None asks it
    before every move"""
    optimizer: OptimizerConfig = field(
        default_factory=lambda: OptimizerConfig(4e-3, batch_size=48, constant_share=0.4)
    )
    """Adam; a batch of boards of 81 cells, more of smaller ones, fewer of larger ones"""
    average: float = 0.0
    """share of the moving average of the weights that an update keeps, e.g. 0.999: the average is
    what searches, plays and is saved; 0 averages nothing"""
    recurrent: RecurrentConfig = field(default_factory=RecurrentConfig)
    """how the network is updated"""
    weights: Path | None = None
    """folder of a checkpoint or a run of a network of the same form, whose weights this one begins
    with; None draws them"""
    network: FactorGraphConfig = field(
        default_factory=lambda: FactorGraphConfig(
            16, 16, test_rounds=128, intersections=True, convergence_margin=1.0
        )
    )
    """the body of the network; `rounds` are those of one segment"""
    curriculum: CurriculumConfig = field(default_factory=ConstantConfig)
    """how the number of blanks moves, see `as_stored`"""

    def __post_init__(self) -> None:
        """Check the values."""
        super().__post_init__()
        check_counts(self, "games", "pool", "search_rounds")
        check_shares(self, "join_at", "as_stored", "average")
        if self.average == 1:
            raise ValueError("average must lie in [0, 1), for 1 would keep the first weights")
        if self.env not in self.envs and self.envs == _USUAL:
            object.__setattr__(self, "envs", (_USUAL[0], self.env))  # frozen, but still being made
        if self.env not in self.envs or len(set(self.envs)) < len(self.envs):
            raise ValueError(f"envs must hold {self.env}, and each once, not {self.envs}")
        if len(self.shares) != len(self.envs) or not all(share > 0 for share in self.shares):
            raise ValueError(
                f"shares must be positive, one for each of the {len(self.envs)} environments, "
                f"not {self.shares}"
            )
        for env in self.envs:
            find_env(env)

    def other_sources(self) -> list[PuzzleSource]:
        """Return the validation puzzles of the environments beside `env`."""
        return [held_out_source(env) for env in self.envs if env != self.env]
