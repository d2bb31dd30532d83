"""The configuration of deep Q-learning: one frozen dataclass, which is the command line too."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Literal

from sudoku_curricula.schedules import SuccessRateConfig
from sudoku_gym.board.actions import Actions
from sudoku_gym.plugins import find_env
from sudoku_gym.storage.checks import check_counts, check_not_negative, check_positive, check_shares
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks import FactorGraphConfig
from sudoku_learning.training import CurriculumConfig, OptimizerConfig, TrainingConfig
from sudoku_learning.training.config import NetworkConfig


@registered("dqn/targets")
@dataclass(frozen=True)
class TargetsConfig:
    """Targets of the action values; see `targets`."""

    discount: float = 1.0
    """gamma"""
    backup: Literal["max", "constraint"] = "constraint"
    """`max`: a board is worth as much as its best placement; `constraint`: as the best placement of
    its worst constraint, which is the same at the true values and lower at wrong ones"""
    hindsight: bool = True
    """where a game was solved, every placement of its boards has a target: the one board it ended
    with says which are right"""
    tau: float = 0.02
    """soft update: share by which the target network, which plays and is saved, moves each time"""

    def __post_init__(self) -> None:
        """Check the values."""
        check_shares(self, "discount")
        if not 0 < self.tau < 1:
            raise ValueError(f"tau must lie in (0, 1), not {self.tau}")


@registered("dqn/replay")
@dataclass(frozen=True)
class ReplayConfig:
    """Capacity and priorities of the replay."""

    capacity: int = 50_000
    """number of transitions"""
    priority: float = 0.6
    """alpha: transitions are drawn in proportion to loss**alpha; 0 draws uniformly"""
    kept: float = 1.0
    """share of the moves kept; of a solved game also all whose board the network was asked about"""

    def __post_init__(self) -> None:
        """Check the values."""
        check_counts(self, "capacity")
        check_shares(self, "priority", "kept")


@registered("dqn/updates")
@dataclass(frozen=True)
class DQNUpdatesConfig:
    """The updates of an iteration."""

    passes: float = 1.0
    """how often a new move is trained on, on average, in the iteration that played it"""
    segments: int = 8
    """updates that a board stays for at most, each from the recurrent state of the last one"""

    def __post_init__(self) -> None:
        """Check the values."""
        check_counts(self, "segments")
        check_positive(self, "passes")


@registered("dqn")
@dataclass(frozen=True, kw_only=True)
class DQNConfig(TrainingConfig):
    """Train a network of action values by deep Q-learning among legal placements."""

    agent: ClassVar[str] = "dqn"
    fixed: ClassVar[tuple[str, ...]] = (
        *TrainingConfig.fixed,
        *("network", "values", "replay", "reward", "actions", "targets"),
    )

    run: Path = Path("runs/dqn")
    """folder for checkpoints and curves"""
    games: int = 64
    """games per iteration, played in parallel"""
    sampling_rounds: int | None = 32
    """rounds of a recurrent body at each move of these games, at most; None takes those of play"""
    sampling_restarts: int = 0
    """further starts of the boards of these games that have not converged, see `Restarts`"""
    random_moves: float = 1.0
    """random moves a game, on average: epsilon is this, divided by the blanks at its start"""
    reward: str = "sparse"
    """see `SudokuEnv`; or a function's module:attribute, for which values are plain, without
    hindsight, constraint backup or convergence margin"""
    actions: Actions = "legal"
    """which placements are considered: candidates, or any digit in any blank cell"""
    end_at_dead_end: bool = True
    """end a game at the first dead end"""
    values: Literal["solvable", "plain"] = "solvable"
    """`solvable`: a value is the chance that the board can still be solved, and the network gives
    its logit; `plain`: the network gives the value"""
    targets: TargetsConfig = field(default_factory=TargetsConfig)
    """targets of the action values"""
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    """replay of transitions"""
    updates: DQNUpdatesConfig = field(default_factory=DQNUpdatesConfig)
    """how the network is updated"""
    optimizer: OptimizerConfig = field(
        default_factory=lambda: OptimizerConfig(4e-3, constant_share=0.5)
    )
    """Adam; a batch of transitions"""
    network: NetworkConfig = field(
        default_factory=lambda: FactorGraphConfig(
            test_rounds=64, intersections=True, convergence_margin=1.0
        )
    )
    """the body of the network; `rounds` are those of one segment"""
    curriculum: CurriculumConfig = field(
        default_factory=lambda: SuccessRateConfig(threshold=0.9, min_count=128, window=512)
    )
    """how the number of blanks moves"""

    def __post_init__(self) -> None:
        """Check the values."""
        super().__post_init__()
        find_env(self.env)
        check_counts(self, "games", "sampling_rounds")
        if ":" in self.reward:
            body, targets = self.network, replace(self.targets, hindsight=False, backup="max")
            if isinstance(body, FactorGraphConfig):
                body = replace(body, convergence_margin=None)
            for name, value in (("values", "plain"), ("targets", targets), ("network", body)):
                object.__setattr__(self, name, value)
        check_not_negative(self, "random_moves", "sampling_restarts")
        if self.values == "solvable" and self.reward == "dense":
            raise ValueError(
                "values='solvable' lie between 0 and 1, dense returns do not: use values='plain'"
            )
        is_proof = self.reward == "sparse" and self.targets.discount == 1
        is_proof &= self.actions == "legal"
        if (self.targets.hindsight or self.targets.backup == "constraint") and not is_proof:
            raise ValueError(
                "targets.hindsight and targets.backup='constraint' hold for reward='sparse', "
                "discount=1 and actions='legal' only: use no hindsight and backup='max'"
            )
        is_recurrent = isinstance(self.network, FactorGraphConfig)
        if self.updates.segments > 1 and not is_recurrent:
            raise ValueError(
                "updates.segments needs a recurrent body, factor-graph: use updates.segments=1"
            )
        can_converge = getattr(self.network, "convergence_margin", None) is not None
        if self.sampling_restarts and not can_converge:
            raise ValueError("sampling_restarts needs a network.convergence_margin")
        if can_converge and self.values == "plain":
            raise ValueError("network.convergence_margin needs logits: use values='solvable'")
