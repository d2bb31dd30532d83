"""Checkpoints as players: the configuration and the weights, and nothing of the training."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

from torch import Tensor, nn

from sudoku_learning.networks.bodies import RecurrentBody
from sudoku_learning.training import checkpoint
from sudoku_learning.training.run_folder import checkpoint_in
from sudoku_learning.training.weights import build_network, load_weights

_Config = TypeVar("_Config")
_Network = TypeVar("_Network", bound=nn.Module)


def load_network(
    folder: str | os.PathLike[str],
    read_config: Callable[[dict[str, Any]], _Config],
    make: Callable[[_Config], _Network],
    rename: Callable[[dict[str, Tensor]], dict[str, Tensor]] = dict,
    rounds: int | None = None,
) -> tuple[_Config, _Network]:
    """Make the network of a checkpoint, or of the latest checkpoint of a run.

    Args:
        folder: of the checkpoint or the run.
        read_config: makes the family's configuration of the JSON's content.
        make: makes the network of a configuration, with whatever weights.
        rename: gives the weights of an earlier release the names that they have today.
        rounds: of a recurrent body, in each evaluation; None takes those of the checkpoint.

    Returns:
        The configuration, and the network with its weights.

    Raises:
        ValueError: if there is no checkpoint, or it is damaged; the message names the file. Or if
            the network has no rounds to choose.
    """
    path = checkpoint_in(folder)
    data, weights = checkpoint.read_to_play(path)
    with checkpoint.naming(path / checkpoint.CONFIG, "it can't be used"):
        config = read_config(data)
    with checkpoint.naming(path, "it can't be played"):
        network = build_network(lambda: make(config), rename(weights))
    if rounds is not None:
        body = getattr(network, "body", None)
        if not isinstance(body, RecurrentBody):
            raise ValueError(f"rounds={rounds}: the network in {folder} has none to choose")
        body.rounds = rounds
    return config, network


def load_weights_of(folder: str | os.PathLike[str], network: nn.Module) -> None:
    """Give a network the weights of a checkpoint, or of the latest checkpoint of a run.

    Raises:
        ValueError: if there is no checkpoint, it is damaged, or its network has another form; the
            message names the file.
    """
    path = checkpoint_in(folder)
    _, weights = checkpoint.read_to_play(path)
    with checkpoint.naming(path, "a network can't begin with it"):
        load_weights(network, weights)
