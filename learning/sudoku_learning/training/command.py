"""A trainer's command line: the fields of its configuration are the options."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import torch
import tyro
from rich.console import Console

from sudoku_learning.training.checkpoint import CONFIG_FILE
from sudoku_learning.training.config import TrainingConfig, saved_config
from sudoku_learning.training.learner import Learner, RunGenerators
from sudoku_learning.training.loop import Training

_Config = TypeVar("_Config", bound=TrainingConfig)


def train_cli(
    config_class: type[_Config],
    make_learner: Callable[[_Config, RunGenerators], Learner],
    name: str,
    argv: Sequence[str] | None = None,
) -> int:
    """Train from the command line; with `--resume`, options default to the saved ones.

    But for the address of a Ray cluster: who answers there can run code in this process, so it is
    joined only if the command line names it.

    `config_class` is the configuration class of the trainer, `name` its name in the help text. If
    `argv` is None, the arguments of the process are used. Returns 0, the exit status.

    Raises:
        ValueError: if the run can't be started or resumed.
    """
    program = f"sudoku-gym train {name}"
    arguments = sys.argv[1:] if argv is None else list(argv)
    config = tyro.cli(config_class, args=arguments, prog=program)
    if config.resume and (config.run / CONFIG_FILE).exists():
        # Options not given again keep their saved values.
        saved = saved_config(config.run, config_class)
        ray = replace(saved.ray, address=None)
        saved = replace(saved, run=config.run, resume=True, ray=ray)
        config = tyro.cli(config_class, args=arguments, prog=program, default=saved)
    torch.set_num_threads(1)  # results do not depend on the number of cores
    Training(config, make_learner).run(Console())
    print(f"The run is in {config.run}: tensorboard --logdir {config.run}")
    return 0
