"""Expert iteration: labels by search, and the run as a whole."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from sudoku_agents.best_first_search import BestFirstConfig
from sudoku_agents.best_first_search.search import BestFirstSolver
from sudoku_agents.expert_iteration import learner as labels
from sudoku_agents.expert_iteration.config import ExpertIterationConfig
from sudoku_agents.expert_iteration.learner import (
    EVALUATIONS,
    SEARCHED,
    ExpertIterationLearner,
    main,
)
from sudoku_agents.expert_iteration.policy import load
from sudoku_curricula.curves import COMPLETION_RATE, TRAINING_COMPLETION, read_curves
from sudoku_curricula.schedules import ConstantConfig, TargetConfig, UniformConfig
from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import SolverPolicy
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import FactorGraphConfig
from sudoku_learning.recurrent import RecurrentConfig
from sudoku_learning.training import OptimizerConfig, Training

FOUR = Geometry.standard(4)
NETWORK = FactorGraphConfig(8, 4, test_rounds=16, intersections=True, convergence_margin=1.0)


def small(run, **changes):
    config = ExpertIterationConfig(
        run=run,
        env="Sudoku6x6-v0",
        envs=("Sudoku4x4-v0", "Sudoku6x6-v0"),
        iterations=3,
        games=12,
        validation_games=8,
        evaluate_every=1,
        checkpoint_every=1,
        search=BestFirstConfig(evaluations=60),
        optimizer=OptimizerConfig(4e-3, 8, constant_share=0.4),
        recurrent=RecurrentConfig(updates=6),
        network=NETWORK,
        curriculum=ConstantConfig(blanks=12),
    )
    return replace(config, **changes)


def train(config):
    return Training(config, ExpertIterationLearner)


def weights_of(training):
    return torch.nn.utils.parameters_to_vector(training.learner.network.parameters())


def test_labels_are_solutions_that_nobody_told(tmp_path, monkeypatch):
    config = small(tmp_path)
    worker = labels.SearchWorker(config)
    source = worker._sources["Sudoku4x4-v0"]

    def without_solutions(*args):
        boards, solutions = type(source).sample(source, *args)
        return boards, np.zeros_like(solutions)

    monkeypatch.setattr(source, "sample", without_solutions)
    weights = ExpertIterationLearner(config, Training(config, ExpertIterationLearner).random)
    found = worker.sample(
        weights.network.state_dict(), labels.SamplingTask(40, None, (0, 0), "Sudoku4x4-v0")
    )
    assert found.tried == 40 and len(found.puzzles) > 30
    assert board.is_solved(found.solutions, FOUR).all()
    assert ((found.puzzles == 0) | (found.puzzles == found.solutions)).all()


@pytest.mark.slow
def test_a_short_run_learns(tmp_path):
    config = small(
        tmp_path / "run",
        iterations=5,
        games=64,
        optimizer=OptimizerConfig(4e-3, 24, constant_share=0.4),
        recurrent=RecurrentConfig(updates=40),
        network=replace(NETWORK, rounds=8, test_rounds=32),
    )
    training = train(config)
    test = puzzles.load("6x6", "test")[:200]
    before = evaluate(training.learner.policy(), test).completion_rate
    training.run()
    policy = load_policy(tmp_path / "run")
    check_policy(policy)
    after = evaluate(policy, test).completion_rate
    assert after > max(0.7, before + 0.1)
    found = read_curves(tmp_path / "run")
    assert {SEARCHED, EVALUATIONS, TRAINING_COMPLETION, COMPLETION_RATE} <= found.keys()
    assert training.learner._joined == ("Sudoku4x4-v0", "Sudoku6x6-v0")


def test_the_average_of_the_weights_is_what_plays(tmp_path):
    config = small(tmp_path / "run", iterations=1, average=0.9)
    training = train(config)
    with torch.no_grad():
        first = {name: value.clone() for name, value in training.learner.network.named_parameters()}
    training.run()
    learner, saved = training.learner, load(tmp_path / "run").network.state_dict()
    assert learner.policy().network is learner.played is not learner.network
    for name, value in learner.network.named_parameters():
        torch.testing.assert_close(saved[name], learner.played.state_dict()[name], rtol=0, atol=0)
        if not torch.equal(value, first[name]):
            assert not torch.equal(saved[name], value)
    again = train(replace(config, resume=True)).learner
    for network in ("network", "played"):
        for name, value in getattr(learner, network).state_dict().items():
            assert torch.equal(value, getattr(again, network).state_dict()[name])


def test_a_board_of_ones_own_joins_after_4x4():
    assert ExpertIterationConfig(env="Sudoku6x6-v0").envs == ("Sudoku4x4-v0", "Sudoku6x6-v0")
    assert ExpertIterationConfig(env="Sudoku4x4-v0").envs == ("Sudoku4x4-v0", "Sudoku9x9-v0")
    with pytest.raises(ValueError, match="envs must hold Sudoku9x9-v0"):
        ExpertIterationConfig(envs=("Sudoku4x4-v0", "Sudoku6x6-v0"))


BY_BOARD = UniformConfig("board=4x4,6x6")


def test_a_curriculum_chooses_among_boards(tmp_path):
    easy_first = TargetConfig("board=4x4,6x6")
    training = train(small(tmp_path / "run", curriculum=easy_first, evaluate_every=10))
    four, six = training.learner._pools.values()
    assert training.step().columns["envs"] == "1" and len(four) > len(six) == 0
    known, schedule = len(four), training.curriculum.schedule
    schedule.difficulty = 0.25
    assert [*training.learner._shares(schedule.blanks()).values()] == [0.75, 0.25]
    schedule.difficulty = 1.0
    training._set_blanks(schedule.blanks())
    label, training.learner._label = training.learner._label, lambda *_: {}
    before = weights_of(training)
    training.step()  # on the smaller boards, for the search has solved no other
    assert not torch.equal(weights_of(training), before)
    training.learner._label = label
    training.step()
    assert len(four) == known and len(six) > 0
    assert training._evaluate().keys() >= {COMPLETION_RATE}
    with pytest.raises(ValueError, match="no environment here has 9x9"):
        train(small(tmp_path / "other", curriculum=UniformConfig("board=4x4,9x9")))


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{}, {"average": 0.9}, {"curriculum": BY_BOARD}])
def test_an_interrupted_run_continues_to_the_bit(tmp_path, monkeypatch, changes):
    whole = train(small(tmp_path / "whole", **changes))
    whole.run()
    interrupted = train(small(tmp_path / "parts", **changes))
    step, done = Training.step, []

    def step_or_stop(training):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(1)
        return step(training)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Training, "step", step_or_stop)
        interrupted.run()
    resumed = train(small(tmp_path / "parts", resume=True, **changes))
    assert resumed.iteration == 2
    resumed.run()
    assert torch.equal(weights_of(resumed), weights_of(whole))
    assert resumed.random.numbers() == whole.random.numbers()
    found, wanted = resumed.learner.state(), whole.learner.state()
    assert found.numbers == wanted.numbers and found.arrays.keys() == wanted.arrays.keys()
    for name, array in wanted.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)


@pytest.mark.slow
def test_the_command_line_and_the_solver(tmp_path, capsys):
    run = tmp_path / "run"
    main(
        [
            *("--run", str(run), "--iterations", "2", "--games", "16", "--validation-games", "4"),
            *(
                "--env",
                "Sudoku6x6-v0",
                "--envs",
                "Sudoku4x4-v0",
                "Sudoku6x6-v0",
                "--recurrent.updates",
                "5",
                "--search.evaluations",
                "50",
            ),
            *("--network.channels", "8", "--network.rounds", "4", "--network.test-rounds", "8"),
        ]
    )
    assert "search solved" in capsys.readouterr().out
    retry = load(run, search="best-first")
    assert isinstance(retry, BestFirstSolver)
    assert isinstance(load_policy(f"{run}?search=best-first"), SolverPolicy)
    test = puzzles.load("6x6", "test")[:20]
    np.testing.assert_array_equal(retry.solve(test.puzzles, test.geometry), test.solutions)
    several = np.zeros((1, 6, 6), np.int8)
    assert retry.search(several, test.geometry, limit=2).found.tolist() == [2]
    searching = load_policy(f"{run}?simulations=8")
    assert evaluate(searching, test).solved.shape == (20,)
    with pytest.raises(ValueError, match="not both"):
        load(run, simulations=4, search="best-first")
    for options in ({"evaluations": 5}, {"propagate": True}):
        with pytest.raises(ValueError, match="need the best-first search"):
            load(run, **options)
    with pytest.raises(ValueError, match="search must be 'best-first'"):
        load(run, search="puct")
    assert load(run, rounds=40).network.body.rounds == 40
