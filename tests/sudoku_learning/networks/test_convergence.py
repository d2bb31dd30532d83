"""Readings that converge or do not, further starts, and what policies make of both."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import (
    NO_RESTARTS,
    POLICY_AND_VALUE,
    FactorGraphConfig,
    MLPConfig,
    Network,
    NetworkPolicy,
    Restarts,
    evaluate_boards,
    seeded,
)
from sudoku_learning.networks import network as network_module

SIX = Geometry.standard(6)
SEGMENT, ROUNDS = 4, 12


def converging(margin=0.1):
    """A network whose random weights let some of the boards converge, at once or later."""
    config = FactorGraphConfig(
        8, SEGMENT, test_rounds=ROUNDS, intersections=True, convergence_margin=margin
    )
    network = seeded(0, lambda: Network(config, POLICY_AND_VALUE, SIX)).eval()
    network.heads["policy"].readout.linear.weight.data.mul_(2)
    return network


@pytest.fixture(scope="module")
def boards_and_masks():
    boards = puzzles.load("6x6", "test").puzzles[:40]
    return boards, board.candidates(boards, SIX).reshape(len(boards), -1)


@pytest.fixture
def any_reading(monkeypatch):
    """Let readings that break a rule converge too, as those of random weights do."""
    every = lambda boards, logits, geometry: torch.ones(len(boards), dtype=torch.bool)  # noqa: E731
    monkeypatch.setattr(network_module, "are_solutions", every)


def read(network, boards, masks, restarts=NO_RESTARTS, rounds=None):
    return evaluate_boards(network, boards, masks, SIX, rounds=rounds, restarts=restarts)


def assert_same(one, other):
    np.testing.assert_array_equal(one.converged, other.converged)
    np.testing.assert_array_equal(one.rounds, other.rounds)
    for name, output in one.outputs.items():
        np.testing.assert_array_equal(output, other.outputs[name])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_network_on_a_gpu_reads_boards_as_on_the_processor(boards_and_masks):
    boards, masks = boards_and_masks
    here = read(converging(), boards, masks, Restarts(2))
    there = read(converging().to("cuda"), boards, masks, Restarts(2))
    alike = here.converged & there.converged
    assert alike.sum() > len(boards) / 2
    for name, output in here.outputs.items():
        np.testing.assert_allclose(output[alike], there.outputs[name][alike], atol=1e-2)


def test_a_board_has_converged_when_no_logit_is_within_the_margin(boards_and_masks):
    boards, masks = boards_and_masks
    reading = read(converging(), boards, masks)
    undecided = ((np.abs(reading.outputs["policy"]) < 0.1) & masks).any(1)
    np.testing.assert_array_equal(reading.converged, ~undecided)
    assert 0 < reading.converged.sum() < len(boards)
    assert (reading.rounds[~reading.converged] == ROUNDS).all()
    assert set(reading.rounds) == {2 * SEGMENT, ROUNDS}


def test_restarts_leave_what_has_converged_as_it_was(any_reading, boards_and_masks):
    boards, masks = boards_and_masks
    network = converging()
    without, found = (read(network, boards, masks, Restarts(n)) for n in (0, 6))
    done = without.converged
    assert found.converged[done].all() and found.converged.sum() > done.sum()
    np.testing.assert_array_equal(found.rounds[done], without.rounds[done])
    for name, output in found.outputs.items():
        np.testing.assert_array_equal(output[done], without.outputs[name][done])


def test_of_starts_that_do_not_converge_the_one_with_the_fewest_undecided_counts(
    any_reading, boards_and_masks
):
    boards, masks = boards_and_masks
    without, found = (read(converging(0.5), boards, masks, Restarts(n)) for n in (0, 6))
    before, after = (
        ((np.abs(reading.outputs["policy"]) < 0.5) & masks).sum(1) for reading in (without, found)
    )
    np.testing.assert_array_equal(found.converged, after == 0)
    assert (after <= before).all() and (after < before)[after > 0].any()


def test_with_restarts_what_has_converged_is_a_solution():
    bank = puzzles.load("x9x9", "validation")[80:120]
    masks = board.candidates(bank.puzzles, bank.geometry).reshape(len(bank), -1)
    network = load_policy("expert-iteration").network
    given = network, bank.puzzles, masks, bank.geometry, ["policy"]
    once, often = (evaluate_boards(*given, 64, Restarts(n)) for n in (0, 6))
    assert often.converged.sum() > once.converged.sum()
    logits = often.outputs["policy"].reshape(*bank.puzzles.shape, 9)
    grids = np.where(bank.puzzles > 0, bank.puzzles, logits.argmax(3) + 1)
    np.testing.assert_array_equal(grids[often.converged], bank.solutions[often.converged])


def test_what_breaks_a_rule_starts_again(boards_and_masks):
    boards, masks = boards_and_masks
    without, found = (read(converging(), boards, masks, Restarts(n)) for n in (0, 2))
    done = without.converged
    assert not found.converged.any() and (found.rounds[done] > without.rounds[done]).all()


def test_the_seed_decides_and_a_board_alone_is_a_board_of_a_batch(any_reading, boards_and_masks):
    boards, masks = boards_and_masks
    network, restarts = converging(), Restarts(4, seed=3)
    found = read(network, boards, masks, restarts)
    assert_same(found, read(network, boards, masks, restarts))
    other = read(network, boards, masks, replace(restarts, seed=4))
    assert (found.outputs["policy"] != other.outputs["policy"]).any()
    backwards = read(network, boards[::-1].copy(), masks[::-1].copy(), restarts)
    np.testing.assert_array_equal(found.rounds, backwards.rounds[::-1])
    np.testing.assert_allclose(
        found.outputs["policy"], backwards.outputs["policy"][::-1], rtol=1e-5, atol=1e-6
    )
    for row in np.flatnonzero(found.rounds > ROUNDS)[:4]:
        alone = read(network, boards[row : row + 1], masks[row : row + 1], restarts)
        assert alone.rounds[0] == found.rounds[row]
        np.testing.assert_allclose(alone.outputs["value"][0], found.outputs["value"][row], 1e-5)


@pytest.mark.parametrize("threads", [2, 7, 100])
def test_threads_that_run_ahead_change_nothing(any_reading, boards_and_masks, threads, monkeypatch):
    network, restarts = converging(), Restarts(5, seed=3)
    for first in range(0, len(boards_and_masks[0]), 3):
        boards, masks = (each[first : first + 3] for each in boards_and_masks)
        monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
        alone = read(network, boards, masks, restarts)
        monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
        ahead = read(network, boards, masks, restarts)
        np.testing.assert_array_equal(alone.rounds, ahead.rounds)
        np.testing.assert_array_equal(alone.converged, ahead.converged)
        for name, output in alone.outputs.items():
            np.testing.assert_allclose(output, ahead.outputs[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"count": -1}, "count must be at least 0, not -1"),
        ({"noise": -0.5}, "noise must be at least 0, not -0.5"),
        ({"noise": float("nan")}, "noise must be finite, not nan"),
        ({"seed": -1}, "seed must be at least 0"),
    ],
)
def test_wrong_restarts_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Restarts(**wrong)
    with pytest.raises(ValueError, match="give restarts too"):
        Restarts.of_options(0, 0.5)


def test_what_can_not_converge_can_not_start_again(boards_and_masks):
    boards, masks = boards_and_masks
    mlp = seeded(0, lambda: Network(MLPConfig((8,)), POLICY_AND_VALUE, SIX)).eval()
    reading = read(mlp, boards, masks)
    assert not reading.converged.any() and (reading.rounds == 1).all()
    for network in (mlp, converging(margin=None)):
        with pytest.raises(ValueError, match="restarts=2: boards never converge"):
            NetworkPolicy(network, restarts=Restarts(2))
        with pytest.raises(ValueError, match="restarts=2: boards never converge"):
            read(network, boards, masks, Restarts(2))
    assert (read(converging(margin=None), boards, masks).rounds == ROUNDS).all()


def test_only_converged_boards_have_their_placements_queued(boards_and_masks):
    boards, masks = boards_and_masks
    network = converging()
    reading = read(network, boards, masks)
    policy = NetworkPolicy(network, threshold=-1e6)
    policy.reset(boards, SIX, np.random.default_rng(0))
    chosen = policy.act(boards, masks)
    np.testing.assert_array_equal(chosen, reading.outputs["policy"].argmax(1))
    np.testing.assert_array_equal(policy.convergence.rounds, reading.rounds)
    np.testing.assert_array_equal(policy.convergence.converged, reading.converged)
    after = boards.copy().reshape(len(boards), -1)
    after[np.arange(len(boards)), chosen // 6] = chosen % 6 + 1
    after = after.reshape(boards.shape)
    later = board.candidates(after, SIX).reshape(masks.shape)
    policy.act(after, later)
    is_read = policy.convergence.rounds > reading.rounds
    np.testing.assert_array_equal(is_read, ~reading.converged & later.any(1))


def test_games_with_restarts_are_the_same_at_the_same_seed_in_any_batch():
    bank = puzzles.load("6x6", "test")[:12]
    policy = NetworkPolicy(converging(), threshold=5.0, restarts=Restarts(2))
    found = evaluate(policy, bank, seed=5)
    again = evaluate(policy, bank, seed=5)
    np.testing.assert_array_equal(found.solved, again.solved)
    np.testing.assert_array_equal(found.convergence.rounds, again.convergence.rounds)
    assert found.mean_rounds > ROUNDS
    first = evaluate(policy, bank[:1], seed=5)
    assert first.convergence.rounds[0] == found.convergence.rounds[0]
