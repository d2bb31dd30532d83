"""Self-play on Ray: the same games whoever plays them, and actors may die."""

import threading
import time
from dataclasses import replace

import pytest

from sudoku_agents.calphazero.config import CAlphaZeroConfig
from sudoku_agents.calphazero.learner import CAlphaZeroLearner
from sudoku_agents.calphazero.search import SearchConfig
from sudoku_agents.calphazero.self_play import SelfPlayGames
from sudoku_curricula.curves import BLANKS_LEVEL, SUCCESS_RATE, read_curves
from sudoku_curricula.schedules import SuccessRateConfig
from sudoku_learning.networks import FactorGraphConfig
from sudoku_learning.training import RayConfig, Training
from sudoku_learning.training.sampling import split_games

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


def train(config):
    return Training(config, CAlphaZeroLearner)


def play(sampler, config, network, blanks, rng):
    tasks = split_games(config.games, blanks, config.ray, rng)
    return SelfPlayGames.concatenate(sampler.sample(network.state_dict(), tasks))


@pytest.mark.nightly
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
