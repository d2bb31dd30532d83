"""Self-play on Ray: the same games whoever plays them, and actors may die."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sudoku_agents.alphazero.trainer import Trainer
from sudoku_agents.networks import ExactCoverNetwork

from sudoku_agents.alphazero.config import AlphaZeroConfig, NetworkConfig, RayConfig
from sudoku_agents.alphazero.replay import Positions
from sudoku_agents.alphazero.search import SearchConfig
from sudoku_agents.alphazero.self_play import Games
from sudoku_curricula.schedules import SuccessRateConfig
from sudoku_curricula.tensorboard import BLANKS, SUCCESS_RATE, read_curves
from sudoku_gym import evaluate, load_policy, puzzles

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "self_play.py"

pytestmark = pytest.mark.xdist_group("ray")


def small(run, **changes):
    config = AlphaZeroConfig(
        run=run,
        iterations=3,
        games=40,
        validation_games=16,
        checkpoint_every=1,
        search=SearchConfig(simulations=8, reward="sparse"),
        network=NetworkConfig(channels=8, layers=2),
        curriculum=SuccessRateConfig(start=2, stop=5, threshold=0.2, window=16, min_count=16),
        ray=RayConfig(actors=2, games_per_task=16),
    )
    return replace(config, **changes)


def network_of(seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ExactCoverNetwork(8, 2)


def assert_same(found, wanted):
    for kind in (Games, Positions):
        for column in fields(kind):
            if column.name != "positions":
                np.testing.assert_array_equal(
                    getattr(found, column.name), getattr(wanted, column.name), strict=True
                )
        found, wanted = getattr(found, "positions", None), getattr(wanted, "positions", None)


class PlaysHere:
    """Plays the tasks one after the other in this process."""

    def __init__(self, config):
        self.config = config

    def play(self, network, blanks, rng):
        from sudoku_agents.alphazero.distributed import Player, split

        player = Player(self.config)
        tasks = split(self.config, blanks, rng)
        return Games.concatenate([player.play(network.state_dict(), task) for task in tasks])

    def start(self):
        pass

    def close(self):
        pass


@pytest.mark.slow
def test_actors_play_with_the_latest_weights_what_one_process_plays(ray_cluster, tmp_path):
    from sudoku_agents.alphazero.distributed import RaySelfPlay

    here, there = PlaysHere(small(tmp_path)), RaySelfPlay(small(tmp_path))
    games = []
    for seed, blanks in ((1, 9), (2, {9: 0.5, 10: 0.5}), (2, 9)):
        network = network_of(seed)
        games.append(there.play(network, blanks, np.random.default_rng(5)))
        assert_same(games[-1], here.play(network, blanks, np.random.default_rng(5)))
    first, other_blanks, other_weights = games
    assert len(first.levels) == 40 and (first.levels == 9).all()
    assert set(other_blanks.levels) == {9, 10}
    assert len(first.positions) == first.lengths.sum()
    same_puzzles, others = first.positions[:16], other_weights.positions[:16]
    np.testing.assert_array_equal(same_puzzles.boards, others.boards)
    assert (same_puzzles.visit_counts != others.visit_counts).any()

    with pytest.raises(ValueError, match="blanks"):  # an error in a task is not tried again
        there.play(network, 99, np.random.default_rng(0))
    assert there.pool is None


def test_tasks_hold_all_games_and_seeds_of_their_own(tmp_path):
    from sudoku_agents.alphazero.distributed import split

    rng = np.random.default_rng(0)
    tasks = [task for _ in range(2) for task in split(small(tmp_path), 9, rng)]
    assert [task.games for task in tasks] == [16, 16, 8, 16, 16, 8]
    assert len({task.seed for task in tasks}) == 6


@pytest.mark.slow
def test_training_goes_on_when_an_actor_is_killed_and_resumes_to_the_bit(ray_cluster, tmp_path):
    settings = {"games": 96, "search": SearchConfig(simulations=64, reward="sparse")}
    whole = Trainer(small(tmp_path / "whole", **settings))
    whole.self_play = PlaysHere(whole.config)
    whole.run()
    assert whole.schedule.level > 2

    trainer = Trainer(small(tmp_path / "killed", **settings, iterations=2))
    pool = trainer.self_play.start()
    killed = []

    def kill_one_in_the_middle_of_a_task():
        while not pool.places:
            time.sleep(0.01)
        time.sleep(0.2)
        killed.append(next(iter(pool.places.values())).pid)
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_one_in_the_middle_of_a_task)
    killer.start()
    trainer.run()
    killer.join()
    assert pool.deaths == len(killed) == 1
    resumed = Trainer(small(tmp_path / "killed", **settings, resume=True))
    assert resumed.iteration == 2
    resumed.self_play = PlaysHere(resumed.config)
    resumed.run()
    found, wanted = (read_curves(tmp_path / run) for run in ("killed", "whole"))
    assert found[BLANKS] == wanted[BLANKS] and found[SUCCESS_RATE] == wanted[SUCCESS_RATE]
    for name in ("weights.safetensors", "optimiser.safetensors", "replay.npz", "state.json"):
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


@pytest.mark.slow
def test_throughput_is_measured(ray_cluster, capsys):
    spec = importlib.util.spec_from_file_location("self_play", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rates = module.main(["--smoke", "--actors", "1"])
    assert rates.keys() == {"without Ray", "1 actor"}
    assert all(0 < games < positions for games, positions in rates.values())
    assert "times without Ray" in capsys.readouterr().out


def test_ray_starts_here_with_a_core_an_actor_or_is_joined(monkeypatch):
    from sudoku_agents.alphazero import distributed

    calls = []
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(distributed.ray, "is_initialized", lambda: False)
    monkeypatch.setattr(distributed.ray, "init", lambda **options: calls.append(options))
    distributed.connect(RayConfig(actors=3))
    distributed.connect(RayConfig(actors=3, address="auto"))
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
        monkeypatch.setenv("RAY_ADDRESS", address)
        distributed.connect(RayConfig(actors=3))
    assert calls == [
        {"address": "local", "num_cpus": 3, "include_dashboard": False},
        {"address": "auto"},
        {"address": address},
    ]
    with pytest.raises(ConnectionError, match=f"no Ray cluster answers at {address}"):
        distributed.connect(RayConfig(actors=3))
    assert len(calls) == 3


def test_a_task_whose_actor_dies_is_done_again(ray_cluster, tmp_path):
    from sudoku_agents.alphazero.actor_pool import ActorPool

    class DiesOnce:
        def square(self, number, mark):
            if number == 3 and not mark.exists():
                mark.touch()
                os._exit(1)
            return number**2

    actor_class = ray_cluster.remote(num_cpus=1)(DiesOnce)
    pool = ActorPool(actor_class.remote, 2)
    mark = tmp_path / "mark"
    numbers = [5, 3, 1, 4, 2]
    assert pool.map(lambda actor, n: actor.square.remote(n, mark), numbers) == [25, 9, 1, 16, 4]
    assert pool.deaths == 1 and mark.exists()
    assert pool.map(lambda actor, n: actor.square.remote(n, mark), [3]) == [9]
    assert pool.deaths == 1
    pool.close()


def test_actors_that_die_again_and_again_end_in_an_error(ray_cluster):
    from sudoku_agents.alphazero.actor_pool import ActorPool

    class Dies:
        def work(self):
            os._exit(1)

    actor_class = ray_cluster.remote(num_cpus=1)(Dies)
    pool = ActorPool(actor_class.remote, 1)
    with pytest.raises(RuntimeError, match="3 Ray actors died one after another and finished noth"):
        pool.map(lambda actor, _: actor.work.remote(), [0])
    pool.close()


def test_without_ray_the_extra_is_named_and_one_process_is_enough(tmp_path, monkeypatch):
    for name in ("distributed", "actor_pool"):
        monkeypatch.delitem(sys.modules, f"sudoku_agents.alphazero.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'sudoku-gym\[rllib\]'"):
        Trainer(small(tmp_path))
    assert len(Trainer(small(tmp_path, ray=RayConfig())).step().games.levels) == 40


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"actors": -1}, "ray.actors must not be negative"),
        ({"actors": 1, "games_per_task": 0}, "ray.games_per_task must be at least 1"),
        ({"address": "auto"}, "ray.address=auto: say how many actors"),
    ],
)
def test_unusable_settings_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        RayConfig(**wrong)
