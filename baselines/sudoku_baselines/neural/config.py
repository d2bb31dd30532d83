"""The configuration of a supervised training; each model's own inherits it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from sudoku_baselines.neural.model import Model, ModelConfig
from sudoku_baselines.neural.puzzles import PuzzlesConfig
from sudoku_curricula.schedules import ConstantConfig
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import BankSource, PuzzleSource
from sudoku_gym.storage.checks import check_counts, check_shares
from sudoku_learning.training import CurriculumConfig, OptimizerConfig, TrainingConfig


@dataclass(frozen=True, kw_only=True)
class LabelledConfig(TrainingConfig):
    """The options of every training on solutions."""

    agent: ClassVar[str] = "supervised"
    fixed: ClassVar[tuple[str, ...]] = (*TrainingConfig.fixed, "puzzles")

    puzzles: PuzzlesConfig = field(default_factory=PuzzlesConfig)
    """which puzzles are trained on"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ray.actors:
            raise ValueError("ray.actors: there is nothing to sample, the solutions are known")

    def build(self, geometry: Geometry) -> Any:
        """Make the network or networks, with random weights."""
        raise NotImplementedError

    def count_shown(self) -> int:
        """Return the number of puzzles whose solution the network is shown."""
        return self.puzzles.count_training(self.env)

    def held_out_source(self) -> PuzzleSource:
        """Return the puzzles kept back for validation, as `puzzles` divides them."""
        return BankSource(self.puzzles.divide(self.env).validation)


@dataclass(frozen=True, kw_only=True)
class SupervisedConfig(LabelledConfig):
    """Train a network to predict the digits of all cells."""

    fixed: ClassVar[tuple[str, ...]] = (
        *LabelledConfig.fixed,
        *("model", "updates", "cells", "as_stored", "revealed", "augment", "segments"),
        *("stay_probability", "halting_weight", "average", "optimizer"),
    )

    model: ModelConfig
    """the network"""
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
    """updates that a board stays for; a recurrent model goes on from its last state each time"""
    stay_probability: float = 0.5
    """chance that a solved board stays for another segment; of a network that halts, a board on
    which it does"""
    halting_weight: float = 0.5
    """weight of the halting loss beside that of the digits, for a network that halts; 0 replaces
    boards once they are solved"""
    average: float = 0.0
    """share of the moving average of the weights that an update keeps, e.g. 0.999: the average is
    what plays; 0 plays the weights themselves"""
    optimizer: OptimizerConfig = field(default_factory=lambda: OptimizerConfig(1e-3, 32))
    """Adam"""
    mode: Literal["one-shot", "surest"] = "one-shot"
    """how held-out games are played: all blanks at once, or the surest cell first"""
    curriculum: CurriculumConfig = field(default_factory=ConstantConfig)
    """how the number of blanks moves, see `as_stored`"""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counts(self, "updates", "segments")
        check_shares(self, "as_stored", "revealed", "stay_probability", "average")
        if self.average == 1:
            raise ValueError("average must lie in [0, 1), for 1 would keep the first weights")
        if not 0 <= self.halting_weight < math.inf:
            raise ValueError(f"halting_weight must not be negative, but is {self.halting_weight}")

    def build(self, geometry: Geometry) -> Model:
        """Make the model, with random weights."""
        return self.model.build(geometry)
