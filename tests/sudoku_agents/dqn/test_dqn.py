"""Deep Q-learning as a whole: it plays by the rules, learns, and resumes to the bit."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
import torch

from sudoku_agents.dqn import agent
from sudoku_agents.dqn.config import DQNConfig, DQNUpdatesConfig, ReplayConfig, TargetsConfig
from sudoku_agents.dqn.learner import Q_ERROR, Q_LOSS, DQNLearner, main, play_games
from sudoku_curricula.curves import BLANKS_LEVEL, COMPLETION_RATE, EPISODIC_RETURN, read_curves
from sudoku_curricula.schedules import SuccessRateConfig
from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import FactorGraphConfig, NetworkPolicy
from sudoku_learning.training import OptimizerConfig, Training

PLAIN = TargetsConfig(backup="max", hindsight=False)


def small(run, **changes):
    config = DQNConfig(
        run=run,
        iterations=4,
        games=16,
        validation_games=16,
        checkpoint_every=2,
        replay=ReplayConfig(capacity=300),
        updates=DQNUpdatesConfig(segments=3),
        optimizer=OptimizerConfig(4e-3, 16, constant_share=0.5),
        network=FactorGraphConfig(8, 4, intersections=True),
        curriculum=SuccessRateConfig(start=2, stop=4, threshold=0.5, window=32, min_count=32),
    )
    return replace(config, **changes)


def train(config):
    return Training(config, DQNLearner)


def weights_of(training):
    learner = training.learner
    both = (*learner.network.parameters(), *learner.played.parameters())
    return torch.nn.utils.parameters_to_vector(both)


@pytest.mark.parametrize("actions", ["legal", "blank"])
@pytest.mark.parametrize("random_moves", [0.0, 3.0])
def test_games_keep_the_rules(tmp_path, actions, random_moves):
    config = small(tmp_path, actions=actions, random_moves=random_moves, targets=PLAIN)
    envs = gym.make_vec(
        "Sudoku4x4-v0", num_envs=24, blanks=7, reward="sparse", actions=actions,
        end_at_dead_end=True,
    )  # fmt: skip
    network = agent.make_q_network(config, envs.geometry)
    games = play_games(NetworkPolicy(network, "q"), envs, config, np.random.default_rng(0))
    transitions = games.transitions
    assert len(transitions) == games.lengths.sum() and (games.lengths[games.solved] == 7).all()
    masks = legal_placements(transitions.boards, envs.geometry, actions)
    assert masks[np.arange(len(transitions)), transitions.actions].all()
    np.testing.assert_array_equal(games.returns, games.solved)
    is_solved = transitions.solutions.any((1, 2))
    assert board.is_solved(transitions.solutions[is_solved], envs.geometry).all()
    assert is_solved.sum() == 7 * games.solved.sum()
    np.testing.assert_array_equal((transitions.boards[:24] == 0).sum((1, 2)), 7)
    random = play_games(
        NetworkPolicy(network, "q"), envs, replace(config, random_moves=99.0),
        np.random.default_rng(0),
    )  # fmt: skip
    assert (random.transitions.actions[:24] != transitions.actions[:24]).any()


def test_of_a_solved_game_the_boards_that_the_network_was_asked_about_are_kept(tmp_path):
    config = small(tmp_path, random_moves=0.0, replay=ReplayConfig(kept=0.0))
    nine = gym.make_vec(
        "Sudoku9x9-v0", num_envs=6, blanks=30, reward="sparse", actions="legal",
        end_at_dead_end=True,
    )  # fmt: skip
    games = play_games(agent.load(), nine, config, np.random.default_rng(0))
    assert games.solved.all() and (games.lengths == 30).all()
    assert ((games.transitions.boards == 0).sum((1, 2)) == 30).all() and len(games.transitions) == 6
    four = gym.make_vec(
        "Sudoku4x4-v0", num_envs=24, blanks=7, reward="sparse", actions="legal",
        end_at_dead_end=True,
    )  # fmt: skip
    policy = NetworkPolicy(agent.make_q_network(config, four.geometry), "q")  # can't converge
    games = play_games(policy, four, replace(config, random_moves=2.0), np.random.default_rng(0))
    assert 0 < games.solved.sum() < 24
    assert len(games.transitions) == 7 * games.solved.sum()
    assert games.transitions.solutions.all()


@pytest.mark.slow
def test_a_short_run_learns(tmp_path):
    """From a network that solves next to nothing, in seconds."""
    targets = TargetsConfig(tau=0.1)  # there are only some fifty updates to average
    config = DQNConfig(
        run=tmp_path / "run", seed=3, iterations=6, games=32, validation_games=128, targets=targets
    )
    training = train(config)
    test = puzzles.load("4x4", "test")[::40]
    assert evaluate(training.learner.policy(), test).completion_rate < 0.2
    training.run()
    policy = load_policy(tmp_path / "run")
    check_policy(policy)
    check_policy(policy, Geometry.standard(6))
    assert evaluate(policy, test).completion_rate > 0.9
    found = read_curves(tmp_path / "run")
    assert {Q_LOSS, Q_ERROR, COMPLETION_RATE} <= found.keys()
    assert found[BLANKS_LEVEL][1][-1] > 2
    # The values tell which boards can be solved.
    boards, actions = test.puzzles[:200], test.solutions[:200]
    masks = board.candidates(boards).reshape(200, -1)
    right = (actions[..., None] == np.arange(1, 5)).reshape(200, -1)[masks]
    with torch.no_grad():
        logits = policy.network(
            torch.from_numpy(boards), torch.from_numpy(masks), test.geometry
        )["q"].numpy()[masks]  # fmt: skip
    assert ((logits > 0) == right).mean() > 0.9


@pytest.mark.parametrize(
    "changes",
    [{}, {"targets": PLAIN, "values": "plain", "replay": ReplayConfig(200, 0.0)}],
    ids=["default", "plain"],
)
def test_an_interrupted_run_continues_to_the_bit(tmp_path, monkeypatch, changes):
    whole = train(small(tmp_path / "whole", **changes))
    whole.run()
    interrupted = train(small(tmp_path / "parts", **changes))
    step, done = Training.step, []

    def step_or_stop(training):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(1)
        return step(training)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Training, "step", step_or_stop)
        interrupted.run()
    resumed = train(small(tmp_path / "parts", **changes, resume=True))
    assert resumed.iteration == 2
    resumed.run()
    assert torch.equal(weights_of(resumed), weights_of(whole))
    assert resumed.random.numbers() == whole.random.numbers()
    wanted = whole.learner.state()
    for name, array in resumed.learner.state().arrays.items():
        np.testing.assert_array_equal(array, wanted.arrays[name], strict=True)


@pytest.mark.nightly
@pytest.mark.xdist_group("ray")
def test_actors_play_what_one_process_plays(actors_change_nothing):
    actors_change_nothing(train, small)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sampling_restarts": 3, "network": FactorGraphConfig()}, "convergence_margin"),
        ({"random_moves": float("nan")}, "random_moves must be finite, not nan"),
    ],
)
def test_settings_that_can_not_be_played_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        DQNConfig(**changes)


def test_a_reward_of_the_users_is_named_in_the_shell(tmp_path, monkeypatch):
    (tmp_path / "my_rewards.py").write_text(
        "def placed(before, actions, after, terminated):\n"
        "    return (after > 0).sum((1, 2)) - (before > 0).sum((1, 2))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    options = ["--iterations", "1", "--games", "4", "--validation-games", "4"]
    options += ["--run", str(tmp_path / "run"), "--reward", "my_rewards:placed"]
    assert main(options) == 0
    with pytest.raises(ValueError, match="give --reward my_rewards:placed again"):
        main([*options[:-2], "--resume"])
    curve = read_curves(tmp_path / "run")[EPISODIC_RETURN]
    assert curve[1][-1] > 1  # a digit each; `sparse` pays 1 at most
