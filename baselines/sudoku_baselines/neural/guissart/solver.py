"""The trained networks as a solver, and as a predictor without search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from torch import nn

from sudoku_baselines.neural.guissart.candidate_states import (
    RuleFiller,
    boards_of,
    fill,
    is_full,
    states_of,
)
from sudoku_baselines.neural.guissart.network import SymmetricNetwork
from sudoku_baselines.neural.guissart.probing import backtrack, solve_by_probing
from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import ModelCard
from sudoku_learning.networks.network import count_weights


class GuissartNetworks(nn.Module):
    """Networks that fill, in the order of their training, and one that proposes trials.

    Each has so many `hidden` units.
    """

    def __init__(self, geometry: Geometry, fillers: int, hidden: int) -> None:
        super().__init__()
        self.geometry = geometry
        self.fillers = nn.ModuleList(SymmetricNetwork(geometry, hidden) for _ in range(fillers))
        self.proposer = SymmetricNetwork(geometry, hidden)

    def first(self, count: int) -> list[SymmetricNetwork]:
        """Return the first networks that fill."""
        return cast(list[SymmetricNetwork], list(self.fillers)[:count])


class Guissart:
    """Filling, then trial and error, then backtracking: a `sudoku_gym.Solver`.

    Args:
        networks: trained, for boards of one geometry.
        trial_and_error: whether to try placements where filling stops.
        backtracking: assumptions a board at most where trial and error fails, once with the
            networks and once with `RuleFiller`; 0 for none.
        solutions: different puzzles whose solution the networks were shown in training.

    Attributes:
        filled, tried, searched: how many of the last batch were solved by filling alone, by trial
            and error, and by backtracking.
        assumptions: int64 `[B]`, placements tried both ways, and assumptions in backtracking, on
            each board of the last batch.
    """

    def __init__(
        self,
        networks: GuissartNetworks,
        trial_and_error: bool = True,
        backtracking: int = 1000,
        solutions: int = 0,
    ) -> None:
        self.networks = networks
        self.solutions = solutions
        self.trial_and_error = trial_and_error
        self.backtracking = backtracking
        self.filled = self.tried = self.searched = 0
        self.assumptions = np.zeros(0, np.int64)

    @property
    def model_card(self) -> ModelCard:
        """What stands beside its figures; the weights are those of all its networks."""
        return ModelCard("constraints", count_weights(self.networks), self.solutions, "search")

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Return completed boards, int8 `[B, N, N]`, all zeros where it found none.

        Raises:
            ValueError: if the boards have other units than those it was trained on.
        """
        check_units(geometry, self.networks)
        fillers: Sequence[SymmetricNetwork] = self.networks.first(len(self.networks.fillers))
        proposer = self.networks.proposer
        start = states_of(board.as_boards(puzzles, geometry))
        states = fill(start, fillers, geometry)
        solved = _is_solved(states, geometry)
        self.filled, self.tried, self.searched = int(solved.sum()), 0, 0
        self.assumptions = np.zeros(len(states), np.int64)
        if self.trial_and_error:
            rows = np.flatnonzero(~solved)
            states[rows], trials = solve_by_probing(states[rows], fillers, proposer, geometry)
            self.assumptions[rows] += trials
            solved[rows] = _is_solved(states[rows], geometry)
            self.tried = int(solved[rows].sum())
        if self.backtracking:
            # A wrong state of a network excludes the solution; the rules make none.
            for filling in (fillers, [RuleFiller(geometry)]):
                rows = np.flatnonzero(~solved)
                args = (filling, proposer, geometry, self.backtracking)
                states[rows], searched = backtrack(start[rows], *args)
                self.assumptions[rows] += searched
                solved[rows] = _is_solved(states[rows], geometry)
                self.searched += int(solved[rows].sum())
        return np.where(solved[:, None, None], boards_of(states), np.int8(0))


class FillingPredictor:
    """Filling alone, by the first `count` networks, as a `sudoku_gym.policies.Predictor`."""

    def __init__(self, networks: GuissartNetworks, count: int) -> None:
        self.networks = networks
        self.count = count

    def predict(self, boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.floating[Any]]:
        """Return 1 for placements that are present, -1 absent, 0 unknown: float32 `[B, N, N, N]`.

        The scores of a cell whose digit is unknown are negated: it gets a digit that is known to
        be wrong, so that no board is solved by a guess.

        Raises:
            ValueError: as `Guissart.solve`.
        """
        check_units(geometry, self.networks)
        states = states_of(board.as_boards(boards, geometry))
        found = fill(states, self.networks.first(self.count), geometry)
        scores = np.where((found > 0).any(2, keepdims=True), found, -found)
        return scores.reshape(len(boards), *3 * (geometry.size,)).astype(np.float32)


def check_units(geometry: Geometry, networks: GuissartNetworks) -> None:
    """Raise ValueError unless boards have the units that networks were made for."""
    if geometry != networks.geometry:
        raise ValueError(
            f"the networks were trained on {networks.geometry.name}, these boards are "
            f"{geometry.name}: train others with --env"
        )


def _is_solved(states: NDArray[np.int8], geometry: Geometry) -> NDArray[np.bool_]:
    return is_full(states) & board.is_solved(boards_of(states), geometry)
