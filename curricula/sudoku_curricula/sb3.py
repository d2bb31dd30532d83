"""A curriculum as a callback of Stable-Baselines3."""

from __future__ import annotations

import warnings
from functools import partial
from math import ceil
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.plugins import suggest_extra

with suggest_extra("sudoku_curricula.sb3"):
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.logger import Image

from sudoku_curricula import curves
from sudoku_curricula.base import Schedule
from sudoku_curricula.curriculum import Curriculum, PlayHeldOut, check_held_out, tasks_of

_LOSSES = {  # SB3's metric name -> our curve name and the sign
    "train/policy_gradient_loss": (curves.POLICY_LOSS, 1),
    "train/policy_loss": (curves.POLICY_LOSS, 1),
    "train/value_loss": (curves.VALUE_LOSS, 1),
    "train/entropy_loss": (curves.ENTROPY, -1),
    "train/learning_rate": (curves.LEARNING_RATE, 1),
}


class CurriculumCallback(BaseCallback):
    """Lets a schedule choose the tasks, by measured success, while a model learns.

    It pushes the weights to the training environment, any `VecEnv` over Sudoku environments, by
    `env_method("set_blanks", ...)`, and writes the curves of `sudoku_curricula.curves` to the
    model's logger. Its state is kept in `model.curriculum_state`, so `model.save` saves it, and a
    new callback continues where the loaded model was.

    Args:
        schedule: e.g. `make_schedule("success-rate", start=2, stop=12)`.
        held_out: a `PlayHeldOut`, e.g. `sudoku_learning.training.HeldOut`. None feeds the schedule
            with the training episodes, which explore and so understate the skill.
        evaluate_every: environment steps between two calls of `held_out`; None makes ten of them
            in a run. A run that ends without an update of its schedule warns.
        episodes_per_update: without `held_out`, see `Curriculum`.

    Attributes:
        curriculum: counts episodes and moves the level; set when training starts.

    Raises:
        ValueError: if `held_out` is given and tasks are single puzzles; when training starts, if
            the schedule's metric is not completion, or the model's saved state is another's.
    """

    curriculum: Curriculum

    def __init__(
        self,
        schedule: Schedule,
        held_out: PlayHeldOut | None = None,
        *,
        evaluate_every: int | None = None,
        episodes_per_update: int = 100,
    ) -> None:
        super().__init__()
        if held_out is not None:
            check_held_out(schedule)
        self.schedule = schedule
        self._held_out = held_out
        self._evaluate_every = evaluate_every
        self._episodes_per_update = episodes_per_update
        self._every = self._next_evaluation = 0
        self._numbers = np.empty(0, np.int64)  # of the running episodes; -1: begun before
        self._tasks: list[list[int]] = []  # of each board at each step of a rollout
        self._trained: list[NDArray[np.bool_]] = []  # whether they are trained on

    def _on_training_start(self) -> None:
        saved = getattr(self.model, "curriculum_state", None)
        set_blanks = partial(self.training_env.env_method, "set_blanks")
        # SB3's logger writes with the model's count of steps, at its dump.
        log: Any = SimpleNamespace(
            add_scalar=lambda tag, value, _: self.logger.record(tag, value),
            add_image=lambda tag, pixels, _: self.logger.record(
                tag, Image(pixels, "CHW"), exclude=("stdout", "log", "json", "csv")
            ),
        )
        self.curriculum = Curriculum(self.schedule, set_blanks, self._episodes_per_update, log)
        if saved is not None:
            self.curriculum.load_state_dict(saved)
        self.curriculum.start_clock(self.num_timesteps)
        steps = self.locals["total_timesteps"] - self.num_timesteps
        self._every = self._evaluate_every or ceil(steps / 10)
        self._next_evaluation = self.num_timesteps + self._every
        count = self.training_env.num_envs
        fresh = self.num_timesteps == 0  # else a board may be in the middle of an episode
        self._numbers = self.curriculum.begin(count) if fresh else np.full(count, -1)
        self._keep_state()

    def _on_step(self) -> bool:
        self.curriculum.steps = self.num_timesteps
        if hasattr(self.model, "rollout_buffer"):
            self._tasks.append(tasks_of(self.locals["infos"], self.schedule.tasks))
            self._trained.append(self.schedule.trains()[self._tasks[-1]])
        if self._held_out is None:
            self._report_training_episodes()
        elif self.num_timesteps >= self._next_evaluation:
            self._next_evaluation = self.num_timesteps + self._every
            self.curriculum.report_held_out(self._held_out)
        return True

    def _on_rollout_end(self) -> None:
        """Write the metrics of SB3 under our curve names."""
        record, known = self.logger.record, self.logger.name_to_value
        self.curriculum.write_weights()
        self._use_advantages()
        for name, (common, sign) in _LOSSES.items():
            if name in known:
                record(common, sign * known[name])
        episodes = self.model.ep_info_buffer
        if episodes:
            record(curves.EPISODIC_RETURN, sum(e["r"] for e in episodes) / len(episodes))
            record(curves.EPISODIC_LENGTH, sum(e["l"] for e in episodes) / len(episodes))
        self.curriculum.write_speed()
        self._keep_state()  # of the same moment as the weights, which learn between rollouts

    def _on_training_end(self) -> None:
        self._keep_state()
        if not self.curriculum.updates:
            warnings.warn(
                f"{self.num_timesteps:,} steps ended without an update of the schedule: make more, "
                "or lower evaluate_every or episodes_per_update",
                stacklevel=2,
            )

    def _report_training_episodes(self) -> None:
        dones: NDArray[np.bool_] = self.locals["dones"]
        if dones.any():
            known = np.flatnonzero(dones & (self._numbers >= 0))
            self.curriculum.end(self._numbers[known], [self.locals["infos"][i] for i in known])
            self._numbers[dones] = self.curriculum.begin(int(dones.sum()))

    def _use_advantages(self) -> None:
        """Hand on the mean absolute advantage of each task's steps in a rollout of PPO.

        Steps on tasks that are not trained on lose their advantages: only PPO's bonus for entropy
        is left of them. ValueError if the model normalises advantages, which brings them back.
        """
        if self._tasks:
            tasks, left_out = np.array(self._tasks), ~np.array(self._trained)
            model: Any = self.model
            if left_out.any() and model.normalize_advantage:
                raise ValueError("robust replay needs PPO(..., normalize_advantage=False)")
            buffer = model.rollout_buffer
            sizes = np.abs(buffer.advantages[: len(tasks)])
            played = np.unique(tasks[tasks >= 0])
            means = np.array([sizes[tasks == task].mean() for task in played])
            self.curriculum.note_advantages(played, means)
            buffer.advantages[: len(tasks)][left_out] = 0
            buffer.returns[: len(tasks)][left_out] = buffer.values[: len(tasks)][left_out]
        self._tasks.clear()
        self._trained.clear()

    def _keep_state(self) -> None:
        # An attribute of the model's own is saved and loaded with it.
        self.model.curriculum_state = self.curriculum.state_dict()  # type: ignore[attr-defined]
