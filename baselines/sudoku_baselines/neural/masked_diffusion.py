"""Masked discrete diffusion: blanks are masked digits, unmasked one after the other.

Papers: Sahoo et al., "Simple and effective masked diffusion language models" (2024); Kim et al.,
"Train for the worst, plan for the best: understanding token ordering in masked diffusions" (2025),
whose finding on Sudoku is that the same network solves far more with the surest cell first than in
a random order. Solutions are trained on with any number of their blanks masked, each number equally
often; the loss is the cross entropy of the masked cells. Givens are never masked.

Differences: the network that unmasks is `symbol_equivariant`, for a transformer on the cells stayed
at chance in 150 updates at 9x9. A board counts by its masked cells, not each alike, and symmetric
copies are trained on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sudoku_baselines.neural.learner import SupervisedLearner
from sudoku_baselines.neural.symbol_equivariant import (
    SymbolEquivariantConfig,
    SymbolEquivariantTraining,
)
from sudoku_gym.policies.protocols import Mode
from sudoku_gym.storage.configs import registered
from sudoku_learning.training import train_cli


@registered("neural/masked-diffusion-training")
@dataclass(frozen=True, kw_only=True)
class MaskedDiffusionTraining(SymbolEquivariantTraining):
    """Train by masked diffusion; play with mode=surest or mode=random."""

    run: Path = Path("runs/masked-diffusion")
    revealed: float = 1.0
    segments: int = 8
    mode: Mode = "surest"
    validation_games: int = 16
    evaluate_every: int = 20
    model: SymbolEquivariantConfig = field(
        default_factory=lambda: SymbolEquivariantConfig(rounds=16)
    )


main = partial(train_cli, MaskedDiffusionTraining, SupervisedLearner, "masked-diffusion")
