"""cAlphaZero as a whole: it plays by the rules, learns, stops, and resumes to the bit."""

import json
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
import torch

from sudoku_agents.calphazero import policy as players
from sudoku_agents.calphazero.config import CAlphaZeroConfig
from sudoku_agents.calphazero.learner import CAlphaZeroLearner, main
from sudoku_agents.calphazero.search import SearchConfig, tree_search
from sudoku_agents.calphazero.self_play import self_play
from sudoku_curricula.curves import (
    BLANKS_LEVEL,
    COMPLETION_RATE,
    ITERATION,
    SUCCESS_RATE,
    read_curves,
)
from sudoku_curricula.schedules import Algorithm1Config, SuccessRateConfig
from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import BankSource
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import POLICY_AND_VALUE, FactorGraphConfig, MLPConfig, Network
from sudoku_learning.training import Training


def small(run, **changes):
    config = CAlphaZeroConfig(
        run=run,
        iterations=4,
        games=24,
        validation_games=32,
        checkpoint_every=2,
        search=SearchConfig(simulations=12, reward="sparse"),
        network=FactorGraphConfig(channels=8, rounds=2),
        curriculum=SuccessRateConfig(start=2, stop=4, threshold=0.5, window=32, min_count=32),
    )
    return replace(config, **changes)


def train(config):
    return Training(config, CAlphaZeroLearner)


def weights_of(trainer):
    return torch.nn.utils.parameters_to_vector(trainer.learner.network.parameters())


@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize(("reward", "temperature"), [("terminal", 1.0), ("sparse", 0.0)])
def test_self_play_keeps_the_rules(tmp_path, reward, temperature, root):
    search = SearchConfig(simulations=10, reward=reward, root=root)
    config = small(tmp_path, search=search, temperature=temperature)
    envs = gym.make_vec("Sudoku4x4-v0", num_envs=24, blanks=7, reward=reward, end_at_dead_end=True)
    network = Network(FactorGraphConfig(8, 2), POLICY_AND_VALUE, envs.geometry).eval()
    evaluator = players.evaluator(network, envs.geometry)
    games = self_play(envs, evaluator, config, np.random.default_rng(0))
    positions = games.positions
    masks = board.candidates(positions.boards).reshape(len(positions), -1)
    policies = positions.policies
    assert not policies[~masks].any()
    np.testing.assert_allclose(policies.sum(1), 1, rtol=1e-6)
    assert games.lengths.sum() >= len(positions)
    assert games.lengths.max() == 7
    won = positions.solutions.any((1, 2))
    assert won.any() and board.is_solved(positions.solutions[won]).all()
    agrees = (positions.boards == 0) | (positions.boards == positions.solutions)
    assert agrees[won].all() and (positions.returns[won] == 1).all()
    assert (games.lengths[games.solved] == 7).all()
    assert (games.returns[games.solved] == 1).all()
    assert (games.returns[~games.solved] < 1).all()
    np.testing.assert_array_equal(positions.returns[:24], games.returns)


@pytest.mark.slow
def test_a_short_run_learns_what_chance_does_not(tmp_path):
    trainer = train(CAlphaZeroConfig(run=tmp_path / "run", seed=1, iterations=7, games=128))
    trainer.run()
    test = puzzles.load("4x4", "test")
    part = test[np.random.default_rng(0).permutation(len(test))[:400]]
    assert evaluate(load_policy("masked-random"), part).completion_rate < 0.2
    assert evaluate(load_policy(tmp_path / "run"), part).completion_rate > 0.6
    found = read_curves(tmp_path / "run")
    assert found[BLANKS_LEVEL][1][0] == 2 and found[BLANKS_LEVEL][1][-1] > 4
    assert found[ITERATION][1] == list(range(1, 8))
    assert found[SUCCESS_RATE][0] == found[COMPLETION_RATE][0] == found[ITERATION][0]
    assert found[ITERATION][0][-1] == trainer.steps  # curves run over environment steps


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_an_interrupted_run_continues_to_the_bit(tmp_path, root):
    settings = {"search": SearchConfig(simulations=12, reward="sparse", root=root)}
    whole = train(small(tmp_path / "whole", **settings))
    whole.run()
    train(small(tmp_path / "parts", **settings, iterations=2)).run()
    resumed = train(small(tmp_path / "parts", **settings, resume=True))
    assert resumed.iteration == 2
    resumed.run()
    assert resumed.iteration == whole.iteration == 4
    assert torch.equal(weights_of(resumed), weights_of(whole))
    assert resumed.curriculum.state_dict() == whole.curriculum.state_dict()
    assert resumed.random.numbers() == whole.random.numbers()


@pytest.mark.parametrize("metric", ["policy_accuracy", "completion"])
def test_the_papers_curriculum_is_fed_its_metric(tmp_path, metric):
    curriculum = Algorithm1Config(start=2, stop=3, gamma=0.01, metric=metric)
    trainer = train(small(tmp_path, curriculum=curriculum, extra_iterations=0))
    trainer.run()
    first, second = trainer.curriculum.schedule.history
    assert (first.level, first.reason) == (2, "success")
    assert 0.01 < first.rate <= 1 and second.level == 3
    # Held-out games go on to the next level at once, what is measured in training can not.
    assert trainer.iteration == (1 if metric == "completion" else 2)


def test_the_trained_agent_is_a_policy_for_every_size(tmp_path):
    main(
        [
            *("--run", str(tmp_path / "run"), "--iterations", "1", "--games", "8"),
            *("--validation-games", "8", "--search.simulations", "4", "curriculum:constant"),
        ]
    )
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["agent"] == "calphazero"
    for simulations in (0, 4):
        policy = load_policy(tmp_path / "run", simulations=simulations)
        for size in (4, 6):
            check_policy(policy, Geometry.standard(size))


def test_a_name_has_the_simulations_of_a_search():
    policy = load_policy("expert-iteration?simulations=9")
    assert policy.search_config == SearchConfig(simulations=9, reward="sparse")
    wanted = replace(players.PLAY_SEARCH, simulations=9)
    assert load_policy("calphazero?simulations=9").search_config == wanted


@pytest.mark.slow
def test_a_policy_follows_the_solved_board_that_its_search_has_met(monkeypatch):
    searched = []

    def counting(boards, *others):
        searched.append(len(boards))
        return tree_search(boards, *others)

    monkeypatch.setattr(players, "tree_search", counting)
    source = BankSource(puzzles.load("4x4", "test"))
    boards, _ = source.sample(300, 3, np.random.default_rng(0))
    policy = load_policy("expert-iteration?simulations=100")
    result = evaluate(policy, boards)
    assert result.completion_rate == 1 and result.illegal == 0
    assert searched == [256, 44]
    check_policy(policy)


def test_the_shipped_network_solves_the_test_orbits_and_9x9_boards():
    name = "expert-iteration"
    test = puzzles.load("4x4", "test")
    part = test[np.random.default_rng(0).permutation(len(test))[:2000]]
    assert evaluate(load_policy(name), part).completion_rate == 1
    nine = BankSource(puzzles.load("9x9", "test")).sample(100, 50, np.random.default_rng(0))[0]
    assert evaluate(load_policy(name), nine).completion_rate > 0.9
    assert evaluate(load_policy("naked-singles"), nine).completion_rate < 0.8


def test_rounds_depend_on_how_a_network_is_used():
    assert load_policy("expert-iteration?restarts=0").network.eval().body.rounds == 1024
    assert load_policy("expert-iteration").network.body.rounds == players.START_ROUNDS
    assert load_policy("expert-iteration?rounds=700").network.body.rounds == 700
    assert (
        load_policy("expert-iteration?simulations=8").network.body.rounds == players.SEARCH_ROUNDS
    )
    assert load_policy("expert-iteration?simulations=8&rounds=700").network.body.rounds == 700
    assert (
        load_policy("expert-iteration?search=best-first").solver.network.body.rounds
        == players.START_ROUNDS
    )
    whole = load_policy("expert-iteration?search=best-first&restarts=0").solver
    assert whole.network.body.rounds == 1024


def test_held_out_games_allow_the_actions_of_self_play(tmp_path):
    shares = {}
    for actions in ("blank", "legal"):  # 8 actions at two blanks, or 2 or 3
        search = SearchConfig(simulations=4, reward="terminal", actions=actions)
        training = train(small(tmp_path / actions, search=search, network=MLPConfig()))
        shares[actions] = training.step().curves[SUCCESS_RATE]
    assert shares["blank"] < 0.5 < shares["legal"]
