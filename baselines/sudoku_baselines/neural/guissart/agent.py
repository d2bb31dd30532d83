"""Guissart's networks as a policy: those of a run, or those that come with the package."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from sudoku_baselines.neural.guissart.learner import GuissartTraining
from sudoku_baselines.neural.guissart.solver import Guissart, Networks
from sudoku_learning.training.config import config_from_json
from sudoku_learning.training.environments import held_out_source
from sudoku_learning.training.playing import load_network

PRETRAINED = Path(__file__).parent / "pretrained"


def load(
    folder: str | os.PathLike[str] = PRETRAINED,
    trial_and_error: bool = True,
    backtracking: int = 1000,
) -> Guissart:
    """Make a solver of a checkpoint, or of the latest checkpoint of a run.

    Args:
        folder: of the checkpoint or the run; by default the networks that come with the package.
        trial_and_error: whether to try placements where filling stops.
        backtracking: boards filled in backtracking for a puzzle at most, by the networks, and as
            many again by the rules; 0 for none.

    Raises:
        ValueError: if there is no sound checkpoint in the folder.
    """
    _, networks = load_network(folder, partial(config_from_json, kind=GuissartTraining), _make)
    return Guissart(networks, trial_and_error, backtracking)


def _make(config: GuissartTraining) -> Networks:
    return config.build(held_out_source(config.env).geometry)
