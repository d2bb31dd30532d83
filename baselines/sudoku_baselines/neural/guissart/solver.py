"""The trained networks as a solver: filling, trial and error, and backtracking for what is left.

Many boards are searched in lock step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from torch import nn

from sudoku_baselines.neural.guissart.candidate_states import (
    Filler,
    RuleFiller,
    boards_of,
    fill,
    is_full,
    is_wrong,
    states_of,
)
from sudoku_baselines.neural.guissart.network import SymmetricNetwork
from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import ModelCard
from sudoku_learning.networks.network import count_weights

States = NDArray[np.int8]
_ASSUMPTIONS = 1000  # of backtracking on a board at most, with each way of filling


class GuissartNetworks(nn.Module):
    """Networks that fill, in the order of their training, and one that proposes trials.

    Each is a `SymmetricNetwork` with the last two arguments.
    """

    def __init__(
        self, geometry: Geometry, fillers: int, hidden: int, as_printed: bool = False
    ) -> None:
        super().__init__()
        self.geometry = geometry
        made = [SymmetricNetwork(geometry, hidden, as_printed) for _ in range(fillers + 1)]
        self.fillers, self.proposer = nn.ModuleList(made[:-1]), made[-1]

    def first(self, count: int) -> list[SymmetricNetwork]:
        """Return the first networks that fill."""
        return cast(list[SymmetricNetwork], list(self.fillers)[:count])


@dataclass(frozen=True)
class Probes:
    """The results of assuming one placement of each of B boards present, and absent."""

    present: States  # int8 [B, N**2, N], filled after the placement was assumed to be present
    absent: States
    present_fails: NDArray[np.bool_]  # [B], whether `present` breaks a rule
    absent_fails: NDArray[np.bool_]

    @property
    def decides(self) -> NDArray[np.bool_]:
        """Whether a side fails or is full, bool `[B]`."""
        full = is_full(self.present) | is_full(self.absent)
        return self.present_fails | self.absent_fails | full

    def outcome(self, states: States) -> States:
        """Return the states after the trials (algorithm 2); `states` where they decide nothing.

        Where one side fails the other holds; where a side is full it is the solution.
        """
        holds_absent = self.present_fails | (is_full(self.absent) & ~self.absent_fails)
        holds_present = self.absent_fails | (is_full(self.present) & ~self.present_fails)
        found = np.where(holds_present[:, None, None], self.present, states)
        found = np.where(holds_absent[:, None, None], self.absent, found)
        both = self.present_fails & self.absent_fails
        return np.where(both[:, None, None], self.present, found)


def probe_both_ways(
    states: States,
    placements: NDArray[np.int64],
    networks: Sequence[SymmetricNetwork],
    geometry: Geometry,
) -> Probes:
    """Try an unknown placement int64 `[B]` of each board int8 `[B, N**2, N]` both ways."""
    count = len(states)
    both = np.concatenate([states, states])
    flat = both.reshape(2 * count, -1)
    flat[np.arange(count), placements] = 1
    flat[np.arange(count, 2 * count), placements] = -1
    both = fill(both, networks, geometry)
    fails = is_wrong(both, geometry)
    return Probes(both[:count], both[count:], fails[:count], fails[count:])


def best_placements(
    states: States, proposer: SymmetricNetwork, tried: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """Return the unknown placement of each board whose trial is likeliest to decide something.

    The proposer's second logit predicts this; `tried` bool `[B, N**3]` are left out. Returns int64
    `[B]`, -1 where no placement is left.
    """
    scores = proposer.logits_of(states)[..., 1].reshape(
        len(states), states.shape[1] * states.shape[2]
    )
    open_ = states.reshape(scores.shape) == 0
    if tried is not None:
        open_ &= ~tried
    best = np.where(open_, scores, -np.inf).argmax(1)
    return np.where(open_.any(1), best, -1)


def solve_by_probing(
    states: States,
    networks: Sequence[SymmetricNetwork],
    proposer: SymmetricNetwork,
    geometry: Geometry,
) -> tuple[States, NDArray[np.int64]]:
    """Fill boards, trying placements both ways wherever filling stops (algorithm 2).

    Returns:
        The boards, int8 `[B, N**2, N]`: full, wrong, or with every placement tried; and how
        many placements were tried on each, int64 `[B]`.
    """
    states = fill(states, networks, geometry)
    trials = np.zeros(len(states), np.int64)
    tried = np.zeros((len(states), states.shape[1] * states.shape[2]), np.bool_)
    rows = np.arange(len(states))
    while True:
        rows = rows[~(is_full(states[rows]) | is_wrong(states[rows], geometry))]
        placements = best_placements(states[rows], proposer, tried[rows])
        rows, placements = rows[placements >= 0], placements[placements >= 0]
        if not len(rows):
            return states, trials
        trials[rows] += 1
        found = probe_both_ways(states[rows], placements, networks, geometry)
        decided = found.decides
        states[rows] = found.outcome(states[rows])
        tried[rows, placements] = True
        tried[rows[decided]] = False


def backtrack(
    states: States,
    fillers: Sequence[Filler],
    proposer: SymmetricNetwork,
    geometry: Geometry,
    limit: int,
) -> tuple[States, NDArray[np.int64]]:
    """Search boards depth first, filling after each assumption, which the proposer chooses.

    At most `limit` boards are filled for each: itself, and one an assumption. Returns the boards,
    int8 `[B, N**2, N]`: full ones, where one was found, else as given; and how many assumptions
    were filled on each, int64 `[B]`.
    """
    found = states.copy()
    stacks: list[list[States]] = [[each] for each in states]
    left = np.full(len(states), limit)
    while rows := [row for row, stack in enumerate(stacks) if stack and left[row] > 0]:
        left[rows] -= 1
        filled = fill(np.stack([stacks[row].pop() for row in rows]), fillers, geometry)
        wrong, full = is_wrong(filled, geometry), is_full(filled)
        placements = best_placements(filled, proposer)
        for which, row in enumerate(rows):
            if full[which] and not wrong[which]:
                found[row] = filled[which]
                stacks[row].clear()
            elif not wrong[which]:
                for sign in (-1, 1):  # the last is filled first
                    assumed = filled[which].copy()
                    assumed.flat[placements[which]] = sign
                    stacks[row].append(assumed)
    return found, np.maximum(limit - left - 1, 0)


class Guissart:
    """Filling, then trial and error, then backtracking: a `sudoku_gym.Solver`.

    Args:
        networks: trained, for boards of one geometry.
        solutions: different puzzles whose solution the networks were shown in training.

    Attributes:
        filled, tried, searched: how many of the last batch were solved by filling alone, by trial
            and error, and by backtracking.
        assumptions: int64 `[B]`, placements tried both ways, and assumptions in backtracking, on
            each board of the last batch.
    """

    def __init__(self, networks: GuissartNetworks, solutions: int = 0) -> None:
        self.networks = networks
        self.solutions = solutions
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
        self.filled = int(solved.sum())
        self.assumptions = np.zeros(len(states), np.int64)
        rows = np.flatnonzero(~solved)
        found, self.assumptions[rows] = solve_by_probing(states[rows], fillers, proposer, geometry)
        states[rows], solved[rows] = found, _is_solved(found, geometry)
        self.tried = int(solved[rows].sum())
        self.searched = 0
        # A wrong state of a network excludes the solution; the rules make none.
        for filling in (fillers, [RuleFiller(geometry)]):
            rows = np.flatnonzero(~solved)
            found, assumed = backtrack(start[rows], filling, proposer, geometry, _ASSUMPTIONS)
            self.assumptions[rows] += assumed
            states[rows], solved[rows] = found, _is_solved(found, geometry)
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
