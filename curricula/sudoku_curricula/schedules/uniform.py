"""Every task alike: domain randomisation, the control."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula.base import Results, Schedule, register_schedule


@register_schedule("uniform")
@dataclass(frozen=True)
class UniformConfig:
    """Draw every task equally often: domain randomisation."""

    tasks: str = "blanks=2..12"
    """The tasks, as in `sudoku_gym.puzzles.Tasks`."""

    def build(self) -> Uniform:
        """Start the schedule."""
        return Uniform(self)


class Uniform(Schedule):
    """See `UniformConfig`."""

    def __init__(self, config: UniformConfig) -> None:
        super().__init__(config.tasks)

    def weights(self) -> NDArray[np.float64]:
        """Return equal weights."""
        return np.full(len(self.tasks), 1 / len(self.tasks))

    def update(self, results: Results) -> bool:
        """Stay."""
        return False
