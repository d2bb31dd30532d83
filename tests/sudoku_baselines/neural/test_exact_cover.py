"""The factor-graph body, trained on solutions."""

import numpy as np
import pytest

from sudoku_baselines.neural.exact_cover import (
    ExactCoverLearner,
    ExactCoverTraining,
    FactorGraphPredictor,
)
from sudoku_baselines.neural.puzzles import PuzzlesConfig
from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_gym.policies import PredictorPolicy
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import FactorGraphConfig, NetworkPolicy, Restarts
from sudoku_learning.recurrent import RecurrentConfig
from sudoku_learning.training import OptimizerConfig, Progress, RunGenerators, Training


def small(run, **changes):
    options = {
        "env": "Sudoku6x6-v0",
        "iterations": 2,
        "validation_games": 16,
        "puzzles": PuzzlesConfig(distinct=40),
        "optimizer": OptimizerConfig(4e-3, 24, constant_share=0.4),
        "recurrent": RecurrentConfig(updates=60, segments=4),
        "network": FactorGraphConfig(
            8, 8, test_rounds=32, intersections=True, convergence_margin=1.0
        ),
    }
    return ExactCoverTraining(run=run, **{**options, **changes})


@pytest.mark.slow
def test_it_reads_whole_boards_after_forty_puzzles(tmp_path):
    training = Training(small(tmp_path / "run"), ExactCoverLearner)
    test = puzzles.load("6x6", "test")[:150]
    before = evaluate(
        PredictorPolicy(FactorGraphPredictor(training.learner.network), "one-shot"), test
    )
    training.run()
    after = evaluate(load_policy(f"{tmp_path / 'run'}?mode=one-shot"), test)
    assert before.completion_rate < 0.1 and after.completion_rate > 0.7
    policy = load_policy(tmp_path / "run")
    assert isinstance(policy, NetworkPolicy)
    check_policy(policy)
    assert evaluate(policy, test).completion_rate > 0.7
    assert load_policy(f"{tmp_path / 'run'}?rounds=50").network.body.rounds == 50


def test_predictions_say_which_boards_converged_and_with_restarts_these_are_solved():
    network = small("unused").build(puzzles.load("6x6").geometry)
    network.heads["policy"].readout.linear.weight.data.mul_(20)
    test = puzzles.load("6x6", "test")[:20]
    predictor = FactorGraphPredictor(network)
    assert predictor.convergence is None
    logits = predictor.predict(test.puzzles, test.geometry)
    legal = board.candidates(test.puzzles)
    wanted = ((np.abs(logits) >= 1) | ~legal).all((1, 2, 3))
    np.testing.assert_array_equal(predictor.convergence.converged, wanted)
    again = FactorGraphPredictor(network, Restarts(3))
    found = again.predict(test.puzzles, test.geometry)
    grids = np.where(test.puzzles > 0, test.puzzles, found.argmax(3) + 1)
    converged = again.convergence.converged
    np.testing.assert_array_equal(grids[converged], test.solutions[converged])
    broken = wanted & ~converged
    assert (again.convergence.rounds[broken] > predictor.convergence.rounds[broken]).all()
    assert broken.any()
    policy = PredictorPolicy(again, "one-shot")
    assert evaluate(policy, test).converged_solved is not None


def test_settings_that_make_no_sense(tmp_path):
    with pytest.raises(ValueError, match="revealed must lie in"):
        small(tmp_path, recurrent=RecurrentConfig(revealed=2.0))
    with pytest.raises(ValueError, match=r"mode='random': .* plays the surest cells first"):
        load_policy("exact-cover-supervised?mode=random")


def test_further_environments_are_trained_on_too(tmp_path):
    few = RecurrentConfig(updates=40, segments=4)
    learner = ExactCoverLearner(
        small(tmp_path, also=("Sudoku4x4-v0",), recurrent=few), RunGenerators(0)
    )
    assert [pool.puzzles.shape for pool in learner.pools] == [(40, 6, 6), (40, 4, 4)]
    before = {name: value.clone() for name, value in learner.network.state_dict().items()}
    test = puzzles.load("4x4", "test")[::100]
    learner.learn(None, RunGenerators(1), Progress())
    assert any(
        (before[name] != value).any() for name, value in learner.network.state_dict().items()
    )
    assert evaluate(learner.policy(), test).completion_rate > 0.9
    with pytest.raises(ValueError, match="Sudoku5x5"):
        small("unused", also=("Sudoku5x5-v0",))
