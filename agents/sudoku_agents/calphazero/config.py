"""The configuration of cAlphaZero: one frozen dataclass, which is the command line too."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from sudoku_agents.calphazero.search import SearchConfig
from sudoku_gym.storage.checks import check_counts, check_not_negative, check_positive, check_shares
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks import AttentionConfig, FactorGraphConfig, MLPConfig
from sudoku_learning.training import OptimizerConfig, TrainingConfig
from sudoku_learning.training.config import NetworkConfig

registered("calphazero/search")(SearchConfig)


@registered("calphazero/loss")
@dataclass(frozen=True)
class CAlphaZeroLossConfig:
    """Weights of the loss, equation 5 of cAlphaZero."""

    value_weight: float = 1.0
    """lambda; the paper has 100, for a constraint fraction, which varies little"""
    entropy_weight: float = 0.0
    """xi; above 0 it rewards an undecided policy"""
    placement_weight: float = 0.0
    """weight of the cross-entropy of every single placement: whether it is in the solved board that
    the search met. A logit then rates its placement for itself"""
    every_action: bool = False
    """take policy and entropy over all N**3 placements, so that the network has to learn which
    cells are blank, as the paper's does (its uniform loss of 4.1 is log 64); else over those that
    may be played. What may not be played is masked at play either way"""
    passes: float = 2.0
    """how often a new position is trained on, on average, in the iteration that played it; see
    `CAlphaZeroConfig.updates`"""

    def __post_init__(self) -> None:
        """Check the values."""
        check_positive(self, "passes")


@registered("calphazero")
@dataclass(frozen=True, kw_only=True)
class CAlphaZeroConfig(TrainingConfig):
    """Train cAlphaZero: self-play with tree search, a network, and a curriculum over blanks."""

    agent: ClassVar[str] = "calphazero"
    fixed: ClassVar[tuple[str, ...]] = (*TrainingConfig.fixed, "network", "replay_iterations")
    no_reward: ClassVar[str] = "its compiled search knows two, --search.reward terminal or sparse"

    run: Path = Path("runs/calphazero")
    """folder for checkpoints and curves"""
    games: int = 256
    """games of self-play an iteration"""
    temperature: float = 0.5
    """moves are drawn from visit counts to the power of 1 / temperature; 0 plays the best (puct)"""
    augment: bool = True
    """move each trained position by a random symmetry"""
    replay_iterations: int = 8
    """number of iterations whose positions are trained on"""
    updates: int | None = None
    """updates an iteration; None: as many as `loss.passes` says"""
    segments: int = 1
    """updates that a position stays for at most, each from the recurrent state of the last one"""
    revealed: float = 0.0
    """share of the positions of a game whose solution the search met that are played on by some of
    its digits, drawn at random"""
    ruled_out: float = 0.0
    """share of them that get a digit which that solution rules out: their value is 0"""
    average: float = 0.0
    """share of the moving average of the weights that an update keeps, e.g. 0.999: the average is
    what searches, plays and is saved; 0 averages nothing"""
    search_rounds: int | None = None
    """rounds of a network that can converge in each evaluation of self-play, at most; None: those
    of play"""
    search: SearchConfig = field(
        default_factory=lambda: SearchConfig(simulations=64, reward="sparse")
    )
    """the tree search of self-play"""
    loss: CAlphaZeroLossConfig = field(default_factory=CAlphaZeroLossConfig)
    """the loss"""
    optimizer: OptimizerConfig = field(
        default_factory=lambda: OptimizerConfig(3e-3, batch_size=256)
    )
    """Adam; a batch of positions"""
    network: NetworkConfig = field(default_factory=FactorGraphConfig)
    """the body of the network"""

    def __post_init__(self) -> None:
        """Check the values."""
        super().__post_init__()
        check_counts(self, "games", "replay_iterations", "updates", "segments", "search_rounds")
        check_not_negative(self, "temperature")
        check_shares(self, "revealed", "ruled_out", "average")
        if self.loss.every_action and not isinstance(self.network, MLPConfig | AttentionConfig):
            raise ValueError(
                "loss.every_action needs a body that reads cells, mlp or attention: others read "
                "the legal placements"
            )
