"""Symmetry augmentation: the agent sees every board under a random symmetry.

The environment's own `augment` moves a puzzle once as it is drawn; these wrappers move any board,
also one given at reset, anew at every episode or step, and map the agent's actions back.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from sudoku_gym.board.actions import as_action, as_actions
from sudoku_gym.compiler.jit import njit
from sudoku_gym.compiler.random_stream import new_stream
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.symmetry import draw_symmetry, group_of
from sudoku_gym.wrappers.base import SudokuVectorWrapper, encode_final_obs, get_action_mask

Period = Literal["episode", "step"]

_SALT = 0x51D0C0DE  # keeps these draws apart from the environment's own, which use the same seed


class SymmetryAugmentation(
    gym.Wrapper[NDArray[np.int8], np.int64, NDArray[np.int8], np.int64], RecordConstructorArgs
):
    """Shows the board under a random symmetry; actions and masks are mapped too.

    Args:
        env: an environment over `SudokuEnv` whose observation is a board, in any shape, and whose
            actions are its placements, with or without erasures.
        every: a new symmetry at each `"episode"`, or at each `"step"`.

    Raises:
        ValueError: if the word is unknown, or the observations or actions are others.
    """

    def __init__(
        self,
        env: gym.Env[NDArray[np.int8], np.int64],
        every: Period = "episode",
    ) -> None:
        RecordConstructorArgs.__init__(self, every=every)
        gym.Wrapper.__init__(self, env)
        geometry = env.get_wrapper_attr("geometry")
        _check_spaces(env.observation_space, env.action_space, geometry)
        self._symmetries = _Symmetries(1, geometry, every)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Start an episode under a new symmetry; see `SudokuEnv.reset`."""
        board, info = self.env.reset(seed=seed, options=options)
        self._symmetries.seed([seed])
        self._symmetries.renew(np.ones(1, np.bool_))
        return self._turned(board, info)

    def step(self, action: np.int64) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Map the action back and step; see `SudokuEnv.step`."""
        turned_back = self._symmetries.turn_back(np.array([as_action(action)], np.int64))[0]
        board, reward, terminated, truncated, info = self.env.step(turned_back)
        if self._symmetries.every == "step":
            self._symmetries.renew(np.ones(1, np.bool_))
        board, info = self._turned(board, info)
        return board, float(reward), terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions on the board as shown, bool `[A]`."""
        masks = self.env.get_wrapper_attr("action_masks")()
        return self._symmetries.masks(masks.view(np.int8)[None])[0].view(np.bool_)

    def _turned(
        self, board: NDArray[np.int8], info: dict[str, Any]
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        mask = self._symmetries.masks(get_action_mask(info)[None])[0]
        return self._symmetries.boards(board[None])[0], info | {"action_mask": mask}


class VectorSymmetryAugmentation(SudokuVectorWrapper):
    """`SymmetryAugmentation` for a batch, each board under a symmetry of its own.

    Board i equals a single environment in `SymmetryAugmentation`, seeded with `seed + i`.
    Arguments and errors are those of `SymmetryAugmentation`, around a `SudokuVectorEnv`.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        every: Period = "episode",
    ) -> None:
        super().__init__(env)
        _check_spaces(env.single_observation_space, env.single_action_space, self._geometry)
        self._symmetries = _Symmetries(env.num_envs, self._geometry, every)
        self._is_over = np.zeros(env.num_envs, np.bool_)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start episodes under new symmetries; see `SudokuVectorEnv.reset`."""
        boards, infos = self.env.reset(seed=seed, options=options)
        get_action_mask(infos)
        chosen = infos["_action_mask"]
        if seed is None or isinstance(seed, (int, np.integer)):
            seed = [None if seed is None else seed + i for i in range(self.num_envs)]
        self._symmetries.seed(s if c else None for s, c in zip(seed, chosen, strict=True))
        self._symmetries.renew(chosen)
        self._is_over[chosen] = False
        masks = self._symmetries.masks(get_action_mask(infos))
        return self._symmetries.boards(boards), infos | {"action_mask": masks}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Map the actions back and step; see `SudokuVectorEnv.step`."""
        turned_back = self._symmetries.turn_back(as_actions(actions, self.num_envs))
        boards, rewards, terminations, truncations, infos = self.env.step(turned_back)
        over = terminations | truncations
        is_next_step = self.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
        if self._symmetries.every == "step":
            self._symmetries.renew(np.ones(self.num_envs, np.bool_))
        elif is_next_step:
            self._symmetries.renew(self._is_over)
        if "final_obs" in infos:
            infos = self._turned_finals(infos)
            self._symmetries.renew(over)
        self._is_over = over
        masks = self._symmetries.masks(get_action_mask(infos))
        boards = self._symmetries.boards(boards)
        return boards, rewards, terminations, truncations, infos | {"action_mask": masks}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions on the boards as shown, bool `[B, A]`."""
        return self._symmetries.masks(super().action_masks().view(np.int8)).view(np.bool_)

    def _turned_finals(self, infos: dict[str, Any]) -> dict[str, Any]:
        """Map `final_obs` and the final masks by the symmetries of the episodes that ended."""
        over = np.flatnonzero(infos["_final_obs"])
        boards = np.zeros((self.num_envs, *infos["final_obs"][over[0]].shape), np.int8)
        boards[over] = np.stack(list(infos["final_obs"][over]))
        turned = self._symmetries.boards(boards)
        masks = self._symmetries.masks(infos["final_info"]["action_mask"])
        infos = encode_final_obs(infos, lambda _, i: turned[i].copy())
        return infos | {"final_info": infos["final_info"] | {"action_mask": masks}}


def _check_spaces(
    observations: gym.Space[Any], actions: gym.Space[Any], geometry: Geometry
) -> None:
    """Raise ValueError unless the spaces are those of a board: compiled code trusts them."""
    size = geometry.size
    if (
        not isinstance(observations, gym.spaces.Box)
        or not np.issubdtype(observations.dtype, np.integer)
        or np.prod(observations.shape) != size**2
    ):
        raise ValueError(
            f"a symmetry moves boards of {size} x {size} digits, not {observations}: put this "
            "wrapper below those that encode them"
        )
    if not isinstance(actions, gym.spaces.Discrete) or actions.n not in (
        size**3,
        size**3 + size**2,
    ):
        raise ValueError(f"a symmetry maps the {size**3} placements of a board, not {actions}")


class _Symmetries:
    """The symmetries of B boards, each drawn from its own random stream."""

    def __init__(self, count: int, geometry: Geometry, every: str) -> None:
        if every not in ("episode", "step"):
            raise ValueError(f"every={every!r}: use 'episode' or 'step'")
        self.every = every
        self._group = group_of(geometry)
        self._size = geometry.size
        self._rows = np.tile(np.arange(geometry.size, dtype=np.int32), (count, 1))
        self._columns = self._rows.copy()
        self._transpose = np.zeros(count, np.bool_)
        self._digits = np.tile(np.arange(geometry.size + 1, dtype=np.int8), (count, 1))
        self._streams: NDArray[np.uint64] | None = None

    def seed(self, seeds: Iterable[int | None]) -> None:
        """Seed the streams; None continues a stream, or seeds it randomly the first time."""
        is_first = self._streams is None
        if self._streams is None:
            self._streams = np.zeros((len(self._rows), 2), np.uint64)
        for index, seed in enumerate(seeds):
            if seed is not None or is_first:
                entropy = None if seed is None else [seed, _SALT]
                self._streams[index] = new_stream(np.random.default_rng(entropy))

    def renew(self, chosen: NDArray[np.bool_]) -> None:
        """Draw new symmetries for the chosen boards."""
        _draw(self._streams, chosen, self._group, self._elements)

    def boards(self, boards: NDArray[np.int8]) -> NDArray[np.int8]:
        """Apply the symmetries to boards `[B, ...]` of N**2 cells each."""
        turned = np.empty((len(boards), self._size**2), np.int8)
        flat = np.ascontiguousarray(boards, np.int8).reshape(turned.shape)
        _turn_boards(flat, *self._elements, turned)
        return turned.astype(boards.dtype, copy=False).reshape(boards.shape)

    def masks(self, masks: NDArray[np.int8]) -> NDArray[np.int8]:
        """Apply the symmetries to masks int8 `[B, A]`."""
        turned = np.empty(masks.shape, np.int8)
        _turn_masks(np.ascontiguousarray(masks), *self._elements, turned)
        return turned

    def turn_back(self, actions: NDArray[np.integer]) -> NDArray[np.int64]:
        """Map actions `[B]` back to the original boards; invalid numbers stay."""
        turned = np.array(actions, np.int64)
        _turn_back(turned, *self._elements)
        return turned

    @property
    def _elements(self) -> tuple[Any, Any, Any, Any]:
        return self._rows, self._columns, self._transpose, self._digits


@njit(cache=True)
def _draw(streams, chosen, group, elements):
    rows, columns, transpose, digits = elements
    for b in range(len(rows)):
        if chosen[b]:
            transpose[b] = draw_symmetry(streams[b], group, rows[b], columns[b], digits[b])


@njit(cache=True)
def _image(cell, b, rows, columns, transpose):
    size = rows.shape[1]
    row, column = rows[b, cell // size], columns[b, cell % size]
    return column * size + row if transpose[b] else row * size + column


@njit(cache=True)
def _turn_boards(boards, rows, columns, transpose, digits, turned):
    size = rows.shape[1]
    for b in range(len(boards)):
        for cell in range(size * size):
            turned[b, _image(cell, b, rows, columns, transpose)] = digits[b, boards[b, cell]]


@njit(cache=True)
def _turn_masks(masks, rows, columns, transpose, digits, turned):
    size = rows.shape[1]
    for b in range(len(masks)):
        for cell in range(size * size):
            image = _image(cell, b, rows, columns, transpose)
            for digit in range(size):
                other = digits[b, digit + 1] - 1
                turned[b, image * size + other] = masks[b, cell * size + digit]
            if masks.shape[1] > size**3:
                turned[b, size**3 + image] = masks[b, size**3 + cell]


@njit(cache=True)
def _turn_back(actions, rows, columns, transpose, digits):
    """Replace each action by its preimage under the symmetry."""
    size = rows.shape[1]
    for b in range(len(actions)):
        action = actions[b]
        if not 0 <= action < size**3 + size**2:
            continue
        erases = action >= size**3
        image = action - size**3 if erases else action // size
        row, column = image // size, image % size
        if transpose[b]:
            row, column = column, row
        cell, digit = 0, 0
        for i in range(size):
            if rows[b, i] == row:
                cell += i * size
            if columns[b, i] == column:
                cell += i
            if digits[b, i + 1] == action % size + 1:
                digit = i
        actions[b] = size**3 + cell if erases else cell * size + digit
