"""The weights of checkpoints: networks made from them, once they are seen to fit."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from sudoku_learning.networks.bodies import RecurrentBody
from sudoku_learning.training import checkpoint
from sudoku_learning.training.checkpoint import CONFIG_FILE, WEIGHTS
from sudoku_learning.training.config import TrainingConfig
from sudoku_learning.training.run_folder import checkpoint_in, complete_checkpoints

_Config = TypeVar("_Config")
_Network = TypeVar("_Network", bound=nn.Module)

_MISSING = 100  # tensors that a file may lack and still have an error name them


def load_network(
    folder: str | os.PathLike[str],
    read_config: Callable[[dict[str, Any]], _Config],
    make: Callable[[_Config], _Network],
    rounds: int | None = None,
) -> tuple[_Config, _Network]:
    """Make the network of a checkpoint, or of the latest checkpoint of a run.

    `read_config` takes the JSON's content; `make` gives the network any weights; `rounds` of a
    recurrent body, in each evaluation, are by default those of the checkpoint.

    Raises:
        ValueError: if there is no checkpoint, or it is damaged; the message names the file. Or if
            the network has no rounds to choose.
    """
    path = checkpoint_in(folder)
    data, weights = checkpoint.read_to_play(path)
    with checkpoint.error_context(path / CONFIG_FILE, "it can't be used"):
        config = read_config(data)
    with checkpoint.error_context(path, "it can't be played"):
        network = build_network(lambda: make(config), weights)
    if rounds is not None:
        body = getattr(network, "body", None)
        if not isinstance(body, RecurrentBody):
            raise ValueError(f"rounds={rounds}: the network in {folder} has none to choose")
        body.rounds = rounds
    return config, network


def load_initial_weights(folder: Path | None, config: TrainingConfig, network: nn.Module) -> None:
    """Give a network the weights that its run begins with: those of a checkpoint or of a run.

    None leaves it as it is. A run that is resumed from a checkpoint has weights of its own, and the
    folder may be gone.

    Raises a ValueError that names the file if there is none, or it is damaged or does not fit.
    """
    if folder is None or (config.resume and complete_checkpoints(config.run)):
        return
    path = checkpoint_in(folder)
    _, weights = checkpoint.read_to_play(path)
    with checkpoint.error_context(path, "a network can't begin with it"):
        load_weights(network, weights)


def build_network(make: Callable[[], _Network], weights: Mapping[str, Tensor]) -> _Network:
    """Make a network with weights from a file; nothing is allocated before they are seen to fit.

    Raises ValueError as `load_weights`, or if `make` can make no such network.
    """
    try:
        with torch.device("meta"), _at_most(len(weights) + _MISSING):
            wanted = make().state_dict()
    except (RuntimeError, TypeError, OverflowError) as error:  # torch's words for absurd sizes
        raise ValueError(f"{CONFIG_FILE}: there is no such network ({error})") from None
    check_tensors(WEIGHTS, weights, wanted)
    network = make()
    network.load_state_dict(dict(weights))
    return network


def load_weights(network: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Put a checkpoint's weights into a network; raises as `check_tensors`."""
    check_tensors(WEIGHTS, weights, network.state_dict())
    network.load_state_dict(dict(weights))


def check_tensors(file: str, found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> None:
    """Check that tensors are finite, and have the names, shapes and types of the wanted ones.

    If not it raises a ValueError whose message begins with `file`.
    """
    for name in sorted(found.keys() ^ wanted.keys()):
        problem = "is none of this network's" if name in found else "is missing"
        raise ValueError(f"{file}: the tensor {name!r:.80} {problem}")
    for name, tensor in wanted.items():
        if (found[name].shape, found[name].dtype) != (tensor.shape, tensor.dtype):
            problem = f"but does not fit: it is {_form(found[name])}"
            if torch.get_default_dtype() != torch.float32:
                problem += f" (torch's default is set to {torch.get_default_dtype()} here)"
            raise ValueError(f"{file}: {name} must be {_form(tensor)}, {problem}")
        if not found[name].isfinite().all():
            raise ValueError(f"{file}: the numbers of {name} are not all finite")


def _form(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"


@contextmanager
def _at_most(count: int) -> Iterator[None]:
    """Stop a network that is made in this thread at its first parameter beyond a limit."""
    thread, made = threading.get_ident(), 0

    def register(module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        nonlocal made
        made += threading.get_ident() == thread
        if made > count:
            raise ValueError(f"{WEIGHTS}: {CONFIG_FILE} asks for more tensors than there are")

    handle = register_module_parameter_registration_hook(register)
    try:
        yield
    finally:
        handle.remove()
