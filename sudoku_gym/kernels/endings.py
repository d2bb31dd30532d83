"""When a game is over, and what it is worth: for the environments and for searches alike."""

# mypy: disable-error-code="no-untyped-def,call-arg"

from __future__ import annotations

from typing import Literal, NamedTuple

from sudoku_gym.compiler.jit import inlined
from sudoku_gym.kernels.layout import BLANKS, CANDIDATES, SATISFIED, STUCK

TERMINAL, DENSE, SPARSE, CUSTOM = range(4)  # the kinds of reward
NAKED_SINGLES, HIDDEN_SINGLES = range(2)  # what is filled in for the agent


class GameRules(NamedTuple):
    """How a game is played, beyond the geometry of its board.

    Where None leaves a feature out, its code is not even compiled.

    Attributes:
        reward: TERMINAL, DENSE, SPARSE or CUSTOM.
        any_digit: whether any digit may be placed in any blank cell, not only its candidates.
        can_erase: True if cells that are no givens can be cleared, else None.
        end_at_dead_end: whether a blank cell without a candidate ends the game.
        illegal_reward: what an illegal action adds to the reward.
        filled_in: NAKED_SINGLES or HIDDEN_SINGLES, placed for the agent after each move, or None.
        max_steps: after how many steps the game is truncated.
    """

    reward: int = TERMINAL
    any_digit: bool = False
    can_erase: Literal[True] | None = None
    end_at_dead_end: bool = False
    illegal_reward: float = 0.0
    filled_in: int | None = None
    max_steps: int = 2**62


@inlined
def state_is_solved(counts, b, num_units):
    """Return whether every unit of board b holds every digit."""
    return counts[b, SATISFIED] == num_units


@inlined
def state_constraint_fraction(counts, b, num_units):
    """Return the share of units of board b that hold every digit (cAlphaZero, equation 4)."""
    return counts[b, SATISFIED] / num_units


@inlined
def is_over(counts, b, num_units, rules):
    """Return whether no move is left on board b, or it is solved, or a dead end that counts."""
    if rules.can_erase is not None:
        over = state_is_solved(counts, b, num_units)
    else:
        over = counts[b, BLANKS if rules.any_digit else CANDIDATES] == 0
    return over | (rules.end_at_dead_end and counts[b, STUCK] > 0)


@inlined
def end_value(counts, b, num_units, reward):
    """Return the reward for the way a game ended: 0 where only moves are rewarded."""
    if reward == TERMINAL:
        return state_constraint_fraction(counts, b, num_units)
    return 1.0 if reward == SPARSE and state_is_solved(counts, b, num_units) else 0.0
