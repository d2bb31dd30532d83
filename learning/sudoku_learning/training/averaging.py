"""A moving average of a network's weights, which plays in its place.

Each update moves the average by a small share of the way to the new weights, so that it changes
less from update to update than they do.
"""

from __future__ import annotations

from typing import Generic, TypeVar, cast

from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from sudoku_learning.training.checkpoint import OPTIMIZER
from sudoku_learning.training.learner import LearnerState
from sudoku_learning.training.optimizer import Optimizer, optimizer_tensors, restore_optimizer
from sudoku_learning.training.weights import check_tensors, load_weights

_TRAINED = "trained."  # before the names of the weights that are not averaged
_UPDATES = "averaged_updates"


_Network = TypeVar("_Network", bound=nn.Module)


class AveragedWeights(Generic[_Network]):
    """The exponential moving average of the weights that an optimizer updates.

    Args:
        network: whose weights are averaged; buffers are copied as they are.
        optimizer: each of its steps moves the average.
        decay: share of the average that a step keeps, in (0, 1); the first step keeps nothing.
    """

    def __init__(self, network: _Network, optimizer: Optimizer, decay: float) -> None:
        self._network = network
        self._optimizer = optimizer
        average = get_ema_multi_avg_fn(decay)  # type: ignore[no-untyped-call]
        self._averaged = AveragedModel(network, multi_avg_fn=average)
        optimizer.adam.register_step_post_hook(lambda *_: self._averaged.update_parameters(network))

    @property
    def network(self) -> _Network:
        """The network with the averaged weights, in evaluation mode."""
        return cast(_Network, self._averaged.module.eval())

    def state(self) -> LearnerState:
        """Return the average as the weights that play, and what training needs beside it."""
        trained = self._network.state_dict()
        tensors = optimizer_tensors(self._optimizer.adam)
        tensors |= {f"{_TRAINED}{name}": value for name, value in trained.items()}
        tensors[_UPDATES] = self._averaged.n_averaged
        return LearnerState(self.network.state_dict(), tensors)

    def restore(self, state: LearnerState) -> None:
        """Put the tensors of a state back; raises ValueError if they do not fit."""
        tensors = dict(state.tensors)
        wanted = {f"{_TRAINED}{name}": value for name, value in self._network.state_dict().items()}
        wanted[_UPDATES] = self._averaged.n_averaged
        own = {name: tensors.pop(name) for name in wanted.keys() & tensors.keys()}
        check_tensors(OPTIMIZER, own, wanted)
        load_weights(self.network, state.weights)
        restore_optimizer(self._optimizer.adam, tensors)
        self._averaged.n_averaged.copy_(own.pop(_UPDATES))
        trained = {name.removeprefix(_TRAINED): value for name, value in own.items()}
        self._network.load_state_dict(trained)
