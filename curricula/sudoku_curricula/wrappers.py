"""Wrappers that let a schedule choose the tasks, for Env and for VectorEnv.

They read `info["level"]` (the blanks at an episode's start) or `info["task"]`, and
`info["is_success"]`, and push weights through `set_blanks`, which each board follows from its next
reset on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.core import ActType, ObsType
from gymnasium.vector import AutoresetMode, VectorEnv

from sudoku_curricula.base import Schedule
from sudoku_curricula.curriculum import Curriculum
from sudoku_curricula.curves import ScalarWriter
from sudoku_gym.wrappers.base import SudokuVectorWrapper, chosen_boards, find_attribute

_READ = ("task", "level", "is_success")  # what counts in an info at the end


class CurriculumWrapper(gym.Wrapper[ObsType, ActType, ObsType, ActType]):
    """Let a schedule choose the tasks of an environment; options are those of `Curriculum`.

    Args:
        env: an environment with `set_blanks`, below any number of wrappers.
        schedule: e.g. `make_schedule("success-rate", start=2, stop=12)`.

    Raises:
        AttributeError: if no layer of `env` has `set_blanks`.
        ValueError: if the schedule's metric is not completion.
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
        set_blanks = env.get_wrapper_attr("set_blanks")
        self.curriculum = Curriculum(schedule, set_blanks, episodes_per_update, writer)

    def step(self, action: ActType) -> tuple[ObsType, Any, bool, bool, dict[str, Any]]:
        """Step, and report the episode if it ended."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.curriculum.steps += 1
        if terminated or truncated:
            self.curriculum.end(self.curriculum.begin(1), [info])  # it ends before the next begins
        return observation, reward, terminated, truncated, info


class VectorCurriculumWrapper(SudokuVectorWrapper):
    """Let a schedule choose the tasks of a vector environment, in any autoreset mode.

    Arguments and errors are those of `CurriculumWrapper`. Under `DISABLED` an episode is reported
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
        self._numbers = np.full(env.num_envs, -1, np.int64)  # of the running episodes; -1: none
        self.curriculum = Curriculum(schedule, find_set_blanks(env), episodes_per_update, writer)

    def reset(
        self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all boards, or those of `options["reset_mask"]`; their episodes start anew."""
        # Read before the call: Gymnasium's own vector environments pop the mask from the options.
        restarted = chosen_boards(options, self.num_envs)
        result: tuple[Any, dict[str, Any]] = super().reset(seed=seed, options=options)
        self.curriculum.drop(self._numbers[restarted & (self._numbers >= 0)])
        self._numbers[restarted] = self.curriculum.begin(int(restarted.sum()))
        return result

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step, and report the episodes that ended."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        self.curriculum.steps += self.num_envs
        ended = (terminated | truncated) & (self._numbers >= 0)
        if ended.any():
            last = infos["final_info"] if self._mode == AutoresetMode.SAME_STEP else infos
            keys = [key for key in _READ if key in last]
            told = [{key: last[key][i] for key in keys} for i in np.flatnonzero(ended)]
            self.curriculum.end(self._numbers[ended], told)
            waits = self._mode == AutoresetMode.DISABLED
            self._numbers[ended] = -1 if waits else self.curriculum.begin(len(told))
        return observations, rewards, terminated, truncated, infos


def find_set_blanks(envs: VectorEnv[Any, Any, Any]) -> Callable[[Any], Any]:
    """Return `set_blanks` of a vector environment, else a call of that of each of its own."""
    base: Any = envs.unwrapped
    if hasattr(base, "set_blanks"):
        return base.set_blanks
    return partial(find_attribute(base, "call"), "set_blanks")
