"""The configuration of tabular Q-learning: one frozen dataclass, which is the command line too."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from sudoku_curricula.schedules import LinearConfig, SuccessRateConfig
from sudoku_gym.kernels.endings import RewardName
from sudoku_gym.plugins import find_env
from sudoku_gym.storage.checks import check_counts, check_shares
from sudoku_gym.storage.configs import registered
from sudoku_learning.training import CurriculumConfig, TrainingConfig


@registered("q-learning")
@dataclass(frozen=True, kw_only=True)
class QLearningConfig(TrainingConfig):
    """Train a table of action values on a few puzzles, by Q-learning or SARSA."""

    agent: ClassVar[str] = "q-table"
    fixed: ClassVar[tuple[str, ...]] = (*TrainingConfig.fixed, "puzzles", "reward")

    run: Path = Path("runs/q-learning")
    """folder for checkpoints and curves"""
    iterations: int = 40
    """most iterations; an iteration plays, learns and evaluates"""
    algorithm: Literal["q-learning", "sarsa"] = "q-learning"
    """off-policy (values of the greedy policy) or on-policy (of the epsilon-greedy one)"""
    puzzles: int = 8
    """number of puzzles it plays, always the same ones. Each has an order in which its cells become
    blank, so the boards of a lower level are met again at a higher one"""
    games: int = 256
    """games per iteration, played in parallel"""
    learning_rate: float = 0.5
    """alpha; Sudoku is deterministic, so 1 suits Q-learning too"""
    discount: float = 1.0
    """gamma"""
    epsilon: float = 0.3
    """chance of a random legal placement at each move"""
    reward: RewardName = "sparse"
    """see `SudokuEnv`"""
    end_at_dead_end: bool = True
    """end a game at the first dead end"""
    curriculum: CurriculumConfig = field(
        default_factory=lambda: LinearConfig(start=2, stop=6, updates=30)
    )
    """how the number of blanks moves; not by `success-rate`, since held-out puzzles are none of the
    table's"""

    def __post_init__(self) -> None:
        """Check the values."""
        super().__post_init__()
        find_env(self.env)
        check_counts(self, "puzzles", "games")
        if not 0 < self.learning_rate <= 1:
            raise ValueError(f"learning_rate must lie in (0, 1], not {self.learning_rate}")
        check_shares(self, "discount", "epsilon")
        if self.ray.actors:
            raise ValueError("a table learns from every move, in one process: leave out ray.actors")
        if isinstance(self.curriculum, SuccessRateConfig):
            raise ValueError("no table knows held-out puzzles: use curriculum:linear or constant")
