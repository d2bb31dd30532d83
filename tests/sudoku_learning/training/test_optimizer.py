"""The optimizer's configuration, and how its learning rate falls."""

import pytest
import torch

from sudoku_learning.training import Optimizer, OptimizerConfig


def test_the_learning_rate_falls_once_its_constant_share_is_over():
    optimizer = Optimizer(torch.nn.Linear(1, 1), OptimizerConfig(0.1, constant_share=0.4))
    rates = []
    for share in (0, 0.4, 0.7, 1):
        optimizer.schedule(share)
        rates.append(optimizer.learning_rate)
    assert rates == pytest.approx([0.1, 0.1, 0.05, 0.002])


def test_the_learning_rate_stays_with_a_constant_share_of_1():
    assert {OptimizerConfig(0.1).learning_rate_at(share) for share in (0, 0.5, 1)} == {0.1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learning_rate": 0.0}, "learning_rate must be positive"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"max_gradient_norm": -1.0}, "max_gradient_norm must be positive"),
        ({"constant_share": 1.5}, "constant_share must lie in"),
    ],
)
def test_settings_that_make_no_sense(changes, message):
    with pytest.raises(ValueError, match=message):
        OptimizerConfig(**changes)


def test_the_optimizer_continues_where_it_was():
    network = torch.nn.Linear(3, 1)
    straight = Optimizer(network, OptimizerConfig(0.1))

    def step(network, optimizer, times):
        for _ in range(times):
            optimizer.step(network(torch.ones(2, 3)).square().sum())

    step(network, straight, 3)
    copy = torch.nn.Linear(3, 1)
    again = Optimizer(copy, OptimizerConfig(0.1))
    again.restore(straight.state())
    step(network, straight, 2)
    step(copy, again, 2)
    assert torch.equal(network.weight, copy.weight)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_gradient_that_is_not_finite_changes_nothing(bad):
    network = torch.nn.Linear(3, 1)
    before = network.weight.detach().clone()
    with pytest.raises(ValueError, match="not finite"):
        Optimizer(network, OptimizerConfig()).step(network(torch.full((1, 3), bad)).sum())
    assert torch.equal(network.weight, before)
