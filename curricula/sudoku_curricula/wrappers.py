"""Wrappers that let a schedule set the number of blanks, for Env and for VectorEnv.

Both report training episodes to the schedule by `info["level"]` (the blanks an episode began with)
and `info["is_success"]`, push `schedule.distribution()` through `set_blanks`, and draw both in
TensorBoard. A new level is in force from the next reset of each board.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.core import ActType, ObsType
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper

from sudoku_curricula.base import Schedule
from sudoku_curricula.tensorboard import BLANKS, SUCCESS_RATE, ScalarWriter

SetBlanks = Callable[[Mapping[int, float]], Any]
HeldOut = Callable[[int | None], tuple[int, int]]


class BlanksCurriculum(gym.Wrapper[ObsType, ActType, ObsType, ActType]):
    """Let a schedule set the number of blanks of an environment.

    Args:
        env: an environment with `set_blanks`, below any number of wrappers.
        schedule: a started schedule, e.g. `make_schedule("success-rate", start=2, stop=12)`.
        episodes_per_update: how many episodes at the current level make one `schedule.update`;
            one iteration of Algorithm 1.
        writer: where the curves go; None writes none.

    Raises:
        ValueError: if no layer of `env` has `set_blanks`; in `step`, if an episode ends without
            `level` and `is_success` in its info.
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
            schedule, env.get_wrapper_attr("set_blanks"), episodes_per_update, writer
        )

    def step(self, action: ActType) -> tuple[ObsType, Any, bool, bool, dict[str, Any]]:
        """Step, and report the episode if it ended."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.curriculum.steps += 1
        if terminated or truncated:
            level, success = results_of(info)
            self.curriculum.report([int(level)], [bool(success)])
        return observation, reward, terminated, truncated, info


class VectorBlanksCurriculum(VectorWrapper):
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
        self.curriculum = Curriculum(schedule, find_set_blanks(env), episodes_per_update, writer)

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


class Curriculum:
    """The bookkeeping of both wrappers: gathers episodes, feeds the schedule, pushes its level.

    Adapters of other libraries build on it: call `report` with the episodes that ended.

    Args:
        schedule: the schedule to feed.
        set_blanks: takes `{blanks: weight}`; called at once and whenever the level moves.
        episodes_per_update: see `BlanksCurriculum`.
        writer: where the curves go; None writes none.

    Attributes:
        schedule: as given.
        steps: environment steps so far, the x-axis of the curves; the caller counts them.
        games: episodes reported so far.
    """

    def __init__(
        self,
        schedule: Schedule,
        set_blanks: SetBlanks,
        episodes_per_update: int = 100,
        writer: ScalarWriter | None = None,
    ) -> None:
        if episodes_per_update < 1:
            raise ValueError(f"episodes_per_update must be at least 1, not {episodes_per_update}")
        self.schedule = schedule
        self.steps = 0
        self.games = 0
        self._set_blanks = set_blanks
        self._episodes_per_update = episodes_per_update
        self._writer = writer
        self._tally: dict[int, tuple[int, int]] = {}
        set_blanks(schedule.distribution())
        self._write(BLANKS, schedule.level)

    def report(self, levels: Iterable[int], successes: Iterable[bool]) -> None:
        """Take in episodes that ended; feed the schedule once there are enough at its level."""
        for level, success in zip(levels, successes, strict=True):
            won, count = self._tally.get(level, (0, 0))
            self._tally[level] = won + bool(success), count + 1
            self.games += 1
        won, count = self._tally.get(self.schedule.level, (0, 0))
        if count >= self._episodes_per_update:
            self._write(SUCCESS_RATE, won / count)
            self._feed()

    def report_held_out(self, held_out: HeldOut) -> tuple[float, float]:
        """Let held-out games decide, again for each level they reach; then play minimal puzzles.

        Args:
            held_out: plays puzzles with so many blanks, minimal ones for None, and returns how many
                were solved and how many there were.

        Returns:
            The shares solved at the last level that was played, and of the minimal puzzles.
        """
        moved = True
        while moved:  # a level that is mastered already costs no training
            level = self.schedule.level
            solved, count = held_out(level)
            self.report([level] * count, [True] * solved + [False] * (count - solved))
            moved = self.schedule.level != level
        minimal_solved, minimal_count = held_out(None)
        return solved / count, minimal_solved / minimal_count

    def state_dict(self) -> dict[str, Any]:
        """Return the schedule's state and the episodes not yet fed to it; fit for JSON."""
        tally = [[level, *counts] for level, counts in self._tally.items()]
        return {
            "schedule": self.schedule.state_dict(),
            "steps": self.steps,
            "games": self.games,
            "tally": tally,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state that `state_dict` returned, and push the level again."""
        self.schedule.load_state_dict(state["schedule"])
        self.steps = state["steps"]
        self.games = state["games"]
        self._tally = {level: (won, count) for level, won, count in state["tally"]}
        self._set_blanks(self.schedule.distribution())

    def _feed(self) -> None:
        moved = [
            self.schedule.update(level, *counts) for level, counts in sorted(self._tally.items())
        ]
        self._tally.clear()
        if any(moved):
            self._set_blanks(self.schedule.distribution())
        self._write(BLANKS, self.schedule.level)

    def _write(self, tag: str, value: float) -> None:
        if self._writer is not None:
            self._writer.add_scalar(tag, value, self.steps)


_NO_SET_BLANKS = "{} has no set_blanks: wrap a Sudoku environment, e.g. gym.make('Sudoku4x4-v0')"


def results_of(info: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the level and the success that an ended episode's info, or infos, tell.

    Raises:
        ValueError: if they are missing.
    """
    try:
        return info["level"], info["is_success"]
    except KeyError as missing:
        raise ValueError(
            f"an episode ended without {missing} in its info: the curriculum needs 'level' and "
            "'is_success', and wrappers below it must keep them"
        ) from None


def find_set_blanks(envs: VectorEnv[Any, Any, Any]) -> SetBlanks:
    """Find `set_blanks`: vector environments forward no attributes through their wrappers.

    Raises:
        ValueError: if no layer has it.
    """
    layer = envs
    while not hasattr(layer, "set_blanks"):
        if not isinstance(layer, VectorWrapper):
            return _set_blanks_of_each(layer)
        layer = layer.env
    method: SetBlanks = layer.set_blanks
    return method


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
