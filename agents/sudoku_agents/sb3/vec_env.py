"""Our vector environment as a `VecEnv` of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from sudoku_gym.wrappers import VectorFlatObservation, VectorOneHotBoard
from sudoku_gym.wrappers.base import find_attribute

Form = Literal["board", "one-hot"]

Indices = None | int | Iterable[int]
PER_BOARD = ("action_masks", "render")  # methods with a result for each board


class SudokuVecEnv(VecEnv):
    """Shows a Gymnasium vector environment to Stable-Baselines3; all boards step in one call.

    What SB3 sees equals `DummyVecEnv` over single environments, step for step: the info of a board
    whose episode has ended is the old episode's, with `terminal_observation`, and the new one's is
    in `reset_infos`.

    `env_method("action_masks")` is what MaskablePPO asks for its masks, and
    `env_method("set_blanks", ...)` moves the level of all boards.

    Args:
        envs: a `SudokuVectorEnv`, under any `SudokuVectorWrapper`, that resets in the same step.

    Raises:
        ValueError: if `envs` resets in another mode.
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any]) -> None:
        if envs.metadata.get("autoreset_mode") is not AutoresetMode.SAME_STEP:
            raise ValueError(
                "Stable-Baselines3 resets boards in the step that ends them: make the environment "
                'with autoreset_mode="SameStep"'
            )
        self.envs = envs
        self._actions: NDArray[np.int64] = np.zeros(envs.num_envs, np.int64)
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> Any:
        """Start an episode on every board, with the seeds and options set before.

        Raises:
            ValueError: if `set_options` was given a list: the options of `envs` are for all boards.
        """
        options = self._options[0]
        if any(other is not options for other in self._options) and any(self._options):
            raise ValueError("set_options: give one dict, the options of all boards")
        seeds: Any = None if set(self._seeds) == {None} else self._seeds
        observations, infos = self.envs.reset(seed=seeds, options=options or None)
        self.reset_infos = _rows(infos, range(self.num_envs))
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take the actions of the next step, integers `[B]`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Step all boards.

        Returns:
            Observations `[B, ...]`, rewards float32 `[B]`, dones bool `[B]`, and one info a board.
        """
        observations, rewards, terminated, truncated, infos = self.envs.step(self._actions)
        dones = terminated | truncated
        row_infos = _rows(infos, range(self.num_envs))
        for info in row_infos:
            info["TimeLimit.truncated"] = False
        if dones.any():
            self._end_episodes(row_infos, np.flatnonzero(dones), infos, truncated & ~terminated)
        return observations, rewards.astype(np.float32), dones, row_infos

    def close(self) -> None:
        """Close the environment below."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute of the environment below, once a board; else an AttributeError."""
        value = find_attribute(self.envs, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute for all boards, in the layer that has it.

        AttributeError if no layer has one of that name, ValueError if `indices` leaves boards out.
        """
        self._require_all(attr_name, indices)
        find_attribute(self.envs, attr_name)
        setattr(next(each for each in self._layers() if hasattr(each, attr_name)), attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the environment below, once for all boards.

        For `action_masks` and `render` the results of the chosen boards are returned; for any other
        method its one result, once a board.

        Raises:
            AttributeError: if no layer has such a method.
            ValueError: if `indices` leaves out boards that the method would act on.
        """
        method = find_attribute(self.envs, method_name)
        if method_name not in PER_BOARD:
            self._require_all(method_name, indices)
        result = method(*method_args, **method_kwargs)
        if method_name in PER_BOARD and result is not None:
            return [result[i] for i in self._get_indices(indices)]
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Return whether a layer of the environment below is of that class, once a board."""
        found = any(isinstance(layer, wrapper_class) for layer in self._layers())
        return [found for _ in self._get_indices(indices)]

    def get_images(self) -> list[NDArray[np.uint8] | None]:
        """Draw every board, uint8 `[H, W, 3]` each."""
        return list(find_attribute(self.envs, "render")())

    def _layers(self) -> Iterator[VectorEnv[Any, Any, Any]]:
        """Go through the wrappers and the environment below, from the outermost on."""
        layer = self.envs
        while isinstance(layer, VectorWrapper):
            yield layer
            layer = layer.env
        yield layer

    def _end_episodes(
        self,
        row_infos: list[dict[str, Any]],
        ended: NDArray[np.intp],
        infos: dict[str, Any],
        truncated: NDArray[np.bool_],
    ) -> None:
        """Swap the infos of ended boards: the old episode's are returned, the new one's kept."""
        rows = _rows(infos["final_info"], ended.tolist())
        for i, info in zip(ended.tolist(), rows, strict=True):
            del row_infos[i]["TimeLimit.truncated"]
            self.reset_infos[i] = row_infos[i]
            info["TimeLimit.truncated"] = bool(truncated[i])
            info["terminal_observation"] = infos["final_obs"][i]
            row_infos[i] = info

    def _require_all(self, name: str, indices: Indices) -> None:
        if set(self._get_indices(indices)) != set(range(self.num_envs)):
            raise ValueError(f"{name} belongs to all {self.num_envs} boards at once: no indices")


def make_vec_env(
    env: str, num_envs: int = 64, *, observation: Form = "board", **options: Any
) -> SudokuVecEnv:
    """Make a vector environment for Stable-Baselines3.

    Args:
        env: id of the environment, e.g. `"Sudoku9x9-v0"`.
        num_envs: number of boards.
        observation: `"board"` (`[N, N]`) or `"one-hot"` (bits `[N**3]`, for networks that take no
            digits).
        **options: of the environment, e.g. `blanks=8, reward="sparse"`.

    Raises:
        ValueError: if the form of observation is unknown.
    """
    envs = gym.make_vec(env, num_envs=num_envs, autoreset_mode="SameStep", **options)
    if observation == "one-hot":
        envs = VectorFlatObservation(VectorOneHotBoard(envs))
    elif observation != "board":
        raise ValueError(f"observation={observation!r}: use 'board' or 'one-hot'")
    return SudokuVecEnv(envs)


def _rows(infos: dict[str, Any], boards: Iterable[int]) -> list[dict[str, Any]]:
    """Cut the arrays of a batch into one dict a board, of Python's own numbers but for arrays."""
    names = [n for n in infos if not n.startswith(("_", "final_"))]
    chosen = np.fromiter(boards, np.int64)
    columns = []
    for name in names:
        values = infos[name][chosen]
        columns.append(values.tolist() if values.ndim == 1 else list(values))
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
