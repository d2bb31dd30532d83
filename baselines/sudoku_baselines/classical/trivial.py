"""The floors (lower bounds) for every learner: random play, and play by singles.

Naked singles alone solve every minimal 4x4 puzzle; naked and hidden singles solve about half of all
random minimal 9x9 puzzles.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.board.actions import sample_actions
from sudoku_gym.board.checks import candidate_masks
from sudoku_gym.compiler.intrinsics import lowest_bit, popcount
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry


class MaskedRandom:
    """Plays a legal action, each as likely as the others."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games."""
        self._rng = rng

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Draw an action for each game."""
        return sample_actions(action_masks, self._rng)


class Singles:
    """Plays forced placements while there are any, and a random legal action where there is none.

    A naked single is a blank cell with one candidate, a hidden single a digit with one cell left
    in a unit, looked for if `hidden`. Naked singles go first. A random action is a guess, and may
    lose the game.
    """

    def __init__(self, hidden: bool = True) -> None:
        self.hidden = hidden
        self._rng = np.random.default_rng(0)
        self._geometry = Geometry.standard(4)

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games."""
        self._geometry, self._rng = geometry, rng

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Play the first single of each game, else a uniformly random legal action."""
        geometry = self._geometry
        flat = boards.reshape(len(boards), -1)
        actions = _first_singles(flat, self.hidden, geometry.units, geometry.cell_units)
        is_legal = action_masks[np.arange(len(boards)), np.maximum(actions, 0)]
        guess = ~((actions >= 0) & is_legal)
        if guess.any():
            actions[guess] = sample_actions(action_masks[guess], self._rng)
        return actions


def naked_singles() -> Singles:
    """Make the policy that knows naked singles only."""
    return Singles(hidden=False)


def hidden_singles() -> Singles:
    """Make the policy that knows naked and hidden singles."""
    return Singles(hidden=True)


@njit(cache=True)
def _first_singles(boards, hidden, units, cell_units):
    """Return a forced placement on each of `boards [B, N**2]`, or -1: int64 `[B]`."""
    actions = np.full(len(boards), -1, np.int64)
    candidates = candidate_masks(boards, units, cell_units)
    for b in range(len(boards)):
        actions[b] = _naked_single(candidates[b], units.shape[1])
        if hidden and actions[b] < 0:
            actions[b] = _hidden_single(candidates[b], units)
    return actions


@njit(cache=True)
def _naked_single(candidates, size):
    """Return the first naked single, as an action, or -1."""
    for cell in range(len(candidates)):
        if popcount(candidates[cell]) == 1:
            return cell * size + lowest_bit(candidates[cell])
    return -1


@njit(cache=True)
def _hidden_single(candidates, units):
    """Return the first digit with a single cell in some unit, as an action, or -1."""
    size = units.shape[1]
    for unit in units:
        once = np.uint32(0)
        twice = np.uint32(0)
        for cell in unit:
            twice |= once & candidates[cell]
            once |= candidates[cell]
        alone = once & ~twice
        if alone != 0:
            digit = lowest_bit(alone)
            for cell in unit:
                if (candidates[cell] >> np.uint32(digit)) & np.uint32(1):
                    return cell * size + digit
    return -1
