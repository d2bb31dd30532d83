"""Marginals as policies: fill the cell of highest belief, with its best digit or a drawn one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_baselines.belief_propagation.solver import BeliefPropagation, fractional_bp
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import PredictorPolicy


class Marginals:
    """The beliefs of a message-passing solver, which runs without checks, as a predictor."""

    def __init__(self, solver: BeliefPropagation) -> None:
        self.solver = solver

    def predict(self, boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.floating[Any]]:
        """Return the probability of each digit in each cell, float64 `[B, N, N, N]`.

        Zeros for a board on which the solver finds a contradiction before the first iteration.
        """
        return self.solver.marginals(boards, geometry)


class StochasticMarginals:
    """Plays the blank cell of highest belief with a digit drawn from its marginal."""

    def __init__(self, solver: BeliefPropagation) -> None:
        self.solver = solver
        self._geometry: Geometry | None = None
        self._rng = np.random.default_rng(0)

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games."""
        self._geometry, self._rng = geometry, rng

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Draw a legal digit; the first legal action where no placement has any probability."""
        if self._geometry is None:
            raise RuntimeError("call reset(puzzles, geometry, rng) before act")
        size, cells = self._geometry.size, self._geometry.num_cells
        legal = action_masks[:, : self._geometry.num_placements].reshape(-1, cells, size)
        beliefs = self.solver.marginals(boards, self._geometry).reshape(-1, cells, size)
        rows = np.arange(len(boards))
        beliefs = np.where(legal, beliefs, 0.0)
        best_cells = beliefs.max(2).argmax(1)
        cumulative = beliefs[rows, best_cells].cumsum(1)  # [B, N]
        draws = self._rng.random(len(boards)) * cumulative[:, -1]
        digits = (cumulative <= draws[:, None]).sum(1)
        possible = cumulative[:, -1] > 0
        return np.where(possible, best_cells * size + digits, action_masks.argmax(1))


def surest_marginal(iterations: int = 40, **changes: Any) -> PredictorPolicy:
    """Make the policy that plays the most probable placement, beliefs renewed at every move."""
    return PredictorPolicy(Marginals(fractional_bp(iterations=iterations, **changes)))


def drawn_marginal(iterations: int = 40, **changes: Any) -> StochasticMarginals:
    """Make the policy that draws the digit of the cell of highest belief."""
    return StochasticMarginals(fractional_bp(iterations=iterations, **changes))
