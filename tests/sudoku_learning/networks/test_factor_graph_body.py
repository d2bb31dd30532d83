"""The body sees nothing but the exact-cover structure, so symmetry and size can't matter."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_gym import board
from sudoku_gym.geometry import Geometry, sudoku_x, symmetry
from sudoku_learning.networks.factor_graph import FactorGraphBody, FactorGraphConfig


class BoardHeads(torch.nn.Module):
    """Two numbers of each kind that boards have: by means, and by sums."""

    def __init__(self, body):
        super().__init__()
        self.means = body.board_readout(2)
        self.sums = body.board_readout(2, extensive=True)
        for weight in self.sums.parameters():
            torch.nn.init.normal_(weight, std=0.5)

    def forward(self, features):
        return torch.cat([self.means(features), self.sums(features)], 2)


def body_of(intersections=False, **options):
    """A body with heads for placements and boards, evaluating."""
    with torch.random.fork_rng():
        torch.manual_seed(options.pop("seed", 0))
        body = FactorGraphBody(FactorGraphConfig(10, 4, intersections=intersections, **options))
        heads = body.placement_readout(1), BoardHeads(body)
        torch.nn.init.normal_(body.gamma, std=0.5)
    return body.eval(), *heads


def answer(network, boards, masks, geometry):
    """Logits `[B, N**3]` (-9 where the mask is False) and values `[B, 4]`."""
    body, placement_head, board_head = network
    with torch.inference_mode():
        features = body(torch.from_numpy(boards), torch.from_numpy(masks), geometry)
        logits = torch.full((masks.size,), -9.0)
        logits[features.index] = placement_head(features)[-1, :, 0]
        return logits.view(masks.shape).numpy(), board_head(features)[-1].numpy()


@pytest.mark.parametrize("intersections", [False, True])
@settings(max_examples=10, deadline=None)
@given(
    geometry=st.sampled_from([Geometry.standard(4), Geometry.standard(6), sudoku_x(9)]),
    seed=st.integers(0, 2**16),
)
def test_equivariant_under_the_whole_group(positions, intersections, geometry, seed):
    network = body_of(intersections, seed=seed)
    boards, masks = positions(geometry, seed=seed)
    moves = symmetry.sample(geometry, len(boards), np.random.default_rng(seed))
    logits, values = answer(network, boards, masks, geometry)
    moved = answer(network, moves.apply(boards), moves.apply_to_policy(masks), geometry)
    np.testing.assert_allclose(moves.apply_to_policy(logits), moved[0], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(values, moved[1], rtol=1e-3, atol=1e-4)
    assert np.ptp(logits[masks]) > 1e-3  # it does tell placements apart


@pytest.mark.parametrize("intersections", [False, True])
def test_boards_of_a_batch_do_not_touch_each_other(geometry, positions, intersections):
    network = body_of(intersections)
    boards, masks = positions(geometry)
    logits, values = answer(network, boards, masks, geometry)
    for i in range(len(boards)):
        one = answer(network, boards[i : i + 1], masks[i : i + 1], geometry)
        np.testing.assert_allclose(one[0][0], logits[i], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(one[1][0], values[i], rtol=1e-4, atol=1e-5)


def test_weights_do_not_know_the_size(positions):
    network = body_of(intersections=True)
    for size in (4, 6, 9, 16):
        geometry = Geometry.standard(size)
        boards, masks = positions(geometry, count=3)
        logits, values = answer(network, boards, masks, geometry)
        assert np.isfinite(logits).all() and np.isfinite(values).all()


def test_extensive_numbers_add_up_over_parts_and_begin_at_zero():
    """Two blank cells that share no unit, beside boards on which one of them is filled."""
    geometry = Geometry.standard(4)
    body, _, heads = body_of()
    both = np.array([[[0, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 0]]], np.int8)
    one, other = both.copy(), both.copy()
    one[0, 0, 0], other[0, 3, 3] = 1, 1
    boards = np.concatenate([both, one, other])
    masks = board.candidates(boards, geometry).reshape(3, -1)
    features = body(torch.from_numpy(boards), torch.from_numpy(masks), geometry)
    sums = heads.sums(features)[-1]
    assert sums.abs().min() > 1e-3
    torch.testing.assert_close(sums[0], sums[1] + sums[2])
    assert not body.board_readout(2, extensive=True)(features).any()


@pytest.mark.parametrize("intersections", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_finished_boards_and_empty_batches_are_no_trouble(intersections, dtype):
    geometry = Geometry.standard(4)
    body, placement_head, board_head = (module.to(dtype) for module in body_of(intersections))
    solved = np.array([[[1, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 1]]], np.int8)
    for boards in (solved, solved[:0]):
        masks = torch.zeros(len(boards), 64, dtype=torch.bool)
        features = body(torch.from_numpy(boards), masks, geometry, all_rounds=True)
        assert features.variables.shape == (4, 0, 10)
        assert features.factors.shape == (4, 0, 10)
        assert features.shape == (len(boards), 64)
        logits, values = placement_head(features), board_head(features)
        assert logits.shape == (4, 0, 1) and values.shape == (4, len(boards), 4)
        assert values.isfinite().all()
        (logits.sum() + values.sum()).backward()
        assert body.start.grad.isfinite().all()


def test_dead_ends_are_visible(positions):
    """A cell without candidates is a constraint at its floor."""
    geometry = Geometry.standard(4)
    body, _, _ = body_of()
    boards = np.zeros((2, 4, 4), np.int8)
    masks = np.ones((2, 64), np.bool_)
    masks[1, :4] = False
    features = body(torch.from_numpy(boards), torch.from_numpy(masks), geometry)
    floor = (features.factors[-1] < np.log(1.1e-3)).all(1)
    first = features.factor_offsets[1]
    assert not floor[:first].any() and floor[first:].sum() == 1


def test_the_last_round_is_the_last_of_every_round(geometry, positions):
    body, _, _ = body_of(intersections=True)
    boards, masks = (torch.from_numpy(x) for x in positions(geometry))
    every = body(boards, masks, geometry, all_rounds=True)
    last = body(boards, masks, geometry)
    assert torch.equal(every.variables[-1:], last.variables)
    assert torch.equal(every.factors[-1:], last.factors)
    body.rounds = 2
    assert torch.equal(body(boards, masks, geometry).variables[0], every.variables[1])


def test_answers_and_derivatives_are_the_same_to_the_bit(positions):
    geometry = Geometry.standard(6)
    boards, masks = (torch.from_numpy(x) for x in positions(geometry))

    def run():
        body, head, board_head = body_of(intersections=True)
        features = body(boards, masks, geometry, all_rounds=True)
        (head(features).square().sum() + board_head(features).square().sum()).backward()
        return [features.variables, *(w.grad for w in body.parameters())]

    for one, other in zip(run(), run(), strict=True):
        assert torch.equal(one, other)


def test_gradients_reach_every_weight(positions):
    geometry = Geometry.standard(4)
    body, head, board_head = body_of(intersections=True)
    boards, masks = (torch.from_numpy(x) for x in positions(geometry))
    features = body(boards, masks, geometry)
    (head(features).square().sum() + board_head(features).square().sum()).backward()
    for name, weight in [*body.named_parameters(), *board_head.named_parameters()]:
        assert weight.grad is not None and weight.grad.abs().sum() > 0, name
