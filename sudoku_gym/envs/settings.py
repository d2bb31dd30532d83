"""The options of the environments: what is allowed, and what the compiled code makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.kernels.endings import (
    CUSTOM,
    DENSE,
    HIDDEN_SINGLES,
    NAKED_SINGLES,
    SPARSE,
    TERMINAL,
    Rules,
)
from sudoku_gym.puzzles.banks import geometry_of
from sudoku_gym.puzzles.sources import Blanks, PuzzleSource, resolve_source


class RewardFunction(Protocol):
    """A reward of your own, called once a step for a whole batch."""

    def __call__(
        self,
        before: NDArray[np.int8],
        actions: NDArray[np.int64],
        after: NDArray[np.int8],
        terminated: NDArray[np.bool_],
        /,
    ) -> NDArray[np.floating]:
        """Return one reward a board.

        Args:
            before: int8 `[B, N, N]`, the boards that were acted on.
            actions: int64 `[B]`.
            after: int8 `[B, N, N]`.
            terminated: bool `[B]`, whether the episode has just ended (not by a step limit).

        Returns:
            float `[B]`.
        """
        ...


Reward: TypeAlias = Literal["terminal", "dense", "sparse"] | RewardFunction
Actions: TypeAlias = Literal["legal", "blank"]
Propagation: TypeAlias = Literal["naked singles", "hidden singles"] | None

_REWARDS = {"terminal": TERMINAL, "dense": DENSE, "sparse": SPARSE}
_PROPAGATIONS = {
    None: None,
    "naked singles": NAKED_SINGLES,
    "hidden singles": HIDDEN_SINGLES,
}
_RESET_OPTIONS = ("puzzle", "blanks", "reset_mask")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options that both environments take; `SudokuEnv` says what each means.

    Raises:
        ValueError: if an option has no such value.
    """

    source: object
    split: str
    board: str | Geometry | None
    blanks: Blanks
    augment: bool
    reward: Reward
    actions: Actions
    erase: bool
    illegal_reward: float
    end_at_dead_end: bool
    max_episode_steps: int | None
    propagation: Propagation = None

    def __post_init__(self) -> None:
        if not callable(self.reward) and self.reward not in tuple(_REWARDS):
            raise ValueError(
                f"reward={self.reward!r}: use {', '.join(map(repr, _REWARDS))}, or a function "
                "f(before, actions, after, terminated) -> [B]"
            )
        if self.actions not in ("legal", "blank"):
            raise ValueError(
                f"actions={self.actions!r}: use 'legal' (candidates only) or 'blank' (any digit "
                "in any blank cell)"
            )
        is_number = isinstance(self.illegal_reward, (int, float, np.number))
        if not is_number or not np.isfinite(self.illegal_reward):
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
        check_max_steps(self.max_episode_steps)

    def resolve_source(self) -> PuzzleSource:
        """Find the source of puzzles and check that its boards are the ones promised.

        Raises:
            ValueError: if the source is unknown, or its boards have another geometry than `board`.
        """
        wanted = geometry_of(self.board) if isinstance(self.board, str) else self.board
        source = resolve_source(self.source, self.split, wanted)
        if wanted is not None and source.geometry != wanted:
            raise ValueError(
                f"source={self.source!r} holds {source.geometry.name} boards, but this "
                f"environment's are {wanted.name}: use another source, or "
                "gym.make('Sudoku-v0', source=...), whose boards are its source's"
            )
        return source

    def rules(self, size: int) -> Rules:
        """Return the same rules as the kernels take them, for N digits."""
        kind = CUSTOM if callable(self.reward) else _REWARDS[self.reward]
        limit = self.max_episode_steps or (8 if self.erase else 2) * size**2
        return Rules(
            reward=kind,
            any_digit=self.actions == "blank",
            can_erase=True if self.erase else None,
            end_at_dead_end=bool(self.end_at_dead_end),
            illegal_reward=float(self.illegal_reward),
            filled_in=_PROPAGATIONS[self.propagation],
            max_steps=int(limit),
        )


def check_max_steps(limit: int | None) -> None:
    """Raise a ValueError unless `limit` is None or at least 1."""
    if limit is not None and not (isinstance(limit, (int, np.integer)) and limit >= 1):
        raise ValueError(
            f"max_episode_steps={limit!r}: use a whole number from 1 up, or None for the default"
        )


@dataclass(frozen=True)
class ResetOptions:
    """How boards shall begin, as read from `reset(options=...)`.

    Attributes:
        chosen: bool `[B]`, the boards to reset.
        puzzles: int8 `[B, N, N]` to start from, or None to draw them.
        blanks: for this reset only, or the string `"as set"`.
    """

    chosen: NDArray[np.bool_]
    puzzles: NDArray[np.int8] | None
    blanks: Blanks | Literal["as set"]


def read_reset_options(
    options: Mapping[str, Any] | None, count: int, geometry: Geometry
) -> ResetOptions:
    """Check the options of a reset of `count` boards.

    Raises:
        ValueError: if there is no such option, or its value does not fit.
        TypeError: if a value has the wrong type.
    """
    options = options or {}
    for name in options:
        if name not in _RESET_OPTIONS:
            raise ValueError(
                f"reset has no option {name!r}: use {', '.join(map(repr, _RESET_OPTIONS))}"
            )
    puzzle, blanks = options.get("puzzle"), options.get("blanks", "as set")
    if puzzle is not None and "blanks" in options:
        raise ValueError("reset options 'puzzle' and 'blanks': a puzzle has its own blanks")
    return ResetOptions(
        _read_reset_mask(options.get("reset_mask"), count),
        None if puzzle is None else _read_puzzles(puzzle, count, geometry),
        blanks,
    )


def read_seeds(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    """Return one seed a board: `seed + i`, or `seed[i]`; None leaves a board's puzzles as they are.

    Raises:
        ValueError: if there are more or fewer seeds than boards.
    """
    if seed is None:
        return [None] * count
    if isinstance(seed, (int, np.integer)):
        return [int(seed) + i for i in range(count)]
    if len(seed) != count:
        raise ValueError(
            f"seed holds {len(seed)} seeds for {count} boards: give one for all, or one each"
        )
    return list(seed)


def _read_reset_mask(mask: object, count: int) -> NDArray[np.bool_]:
    if mask is None:
        return np.ones(count, np.bool_)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (count,):
        given = (mask.dtype, mask.shape) if isinstance(mask, np.ndarray) else type(mask).__name__
        raise ValueError(
            f"reset option 'reset_mask' must be a bool array of shape ({count},), not {given}"
        )
    if not mask.any():
        raise ValueError("reset option 'reset_mask' chooses no board: leave out the reset")
    return mask.copy()


def _read_puzzles(puzzle: Any, count: int, geometry: Geometry) -> NDArray[np.int8]:
    """Return int8 `[count, N, N]` from a text, one board or a batch, after checking the rules."""
    if isinstance(puzzle, str):
        boards = board.parse(puzzle, geometry)[None]
    elif isinstance(puzzle, (list, tuple)) and puzzle and isinstance(puzzle[0], str):
        boards = board.parse_many(puzzle, geometry)
    else:
        array = np.asarray(puzzle)
        boards = board.as_boards(array[None] if array.ndim == 2 else array, geometry)
    if len(boards) not in (1, count):
        raise ValueError(
            f"reset option 'puzzle' holds {len(boards)} boards for {count} environments: "
            "give one for all, or one each"
        )
    for index in np.flatnonzero(board.conflicts(boards, geometry).any((1, 2)))[:1]:
        try:
            board.check_puzzle(boards[index], geometry)
        except ValueError as error:
            which = "" if len(boards) == 1 else f" (board {index})"
            raise ValueError(f"reset option 'puzzle'{which}: {error}") from None
    return np.broadcast_to(boards, (count, *boards.shape[1:]))


def read_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Return the mode of that name.

    Raises:
        ValueError: if there is no such mode.
    """
    try:
        return mode if isinstance(mode, AutoresetMode) else AutoresetMode(mode)
    except ValueError:
        names = ", ".join(repr(known.value) for known in AutoresetMode)
        raise ValueError(f"autoreset_mode={mode!r}: use {names}") from None


def custom_rewards(
    function: Callable[..., Any],
    before: NDArray[np.int8],
    actions: NDArray[np.int64],
    after: NDArray[np.int8],
    terminated: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Ask a reward function, and check that it answered with one number a board.

    Raises:
        ValueError: if it did not.
    """
    rewards = np.asarray(function(before, actions, after, terminated), np.float64)
    if rewards.shape != (len(actions),):
        raise ValueError(
            f"the reward function must return one number a board, shape ({len(actions)},), "
            f"not {rewards.shape}"
        )
    return rewards
