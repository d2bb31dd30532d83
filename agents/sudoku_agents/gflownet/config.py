"""The configuration of GFlowNets: one frozen dataclass, which is the command line too."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

from sudoku_agents.gflownet.orders import Order
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks import FactorGraphConfig
from sudoku_learning.recurrent import UpdatesConfig
from sudoku_learning.training import TrainingConfig
from sudoku_learning.training.config import NetworkConfig
from sudoku_learning.training.environments import check_env
from sudoku_learning.training.optimiser import falling_rate

Balance: TypeAlias = Literal[
    "trajectory-balance",
    "log-partition-variance",
    "detailed-balance",
    "sub-trajectory-balance",
    "forward-looking",
]
Kind: TypeAlias = Literal[Balance, "maximum-likelihood"]


@registered("gflownet/loss")
@dataclass(frozen=True)
class LossConfig:
    """What is minimised, and by which steps."""

    kind: Kind = "trajectory-balance"
    """see `losses`; maximum-likelihood is the one for boards of 36 cells and more, and takes all
    but this from `thinking`"""
    decay: float = 0.9
    """lambda of sub-trajectory balance"""
    rounds: int | None = None
    """the loss counts after so many of a recurrent body's last rounds; None counts all of them. The
    square of a log is large where nothing can be known yet, as after few rounds on a large board"""
    learning_rate: float = 3e-3
    """of Adam, until `constant_share` of the run is over; from there it falls to 0"""
    constant_share: float = 0.6
    """share of the iterations before the learning rate begins to fall"""
    max_gradient_norm: float = 1.0
    """gradients longer than this are shortened to it"""

    def __post_init__(self) -> None:
        """Check the values."""
        for name in ("decay", "learning_rate", "max_gradient_norm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")
        if self.rounds is not None and self.rounds < 1:
            raise ValueError(f"rounds must be at least 1, not {self.rounds}")
        if not 0 <= self.constant_share < 1:
            raise ValueError(f"constant_share must lie in [0, 1), not {self.constant_share}")

    def learning_rate_at(self, done: float) -> float:
        """Return the learning rate when a share `done` of the run is over, in [0, 1]."""
        return self.learning_rate * falling_rate(done, self.constant_share)


@registered("gflownet/reward")
@dataclass(frozen=True)
class RewardConfig:
    """What a dead end pays; a solved board pays 1."""

    floor: float = -18.0
    """log of the least reward. The flow to dead ends has to stay small beside the solutions, and
    there are many of them without an order"""
    exponent: float | None = None
    """dead ends pay their constraint fraction to this power, if that is more than the floor"""

    def __post_init__(self) -> None:
        """Check the values."""
        if not -1e4 <= self.floor < 0:
            raise ValueError(f"floor must be negative and at least -10000, not {self.floor}")
        if self.exponent is not None and not self.exponent > 0:
            raise ValueError(f"exponent must be positive, not {self.exponent}")


@registered("gflownet")
@dataclass(frozen=True, kw_only=True)
class GFlowNetConfig(TrainingConfig):
    """Train a GFlowNet: it learns to draw the solutions of a board, each as likely as another."""

    agent: ClassVar[str] = "gflownet"
    fixed: ClassVar[tuple[str, ...]] = (*TrainingConfig.fixed, "order", "network", "weights")

    run: Path = Path("runs/gflownet")
    """folder for checkpoints and curves"""
    order: Order = "any"
    """in which order blanks are filled: any, rows or constrained, see `orders`"""
    updates: int = 40
    """updates an iteration, each on new trajectories"""
    puzzles: int = 64
    """puzzles an update"""
    repeats: int = 1
    """trajectories from each of them; log-partition-variance compares those of one puzzle"""
    epsilon: float = 0.05
    """share of placements that are drawn uniformly, to explore"""
    replayed: float = 0.25
    """trajectories that lead back from solutions found earlier, as a share of those played"""
    replay: int = 4096
    """solutions that are kept for this, the latest"""
    augment: bool = True
    """move each puzzle by a random symmetry; a body on the factor graph needs none"""
    reward: RewardConfig = field(default_factory=RewardConfig)
    """the reward"""
    loss: LossConfig = field(default_factory=LossConfig)
    """the loss"""
    network: NetworkConfig = field(default_factory=FactorGraphConfig)
    """the body of the network"""
    thinking: UpdatesConfig = field(default_factory=partial(UpdatesConfig, policy_weight=0.0))
    """the updates of `maximum-likelihood`, an iteration's; the learning rate is their own too"""
    revealed: float = 0.25
    """share of the boards in these updates that get some more cells of the solution at first"""
    weights: Path | None = None
    """folder of a checkpoint or a run of a network of the same form, whose weights this one begins
    with; None draws them"""

    def __post_init__(self) -> None:
        """Check the values."""
        super().__post_init__()
        check_env(self.env)
        for name in ("updates", "puzzles", "repeats", "replay"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.loss.kind == "log-partition-variance" and self.repeats < 2:
            raise ValueError(
                "log-partition-variance compares trajectories of one puzzle: repeats must be at "
                f"least 2 (4 are usual), not {self.repeats}"
            )
        if not 0 <= self.epsilon <= 1:
            raise ValueError(f"epsilon must lie in [0, 1], not {self.epsilon}")
        if not 0 <= self.revealed <= 1:
            raise ValueError(f"revealed must lie in [0, 1], not {self.revealed}")
        if self.loss.kind == "maximum-likelihood" and not isinstance(
            self.network, FactorGraphConfig
        ):
            raise ValueError("maximum-likelihood needs a recurrent body: network:factor-graph")
        if self.replayed < 0:
            raise ValueError(f"replayed must not be negative, but is {self.replayed}")
