"""Trial and error, and backtracking for what it leaves: many boards in lock step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudoku_baselines.neural.guissart.candidate_states import Filler, fill, is_full, is_wrong
from sudoku_baselines.neural.guissart.network import SymmetricNetwork
from sudoku_gym.geometry import Geometry

States = NDArray[np.int8]


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
