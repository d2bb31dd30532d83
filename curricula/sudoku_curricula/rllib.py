"""A curriculum as a callback of RLlib's new API stack, and its curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.plugins import suggest_extra

with suggest_extra("sudoku_curricula.rllib"):
    from ray.rllib.algorithms import Algorithm, AlgorithmConfig
    from ray.rllib.callbacks.callbacks import RLlibCallback
    from ray.rllib.env.env_runner import EnvRunner
    from ray.rllib.env.env_runner_group import EnvRunnerGroup

from sudoku_curricula import curves
from sudoku_curricula.base import ScheduleConfig
from sudoku_curricula.curriculum import Curriculum, EpisodeQueue, PlayHeldOut
from sudoku_curricula.wrappers import find_set_blanks

CURRICULUM = "curriculum"  # key in a checkpoint's state
CURVES = "curves"  # key in a result of `train`
_SUMS = ("episodes_by_task", "solved_by_task")  # in the runners' metrics
STEPS = "num_env_steps_sampled_lifetime"

_METRICS = {  # of RLlib's runners and learner -> our curve name
    "episode_return_mean": curves.EPISODIC_RETURN,
    "episode_len_mean": curves.EPISODIC_LENGTH,
    "policy_loss": curves.POLICY_LOSS,
    "vf_loss": curves.VALUE_LOSS,
    "qf_loss": curves.VALUE_LOSS,
    "entropy": curves.ENTROPY,
    "default_optimizer_learning_rate": curves.LEARNING_RATE,
}
_Config = TypeVar("_Config", bound=AlgorithmConfig)


def add_curriculum(
    config: _Config,
    schedule: ScheduleConfig,
    held_out: Callable[[Algorithm], PlayHeldOut] | None = None,
    **options: Any,
) -> _Config:
    """Add a `CurriculumCallback` with these arguments, whose state checkpoints then hold.

    RLlib tells callbacks nothing of saving, so the class of algorithm becomes a subclass of the
    same name that adds the state. `config` is changed, and returned.
    """
    callback: Any = partial(CurriculumCallback, schedule, held_out, **options)
    config.callbacks(callback)
    algorithm_class: Any = config.algo_class

    class WithCurriculum(algorithm_class):
        def get_state(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
            state = algorithm_class.get_state(self, *args, **kwargs)
            return {**state, CURRICULUM: _callback_of(self).state_dict()}

        def set_state(self, state: dict[str, Any]) -> None:
            algorithm_class.set_state(self, state)
            if CURRICULUM in state:
                _callback_of(self).load_state_dict(state[CURRICULUM])

    WithCurriculum.__name__ = algorithm_class.__name__
    config.algo_class = WithCurriculum
    return config


def _callback_of(algorithm: Any) -> CurriculumCallback:
    """Return the curriculum among the callbacks of an algorithm."""
    return next(each for each in algorithm.callbacks if isinstance(each, CurriculumCallback))


class CurriculumCallback(RLlibCallback):
    """Lets a schedule choose the tasks, by measured success, while an algorithm learns.

    `add_curriculum(config, SuccessRateConfig(start=2, stop=12))` adds it to a configuration; RLlib
    then makes one in every process. The weights are pushed to all runners, those of the evaluation
    too: when the algorithm is made, they move, a lost runner has been restarted, or a checkpoint
    has been loaded. Each result of `train` holds the curves, see `write_curves`.

    Args:
        schedule: the configuration of the schedule.
        held_out: takes the algorithm and returns a `PlayHeldOut`, e.g.
            `partial(sudoku_agents.rllib.held_out, source="4x4")`. None: training episodes.
        evaluate_every: environment steps, at least, between two calls of `held_out`; 0 plays at
            each result of `train`.
        episodes_per_update: without `held_out`, see `Curriculum`.

    Attributes:
        curriculum: counts episodes and moves the level; the runners' processes have none.

    Raises:
        ValueError: when the algorithm is made, if the schedule's metric is not completion; when a
            checkpoint is loaded, if its state is another schedule's.
    """

    curriculum: Curriculum

    def __init__(
        self,
        schedule: ScheduleConfig,
        held_out: Callable[[Algorithm], PlayHeldOut] | None = None,
        *,
        evaluate_every: int = 0,
        episodes_per_update: int = 100,
    ) -> None:
        super().__init__()
        self._schedule = schedule
        self._make_held_out = held_out
        self._evaluate_every = evaluate_every
        self._episodes_per_update = episodes_per_update
        self._held_out: PlayHeldOut | None = None
        self._evaluated_at = 0
        self._scalars: dict[str, float] = {}  # the latest of each curve, for the next result
        # in a process that plays: the episodes that are running, by RLlib's id
        self._queue = EpisodeQueue(schedule.build().tasks)
        self._numbers = dict[str, NDArray[np.int64]]()

    def on_algorithm_init(self, *, algorithm: Algorithm, **kwargs: Any) -> None:
        """Start the schedule, and push its level."""
        schedule, set_blanks = self._schedule.build(), partial(push_blanks, algorithm)
        log: Any = SimpleNamespace(add_scalar=lambda tag, y, _: self._scalars.update({tag: y}))
        self.curriculum = Curriculum(schedule, set_blanks, self._episodes_per_update, log)
        if self._make_held_out is not None:
            self._held_out = self._make_held_out(algorithm)

    def on_episode_start(self, *, episode: Any, env_runner: Any = None, **kwargs: Any) -> None:
        """Take note that a training episode begins, in the process that plays it."""
        if self._make_held_out is None and not env_runner.config.in_evaluation:
            self._numbers[episode.id_] = self._queue.begin(1)

    def on_episode_end(self, *, episode: Any, metrics_logger: Any = None, **kwargs: Any) -> None:
        """Count the training episodes that may be counted, in the process that played them."""
        if episode.id_ not in self._numbers:
            return
        self._queue.end(self._numbers.pop(episode.id_), [episode.get_infos(-1)])
        for task, sums in zip(*self._queue.pop(), strict=True):
            for name, value in zip(_SUMS, sums.tolist(), strict=True):
                metrics_logger.log_value((name, str(task)), value, reduce="sum")

    def on_train_result(self, *, result: dict[str, Any], **kwargs: Any) -> None:
        """Feed the schedule, push its level if it moved, and add the curves to the result."""
        self.curriculum.steps = int(result[STEPS])
        if self._held_out is None:
            self._report_training_episodes(result)
        elif self.curriculum.steps >= self._evaluated_at + self._evaluate_every:
            self._evaluated_at = self.curriculum.steps
            self.curriculum.report_held_out(self._held_out)
        self.curriculum.write_weights()
        self.curriculum.write_speed()
        self._scalars[curves.ITERATION] = float(result["training_iteration"])
        result[CURVES] = self._scalars | _common_names(result)
        self._scalars = {}

    def on_env_runners_recreated(self, *, env_runner_group: EnvRunnerGroup, **kwargs: Any) -> None:
        """Push the level to restarted runners, which otherwise start at the initial level."""
        blanks = self.curriculum.schedule.blanks()
        env_runner_group.foreach_env_runner(partial(_set_blanks, blanks=blanks))

    def state_dict(self) -> dict[str, Any]:
        """Return everything that `load_state_dict` needs to continue; fit for JSON."""
        return {**self.curriculum.state_dict(), "evaluated_at": self._evaluated_at}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state that `state_dict` returned, and push the level again."""
        self.curriculum.load_state_dict(state)
        self._evaluated_at = state["evaluated_at"]

    def _report_training_episodes(self, result: dict[str, Any]) -> None:
        runners = result.get("env_runners", {})
        parts = [runners.pop(name, {}) for name in _SUMS]
        # RLlib keeps tasks that ended no episode since its last result, with a sum of nan.
        rows = [[np.nan_to_num(part[task]) for part in parts] for task in parts[0]]
        tasks = np.array([int(task) for task in parts[0]], np.int64)
        self.curriculum.count(tasks, np.array(rows, np.int64).reshape(-1, len(_SUMS)))


def write_curves(result: Mapping[str, Any], writer: curves.ScalarWriter) -> None:
    """Write the curves that a result of `train` holds, under the names of every trainer."""
    for tag, value in result[CURVES].items():
        writer.add_scalar(tag, value, int(result[STEPS]))


def push_blanks(algorithm: Algorithm, blanks: Any) -> None:
    """Set the blanks or tasks of every runner, for evaluation too, from the next resets on."""
    for group in (algorithm.env_runner_group, algorithm.eval_env_runner_group):
        if group is not None:
            group.foreach_env_runner(partial(_set_blanks, blanks=blanks))


def _set_blanks(runner: EnvRunner, blanks: Any) -> None:
    if runner.env is not None:  # the local runner beside remote ones has none
        find_set_blanks(runner.env)(blanks)


def _common_names(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics of RLlib under our curve names."""
    learners, runners = result.get("learners", {}), result.get("env_runners", {})
    found = {**runners, **learners.get("default_policy", {})}
    metrics = {common: found[name] for name, common in _METRICS.items() if name in found}
    # If no episode ended, the mean is NaN.
    return {tag: float(value) for tag, value in metrics.items() if np.isfinite(value)}
