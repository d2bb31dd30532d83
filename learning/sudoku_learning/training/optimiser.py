"""A network's optimiser as most learners use it, and as a part of their state."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from sudoku_learning.training.checkpoint import OPTIMISER
from sudoku_learning.training.learner import State
from sudoku_learning.training.weights import check_tensors, load_weights


class Optimiser:
    """Adam with clipped gradients.

    Args:
        network: whose parameters it moves.
        learning_rate: of Adam.
        max_gradient_norm: gradients longer than this are shortened to it.

    Attributes:
        adam: torch's optimiser.
    """

    def __init__(
        self, network: nn.Module, learning_rate: float, max_gradient_norm: float = 1.0
    ) -> None:
        self.adam = torch.optim.Adam(network.parameters(), learning_rate)
        self._network = network
        self._max_norm = max_gradient_norm

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next steps; a learner may change it."""
        return float(self.adam.param_groups[0]["lr"])

    @learning_rate.setter
    def learning_rate(self, rate: float) -> None:
        for group in self.adam.param_groups:
            group["lr"] = rate

    def step(self, loss: Tensor) -> None:
        """Move the parameters against the gradient of a loss, a tensor of one number."""
        self.adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._network.parameters(), self._max_norm)
        self.adam.step()

    def state(self) -> State:
        """Return the network's weights and the optimiser's tensors."""
        return State(self._network.state_dict(), optimiser_tensors(self.adam))

    def restore(self, state: State) -> None:
        """Put weights and tensors of a state back.

        Raises:
            ValueError: if the weights are another network's, or the tensors those of other
                parameters.
        """
        load_weights(self._network, state.weights)
        restore_optimiser(self.adam, state.tensors)


def falling_rate(done: float, constant_share: float) -> float:
    """Return the share of its learning rate that a run has left: 1 at first, then evenly to 0.02.

    Args:
        done: share of the run that is over.
        constant_share: share of the run before the rate begins to fall; 1 keeps it.
    """
    if done <= constant_share:
        return 1.0
    return max((1 - done) / (1 - constant_share), 0.02)


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return an optimiser's tensors by name, `<parameter>.<quantity>`, fit for safetensors."""
    return {
        f"{index}.{name}": value.clone()
        for index, values in optimiser.state_dict()["state"].items()
        for name, value in values.items()
    }


def restore_optimiser(optimiser: torch.optim.Adam, tensors: Mapping[str, Tensor]) -> None:
    """Put the tensors of `optimiser_tensors` back into an optimiser of the same parameters.

    Raises:
        ValueError: if they are no such tensors, or those of other parameters.
    """
    parameters = [each for group in optimiser.param_groups for each in group["params"]]
    moved = {name.partition(".")[0] for name in tensors}  # no step has moved the others yet
    wanted = {
        f"{index}.{quantity}": like
        for index, parameter in enumerate(parameters)
        if str(index) in moved
        for quantity, like in _adams(parameter).items()
    }
    check_tensors(OPTIMISER, tensors, wanted)
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        index, _, quantity = name.partition(".")
        if quantity != "exp_avg" and (value < 0).any():
            raise ValueError(f"{OPTIMISER}: {name} has negative numbers")
        state.setdefault(int(index), {})[quantity] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})


def _adams(parameter: Tensor) -> dict[str, Tensor]:
    """Return what Adam keeps of a parameter, in shape and type."""
    return {"step": torch.zeros(()), "exp_avg": parameter, "exp_avg_sq": parameter}
