"""The configuration of GFlowNets: one frozen dataclass, which is the command line too."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeAlias

from tyro.conf import arg

from sudoku_agents.gflownet.orders import Order
from sudoku_gym.plugins import find_env
from sudoku_gym.storage.checks import check_counts, check_not_negative, check_shares
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks import FactorGraphConfig
from sudoku_learning.recurrent import RecurrentConfig
from sudoku_learning.training import OptimizerConfig, TrainingConfig
from sudoku_learning.training.config import NetworkConfig

Balance: TypeAlias = Literal[
    "trajectory-balance", "log-partition-variance", "sub-trajectory-balance"
]
Kind: TypeAlias = Literal[Balance, "maximum-likelihood"]


@registered("gflownet/loss")
@dataclass(frozen=True)
class BalanceConfig:
    """The training loss."""

    kind: Kind = "trajectory-balance"
    """see `losses`; maximum-likelihood is the one for boards of 36 cells and more,
    see `recurrent`"""
    decay: float = 0.9
    """lambda of sub-trajectory balance; 0 makes it detailed balance"""

    def __post_init__(self) -> None:
        """Check the values."""
        check_not_negative(self, "decay")


@registered("gflownet")
@dataclass(frozen=True, kw_only=True)
class GFlowNetConfig(TrainingConfig):
    """Train a GFlowNet, which learns to sample the solutions of a board uniformly."""

    agent: ClassVar[str] = "gflownet"
    fixed: ClassVar[tuple[str, ...]] = (
        *TrainingConfig.fixed,
        *("order", "network", "weights", "reward"),
    )

    run: Path = Path("runs/gflownet")
    """folder for checkpoints and curves"""
    order: Order = "any"
    """order in which blanks are filled: any, rows or constrained, see `orders`"""
    updates: int = 40
    """updates an iteration, each on new trajectories"""
    puzzles: Annotated[int, arg(name="puzzles-per-update")] = 64
    """puzzles an update"""
    repeats: int = 1
    """trajectories from each of them; log-partition-variance compares those of one puzzle"""
    epsilon: float = 0.05
    """share of placements that are drawn uniformly, to explore"""
    restarts: int = 0
    """further starts of puzzles that have not converged, where trajectories are drawn from them"""
    replayed: float = 0.25
    """backward trajectories from earlier solutions, as a share of the forward ones"""
    replay: int = 4096
    """number of latest solutions kept for this"""
    reward: str = "sparse"
    """of the board at which a trajectory ends: `sparse`, 1 if it is solved; or a function's
    module:attribute, boards int8 [B, N, N] -> float [B], with a balance loss"""
    min_log_reward: float = -18.0
    """log of the least reward, that of a dead end with `sparse`. The flow to dead ends has to stay
    small beside the solutions, and there are many of them without an order"""
    loss: BalanceConfig = field(default_factory=BalanceConfig)
    """the loss"""
    network: NetworkConfig = field(default_factory=FactorGraphConfig)
    """the body of the network"""
    optimizer: OptimizerConfig = field(
        default_factory=lambda: OptimizerConfig(3e-3, batch_size=48, constant_share=0.6)
    )
    """Adam; the batch size is that of `maximum-likelihood`, whose rate is best at 4e-3 with a
    constant share of 0.4. The other losses train on the trajectories of `puzzles`"""
    recurrent: RecurrentConfig = field(
        default_factory=lambda: RecurrentConfig(revealed=0.25, policy_weight=0.0)
    )
    """the updates of `maximum-likelihood`"""
    weights: Path | None = None
    """folder of a checkpoint or a run of a network of the same form, whose weights this one begins
    with; None draws them"""

    def __post_init__(self) -> None:
        """Check the values."""
        super().__post_init__()
        if not -1e4 <= self.min_log_reward < 0:
            raise ValueError(
                f"min_log_reward must be negative and at least -10000, not {self.min_log_reward}"
            )
        find_env(self.env)
        check_counts(self, "updates", "puzzles", "repeats", "replay")
        if self.loss.kind == "log-partition-variance" and self.repeats < 2:
            raise ValueError(
                "log-partition-variance compares trajectories of one puzzle: repeats must be at "
                f"least 2 (4 are usual), not {self.repeats}"
            )
        check_shares(self, "epsilon")
        if self.loss.kind == "maximum-likelihood":
            if not isinstance(self.network, FactorGraphConfig):
                raise ValueError("maximum-likelihood needs a recurrent body: network:factor-graph")
            if self.reward != "sparse":
                raise ValueError("maximum-likelihood learns from solutions: it takes no reward")
        if not 0 <= self.replayed <= 1000:
            raise ValueError(f"replayed must lie in [0, 1000], but is {self.replayed}")
