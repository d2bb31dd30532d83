"""Networks made from the weights of checkpoints."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from torch import nn

from sudoku_gym.policies.loading import checkpoints_of
from sudoku_gym.storage.reading import error_context
from sudoku_learning.networks import FactorGraphBody
from sudoku_learning.training import checkpoint
from sudoku_learning.training.config import TrainingConfig

_Config = TypeVar("_Config")
_Network = TypeVar("_Network", bound=nn.Module)


def load_network(
    folder: str | os.PathLike[str],
    read_config: Callable[[dict[str, Any]], _Config],
    make: Callable[[_Config], _Network],
    rounds: int | None = None,
) -> tuple[_Config, _Network]:
    """Make the network of a checkpoint, or of the latest checkpoint of a run.

    `read_config` takes the JSON's content; `make` gives the network any weights; `rounds` of a
    recurrent body, in each evaluation, are by default those of the checkpoint. ValueError if there
    is no sound checkpoint, or the network has no rounds to choose.
    """
    path = checkpoint.checkpoint_in(folder)
    with error_context(path, "it can't be played"):
        data, weights = checkpoint.read_to_play(path)
        config = read_config(data)
        network = make(config)
        network.load_state_dict(weights)
    if rounds is not None:
        body = getattr(network, "body", None)
        if not isinstance(body, FactorGraphBody):
            raise ValueError(f"rounds={rounds}: the network in {folder} has none to choose")
        body.rounds = rounds
    return config, network


def load_initial_weights(folder: Path | None, config: TrainingConfig, network: nn.Module) -> None:
    """Give a network the weights that its run begins with: those of a checkpoint or of a run.

    None leaves it as it is. A run that is resumed from a checkpoint has weights of its own, and the
    folder may be gone. ValueError if there is no checkpoint, or it is damaged or unfit.
    """
    if folder is None or (config.resume and checkpoints_of(config.run)):
        return
    path = checkpoint.checkpoint_in(folder)
    with error_context(path, "a network can't begin with it"):
        network.load_state_dict(checkpoint.read_to_play(path)[1])
