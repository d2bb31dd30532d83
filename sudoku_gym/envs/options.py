"""The options of the environments: `EnvOptions`, checked in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.board.actions import Actions
from sudoku_gym.geometry import Geometry
from sudoku_gym.kernels import endings
from sudoku_gym.plugins import load_attribute
from sudoku_gym.puzzles.banks import named_geometry
from sudoku_gym.puzzles.sources import Blanks, PuzzleSource, resolve_source


class RewardFunction(Protocol):
    """A custom reward, called once per step for a whole batch."""

    def __call__(
        self,
        before: NDArray[np.int8],
        actions: NDArray[np.int64],
        after: NDArray[np.int8],
        terminated: NDArray[np.bool_],
        /,
    ) -> NDArray[np.floating]:
        """Return one reward per board, float `[B]`.

        `before` and `after` are int8 `[B, N, N]`, the boards before and after `actions`, int64
        `[B]`. `terminated`, bool `[B]`, is True where the episode has just ended (not by a step
        limit).
        """


Reward: TypeAlias = endings.RewardName | RewardFunction
PropagationKind: TypeAlias = Literal["naked singles", "hidden singles"] | None

_NAKED, _HIDDEN = endings.NAKED_SINGLES, endings.HIDDEN_SINGLES
_PROPAGATIONS = {None: None, "naked singles": _NAKED, "hidden singles": _HIDDEN}


@dataclass(frozen=True)
class EnvOptions:
    """The options that both environments take.

    Raises:
        ValueError: if an option has no such value.
    """

    source: object
    """A bank's name, a file of puzzles, `"module:attribute"`, or a `PuzzleSource`."""
    split: str = "train"
    """Part of a bank: `"train"`, `"validation"`, `"test"` or `"all"`."""
    board: str | Geometry | None = None
    """The board that the source must have, by name or as a `Geometry`; None takes the source's."""
    blanks: Blanks = None
    """A number, a (low, high) pair, weights by number, or None for puzzles as stored."""
    augment: bool = True
    """Move each drawn puzzle by a random symmetry of the board."""
    reward: Reward | str = "terminal"
    """A built-in reward by name, see `SudokuEnv`; a `RewardFunction`, or its module:attribute."""
    actions: Actions = "legal"
    """Mask: `"legal"`, candidates only, or `"blank"`, any digit in a blank cell."""
    erase: bool = False
    """Add N**2 actions that clear a cell."""
    illegal_reward: float = 0.0
    """Added to the reward of an illegal action; finite."""
    end_at_dead_end: bool = False
    """Terminate when some blank cell has no candidate."""
    propagation: PropagationKind = None
    """Which other singles to place after each legal placement; not with `erase`."""
    max_steps: int | None = None
    """Steps before truncation, at least 1; None for 2 * N**2, with `erase` 8 * N**2."""
    with_mask: bool = True
    """Put `action_mask` into the info."""
    with_info: bool = True
    """Put everything but `action_mask` into the info."""
    render_mode: str | None = None
    """None, `"ansi"` or `"rgb_array"`."""

    def __post_init__(self) -> None:
        if isinstance(self.reward, str) and ":" in self.reward:
            object.__setattr__(self, "reward", load_attribute(self.reward))
        if not callable(self.reward) and self.reward not in endings.REWARDS:
            raise ValueError(
                f"reward={self.reward!r}: use {', '.join(map(repr, endings.REWARDS))}, or a "
                "function f(before, actions, after, terminated) -> [B], or its module:attribute"
            )
        if self.actions not in ("legal", "blank"):
            raise ValueError(
                f"actions={self.actions!r}: use 'legal' (candidates only) or 'blank' (any digit "
                "in any blank cell)"
            )
        if not np.isfinite(self.illegal_reward):
            raise ValueError(f"illegal_reward={self.illegal_reward!r}: use a finite number")
        if self.propagation not in tuple(_PROPAGATIONS):
            raise ValueError(
                f"propagation={self.propagation!r}: use None, 'naked singles', or 'hidden singles' "
                "(naked ones too)"
            )
        if self.propagation and self.erase:
            raise ValueError(
                f"propagation={self.propagation!r} with erase=True: what is erased would be filled "
                "in again; use one of the two"
            )
        if self.render_mode not in (None, "ansi", "rgb_array"):
            raise ValueError(f"render_mode={self.render_mode!r}: use None, 'ansi' or 'rgb_array'")
        if self.max_steps is not None and not 1 <= self.max_steps < 2**62:
            raise ValueError(f"max_steps={self.max_steps!r}: use 1 or more, or None")

    def resolve_source(self) -> PuzzleSource:
        """Find the source; ValueError if it is unknown, or its boards are others than `board`."""
        geometry = named_geometry(self.board) if isinstance(self.board, str) else self.board
        source = resolve_source(self.source, self.split, geometry)
        if geometry is not None and source.geometry != geometry:
            raise ValueError(
                f"source={self.source!r} holds {source.geometry.name} boards, but this "
                f"environment's are {geometry.name}: use another source, or "
                "gym.make('Sudoku-v0', source=...), whose boards are its source's"
            )
        return source

    def rules(self, size: int) -> endings.GameRules:
        """Return the rules in the form of the kernels, for N digits."""
        kind = endings.CUSTOM if callable(self.reward) else endings.REWARDS.index(self.reward)
        limit = self.max_steps or (8 if self.erase else 2) * size**2
        return endings.GameRules(
            reward=kind,
            any_digit=self.actions == "blank",
            can_erase=True if self.erase else None,
            end_at_dead_end=bool(self.end_at_dead_end),
            illegal_reward=float(self.illegal_reward),
            filled_in=_PROPAGATIONS[self.propagation],
            max_steps=int(limit),
        )


def custom_rewards(
    function: Callable[..., Any],
    before: NDArray[np.int8],
    actions: NDArray[np.int64],
    after: NDArray[np.int8],
    terminated: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Call a `RewardFunction`; ValueError unless it returns one number a board."""
    rewards = np.asarray(function(before, actions, after, terminated), np.float64)
    if rewards.shape != (len(actions),):
        raise ValueError(
            f"the reward function must return one number a board, shape ({len(actions)},), "
            f"not {rewards.shape}"
        )
    return rewards
