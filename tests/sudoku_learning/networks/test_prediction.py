"""Grids that a network predicts at once, and its verdict on them."""

import pytest
import torch

from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_learning.networks import (
    POLICY_AND_VALUE,
    Network,
    PooledConfig,
    Restarts,
    predict_grids,
    seeded,
)


def test_converged_grids_are_those_to_trust():
    network = load_policy("expert-iteration").network
    test = puzzles.load("9x9-hard", "test")[:24]
    prediction = predict_grids(network, test.puzzles, test.geometry, rounds=64)
    right = (prediction.grids == test.solutions).all((1, 2))
    assert 0 < prediction.converged.sum() < len(test)
    assert right[prediction.converged].all() and not right[~prediction.converged].all()
    assert (prediction.rounds[~prediction.converged] == 64).all()
    again = predict_grids(network, test.puzzles, test.geometry, 64, Restarts(2))
    assert (again.rounds[~prediction.converged] > 64).all()
    assert (again.converged >= prediction.converged).all()
    is_given = test.puzzles > 0
    assert (prediction.grids[is_given] == test.puzzles[is_given]).all()


def test_a_blank_without_a_legal_digit_stays_blank():
    dead = board.parse("123....4........")
    network = load_policy("expert-iteration").network
    (grid,) = predict_grids(network, dead[None], puzzles.load("4x4").geometry).grids
    assert grid[0].tolist() == [1, 2, 3, 0] and (grid[1:] > 0).all()


def test_a_network_without_rounds_never_converges():
    geometry = puzzles.load("4x4").geometry
    network = seeded(0, lambda: Network(PooledConfig(8, 2), POLICY_AND_VALUE, geometry)).eval()
    boards = puzzles.load("4x4").puzzles[:3]
    assert not predict_grids(network, boards, geometry).converged.any()
    with pytest.raises(ValueError, match="never converge"):
        predict_grids(network, boards, geometry, restarts=Restarts(1))


@pytest.mark.parametrize("name", ["expert-iteration", "gflownet", "mlp"])
@pytest.mark.parametrize("factor", [1e20, 1e38])
def test_weights_that_make_no_numbers_are_told_of(name, factor):
    policy = load_policy(name)
    network = policy.predictor.model if hasattr(policy, "predictor") else policy.network
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_((parameter * factor).clamp(-1e38, 1e38))
    with pytest.raises(ValueError, match=r"weights are damaged|NaN"):
        evaluate(policy, puzzles.load("4x4", "test")[:2])
