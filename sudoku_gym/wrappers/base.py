"""What a wrapper does to boards, written once for a batch; in an `Env` the batch has one board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from sudoku_gym.board.actions import as_actions
from sudoku_gym.envs.resets import read_seeds
from sudoku_gym.puzzles.sources import Blanks

Which: TypeAlias = slice | NDArray[np.int64]
"""Which boards of a batch some arrays are of."""
Seeds: TypeAlias = Sequence[int | None]
Spaces: TypeAlias = tuple[gym.Space[Any], gym.Space[Any]]
"""Those of one board's observations and actions."""

_EVERY, _ONE, _NO_MASKS = slice(None), np.ones(1, np.bool_), np.empty((0, 0), np.int8)


class Transform:
    """What an agent sees of B boards, and what its actions mean; this one changes nothing.

    Observations are arrays `[B, ...]` or dictionaries of such, masks int8 `[B, A]`.
    """

    needs_masks = True
    maps_actions = False  # whether the agent's actions and masks are others than those below
    find: Callable[[str], Any]  # returns an attribute of the environment below
    masks_below: Callable[[], NDArray[np.int8]]  # those of the environment below, as it now stands

    def set_up(self, count: int, observations: gym.Space[Any], actions: gym.Space[Any]) -> Spaces:
        """Return the spaces as the agent has them, given those below."""
        return observations, actions

    def begin(self, chosen: NDArray[np.bool_], observations: Any, seeds: Seeds = ()) -> None:
        """Take note that the chosen boards begin an episode; `seeds` are new, but for None."""

    def map_actions(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the actions `[B]` for the environment below."""
        return actions

    def map_masks(self, masks: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the masks of the agent's actions, given those below."""
        return masks

    def show(self, observations: Any, masks: NDArray[np.int8], which: Which) -> tuple[Any, Any]:
        """Return what the agent sees, and its masks, given what is below.

        Masks are empty unless they are needed.
        """
        return observations, masks


class SudokuWrapper(Transform, gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """A transform of a single environment."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        spaces = self.set_up(1, env.observation_space, env.action_space)
        self.observation_space, self.action_space = spaces

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode; see `SudokuEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.begin(_ONE, _at(observation, None), [seed])
        return self._shown(observation, info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step; see `SudokuEnv.step`."""
        if self.maps_actions:
            action = self.map_actions(as_actions([action], 1))[0]
        observation, reward, terminated, truncated, info = self.env.step(action)
        observation, info = self._shown(observation, info)
        return observation, reward, terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, bool `[A]`."""
        return self.map_masks(self.masks_below())[0].view(np.bool_)

    def find(self, name: str) -> Any:
        """Return an attribute of the environment below."""
        return self.env.get_wrapper_attr(name)

    def masks_below(self) -> NDArray[np.int8]:
        """Return the mask of the environment below, int8 `[1, A]`."""
        mask: NDArray[np.bool_] = self.find("action_masks")()
        return mask.view(np.int8)[None]

    def _shown(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        masks = get_action_mask(info)[None] if self.needs_masks else _NO_MASKS
        shown, masks = self.show(_at(observation, None), masks, _EVERY)
        if self.maps_actions:
            info = info | {"action_mask": masks[0]}
        return _at(shown, 0), info


class SudokuVectorWrapper(VectorWrapper):
    """Forwards `set_blanks` and `action_masks` to the wrapped vector environment.

    An environment closes itself when it is collected; a wrapper does not close it, so one that
    was refused by its constructor leaves the environment usable.
    """

    def __del__(self) -> None:
        """Do nothing; `VectorEnv.__del__` would close the wrapped environment."""

    def set_blanks(self, blanks: Blanks) -> None:
        """Set the number of blanks of the next episodes; see `SudokuVectorEnv`."""
        find_attribute(self.env, "set_blanks")(blanks)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions, bool `[B, A]`."""
        masks: NDArray[np.bool_] = find_attribute(self.env, "action_masks")()
        return masks


class SudokuVectorTransform(Transform, SudokuVectorWrapper):
    """A transform of a vector environment in any autoreset mode, in `final_obs` too."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self.single_observation_space, self.single_action_space = self.set_up(
            env.num_envs, env.single_observation_space, env.single_action_space
        )
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)
        self.action_space = batch_space(self.single_action_space, env.num_envs)
        self._over = np.zeros(env.num_envs, np.bool_)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the boards; see `SudokuVectorEnv.reset`."""
        chosen = chosen_boards(options, self.num_envs)
        observations, infos = self.env.reset(seed=seed, options=options)
        seeds = zip(read_seeds(seed, self.num_envs), chosen.tolist(), strict=True)
        self.begin(chosen, observations, [given if new else None for given, new in seeds])
        self._over &= ~chosen
        masks = _NO_MASKS
        if self.needs_masks:
            infos = infos | {"action_mask": self.map_masks(get_action_mask(infos))}
            masks = self.masks_below()  # those in the infos are zeros where no board was reset
        return self.show(observations, masks, _EVERY)[0], infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step the boards; see `SudokuVectorEnv.step`."""
        if self.maps_actions:
            actions = self.map_actions(as_actions(actions, self.num_envs))
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        started = self._over & (self.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP)
        self._over = terminations | truncations
        if "final_obs" in infos:
            infos = self._with_finals(infos)
            started = self._over
        self.begin(started, observations)
        masks = get_action_mask(infos) if self.needs_masks else _NO_MASKS
        shown, masks = self.show(observations, masks, _EVERY)
        if self.maps_actions:
            infos = infos | {"action_mask": masks}
        return shown, rewards, terminations, truncations, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions, bool `[B, A]`."""
        return self.map_masks(self.masks_below()).view(np.bool_)

    def find(self, name: str) -> Any:
        """Return an attribute of the environment below."""
        return find_attribute(self.env, name)

    def masks_below(self) -> NDArray[np.int8]:
        """Return the masks of the environment below, int8 `[B, A]`."""
        return super().action_masks().view(np.int8)

    def _with_finals(self, infos: dict[str, Any]) -> dict[str, Any]:
        """Return infos in which the ends of episodes are shown as the agent sees them."""
        over = np.flatnonzero(infos["_final_obs"])
        final_info, final = infos["final_info"], infos["final_obs"].copy()
        masks = final_info["action_mask"][over] if self.needs_masks else _NO_MASKS
        shown, masks = self.show(_stacked(final[over].tolist()), masks, over)
        if self.maps_actions:
            mapped = np.zeros((self.num_envs, masks.shape[1]), np.int8)
            mapped[over] = masks
            final_info = final_info | {"action_mask": mapped}
        for row, index in enumerate(over.tolist()):
            final[index] = _at(shown, row)
        return infos | {"final_obs": final, "final_info": final_info}


def _at(observations: Any, index: int | None) -> Any:
    """Index the array, or each one in a dictionary; None adds an axis in front."""
    if isinstance(observations, dict):
        return {key: _at(value, index) for key, value in observations.items()}
    return observations[index]


def _stacked(observations: list[Any]) -> Any:
    """Return a batch of observations, which are arrays or dictionaries."""
    if isinstance(observations[0], dict):
        return {key: _stacked([each[key] for each in observations]) for key in observations[0]}
    return np.stack(observations)


def chosen_boards(options: dict[str, Any] | None, count: int) -> NDArray[np.bool_]:
    """Return which boards a reset is for, bool `[count]`.

    Ask before the reset: Gymnasium's own vector environments take the mask out of the options.
    """
    mask: NDArray[np.bool_] | None = (options or {}).get("reset_mask")
    return np.ones(count, np.bool_) if mask is None else mask


def find_attribute(env: VectorEnv[Any, Any, Any], name: str) -> Any:
    """Return the attribute of the outermost layer that has it; AttributeError if none has."""
    inner = env
    while not hasattr(inner, name):
        if not isinstance(inner, VectorWrapper):
            raise AttributeError(f"{env} has no {name}: wrap a SudokuVectorEnv")
        inner = inner.env
    return getattr(inner, name)


def get_action_mask(info: dict[str, Any]) -> NDArray[np.int8]:
    """Return `info["action_mask"]`; ValueError if the environment was made without masks."""
    if "action_mask" not in info:
        raise ValueError("this wrapper needs action masks: make the environment with_mask=True")
    mask: NDArray[np.int8] = info["action_mask"]
    return mask
