"""The end of a game and its reward, shared by the environments and the searches."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

from sudoku_gym.compiler.jit import inlined
from sudoku_gym.kernels.layout import BLANKS, CANDIDATES, SATISFIED, STUCK

RewardName: TypeAlias = Literal["terminal", "dense", "sparse"]
"""The built-in rewards, wherever an option takes one by name."""
REWARDS: tuple[RewardName, ...] = get_args(RewardName)
TERMINAL, DENSE, SPARSE, CUSTOM = range(4)  # indices in `REWARDS`; a function of the user's
NAKED_SINGLES, HIDDEN_SINGLES = range(2)  # what is filled in for the agent


class GameRules(NamedTuple):
    """The rules of a game; a feature set to None is not compiled."""

    reward: int = TERMINAL  # index in `REWARDS`, or CUSTOM
    any_digit: bool = False  # may be placed in any blank cell, not only its candidates
    can_erase: Literal[True] | None = None  # cells that are no givens
    end_at_dead_end: bool = False  # whether a blank cell without a candidate ends the game
    illegal_reward: float = 0.0  # added to the reward by an illegal action
    filled_in: int | None = None  # NAKED_SINGLES or HIDDEN_SINGLES, placed after each move
    max_steps: int = 2**62  # steps until the game is truncated


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
