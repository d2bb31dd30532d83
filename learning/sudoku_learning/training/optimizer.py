"""A network's optimizer as most learners use it, and the moving average of its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from sudoku_gym.storage.checks import check_counts, check_positive, check_shares
from sudoku_gym.storage.configs import registered
from sudoku_learning.training.learner import LearnerState

_Network = TypeVar("_Network", bound=nn.Module)

_TRAINED = "trained."  # before the names of the weights that are not averaged
_UPDATES = "averaged_updates"


@registered("optimizer")
@dataclass(frozen=True)
class OptimizerConfig:
    """Adam on batches, with clipped gradients and a learning rate that may fall."""

    learning_rate: float = 3e-3
    """of Adam, until `constant_share` of the iterations are done; from there it falls to 2 %"""
    batch_size: int = 64
    """boards an update"""
    max_gradient_norm: float = 1.0
    """gradients longer than this are shortened to it"""
    constant_share: float = 1.0
    """share of the iterations before the learning rate begins to fall; 1 keeps it"""

    def __post_init__(self) -> None:
        check_counts(self, "batch_size")
        check_positive(self, "learning_rate", "max_gradient_norm")
        check_shares(self, "constant_share")

    def learning_rate_at(self, share: float) -> float:
        """Return the learning rate when a share of the run is done, at least 2 % of the first."""
        if share <= self.constant_share:
            return self.learning_rate
        return self.learning_rate * max((1 - share) / (1 - self.constant_share), 0.02)


class Optimizer:
    """Adam on a network's parameters, with clipped gradients."""

    def __init__(self, network: nn.Module, config: OptimizerConfig) -> None:
        self.adam = torch.optim.Adam(network.parameters(), config.learning_rate)
        self._network = network
        self._config = config

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next steps."""
        return float(self.adam.param_groups[0]["lr"])

    def schedule(self, share: float) -> None:
        """Set the learning rate to that of a run of which a share is done."""
        for group in self.adam.param_groups:
            group["lr"] = self._config.learning_rate_at(share)

    def step(self, loss: Tensor) -> None:
        """Move the parameters against the gradient of a loss, a tensor of one number.

        Raises:
            ValueError: if the gradient is not finite; the parameters stay as they are.
        """
        self.adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self._network.parameters(), self._config.max_gradient_norm)
        if not norm.isfinite():
            raise ValueError("the loss, or its gradient, is not finite")
        self.adam.step()

    def state(self) -> LearnerState:
        """Return the network's weights and the optimizer's tensors."""
        return LearnerState(self._network.state_dict(), optimizer_tensors(self.adam))

    def restore(self, state: LearnerState) -> None:
        """Put weights and tensors of a state back."""
        self._network.load_state_dict(state.weights)
        restore_optimizer(self.adam, state.tensors)


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return an optimizer's tensors by name, `<parameter>.<quantity>`, fit for safetensors."""
    return {
        f"{index}.{name}": value.clone()
        for index, values in optimizer.state_dict()["state"].items()
        for name, value in values.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put the tensors of `optimizer_tensors` back."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        index, _, quantity = name.partition(".")
        state.setdefault(int(index), {})[quantity] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


class EMA(Generic[_Network]):
    """The exponential moving average of the weights that an optimizer updates.

    It plays in their place, since it changes less from update to update than they do. Each step of
    the optimizer keeps a share `decay` of it, in (0, 1), the first one nothing; buffers are copied.
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
        """Put the tensors of a state back."""
        tensors = dict(state.tensors)
        self._averaged.n_averaged.copy_(tensors.pop(_UPDATES))
        names = self._network.state_dict()
        self._network.load_state_dict({name: tensors.pop(f"{_TRAINED}{name}") for name in names})
        self.network.load_state_dict(state.weights)
        restore_optimizer(self._optimizer.adam, tensors)
