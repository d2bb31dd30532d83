"""RLlib's algorithms on our environments: legal, learning, reproducible, saved and restored."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch
from ray.rllib.algorithms import Algorithm
from ray.rllib.algorithms.impala import IMPALAConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec

from sudoku_agents.rllib import (
    MODULE_PATH,
    MaskedActorCritic,
    MaskedSudoku,
    RLlibPolicy,
    SplitEvaluation,
    appo_config,
    dqn_config,
    held_out,
    ppo_config,
)
from sudoku_curricula import Algorithm1Config, ConstantConfig, SuccessRateConfig
from sudoku_curricula.curves import BLANKS_LEVEL, read_curves
from sudoku_gym import evaluate, puzzles
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_gym.geometry import sudoku_x
from sudoku_gym.puzzles import PuzzleSet
from sudoku_gym.puzzles.sources import resolve_source
from sudoku_learning.networks import MLPConfig

pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.usefixtures("ray_cluster")]

CONFIGS = [ppo_config, appo_config, dqn_config]
ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "rllib.md"
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
    if config is dqn_config:
        made.training(num_steps_sampled_before_learning_starts=100, train_batch_size=32)
        made.reporting(min_sample_timesteps_per_iteration=200)
    else:
        made.training(train_batch_size_per_learner=256)
        made.reporting(min_sample_timesteps_per_iteration=256)
    return made.training(minibatch_size=128, num_epochs=1) if config is ppo_config else made


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("network", [None, MLPConfig(hidden=(32,))], ids=["exact cover", "dense"])
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


def test_a_configuration_of_ones_own_takes_the_module_and_the_environment(build):
    config = (
        IMPALAConfig()
        .environment(MaskedSudoku, env_config={"id": "Sudoku4x4-v0", "blanks": 5})
        .env_runners(
            num_envs_per_env_runner=8,
            rollout_fragment_length=16,
            gym_env_vectorize_mode="vector_entry_point",
        )
        .learners(num_learners=0)
        .training(train_batch_size_per_learner=256)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedActorCritic), model_config={})
        .reporting(min_time_s_per_iteration=None)
    )
    algorithm = build(config)
    before = algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID]
    while algorithm.train()["num_env_steps_sampled_lifetime"] < 1_500:
        pass
    after = algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID]
    assert any((before[name] != after[name]).any() for name in before)


def test_one_seed_gives_one_result(build):
    weights = []
    for _ in range(2):
        algorithm = build(small())
        algorithm.train()
        weights.append(algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID])
    for name, value in weights[0].items():
        np.testing.assert_array_equal(value, weights[1][name])


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


@pytest.mark.slow
def test_dqn_learns(build):
    algorithm = build(dqn_config("Sudoku4x4-v0", blanks=6))
    play = held_out(algorithm, "4x4", games=256)
    untrained, count = play(6)
    while algorithm.train()["num_env_steps_sampled_lifetime"] < 5_000:
        pass
    trained, _ = play(6)
    assert trained / count > 0.9 > 0.5 > untrained / count


@pytest.mark.slow
def test_appo_learns(build):
    algorithm = build(appo_config("Sudoku4x4-v0", blanks=6))
    play = held_out(algorithm, "4x4", games=256)
    untrained, count = play(6)
    while algorithm.train()["num_env_steps_sampled_lifetime"] < 12_000:
        pass
    trained, _ = play(6)
    assert trained / count > 0.9 > 0.5 > untrained / count


def test_a_split_is_evaluated_as_a_metric(build):
    every = 400
    config = small().evaluation(
        evaluation_interval=1, custom_evaluation_function=SplitEvaluation("4x4", "test", every)
    )
    algorithm = build(config)
    told = [algorithm.train()["evaluation"]["test"] for _ in range(2)][-1]
    chosen = puzzles.load("4x4", split="test")[::every]
    result = evaluate(RLlibPolicy(algorithm.get_module()), chosen)
    assert told["completion_rate"] == pytest.approx(result.completion_rate)
    assert told["constraint_fraction"] == pytest.approx(result.constraint_fraction)
    assert told["orbits_solved"] == result.orbits_solved[0]


def test_a_curriculum_moves_the_boards(build):
    schedule = Algorithm1Config(start=2, stop=4, gamma=0.01, max_iterations=1, metric="completion")
    algorithm = build(small(curriculum=schedule, evaluate_every=200, blanks=9))
    assert levels(algorithm) == {2}
    result = algorithm.train()
    assert levels(algorithm) == {4}
    assert result["curriculum"]["blanks"] == 4
    assert 0 <= result["evaluation"]["completion_rate"] <= 1


def levels(algorithm):
    episodes = algorithm.env_runner.sample(num_episodes=10)
    return {episode.get_infos(-1)["level"] for episode in episodes}


def test_a_list_of_ones_own_is_divided_for_a_curriculum(tmp_path):
    schedule = SuccessRateConfig(start=2, stop=8)
    bank = puzzles.load("4x4", "all")[:300]
    mine = PuzzleSet(bank.puzzles, bank.solutions, bank.geometry, "mine")
    with pytest.warns(UserWarning, match="mine says no split"):
        config = ppo_config("Sudoku4x4-v0", curriculum=schedule, source=mine)
    played = config.callbacks_class.args[1].keywords
    held, trained = (
        {puzzle.tobytes() for puzzle in resolve_source(source, "all").puzzle_set.puzzles}
        for source in (played["source"], config.env_config["source"])
    )
    assert held and not held & trained and len(held | trained) == 300
    assert (played["split"], config.env_config["split"]) == ("all", "all")
    puzzles.write(tmp_path / "x.csv", puzzles.load("x9x9", "test")[:40])
    options = {"source": str(tmp_path / "x.csv"), "board": "x9x9"}
    with pytest.warns(UserWarning, match="says no split"):
        config = ppo_config("Sudoku-v0", curriculum=schedule, **options)
    assert config.callbacks_class.args[1].keywords["source"].geometry == sudoku_x(9)
    with pytest.raises(ValueError, match="trains on the training puzzles"):
        ppo_config("Sudoku4x4-v0", curriculum=schedule, split="all")


@pytest.mark.parametrize("schedule", [ConstantConfig(13), SuccessRateConfig(start=2, stop=13)])
def test_a_level_that_no_puzzle_has_is_refused_at_once(schedule):
    with pytest.raises(ValueError, match="12"):
        ppo_config("Sudoku4x4-v0", curriculum=schedule)


@pytest.mark.slow
def test_another_process_continues_from_a_checkpoint(build, tmp_path):
    schedule = Algorithm1Config(start=2, stop=4, gamma=0.01, max_iterations=1, metric="completion")
    algorithm = build(small(curriculum=schedule, evaluate_every=200))
    steps = algorithm.train()["num_env_steps_sampled_lifetime"]
    folder = algorithm.save_to_path(tmp_path / "checkpoint")
    code = (
        "import ray; from ray.rllib.algorithms import Algorithm;"
        "ray.init('local', num_cpus=1, include_dashboard=False, log_to_driver=False);"
        f"result = Algorithm.from_checkpoint({folder!r}).train();"
        "print(result['curriculum']['blanks'], result['num_env_steps_sampled_lifetime'])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    blanks, total = map(float, told.stdout.split()[-2:])
    assert blanks == 4 and total >= steps + 256


def test_restoring_the_algorithm_restores_its_weights(build, tmp_path):
    algorithm = build(small())
    algorithm.train()
    folder = algorithm.save_to_path(tmp_path / "checkpoint")
    again = Algorithm.from_checkpoint(folder)
    first, second = (a.get_module().state_dict() for a in (algorithm, again))
    again.stop()
    for name, value in first.items():
        torch.testing.assert_close(value, second[name], rtol=0, atol=0)


@pytest.mark.slow
def test_the_pages_first_example_runs(tmp_path, monkeypatch, capsys):
    code = re.search(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # for the checkpoint
    exec(compile(code, "example", "exec"), {})
    assert "of 315 puzzles solved" in capsys.readouterr().out
    assert read_curves(tmp_path / "runs" / "rllib")[BLANKS_LEVEL][1]
