"""A trainer's command line: the fields of its configuration are the options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import torch
import tyro
from rich.console import Console

from sudoku_gym.usage_errors import short_usage_errors
from sudoku_learning.training.checkpoint import CONFIG
from sudoku_learning.training.config import TrainingConfig, saved_config
from sudoku_learning.training.learner import Learner, Random
from sudoku_learning.training.loop import Training

_Config = TypeVar("_Config", bound=TrainingConfig)


def train_from_the_command_line(
    kind: type[_Config],
    make_learner: Callable[[_Config, Random], Learner],
    name: str,
    argv: Sequence[str] | None = None,
) -> int:
    """Train from the command line, on one thread; `--resume` takes the saved options up again.

    `kind` is the family's configuration, `name` the trainer's for the help text; without `argv` the
    process's arguments are taken. Returns 0, for the shell.

    Raises:
        ValueError: if an option does not parse, or the run can't be started or resumed.
    """
    program = f"sudoku-gym train {name}"
    with short_usage_errors(program):
        config = tyro.cli(kind, args=argv, prog=program)
        if config.resume and (config.run / CONFIG).exists():
            # What is not said again stays as it was.
            saved = replace(saved_config(config.run, kind), run=config.run, resume=True)
            config = tyro.cli(kind, args=argv, prog=program, default=saved)
    torch.set_num_threads(1)
    Training(config, make_learner).run(Console())
    print(f"The run is in {config.run}: tensorboard --logdir {config.run}")
    return 0
