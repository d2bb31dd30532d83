"""Curves of a run: their names, and a reader.

Every trainer writes these names over environment steps (supervised trainers: positions seen), with
torch's `SummaryWriter` or any other `ScalarWriter`. A name is `group/what`; trainers may add names
of their own within the groups, such as `losses/approx_kl`, and `sudoku-gym plot` draws them.
"""

from __future__ import annotations

import os
from math import isfinite
from pathlib import Path
from typing import Any, Protocol

BLANKS_LEVEL = "curriculum/blanks"
"""The level of the curriculum: blanks of a puzzle."""
SUCCESS_RATE = "curriculum/success_rate"
"""Share of the games at the level that were solved entirely."""
POLICY_ACCURACY = "curriculum/policy_accuracy"
"""Share of trained positions at which the policy's first choice is, or is among, the search's
(alpha of Algorithm 1 of the cAlphaZero paper)."""
TASK_ENTROPY = "curriculum/task_entropy"
"""Entropy of the weights of the tasks, in nats."""
TASK_GROUPS = TASK_WEIGHT, TASK_SUCCESS = "task_weight", "task_success"
"""Groups of the weights of single tasks, such as `task_weight/5 blanks`, and of their success."""
COMPLETION_RATE = "evaluation/completion_rate"
"""Share of held-out puzzles as stored (minimal ones) that greedy play solves entirely."""
CONSTRAINT_FRACTION = "evaluation/constraint_fraction"
"""Share of satisfied units of the last boards of the held-out games, averaged."""
TRAINING_COMPLETION = "training/completion_rate"
"""Share of the puzzles trained on that are solved entirely."""
POLICY_LOSS = "losses/policy_loss"
"""Loss of the policy, as in CleanRL."""
VALUE_LOSS = "losses/value_loss"
"""Loss of the value, as in CleanRL."""
ENTROPY = "losses/entropy"
"""Entropy of the policy in nats, averaged over positions."""
STEPS_PER_SECOND = "throughput/steps_per_second"
"""Environment steps per second of wall time."""
EPISODIC_RETURN = "charts/episodic_return"
"""Sum of the rewards of an episode, averaged."""
EPISODIC_LENGTH = "charts/episodic_length"
"""Steps of an episode, averaged."""
LEARNING_RATE = "charts/learning_rate"
"""Learning rate of the optimizer."""
ITERATION = "charts/iteration"
"""Iterations done."""

GROUPS = (
    "curriculum",  # the level, and the metrics that schedules move by
    "evaluation",  # greedy games on validation puzzles
    "training",  # games and boards that are trained on
    "search",  # searches that make training data
    "losses",  # what the learner minimises or monitors
    "throughput",  # per second
    "charts",  # CleanRL's episodic return, episodic length and learning rate; the iteration
)

Curves = dict[str, tuple[list[int], list[float]]]


class ScalarWriter(Protocol):
    """Receives curves; torch's `SummaryWriter` implements it."""

    def add_scalar(self, tag: str, value: Any, step: Any, /) -> Any:
        """Add the point (`step`, `value`) to the curve `tag`."""


def read_curves(folder: str | os.PathLike[str]) -> Curves:
    """Read the curves of a run back, as TensorBoard shows them: `{tag: (steps, values)}`.

    Steps rise; of several points at one step the last counts. What is nan or infinite is left out.
    ValueError if the folder holds no curves.
    """
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    curves: Curves = {}
    if Path(folder).is_dir():
        events = EventAccumulator(os.fspath(folder), {"scalars": 0})
        events.Reload()
        for tag in events.Tags()["scalars"]:
            points = {e.step: e.value for e in events.Scalars(tag) if isfinite(e.value)}
            if points:
                curves[tag] = sorted(points), [points[step] for step in sorted(points)]
    if not curves:
        raise ValueError(f"{os.fspath(folder)} holds no curves: give the folder of a run")
    return curves
