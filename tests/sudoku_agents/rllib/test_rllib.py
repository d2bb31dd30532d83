"""RLlib's algorithms on our environments: legal, learning, reproducible, saved and restored."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.rl_module import RLModule

from sudoku_agents.rllib import MODULE_PATH, RLlibPolicy, appo_config, held_out, ppo_config
from sudoku_curricula.schedules import Algorithm1Config
from sudoku_gym import evaluate, puzzles
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_learning.networks import MLPConfig

pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.usefixtures("ray_cluster")]

SEED = 2  # with it the untrained networks play badly


@pytest.fixture
def build():
    """Build algorithms in this process, and stop them after the test."""
    built = []

    def build(config):
        config.env_runners(num_env_runners=0).debugging(seed=SEED)
        built.append(config.build_algo())
        return built[-1]

    yield build
    for algorithm in built:
        algorithm.stop()


def small(config=ppo_config, **options):
    made = config("Sudoku4x4-v0", **{"num_envs": 8, "blanks": 5, **options})
    made.training(train_batch_size_per_learner=256)
    made.reporting(min_sample_timesteps_per_iteration=256)
    return made.training(minibatch_size=128, num_epochs=1) if config is ppo_config else made


@pytest.mark.parametrize(
    ("config", "network"), [(ppo_config, MLPConfig((32,))), (appo_config, None)]
)
def test_every_algorithm_trains_and_plays_legally(config, network, build):
    algorithm = build(small(config, network=network))
    before = algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID]
    while algorithm.train()["num_env_steps_sampled_lifetime"] < 600:
        pass
    after = algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID]
    assert any((before[name] != after[name]).any() for name in before)
    assert all(np.isfinite(weights).all() for weights in after.values())
    assert isinstance(algorithm.env_runner.env.unwrapped, SudokuVectorEnv)
    episodes = algorithm.env_runner.sample(num_episodes=20, explore=True)
    infos = [info for episode in episodes for info in episode.get_infos()]
    assert len(infos) > 60 and not any(info["illegal_action"] for info in infos)


@pytest.mark.slow
def test_ppo_learns_to_complete_boards_it_has_not_seen(build, tmp_path):
    algorithm = build(ppo_config("Sudoku4x4-v0", blanks=7))
    play = held_out(algorithm, "4x4", games=256)
    untrained, count = play(7)
    for _ in range(4):
        algorithm.train()
    trained, _ = play(7)
    assert trained / count > 0.95 > 0.5 > untrained / count

    folder = algorithm.save_to_path(tmp_path / "checkpoint")
    chosen = puzzles.load("4x4", split="test")[::200]
    loaded = evaluate(RLlibPolicy(RLModule.from_checkpoint(Path(folder) / MODULE_PATH)), chosen)
    assert loaded.illegal == 0
    np.testing.assert_array_equal(
        loaded.solved, evaluate(RLlibPolicy(algorithm.get_module()), chosen).solved
    )


@pytest.mark.nightly
def test_another_process_continues_from_a_checkpoint(build, tmp_path):
    schedule = Algorithm1Config(start=2, stop=4, gamma=0.01, max_iterations=1, metric="completion")
    algorithm = build(small(curriculum=schedule, evaluate_every=200))
    steps = algorithm.train()["num_env_steps_sampled_lifetime"]
    folder = algorithm.save_to_path(tmp_path / "checkpoint")
    code = (
        "import ray; from ray.rllib.algorithms import Algorithm;"
        "ray.init('local', num_cpus=1, include_dashboard=False, log_to_driver=False);"
        f"result = Algorithm.from_checkpoint({folder!r}).train();"
        "print(result['curves']['curriculum/blanks'], result['num_env_steps_sampled_lifetime'])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    blanks, total = map(float, told.stdout.split()[-2:])
    assert blanks == 4 and total >= steps + 256


@pytest.mark.nightly
def test_runners_on_two_nodes_follow_level_and_weights():
    program = Path(__file__).with_name("two_nodes.py")
    told = subprocess.run([sys.executable, program], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert "iteration 3" in told.stdout
