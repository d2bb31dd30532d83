"""The options of the environments: `EnvOptions`, checked in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, get_args

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
_KNOWN = {
    "actions": get_args(Actions),
    "propagation": tuple(_PROPAGATIONS),
    "render_mode": (None, "ansi", "rgb_array"),
}


@dataclass(frozen=True)
class EnvOptions:
    """The options that both environments take; the page of `SudokuEnv` says what they do."""

    source: object
    split: str = "train"
    board: str | Geometry | None = None
    blanks: Blanks = None
    augment: bool = True
    reward: Reward | str = "terminal"
    actions: Actions = "legal"
    erase: bool = False
    illegal_reward: float = 0.0
    end_at_dead_end: bool = False
    propagation: PropagationKind = None
    max_steps: int | None = None
    with_mask: bool = True
    with_info: bool = True
    render_mode: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.reward, str) and ":" in self.reward:
            object.__setattr__(self, "reward", load_attribute(self.reward))
        if not callable(self.reward) and self.reward not in endings.REWARDS:
            raise ValueError(
                f"reward={self.reward!r}: use {', '.join(map(repr, endings.REWARDS))}, or a "
                "function f(before, actions, after, terminated) -> [B], or its module:attribute"
            )
        for name, known in _KNOWN.items():
            if getattr(self, name) not in known:
                words = ", ".join(map(repr, known))
                raise ValueError(f"{name}={getattr(self, name)!r}: use one of {words}")
        if not np.isfinite(self.illegal_reward):
            raise ValueError(f"illegal_reward={self.illegal_reward!r}: use a finite number")
        if self.propagation and self.erase:
            raise ValueError(
                f"propagation={self.propagation!r} with erase=True: what is erased would be filled "
                "in again; use one of the two"
            )
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
