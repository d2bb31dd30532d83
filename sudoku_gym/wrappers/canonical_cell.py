"""The environment picks the cell, the agent only the digit.

With the cell fixed, k blanks have one order instead of k!, and a step at most N choices.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from sudoku_gym.board.actions import as_action, as_actions
from sudoku_gym.wrappers.base import SudokuVectorWrapper, encode_final_obs, get_action_mask


class CanonicalCell(gym.Wrapper[dict[str, Any], np.int64, Any, np.int64], RecordConstructorArgs):
    """Lets the agent choose a digit for the cell that has the fewest legal ones.

    The cell is the first, row by row, with the fewest legal digits but at least one; 0 when
    nothing is legal any more. Actions are `Discrete(N)`, digit - 1, and the mask in the info is
    int8 `[N]`. The observation is `{"observations": ..., "cell": row * N + column}`.

    Args:
        env: an environment over `SudokuEnv` without `erase` and with its mask.

    Raises:
        ValueError: if digits may be erased, which a fixed order of cells can't offer.
    """

    def __init__(self, env: gym.Env[Any, np.int64]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        self._size: int = env.get_wrapper_attr("geometry").size
        _check_actions(env.action_space, self._size)
        self.action_space = spaces.Discrete(self._size)
        self.observation_space = _cell_space(env.observation_space, self._size)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode; see `SudokuEnv.reset`."""
        return self._shown(*self.env.reset(seed=seed, options=options))

    def step(self, action: np.int64) -> tuple[dict[str, Any], Any, bool, bool, dict[str, Any]]:
        """Put digit `action + 1` into the cell; see `SudokuEnv.step`.

        Raises:
            ValueError: if there is no such digit.
        """
        digit = as_action(action)
        _check_digits(np.array([digit]), self._size)
        cell = _pick(self._masks(), self._size)[0][0]  # the state may have been set since
        placement = np.int64(cell * self._size + digit)
        observation, reward, terminated, truncated, info = self.env.step(placement)
        observation, info = self._shown(observation, info)
        return observation, reward, terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which digits are legal in the cell: bool `[N]`."""
        return _pick(self._masks(), self._size)[1][0].astype(np.bool_)

    def _masks(self) -> NDArray[np.bool_]:
        masks: NDArray[np.bool_] = self.env.get_wrapper_attr("action_masks")()[None]
        return masks

    def _shown(
        self, observation: Any, info: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        cells, masks = _pick(get_action_mask(info)[None], self._size)
        shown = {"observations": observation, "cell": cells[0]}
        return shown, info | {"action_mask": masks[0]}


class VectorCanonicalCell(SudokuVectorWrapper):
    """`CanonicalCell` for a batch: `{"observations": [B, ...], "cell": int64 [B]}`.

    Arguments and errors are those of `CanonicalCell`, around a `SudokuVectorEnv`.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self._size: int = self._geometry.size
        _check_actions(env.single_action_space, self._size)
        self.single_action_space = spaces.Discrete(self._size)
        self.action_space = batch_space(self.single_action_space, env.num_envs)
        self.single_observation_space = _cell_space(env.single_observation_space, self._size)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the boards; see `SudokuVectorEnv.reset`."""
        observations, infos = self.env.reset(seed=seed, options=options)
        masks = _pick(get_action_mask(infos), self._size)[1]
        shown = {"observations": observations, "cell": _pick(super().action_masks(), self._size)[0]}
        return shown, infos | {"action_mask": masks}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Put digit `actions[i] + 1` into the cell of board i; see `SudokuVectorEnv.step`.

        Raises:
            ValueError: if there is no such digit.
        """
        digits = as_actions(actions, self.num_envs)
        _check_digits(digits, self._size)
        cells = _pick(super().action_masks(), self._size)[0]  # states may have been set since
        placements = cells * self._size + digits
        observations, rewards, terminations, truncations, infos = self.env.step(placements)
        infos = self._with_finals(infos)
        cells, masks = _pick(get_action_mask(infos), self._size)
        shown = {"observations": observations, "cell": cells}
        return shown, rewards, terminations, truncations, infos | {"action_mask": masks}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which digits are legal in each board's cell: bool `[B, N]`."""
        return _pick(super().action_masks(), self._size)[1].view(np.bool_)

    def _with_finals(self, infos: dict[str, Any]) -> dict[str, Any]:
        if "final_obs" not in infos:
            return infos
        cells, masks = _pick(infos["final_info"]["action_mask"], self._size)
        final_info = infos["final_info"] | {"action_mask": masks}
        infos = encode_final_obs(infos, lambda obs, i: {"observations": obs, "cell": cells[i]})
        return infos | {"final_info": final_info}


def _pick(
    masks: NDArray[np.int8] | NDArray[np.bool_], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Return each board's cell, int64 `[B]`, and its legal digits, int8 `[B, N]`."""
    choices = masks.reshape(len(masks), -1, size)
    counts = choices.sum(2)
    cells = np.where(counts == 0, size + 1, counts).argmin(1)
    return cells, choices[np.arange(len(masks)), cells].astype(np.int8)


def _check_actions(space: gym.Space[Any], size: int) -> None:
    if space != spaces.Discrete(size**3):
        raise ValueError(f"one cell at a time needs erase=False and actions Discrete({size**3})")


def _check_digits(digits: NDArray[np.integer], size: int) -> None:
    wrong = np.flatnonzero((digits < 0) | (digits >= size))
    if len(wrong):
        raise ValueError(
            f"action {digits[wrong[0]]} (board {wrong[0]}) is no digit - 1: use 0 to {size - 1}"
        )


def _cell_space(observations: gym.Space[Any], size: int) -> spaces.Dict:
    return spaces.Dict({"observations": observations, "cell": spaces.Discrete(size**2)})
