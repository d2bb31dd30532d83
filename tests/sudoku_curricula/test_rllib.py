"""The callback on a small game: levels pushed, curves written, faults and checkpoints survived."""

import time

import pytest
import ray
import small_game
from ray import cloudpickle
from ray.rllib.algorithms import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from small_game import GAMES, USUAL_CURVES, Game, HeldOut, Wave
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

from sudoku_curricula import curves
from sudoku_curricula.rllib import add_curriculum, write_curves
from sudoku_curricula.schedules import Algorithm1Config, LearnabilityConfig

pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.usefixtures("ray_cluster")]

cloudpickle.register_pickle_by_value(small_game)  # which runners can't import

LEVELS = Algorithm1Config(start=2, stop=6, gamma=0.9, max_iterations=99, metric="completion")


def configure(schedule=LEVELS, held_out=None, runners=0, told=("level", "is_success"), **options):
    make = None if held_out is None else lambda algorithm: held_out
    config = (
        PPOConfig()
        .environment(Game, env_config={"told": told})
        .env_runners(num_env_runners=runners, num_envs_per_env_runner=GAMES)
        .training(train_batch_size_per_learner=90, minibatch_size=45, num_epochs=1)
        .rl_module(model_config={"fcnet_hiddens": [8]})
        .fault_tolerance(restart_failed_env_runners=True, delay_between_env_runner_restarts_s=0)
        .debugging(seed=0)
    )
    return add_curriculum(config, schedule, make, **options)


def games(algorithm, name):
    """Return an attribute of every game, of all runners that have any."""

    def ask(runner):
        return runner.env.unwrapped.get_attr(name) if runner.env is not None else ()

    groups = [algorithm.env_runner_group, algorithm.eval_env_runner_group]
    return [
        value
        for group in groups
        if group is not None
        for values in group.foreach_env_runner(ask)
        for value in values
    ]


def callback_of(algorithm):
    return algorithm.callbacks[0]


@pytest.fixture
def build():
    """Build algorithms, and stop them after the test."""
    built = []

    def build(config):
        built.append(config.build_algo())
        return built[-1]

    yield build
    for algorithm in built:
        algorithm.stop()


def test_training_episodes_move_the_level_of_every_game(build):
    algorithm = build(configure(episodes_per_update=10))
    assert games(algorithm, "weights") == [{2: 1.0}] * GAMES
    results = [algorithm.train() for _ in range(5)]
    schedule = callback_of(algorithm).curriculum.schedule
    assert schedule.level == 5  # 4 was mastered, 5 can't be
    assert [advance.level for advance in schedule.history] == [2, 3, 4]
    assert games(algorithm, "weights") == [{5: 1.0}] * GAMES
    assert all(1 not in played for played in games(algorithm, "played"))
    assert results[-1]["curves"]["curriculum/blanks"] == 5
    assert results[0]["curves"]["curriculum/success_rate"] == 1


def test_held_out_games_move_it_past_all_that_is_mastered(build, tmp_path):
    held_out = HeldOut(skill=4)
    algorithm = build(configure(held_out=held_out, evaluate_every=150))
    with SummaryWriter(tmp_path) as writer:
        results = [algorithm.train() for _ in range(4)]  # of 90 steps or some more
        for result in results:
            write_curves(result, writer)
    assert held_out.asked == [2, 3, 4, 5, None, 5, None]
    assert games(algorithm, "weights") == [{5: 1.0}] * GAMES
    assert curves.COMPLETION_RATE not in results[0]["curves"]
    assert results[1]["curves"][curves.COMPLETION_RATE] == 0.5
    found = curves.read_curves(tmp_path)
    assert all(found[name][1] for name in (*USUAL_CURVES, curves.ITERATION))
    steps, blanks = found[curves.BLANKS_LEVEL]
    assert blanks == [2, 5, 5, 5]
    assert steps == [result["num_env_steps_sampled_lifetime"] for result in results]
    assert found[curves.COMPLETION_RATE] == (steps[1::2], [0.5, 0.5])
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    for name in found:
        assert len(events.Scalars(name)) == len(found[name][0]) <= len(results)  # each point once


def test_held_out_games_are_played_from_the_first_result_on(build):
    held_out = HeldOut(skill=2)
    algorithm = build(configure(held_out=held_out))
    algorithm.train()
    assert held_out.asked == [2, 3, None]


@pytest.mark.nightly
def test_a_killed_runner_comes_back_at_the_level_and_so_does_a_checkpoint(build, tmp_path):
    algorithm = build(configure(runners=1, episodes_per_update=10))
    while callback_of(algorithm).curriculum.schedule.level < 5:
        algorithm.train()
    result = algorithm.train()
    assert games(algorithm, "played") == [{2, 3, 4, 5}] * GAMES
    folder = algorithm.save_to_path(tmp_path / "checkpoint")

    group = algorithm.env_runner_group
    ray.kill(group._worker_manager.actors()[1], no_restart=False)
    before, deadline = result["num_env_steps_sampled_lifetime"], time.monotonic() + 300
    while result["num_env_steps_sampled_lifetime"] == before and time.monotonic() < deadline:
        result = algorithm.train()  # returns at once while there is no runner
    assert result["num_env_steps_sampled_lifetime"] >= before + 90
    assert result["fault_tolerance"]["num_remote_worker_restarts"] == 1
    assert games(algorithm, "weights") == [{5: 1.0}] * GAMES
    assert games(algorithm, "played") == [{5}] * GAMES  # never another level
    algorithm.stop()

    again = Algorithm.from_checkpoint(folder)
    assert games(again, "weights") == [{5: 1.0}] * GAMES
    again.train()
    assert games(again, "played") == [{5}] * GAMES
    again.stop()


def test_a_restored_algorithm_continues_at_the_level(build, tmp_path):
    algorithm = build(configure(episodes_per_update=10))
    for _ in range(3):
        algorithm.train()
    saved = callback_of(algorithm).state_dict()
    folder = algorithm.save_to_path(tmp_path / "checkpoint")
    again = build(configure(episodes_per_update=10_000).evaluation(evaluation_interval=9))
    assert games(again, "weights") == [{2: 1.0}] * 2 * GAMES
    again.restore_from_path(folder)
    level = saved["schedule"]["level"]
    assert level > 2
    assert callback_of(again).state_dict() == saved
    assert games(again, "weights") == [{level: 1.0}] * 2 * GAMES
    again.train()
    counts = (
        sum(count for count, *_ in state["tally"])
        for state in (callback_of(again).state_dict(), saved)
    )
    assert next(counts) > next(counts)
    assert callback_of(again).curriculum.schedule.history[0].level == 2


def test_a_player_never_passes_a_threshold_above_its_success(build):
    levels = Algorithm1Config(start=2, stop=6, gamma=0.6, max_iterations=999, metric="completion")
    config = configure(levels, episodes_per_update=100).environment(Wave)
    config.env_runners(num_envs_per_env_runner=512)
    algorithm = build(config.training(train_batch_size_per_learner=10_240, minibatch_size=10_240))
    for _ in range(3):
        algorithm.train()
    schedule = callback_of(algorithm).curriculum.schedule
    assert schedule.level == 2 and schedule.updates == 3
    assert 0.2 < schedule.rate < 0.5


def test_runners_report_tasks_and_follow_weights(build):
    config = LearnabilityConfig(tasks="blanks=2..6", uniform=0.0)
    algorithm = build(configure(config, runners=2, episodes_per_update=20))
    for _ in range(6):
        result = algorithm.train()
    schedule = callback_of(algorithm).curriculum.schedule
    assert (schedule.solved[:3] > 0).all() and (schedule.failed[3:] > 0).all()
    assert games(algorithm, "weights") == [schedule.blanks()] * 2 * GAMES
    assert result["curves"]["curriculum/task_entropy"] > 0
