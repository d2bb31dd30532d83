"""States of boards, and the solver: filling, trial and error, backtracking for what is left.

Many boards are filled and searched in lock step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from torch import nn

from sudoku_baselines.neural.guissart.network import SymmetricNetwork
from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import ModelCard
from sudoku_learning.networks.network import count_weights

States = NDArray[np.int8]
_ASSUMPTIONS = 1000  # of backtracking on a board at most, with each way of filling


class Filler(Protocol):
    """What adds states to boards: a network, or `RuleFiller`."""

    def step(self, states: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the states after one step, int8 `[B, N**2, N]`."""
        ...


class RuleFiller:
    """Adds the states that follow from the rules: absent in peers, naked and hidden singles."""

    def __init__(self, geometry: Geometry) -> None:
        self._units = geometry.units
        self._is_in = np.zeros((geometry.num_cells, len(geometry.units)), np.float32)
        self._is_in[geometry.units, np.arange(len(geometry.units))[:, None]] = 1

    def step(self, states: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the states after one step, int8 `[B, N**2, N]`."""
        is_present = states > 0
        unit_has = is_present[:, self._units].any(2).astype(np.float32)  # [B, U, N digits]
        is_taken = is_present.any(2, keepdims=True) | (self._is_in @ unit_has > 0)
        is_open = is_present | ((states == 0) & ~is_taken)
        in_unit = is_open[:, self._units].sum(2) == 1
        is_last = self._is_in @ in_unit.astype(np.float32) > 0
        is_last |= is_open.sum(2, keepdims=True) == 1
        return np.where(is_open, np.where(is_last, 1, states), -1).astype(np.int8)


def states_of(boards: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the states of boards `[B, N, N]`: 1 for each digit there, int8 `[B, N**2, N]`."""
    count, size = boards.shape[:2]
    digits = np.arange(1, size + 1, dtype=np.int8)
    return (boards.reshape(count, size**2, 1) == digits).astype(np.int8)


def solution_states(solutions: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the states of solutions `[B, N, N]`: -1 or 1, int8 `[B, N**2, N]`."""
    return 2 * states_of(solutions) - np.int8(1)


def boards_of(states: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the digits that are present, int8 `[B, N, N]`, 0 where a cell has none."""
    count, _, size = states.shape
    present = states > 0
    found = np.where(present.any(2), present.argmax(2) + 1, 0)
    return found.astype(np.int8).reshape(count, size, size)


def is_wrong(states: NDArray[np.int8], geometry: Geometry) -> NDArray[np.bool_]:
    """Return the boards with a cell, or a digit in a unit, present twice or nowhere, bool `[B]`."""
    in_units = states[:, geometry.units]  # [B, U, N cells, N digits]
    twice_in_unit = ((in_units > 0).sum(2) > 1).any((1, 2))
    nowhere_in_unit = (in_units.max(2) < 0).any((1, 2))
    twice_in_cell = ((states > 0).sum(2) > 1).any(1)
    nothing_in_cell = (states.max(2) < 0).any(1)
    found: NDArray[np.bool_] = twice_in_unit | nowhere_in_unit | twice_in_cell | nothing_in_cell
    return found


def is_full(states: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return which boards have a digit in every cell, bool `[B]`."""
    found: NDArray[np.bool_] = states.max(2).min(1) > 0
    return found


def fill(
    states: NDArray[np.int8], fillers: Sequence[Filler], geometry: Geometry
) -> NDArray[np.int8]:
    """Fill boards until no filler adds anything, or they are full or wrong.

    In each step a board is filled by the first filler, in the order of their training, that adds
    something. States are int8 `[B, N**2, N]`; those returned are new arrays.
    """
    states = states.copy()
    rows = np.arange(len(states))
    while len(rows):
        rows = rows[~(is_full(states[rows]) | is_wrong(states[rows], geometry))]
        stuck = rows
        for filler in fillers:
            following = filler.step(states[stuck])
            is_stuck = (following == states[stuck]).all((1, 2))
            states[stuck] = following
            stuck = stuck[is_stuck]
        rows = np.setdiff1d(rows, stuck, assume_unique=True)
    return states


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
