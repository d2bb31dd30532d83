"""Self-play on Ray: the same games whoever plays them, and actors may die."""

import subprocess
import sys
import threading
import time
from dataclasses import fields, replace
from functools import partial

import numpy as np
import pytest
import torch

from sudoku_agents.calphazero.config import CAlphaZeroConfig
from sudoku_agents.calphazero.learner import CAlphaZeroLearner
from sudoku_agents.calphazero.replay import Positions, SparsePolicies
from sudoku_agents.calphazero.search import SearchConfig
from sudoku_agents.calphazero.self_play import SelfPlayer, SelfPlayGames
from sudoku_curricula.curves import BLANKS_LEVEL, SUCCESS_RATE, read_curves
from sudoku_curricula.schedules import SuccessRateConfig
from sudoku_gym import evaluate, load_policy, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import POLICY_AND_VALUE, FactorGraphConfig, Network
from sudoku_learning.training import RayConfig, Training
from sudoku_learning.training.sampling import LocalSampler, split_games

pytestmark = pytest.mark.xdist_group("ray")


def small(run, **changes):
    config = CAlphaZeroConfig(
        run=run,
        iterations=3,
        games=40,
        validation_games=16,
        checkpoint_every=1,
        search=SearchConfig(simulations=8, reward="sparse"),
        network=FactorGraphConfig(channels=8, rounds=2),
        curriculum=SuccessRateConfig(start=2, stop=5, threshold=0.2, window=16, min_count=16),
        ray=RayConfig(actors=2, games_per_task=16),
    )
    return replace(config, **changes)


def network_of(seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Network(FactorGraphConfig(8, 2), POLICY_AND_VALUE, Geometry.standard(4))


def assert_same(found, wanted):
    for column in fields(found):
        one, other = getattr(found, column.name), getattr(wanted, column.name)
        if isinstance(one, Positions | SparsePolicies):
            assert_same(one, other)
        else:
            np.testing.assert_array_equal(one, other, strict=True)


def train(config):
    return Training(config, CAlphaZeroLearner)


def play(sampler, config, network, blanks, rng):
    tasks = split_games(config.games, blanks, config.ray, rng)
    return SelfPlayGames.concatenate(sampler.sample(network.state_dict(), tasks))


@pytest.mark.slow
def test_actors_play_with_the_latest_weights_what_one_process_plays(ray_cluster, tmp_path):
    from sudoku_learning.training.actors import RaySampler

    config = small(tmp_path)
    make_player = partial(SelfPlayer, config)
    here, there = LocalSampler(make_player), RaySampler(make_player, config.ray)
    games = []
    for seed, blanks in ((1, 9), (2, {9: 0.5, 10: 0.5}), (2, 9)):
        network = network_of(seed)
        games.append(play(there, config, network, blanks, np.random.default_rng(5)))
        assert_same(games[-1], play(here, config, network, blanks, np.random.default_rng(5)))
    first, other_blanks, other_weights = games
    assert len(first.levels) == 40 and (first.levels == 9).all()
    assert set(other_blanks.levels) == {9, 10}
    assert len(first.positions) == first.lengths.sum()
    same_puzzles, others = first.positions[:16], other_weights.positions[:16]
    np.testing.assert_array_equal(same_puzzles.boards, others.boards)
    assert (same_puzzles.policies.dense(64) != others.policies.dense(64)).any()

    with pytest.raises(ValueError, match="blanks"):  # an error in a task is not tried again
        play(there, config, network, 99, np.random.default_rng(0))
    assert there.pool is None


def test_tasks_hold_all_games_and_seeds_of_their_own():
    rng, ray = np.random.default_rng(0), RayConfig(games_per_task=16)
    tasks = [task for _ in range(2) for task in split_games(40, 9, ray, rng)]
    assert [task.games for task in tasks] == [16, 16, 8, 16, 16, 8]
    assert len({task.seed for task in tasks}) == 6


@pytest.mark.slow
def test_training_goes_on_when_an_actor_is_killed_and_resumes_to_the_bit(ray_cluster, tmp_path):
    here = RayConfig(games_per_task=16)
    settings = {"games": 96, "search": SearchConfig(simulations=64, reward="sparse")}
    whole = train(small(tmp_path / "whole", **settings, ray=here))
    whole.run()
    assert whole.curriculum.schedule.level > 2

    trainer = train(small(tmp_path / "killed", **settings, iterations=2))
    pool = trainer.learner.sampler.start()
    killed = []

    def kill_one_in_the_middle_of_a_task():
        while not pool.up:
            time.sleep(0.01)
        time.sleep(0.2)
        killed.append(next(iter(pool.up)))
        ray_cluster.kill(killed[0])

    killer = threading.Thread(target=kill_one_in_the_middle_of_a_task)
    killer.start()
    trainer.run()
    killer.join()
    assert pool.deaths == len(killed) == 1
    resumed = train(small(tmp_path / "killed", **settings, resume=True, ray=here))
    assert resumed.iteration == 2
    resumed.run()
    found, wanted = (read_curves(tmp_path / run) for run in ("killed", "whole"))
    assert (
        found[BLANKS_LEVEL] == wanted[BLANKS_LEVEL] and found[SUCCESS_RATE] == wanted[SUCCESS_RATE]
    )
    for name in ("weights.safetensors", "optimizer.safetensors", "replay.npz", "state.json"):
        one, other = (
            (tmp_path / run / "checkpoints" / "000003" / name).read_bytes()
            for run in ("killed", "whole")
        )
        assert one == other, name


@pytest.mark.slow
def test_the_command_joins_a_cluster_and_makes_a_run_that_can_be_loaded(ray_cluster, tmp_path):
    command = ["-c", "import sys; from sudoku_gym.cli import main; sys.exit(main())"]
    options = ["--run", str(tmp_path), "--iterations", "1", "--games", "8", "--ray.actors", "1"]
    options += ["--validation-games", "8", "--search.simulations", "4"]
    address = ray_cluster.get_runtime_context().gcs_address
    done = subprocess.run(
        [sys.executable, *command, "train", "calphazero", *options, "--ray.address", address],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Connecting to existing Ray cluster" in done.stderr
    assert evaluate(load_policy(tmp_path), puzzles.load("4x4", "test")[:8]).illegal == 0


def test_without_ray_the_extra_is_named_and_one_process_is_enough(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "sudoku_learning.training.actors", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError, match=r"constraints.txt '\.\[rllib\]' in a checkout"):
        train(small(tmp_path))
    assert train(small(tmp_path, ray=RayConfig())).step().steps > 40
