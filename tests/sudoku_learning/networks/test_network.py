"""Every head on every body: shapes, masks, ranges, rounds, and policies made of them."""

import numpy as np
import pytest
import torch

from sudoku_gym import board, evaluate, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import (
    ILLEGAL_LOGIT,
    POLICY_AND_VALUE,
    AttentionConfig,
    FactorGraphConfig,
    LogFlowConfig,
    MLPConfig,
    Network,
    NetworkPolicy,
    PolicyConfig,
    ValueConfig,
    evaluate_boards,
)
from sudoku_learning.networks.network import seeded

ROUNDS = 3
BODIES = [
    FactorGraphConfig(channels=8, rounds=ROUNDS),
    FactorGraphConfig(channels=8, rounds=ROUNDS, intersections=True),
    MLPConfig((16,)),
    AttentionConfig(width=8, layers=2, heads=2),
    AttentionConfig(width=8, layers=1, heads=2, perceptron=12),
]
HEADS = {
    "policy": PolicyConfig(),
    "value": ValueConfig(),
    "negative value": ValueConfig(-2.0, -1.0),
    "log flow": LogFlowConfig(),
}
bodies = pytest.mark.parametrize("body", BODIES, ids=repr)


def positions(geometry=None, name="4x4"):
    """Five minimal puzzles, a dead end and a full board."""
    bank = puzzles.load(name, "test")
    boards = bank.puzzles[:7].copy()
    boards[5] = bank.solutions[5]
    boards[6, 0] = 0
    boards[6, 0, :2], boards[6, 1, 2:4] = (1, 2), (3, 4)
    masks = board.candidates(boards, bank.geometry).reshape(7, -1)
    return boards, masks, bank.geometry


def make(body, heads=None, geometry=None):
    geometry = geometry or Geometry.standard(4)
    return seeded(1, lambda: Network(body, heads or HEADS, geometry)).eval()


@bodies
def test_heads_answer_in_the_shapes_and_ranges_they_promise(body):
    boards, masks, geometry = positions()
    found = evaluate_boards(make(body), boards, masks, geometry).outputs
    assert found["policy"].shape == masks.shape and found["policy"].dtype == np.float32
    assert (found["policy"][~masks] == ILLEGAL_LOGIT).all()
    assert (found["policy"][masks] > ILLEGAL_LOGIT / 2).all()
    assert found["value"].shape == found["log flow"].shape == (7,)
    assert ((found["value"] > 0) & (found["value"] < 1)).all()
    assert ((found["negative value"] > -2) & (found["negative value"] < -1)).all()
    assert all(np.isfinite(each).all() for each in found.values())


@bodies
def test_every_round_ends_with_what_the_last_one_says(body):
    boards, masks, geometry = positions()
    network = make(body)
    last = evaluate_boards(network, boards, masks, geometry).outputs
    with torch.inference_mode():
        arguments = torch.from_numpy(boards), torch.from_numpy(masks), geometry
        rounds = network(*arguments, all_rounds=True)
    for name, answers in rounds.items():
        assert len(answers) == (ROUNDS if isinstance(body, FactorGraphConfig) else 1)
        np.testing.assert_allclose(answers[-1], last[name], rtol=1e-4, atol=1e-5)


@bodies
def test_boards_of_a_batch_do_not_touch_each_other(body):
    boards, masks, geometry = positions()
    network = make(body)
    whole = evaluate_boards(network, boards, masks, geometry).outputs
    for i in range(len(boards)):
        one = evaluate_boards(network, boards[i : i + 1], masks[i : i + 1], geometry).outputs
        for name, answer in one.items():
            np.testing.assert_allclose(answer[0], whole[name][i], rtol=1e-4, atol=1e-4)
    nothing = evaluate_boards(network, boards[:0], masks[:0], geometry).outputs
    assert nothing["policy"].shape == (0, 64) and nothing["value"].shape == (0,)


@bodies
def test_gradients_reach_every_weight(body):
    boards, masks, geometry = positions()
    network = make(body, {name: HEADS[name] for name in ("policy", "value")}).train()
    given = torch.from_numpy(boards), torch.from_numpy(masks), geometry
    found = network(*given, all_rounds=True)
    legal = torch.from_numpy(masks).expand_as(found["policy"])
    loss = torch.log_softmax(found["policy"], 2)[legal].square().mean()
    (loss + found["value"].square().mean()).backward()
    for name, weight in network.named_parameters():
        assert weight.grad is not None and weight.grad.abs().sum() > 0, name


@pytest.mark.parametrize("body", BODIES[2:], ids=repr)
def test_a_body_for_one_size_refuses_another(body):
    boards, masks, geometry = positions(name="6x6")
    with pytest.raises(ValueError, match="made for 4x4 boards, these are 6x6"):
        evaluate_boards(make(body), boards, masks, geometry)


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (FactorGraphConfig, {"channels": 0}, "channels must be at least 1"),
        (MLPConfig, {"hidden": ()}, "hidden must be widths of at least 1"),
        (AttentionConfig, {"heads": 3}, "heads must divide width"),
        (AttentionConfig, {"perceptron": 0}, "perceptron must be at least 1"),
        (ValueConfig, {"low": None}, "give both low and high"),
        (ValueConfig, {"low": 1.0, "high": 1.0}, "low must be less than high"),
    ],
)
def test_unusable_settings_are_refused(kind, wrong, message):
    with pytest.raises(ValueError, match=message):
        kind(**wrong)


@bodies
def test_networks_are_policies(body):
    for erase in (False, True):
        check_policy(NetworkPolicy(make(body)), Geometry.standard(4), erase=erase)


def test_the_policy_plays_what_the_head_rates_highest():
    boards, masks, geometry = positions()
    network = make(FactorGraphConfig(8, 2))
    scores = evaluate_boards(network, boards, masks, geometry).outputs
    policy = NetworkPolicy(network)
    policy.reset(boards, geometry, np.random.default_rng(0))
    playing = masks.any(1)
    np.testing.assert_array_equal(
        policy.act(boards, masks)[playing], scores["policy"].argmax(1)[playing]
    )
    chances = policy.probabilities(boards[:5], masks[:5])
    np.testing.assert_allclose(chances.sum(1), 1, rtol=1e-5)
    assert (chances[~masks[:5]] == 0).all()
    policy = NetworkPolicy(make(FactorGraphConfig(8, 2, convergence_margin=1.0)))
    policy.reset(boards, geometry, np.random.default_rng(0))
    chances = policy.probabilities(boards[:5], masks[:5])  # each for itself, as in the browser
    assert (chances.sum(1) > 1.1).all() and ((chances > 0) == masks[:5]).all()


def test_many_boards_are_played_some_at_a_time_and_erasures_never():
    bank = puzzles.load("4x4", "test")[:300]
    masks = board.candidates(bank.puzzles).reshape(300, -1)
    policy = NetworkPolicy(make(FactorGraphConfig(8, 2)))
    policy.reset(bank.puzzles, bank.geometry, np.random.default_rng(0))
    with_erasures = np.concatenate([masks, np.ones((300, 16), np.bool_)], axis=1)
    np.testing.assert_array_equal(
        policy.act(bank.puzzles, masks), policy.act(bank.puzzles, with_erasures)
    )
    assert evaluate(policy, bank).illegal == 0


def converging(margin, test_rounds=12, seed=0):
    config = FactorGraphConfig(
        8, 4, test_rounds=test_rounds, intersections=True, convergence_margin=margin
    )
    return seeded(seed, lambda: Network(config, POLICY_AND_VALUE, Geometry.standard(4))).eval()


def test_all_segments_together_are_forward(positions):
    geometry = Geometry.standard(6)
    boards, masks = (torch.from_numpy(x) for x in positions(geometry, count=6))
    network = converging(margin=1e6, test_rounds=11)
    with torch.no_grad():
        found, wanted = (
            network.forward_until_converged(boards, masks, geometry).outputs,
            network(boards, masks, geometry),
        )
    assert found.keys() == wanted.keys()
    for name in wanted:
        torch.testing.assert_close(found[name], wanted[name], rtol=0, atol=0)


def test_a_converged_board_gets_no_more_rounds(positions):
    geometry = Geometry.standard(4)
    boards, masks = (torch.from_numpy(x) for x in positions(geometry, count=40))
    network = converging(margin=0.1)
    network.heads["policy"].readout.linear.weight.data.mul_(2)
    with torch.no_grad():
        found = network.forward_until_converged(boards, masks, geometry).outputs
        rows = torch.arange(len(boards))
        still_open = []
        for rounds in (4, 8, 12):
            network.body.rounds = rounds
            after = network(boards[rows], masks[rows], geometry)  # the batch that runs so long
            is_open = ((after["policy"].abs() < 0.1) & masks[rows]).any(1)
            stops = ~is_open if rounds < 12 else torch.ones_like(is_open)
            for name, numbers in after.items():
                torch.testing.assert_close(
                    found[name][rows[stops]], numbers[stops], rtol=1e-5, atol=1e-6
                )
            rows = rows[is_open]
            still_open.append(len(rows))
    assert len(boards) > still_open[0] > still_open[1]  # some stop sooner than others


def test_a_board_goes_on_from_its_recurrent_state(positions):
    geometry = Geometry.standard(6)
    boards, masks = (torch.from_numpy(x) for x in positions(geometry, count=6))
    network = converging(margin=1e6, test_rounds=8).train()
    states = network.recurrent_states(boards, masks, geometry)
    assert network.training
    with torch.no_grad():
        further = network.body(boards, masks, geometry, recurrent_states=states)  # 4 rounds more
        found = network.heads["policy"](further)[-1]
        network.eval().body.rounds = 12
        wanted = network.forward_until_converged(boards, masks, geometry, ["policy"]).outputs
    assert wanted.keys() == {"policy"}
    torch.testing.assert_close(found, wanted["policy"], rtol=0, atol=0)
