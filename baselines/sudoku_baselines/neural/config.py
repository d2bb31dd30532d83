"""The configuration of a supervised training; each model's own inherits it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from sudoku_baselines.neural.model import ModelConfig
from sudoku_baselines.neural.puzzles import PuzzlesConfig
from sudoku_curricula.schedules import ConstantConfig
from sudoku_gym.puzzles.sources import BankSource, PuzzleSource
from sudoku_learning.training import CurriculumConfig, TrainingConfig


@dataclass(frozen=True, kw_only=True)
class LabelledConfig(TrainingConfig):
    """What every training on solutions is told."""

    agent: ClassVar[str] = "supervised"
    fixed: ClassVar[tuple[str, ...]] = (*TrainingConfig.fixed, "puzzles")

    puzzles: PuzzlesConfig = field(default_factory=PuzzlesConfig)
    """which puzzles are trained on"""

    def __post_init__(self) -> None:
        """Check the values."""
        super().__post_init__()
        if self.ray.actors:
            raise ValueError("ray.actors: there is nothing to sample, the solutions are known")

    def held_out_source(self) -> PuzzleSource:
        """Return the puzzles kept back for validation, as `puzzles` divides them."""
        return BankSource(self.puzzles.divide(self.env).validation)


@dataclass(frozen=True, kw_only=True)
class SupervisedConfig(LabelledConfig):
    """Train a network to predict the digits of all cells."""

    fixed: ClassVar[tuple[str, ...]] = (
        *LabelledConfig.fixed,
        *("model", "boards", "updates", "cells", "as_stored", "revealed", "augment", "segments"),
        *("linger", "learning_rate", "constant_share", "max_gradient_norm"),
    )

    model: ModelConfig
    """the network"""
    boards: int = 32
    """boards an update"""
    updates: int | None = None
    """updates an iteration; None passes over all training puzzles once: an epoch"""
    cells: Literal["blanks", "all"] = "blanks"
    """the cells whose digits count in the loss"""
    as_stored: float = 1.0
    """share of the boards that are trained as stored; the others have as many blanks as the
    curriculum says"""
    revealed: float = 0.0
    """share of the boards that get some cells of the solution, any number of them: what playing
    one digit after the other will meet"""
    augment: bool = False
    """move each board by a random symmetry"""
    segments: int = 1
    """updates that a board stays for; a model that keeps a memory goes on from it each time"""
    linger: float = 0.5
    """chance that a board which is read right stays for another segment"""
    learning_rate: float = 1e-3
    """of Adam, until `constant_share` of the iterations are done; from there it falls to 0"""
    constant_share: float = 1.0
    """share of the iterations before the learning rate begins to fall"""
    max_gradient_norm: float = 1.0
    """gradients longer than this are shortened to it"""
    mode: Literal["one-shot", "surest"] = "one-shot"
    """how held-out games are played: all blanks at once, or the surest cell first"""
    curriculum: CurriculumConfig = field(default_factory=ConstantConfig)
    """how the number of blanks moves, see `as_stored`"""

    def __post_init__(self) -> None:
        """Check the values."""
        super().__post_init__()
        for name in ("boards", "updates", "segments"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")
        for name in ("as_stored", "revealed", "linger", "constant_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must lie in [0, 1], not {getattr(self, name)}")
        for name in ("learning_rate", "max_gradient_norm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")
        if self.cells not in ("blanks", "all"):
            raise ValueError(f"cells must be 'blanks' or 'all', not {self.cells!r}")
        if self.mode not in ("one-shot", "surest"):
            raise ValueError(f"mode must be 'one-shot' or 'surest', not {self.mode!r}")
