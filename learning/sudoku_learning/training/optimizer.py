"""A network's optimizer as most learners use it, and as a part of their state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from sudoku_gym.storage.checks import check_counts, check_positive, check_shares
from sudoku_gym.storage.configs import registered
from sudoku_learning.training.checkpoint import OPTIMIZER
from sudoku_learning.training.learner import LearnerState
from sudoku_learning.training.weights import check_tensors, load_weights


@registered("optimizer")
@dataclass(frozen=True)
class OptimizerConfig:
    """Adam on batches, with clipped gradients and a learning rate that may fall."""

    learning_rate: float = 3e-3
    """of Adam, until `constant_share` of the iterations are done; from there it falls to 0"""
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
        """Return the learning rate when a share of the run is done: in the end 2 % of the first."""
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
        """Move the parameters against the gradient of a loss, a tensor of one number."""
        self.adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._network.parameters(), self._config.max_gradient_norm)
        self.adam.step()

    def state(self) -> LearnerState:
        """Return the network's weights and the optimizer's tensors."""
        return LearnerState(self._network.state_dict(), optimizer_tensors(self.adam))

    def restore(self, state: LearnerState) -> None:
        """Put weights and tensors of a state back; raises ValueError if they do not fit."""
        load_weights(self._network, state.weights)
        restore_optimizer(self.adam, state.tensors)


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return an optimizer's tensors by name, `<parameter>.<quantity>`, fit for safetensors."""
    return {
        f"{index}.{name}": value.clone()
        for index, values in optimizer.state_dict()["state"].items()
        for name, value in values.items()
    }


def restore_optimizer(optimizer: torch.optim.Adam, tensors: Mapping[str, Tensor]) -> None:
    """Put the tensors of `optimizer_tensors` back; raises ValueError if they do not fit."""
    parameters = [each for group in optimizer.param_groups for each in group["params"]]
    moved = {name.partition(".")[0] for name in tensors}  # no step has moved the others yet
    wanted = {
        f"{index}.{quantity}": like
        for index, parameter in enumerate(parameters)
        if str(index) in moved
        for quantity, like in _adams(parameter).items()
    }
    check_tensors(OPTIMIZER, tensors, wanted)
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        index, _, quantity = name.partition(".")
        if quantity != "exp_avg" and (value < 0).any():
            raise ValueError(f"{OPTIMIZER}: {name} has negative numbers")
        state.setdefault(int(index), {})[quantity] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def _adams(parameter: Tensor) -> dict[str, Tensor]:
    """Return tensors with the shapes and types of what Adam keeps of a parameter."""
    return {"step": torch.zeros(()), "exp_avg": parameter, "exp_avg_sq": parameter}
