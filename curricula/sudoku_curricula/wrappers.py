"""Wrappers that let a schedule set the number of blanks, for Env and for VectorEnv.

They read `info["level"]`, the blanks at an episode's start, and `info["is_success"]`, and push
`schedule.distribution()` through `set_blanks`. A new level takes effect at each board's next reset.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.core import ActType, ObsType
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper

from sudoku_curricula.base import Schedule
from sudoku_curricula.curriculum import Curriculum, SetBlanks
from sudoku_curricula.curves import ScalarWriter
from sudoku_gym.wrappers.base import SudokuVectorWrapper


class BlanksCurriculum(gym.Wrapper[ObsType, ActType, ObsType, ActType]):
    """Let a schedule set the number of blanks of an environment.

    Args:
        env: an environment with `set_blanks`, below any number of wrappers.
        schedule: e.g. `make_schedule("success-rate", start=2, stop=12)`.
        episodes_per_update: episodes at the current level per `schedule.update`, an iteration of
            Algorithm 1 (Agarwal et al.).
        writer: receives the curves; None disables logging.

    Raises:
        ValueError: if no layer of `env` has `set_blanks`, or the schedule's metric is not
            completion; in `step`, if an episode ends without `level` and `is_success` in its info.
    """

    def __init__(
        self,
        env: gym.Env[ObsType, ActType],
        schedule: Schedule,
        *,
        episodes_per_update: int = 100,
        writer: ScalarWriter | None = None,
    ) -> None:
        super().__init__(env)
        if not env.has_wrapper_attr("set_blanks"):
            raise ValueError(_NO_SET_BLANKS.format(env))
        self.curriculum = Curriculum(
            schedule,
            env.get_wrapper_attr("set_blanks"),
            episodes_per_update,
            writer,
            caller=type(self).__name__,
        )

    def step(self, action: ActType) -> tuple[ObsType, Any, bool, bool, dict[str, Any]]:
        """Step, and report the episode if it ended."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.curriculum.steps += 1
        if terminated or truncated:
            level, success = results_of(info)
            self.curriculum.report([int(level)], [bool(success)])
        return observation, reward, terminated, truncated, info


class VectorBlanksCurriculum(SudokuVectorWrapper):
    """Let a schedule set the number of blanks of a vector environment, in any autoreset mode.

    Arguments and errors are those of `BlanksCurriculum`. Under `DISABLED` an episode is reported
    once, however long its board waits for a reset.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        schedule: Schedule,
        *,
        episodes_per_update: int = 100,
        writer: ScalarWriter | None = None,
    ) -> None:
        super().__init__(env)
        self._mode = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        self._running = np.zeros(env.num_envs, np.bool_)
        self.curriculum = Curriculum(
            schedule,
            find_set_blanks(env),
            episodes_per_update,
            writer,
            caller=type(self).__name__,
        )

    def reset(
        self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all boards, or those of `options["reset_mask"]`; their episodes start anew."""
        # Read before the call: Gymnasium's own vector environments pop the mask from the options.
        restarted = (options or {}).get("reset_mask", True)
        result: tuple[Any, dict[str, Any]] = super().reset(seed=seed, options=options)
        self._running |= restarted
        return result

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step, and report the episodes that ended."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        self.curriculum.steps += self.num_envs
        ended = (terminated | truncated) & self._running
        if ended.any():
            same_step = self._mode == AutoresetMode.SAME_STEP
            levels, successes = results_of(infos["final_info"] if same_step else infos)
            self.curriculum.report(levels[ended].tolist(), successes[ended].tolist())
        if self._mode == AutoresetMode.DISABLED:
            self._running &= ~ended
        return observations, rewards, terminated, truncated, infos


_NO_SET_BLANKS = "{} has no set_blanks: wrap a Sudoku environment, e.g. gym.make('Sudoku4x4-v0')"


def results_of(info: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the level and the success in an ended episode's info, or infos; ValueError without."""
    try:
        return info["level"], info["is_success"]
    except KeyError as missing:
        raise ValueError(
            f"an episode ended without {missing} in its info: the curriculum needs 'level' and "
            "'is_success', and wrappers below it must keep them"
        ) from None


def find_set_blanks(envs: VectorEnv[Any, Any, Any]) -> SetBlanks:
    """Return `set_blanks` of a layer, else of each single environment; ValueError if none."""
    layer, passed_on = envs, SudokuVectorWrapper.set_blanks  # whatever lies below
    while isinstance(layer, VectorWrapper) and (
        getattr(type(layer), "set_blanks", None) is passed_on or not hasattr(layer, "set_blanks")
    ):
        layer = layer.env
    if hasattr(layer, "set_blanks"):
        method: SetBlanks = layer.set_blanks
        return method
    return _set_blanks_of_each(layer)


def _set_blanks_of_each(envs: VectorEnv[Any, Any, Any]) -> SetBlanks:
    """Return a call of every single environment's `set_blanks`, for Sync- and AsyncVectorEnv."""
    if not hasattr(envs, "call"):
        raise ValueError(_NO_SET_BLANKS.format(envs))
    call = envs.call

    def set_blanks(blanks: Mapping[int, float]) -> None:
        try:
            call("set_blanks", blanks)
        except AttributeError as error:
            raise ValueError(_NO_SET_BLANKS.format(envs)) from error

    return set_blanks
