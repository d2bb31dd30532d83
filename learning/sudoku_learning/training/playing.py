"""Checkpoints as players: the configuration and the weights, and nothing of the training."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from torch import Tensor, nn

from sudoku_learning.training import checkpoint
from sudoku_learning.training.run_folder import checkpoint_in

Config = TypeVar("Config")


def read_to_play(
    folder: str | os.PathLike[str], read_config: Callable[[dict[str, Any]], Config]
) -> tuple[Config, dict[str, Tensor]]:
    """Read what playing needs from a checkpoint, or from the latest checkpoint of a run.

    Args:
        folder: of the checkpoint or the run.
        read_config: makes the family's configuration of the JSON's content.

    Returns:
        The configuration, and the weights by name.

    Raises:
        ValueError: if there is no checkpoint, or it is damaged; the message names the file.
    """
    path = checkpoint_in(folder)
    data, weights = checkpoint.read_to_play(path)
    try:
        return read_config(data), weights
    except ValueError as error:
        raise ValueError(f"{path / checkpoint.CONFIG}: {error}") from error


def load_weights(
    network: nn.Module, weights: Mapping[str, Tensor], folder: str | os.PathLike[str]
) -> None:
    """Put weights into a network.

    Raises:
        ValueError: if they are another network's, or not finite; the message names the folder.
    """
    unsound = [name for name, tensor in weights.items() if not tensor.isfinite().all()]
    if unsound:
        raise ValueError(f"{os.fspath(folder)}: the weights {unsound[0]} are not all finite")
    try:
        network.load_state_dict(dict(weights))
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{os.fspath(folder)}: the weights do not fit: {reason}") from error
