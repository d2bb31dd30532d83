"""Whether tensors from a file are those of a network or an optimiser, before any is put there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from sudoku_learning.training.checkpoint import CONFIG, WEIGHTS

_Network = TypeVar("_Network", bound=nn.Module)

_MISSING = 100  # tensors that a file may lack, and be told which


def build_network(make: Callable[[], _Network], weights: Mapping[str, Tensor]) -> _Network:
    """Make a network and give it weights; nothing is allocated before both are seen to fit.

    Args:
        make: makes the network of the file's configuration, of whatever size that asks for.
        weights: of the file.

    Raises:
        ValueError: as `load_weights`, or if no such network can be made.
    """
    try:
        with torch.device("meta"), _at_most(len(weights) + _MISSING):
            wanted = make().state_dict()
    except (RuntimeError, TypeError, OverflowError) as error:  # torch's words for absurd sizes
        raise ValueError(f"{CONFIG}: there is no such network ({error})") from None
    check_tensors(WEIGHTS, weights, wanted)
    network = make()
    network.load_state_dict(dict(weights))
    return network


def load_weights(network: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Put weights into a network.

    Raises:
        ValueError: if they are another network's, or not finite; the message begins with the name
            of the file in a checkpoint.
    """
    check_tensors(WEIGHTS, weights, network.state_dict())
    network.load_state_dict(dict(weights))


def check_tensors(file: str, found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> None:
    """Hold tensors to have the names, shapes and types that are wanted, and to be finite.

    Args:
        file: where they were found, which begins the message.
        found: by name.
        wanted: tensors of the right shapes and types; their values, if they have any, don't matter.

    Raises:
        ValueError: if they do not.
    """
    for name in sorted(found.keys() ^ wanted.keys()):
        problem = "is none of this network's" if name in found else "is missing"
        raise ValueError(f"{file}: the tensor {name!r:.80} {problem}")
    for name, tensor in wanted.items():
        if (found[name].shape, found[name].dtype) != (tensor.shape, tensor.dtype):
            raise ValueError(
                f"{file}: {name} must be {_form(tensor)}, but does not fit: it is "
                f"{_form(found[name])}"
            )
        if not found[name].isfinite().all():
            raise ValueError(f"{file}: the numbers of {name} are not all finite")


def _form(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"


@contextmanager
def _at_most(count: int) -> Iterator[None]:
    """Stop a network that is made in this thread at its first parameter beyond so many."""
    thread, made = threading.get_ident(), 0

    def register(module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        nonlocal made
        made += threading.get_ident() == thread
        if made > count:
            raise ValueError(f"{WEIGHTS}: {CONFIG} asks for more tensors than there are")

    handle = register_module_parameter_registration_hook(register)
    try:
        yield
    finally:
        handle.remove()
