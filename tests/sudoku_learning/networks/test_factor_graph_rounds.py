"""Plain torch is the definition; the kernels agree with it, and so do their derivatives."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import factor_graph
from sudoku_learning.networks.factor_graph import function, reference
from sudoku_learning.networks.factor_graph.graph import FactorGraph

ROUNDS = 3


def weights_of(channels, intersections, seed=0, scale=1.0):
    """Weights of a random body, as a tuple of leaves."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = factor_graph.FactorGraphConfig(channels, intersections=intersections)
        weights = factor_graph.FactorGraphBody(config)._weights()
        gamma = torch.randn(channels) * 0.5
    weights = weights._replace(gamma=gamma)
    return reference.LayerWeights(*(scale * w.detach().clone() for w in weights))


def leaves(weights, dtype):
    return reference.LayerWeights(*(w.to(dtype).requires_grad_() for w in weights))


def outcome(run_rounds, weights, graph, all_rounds, seed=0):
    """Results, and the derivatives of a random linear function of them by all weights."""
    placements, constraints, _ = run_rounds(weights, graph, ROUNDS, all_rounds)
    rng = np.random.default_rng(seed)
    loss = sum(
        (x * torch.from_numpy(rng.normal(size=x.shape)).to(x.dtype)).sum()
        for x in (placements, constraints)
    )
    grads = torch.autograd.grad(loss, weights, allow_unused=True, materialize_grads=True)
    return [placements, constraints], list(grads)


def assert_agree(weights, graph, all_rounds):
    found, grads = outcome(function.run_rounds, leaves(weights, torch.float32), graph, all_rounds)
    exact, exact_grads = outcome(
        reference.run_rounds, leaves(weights, torch.float64), graph, all_rounds
    )
    for x, y in zip(found, exact, strict=True):
        assert x.dtype == torch.float32 and x.shape == y.shape
        torch.testing.assert_close(x, y.float(), rtol=1e-4, atol=1e-4)
    for name, x, y in zip(weights._fields, grads, exact_grads, strict=True):
        scale = y.abs().max().item() if y.numel() else 0
        assert (x - y).abs().max().item() <= 1e-3 * scale + 1e-5 if y.numel() else True, name


@pytest.mark.parametrize("intersections", [False, True])
def test_kernels_agree_with_plain_torch(geometry, positions, intersections):
    boards, masks = positions(geometry)
    graph = FactorGraph.of(boards, masks, geometry, intersections)
    assert_agree(weights_of(12, intersections), graph, all_rounds=True)


@settings(max_examples=25, deadline=None)
@given(
    channels=st.integers(2, 26),  # normalised, one is a sign, whose derivative is rounding
    intersections=st.booleans(),
    all_rounds=st.booleans(),
    wide=st.booleans(),
    scale=st.sampled_from([0.3, 1.0, 4.0]),
    seed=st.integers(0, 2**16),
)
def test_they_agree_for_any_weights(
    positions, channels, intersections, all_rounds, wide, scale, seed
):
    geometry = Geometry.standard(4)
    boards, masks = positions(geometry, seed=seed)
    if wide:
        masks = np.repeat(boards.reshape(len(boards), -1) == 0, 4, axis=1)
    graph = FactorGraph.of(boards, masks, geometry, intersections)
    assert_agree(weights_of(channels, intersections, seed, scale), graph, all_rounds)


@pytest.mark.parametrize("intersections", [False, True])
def test_derivatives_of_plain_torch(positions, intersections):
    geometry = Geometry.standard(4)
    boards, masks = positions(geometry, count=3)
    graph = FactorGraph.of(boards, masks, geometry, intersections)
    weights = leaves(weights_of(3, intersections), torch.float64)

    def run(*weights):
        return reference.run_rounds(reference.LayerWeights(*weights), graph, 2, True)[:2]

    assert torch.autograd.gradcheck(run, tuple(weights))


@pytest.mark.parametrize("unused", [0, 1])
def test_a_loss_may_leave_a_result_out(positions, unused):
    geometry = Geometry.standard(4)
    graph = FactorGraph.of(*positions(geometry), geometry)
    found = []
    for run_rounds in (function.run_rounds, reference.run_rounds):
        weights = leaves(weights_of(8, False), torch.float32)
        run_rounds(weights, graph, ROUNDS, False)[1 - unused].sum().backward()
        found.append(weights.message.grad)
    torch.testing.assert_close(*found, rtol=1e-3, atol=1e-4)


def test_one_strong_message_leaves_no_noise_behind():
    """Messages differ by a factor of a million here: a difference of sums would be all rounding."""
    geometry = Geometry.standard(9)
    boards = np.zeros((1, 9, 9), np.int8)
    masks = np.ones((1, 729), bool)
    graph = FactorGraph.of(boards, masks, geometry)
    weights = weights_of(8, False, scale=6.0)
    with torch.no_grad():
        found = function.run_rounds(weights, graph, 8, True)[0]
        exact = reference.run_rounds(
            reference.LayerWeights(*(w.double() for w in weights)), graph, 8, True
        )[0]
    torch.testing.assert_close(found, exact.float(), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("threads", [2, 3, 50])
def test_boards_are_shared_among_threads(threads, positions, monkeypatch):
    geometry = Geometry.standard(6)
    boards, masks = positions(geometry, count=40)
    graph, weights = FactorGraph.of(boards, masks, geometry, True), weights_of(16, True)
    shares = []

    def recorded(*given):
        shares.append(given[-2:])
        return kernel(*given)

    kernel = function.forward
    monkeypatch.setattr(function, "forward", recorded)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    none = [None] * len(boards)
    alone = function.run_rounds(weights, graph, ROUNDS, False, none)
    assert shares == [(0, len(boards))]
    shares.clear()
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    shared = function.run_rounds(weights, graph, ROUNDS, False, none)
    assert len(shares) >= threads or len(shares) == len(boards)
    assert [b for first, end in sorted(shares) for b in range(first, end)] == [*range(len(boards))]
    for one, other in zip(alone[:2], shared[:2], strict=True):
        assert torch.equal(one, other)
    for one, other in zip(alone[2], shared[2], strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))
