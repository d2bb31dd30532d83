"""The configuration of cAlphaZero: one frozen dataclass, which is the command line too."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import subcommand

from sudoku_agents.alphazero.search import SearchConfig
from sudoku_curricula.schedules import (
    ConstantConfig,
    LinearConfig,
    PaperAlgorithm1Config,
    SuccessRateConfig,
)

AGENT = "sudoku_agents.alphazero.agent:load"

Curriculum = (
    Annotated[SuccessRateConfig, subcommand("success-rate")]
    | Annotated[PaperAlgorithm1Config, subcommand("algorithm-1")]
    | Annotated[LinearConfig, subcommand("linear")]
    | Annotated[ConstantConfig, subcommand("constant")]
)


@dataclass(frozen=True)
class NetworkConfig:
    """Size of the exact-cover network; it does not depend on the size of the board."""

    channels: int = 32
    """width of the features"""
    layers: int = 2
    """rounds of messages between placements and constraints"""

    def __post_init__(self) -> None:
        """Check the values."""
        if min(self.channels, self.layers) < 1:
            raise ValueError(
                f"channels and layers must be at least 1, not {self.channels} and {self.layers}"
            )


@dataclass(frozen=True)
class LossConfig:
    """Weights of the loss, equation 5 of cAlphaZero, and of its optimiser."""

    value_weight: float = 1.0
    """lambda; the paper has 100, for a constraint fraction, which varies little"""
    entropy_weight: float = 0.0
    """xi; above 0 it rewards an undecided policy"""
    learning_rate: float = 3e-3
    """of Adam"""
    batch_size: int = 256
    """positions an update"""
    passes: float = 2.0
    """how often a new position is trained on, on average, in the iteration that played it"""

    def __post_init__(self) -> None:
        """Check the values."""
        if self.batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, not {self.batch_size}")
        for name in ("learning_rate", "passes"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")


@dataclass(frozen=True)
class RayConfig:
    """Self-play on Ray; the learner stays in the process that was started."""

    actors: int = 0
    """self-play actors, each with a core of its own; 0 plays in this process, without Ray"""
    address: str | None = None
    """of a running cluster; without one Ray starts on this machine, or joins $RAY_ADDRESS"""
    games_per_task: int = 128
    """games an actor plays in lock step; the result depends on it, but not on the actors"""

    def __post_init__(self) -> None:
        """Check the values."""
        if self.actors < 0:
            raise ValueError(f"ray.actors must not be negative, but is {self.actors}")
        if self.games_per_task < 1:
            raise ValueError(f"ray.games_per_task must be at least 1, not {self.games_per_task}")
        if self.address is not None and not self.actors:
            raise ValueError(f"ray.address={self.address}: say how many actors, ray.actors")


@dataclass(frozen=True)
class AlphaZeroConfig:
    """Train cAlphaZero: self-play with tree search, a network, and a curriculum over blanks."""

    env: str = "Sudoku4x4-v0"
    """id of the environment; training draws from its training orbits only"""
    run: Path = Path("runs/calphazero")
    """folder for checkpoints and curves"""
    resume: bool = False
    """continue the run in that folder from its latest checkpoint"""
    seed: int = 0
    """of everything random"""
    iterations: int = 60
    """most iterations; an iteration plays, trains and evaluates"""
    extra_iterations: int = 6
    """iterations after the curriculum is finished"""
    games: int = 256
    """games of self-play an iteration, in lock step"""
    temperature: float = 0.5
    """moves are drawn from visit counts to the power of 1 / temperature; 0 plays the best"""
    noise_fraction: float = 0.25
    """share of Dirichlet noise in the priors of a root"""
    noise_alpha: float = 0.5
    """its concentration"""
    augment: bool = True
    """move each trained position by a random symmetry"""
    replay_iterations: int = 8
    """positions of so many iterations are trained on"""
    validation_games: int = 512
    """greedy games on held-out puzzles an iteration, at the level and on minimal puzzles each"""
    checkpoint_every: int = 5
    """iterations between checkpoints"""
    search: SearchConfig = field(
        default_factory=lambda: SearchConfig(simulations=64, reward="sparse")
    )
    """the tree search of self-play"""
    loss: LossConfig = field(default_factory=LossConfig)
    """the loss"""
    network: NetworkConfig = field(default_factory=NetworkConfig)
    """the network"""
    curriculum: Curriculum = field(default_factory=SuccessRateConfig)
    """how the number of blanks moves"""
    ray: RayConfig = field(default_factory=RayConfig)
    """where self-play runs"""

    def __post_init__(self) -> None:
        """Check the values."""
        for name in ("iterations", "games", "replay_iterations", "validation_games"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.checkpoint_every < 1:
            raise ValueError(f"checkpoint_every must be at least 1, not {self.checkpoint_every}")
        if self.temperature < 0:
            raise ValueError(f"temperature must not be negative, but is {self.temperature}")
        if not 0 <= self.noise_fraction <= 1:
            raise ValueError(f"noise_fraction must lie in [0, 1], not {self.noise_fraction}")
        if self.noise_alpha <= 0:
            raise ValueError(f"noise_alpha must be positive, not {self.noise_alpha}")

    def to_json(self) -> dict[str, Any]:
        """Return the configuration fit for JSON, with the loader of the agent it makes."""
        return {
            "agent": AGENT,
            **asdict(self),
            "run": str(self.run),
            "schedule": type(self.curriculum).__name__,
        }
