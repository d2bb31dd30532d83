"""Trained networks as policies: those that come with the package, and any supervised run's.

load_policy("multiverse-m12")
load_policy("exact-cover-supervised?mode=one-shot&rounds=64")
load_policy("runs/multiverse?mode=surest")
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, TypeVar

from sudoku_baselines.neural.exact_cover import ExactCoverTraining, FactorGraphPredictor
from sudoku_baselines.neural.guissart.learner import GuissartTraining
from sudoku_baselines.neural.guissart.solver import Guissart
from sudoku_baselines.neural.learner import LabelledConfig, SupervisedConfig
from sudoku_baselines.neural.model import ModelPredictor
from sudoku_gym.policies import Policy, PredictorPolicy
from sudoku_gym.policies.protocols import Mode
from sudoku_learning.networks import NetworkPolicy, Restarts
from sudoku_learning.training.config import config_from_json
from sudoku_learning.training.environments import geometry_of_env
from sudoku_learning.training.weights import load_network

Folder = str | os.PathLike[str]
_Config = TypeVar("_Config", bound=LabelledConfig)
_PRETRAINED = Path(__file__).parent / "pretrained"


def load(
    folder: Folder,
    mode: Mode | None = None,
    rounds: int | None = None,
    restarts: int = 0,
    noise: float | None = None,
) -> Policy:
    """Make a policy of a checkpoint of a supervised run, or of the latest one of the run.

    Args:
        folder: of the checkpoint or the run.
        mode: `"one-shot"` predicts all blanks at once, `"surest"` fills the most probable cell and
            evaluates again, `"random"` fills a random one; None takes that of the held-out games.
        rounds: of a recurrent network; None takes those of the checkpoint.
        restarts: further starts of boards that have not converged, each of as many rounds.
        noise: how far from the first a further start begins, see
            `sudoku_learning.networks.Restarts`.

    Raises:
        ValueError: if there is no sound checkpoint in the folder, or its network has no such
            option.
    """
    _import_models()
    given = Restarts.of_options(restarts, noise)
    config, network = _read(folder, LabelledConfig)
    solutions = config.count_shown()
    if isinstance(config, ExactCoverTraining):
        network.body.rounds = rounds
        if mode == "random":
            raise ValueError(f"mode='random': the network in {folder} plays the surest cells first")
        if mode == "one-shot":
            return PredictorPolicy(FactorGraphPredictor(network, given, solutions), mode)
        return NetworkPolicy(
            network, threshold=config.threshold, restarts=given, solutions=solutions
        )
    if not isinstance(config, SupervisedConfig):
        raise ValueError(f"{folder} holds the training of another agent than 'supervised'")
    if restarts:
        raise ValueError(f"restarts={restarts}: boards never converge in the network in {folder}")
    if rounds is not None:
        if not network.is_recurrent or rounds < 1:
            raise ValueError(f"rounds={rounds}: the network in {folder} has none to choose")
        network.rounds = rounds
    return PredictorPolicy(ModelPredictor(network, solutions), mode or config.mode)


def shipped(name: str) -> Callable[..., Policy]:
    """Return `load` with the folder of a network that comes with the package."""
    return partial(load, folder=_PRETRAINED / name)


exact_cover = shipped("exact-cover")


def guissart(folder: Folder = Path(__file__).parent / "guissart" / "pretrained") -> Guissart:
    """Make `Guissart`, by default of the networks that come with the package; raises as `load`."""
    config, networks = _read(folder, GuissartTraining)
    return Guissart(networks, config.count_shown())


def _read(folder: Folder, kind: type[_Config]) -> tuple[_Config, Any]:
    """Return the configuration and the network of a checkpoint, or of the latest of a run."""

    def make(config: _Config) -> Any:
        return config.build(geometry_of_env(config.env))

    return load_network(folder, partial(config_from_json, kind=kind), make)


def _import_models() -> None:
    """Import every file beside this one, so that a checkpoint of each model can be read."""
    for module in iter_modules([str(Path(__file__).parent)]):
        import_module(f"{__package__}.{module.name}")
