"""The pool of Ray actors: tasks are done once each, though actors may die."""

import os
import socket
import subprocess
import sys

import gymnasium as gym
import pytest

import sudoku_gym
from sudoku_gym import plugins
from sudoku_learning.training import RayConfig

pytestmark = pytest.mark.xdist_group("ray")


def test_ray_starts_here_with_a_core_an_actor_or_is_joined(monkeypatch):
    from sudoku_learning.training import actors

    calls = []
    monkeypatch.setenv("RAY_ADDRESS", "")  # as good as none
    monkeypatch.setattr(actors.ray, "is_initialized", lambda: False)
    monkeypatch.setattr(actors.ray, "init", lambda **options: calls.append(options))
    actors.connect(RayConfig(actors=3))
    actors.connect(RayConfig(actors=3, address="auto"))
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
        monkeypatch.setenv("RAY_ADDRESS", address)
        actors.connect(RayConfig(actors=3))
    assert calls == [
        {"address": "local", "num_cpus": 3, "include_dashboard": False},
        {"address": "auto"},
        {"address": address},
    ]
    with pytest.raises(ConnectionError, match=f"no Ray cluster answers at {address}"):
        actors.connect(RayConfig(actors=3))
    assert len(calls) == 3


@pytest.mark.slow
def test_ray_starts_without_a_home():
    code = (
        "from sudoku_learning.training import RayConfig; "
        "from sudoku_learning.training.actors import connect; import ray; "
        "connect(RayConfig(actors=1)); print(ray.get(ray.put('works')))"
    )
    kept = {key: os.environ[key] for key in os.environ if not key.startswith("RAY_")}
    command = [sys.executable, "-c", code]
    told = subprocess.run(
        command, env=kept | {"HOME": os.devnull}, capture_output=True, text=True, timeout=120
    )
    assert told.returncode == 0 and told.stdout == "works\n", told.stderr


def test_a_user_who_has_no_home_gets_a_token(monkeypatch):
    from sudoku_learning.training.actors import set_token

    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # of a user that no list holds
    set_token()
    assert len(os.environ.pop("RAY_AUTH_TOKEN")) == 64


USES_OWN_FILES = """
import os, sys
from sudoku_gym.plugins import load_attribute
from sudoku_learning.training import RayConfig
from sudoku_learning.training.samplers import make_sampler
from sudoku_learning.training.sampling import SamplingTask

sys.path.append(os.getcwd())  # as the command does
sampler = make_sampler(load_attribute("own_worker:Own"), RayConfig(actors=1))
print(sampler.sample({}, [SamplingTask(1, None, (0, 0), "")]))
sampler.close()
"""


@pytest.mark.slow
def test_actors_import_what_is_named_from_the_working_folder(tmp_path):
    own = "class Own:\n    def sample(self, weights, task):\n        return 'of my own'\n"
    (tmp_path / "own_worker.py").write_text(own)
    command = [sys.executable, "-P", "-c", USES_OWN_FILES]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert told.stdout == "['of my own']\n" and told.returncode == 0, told.stderr


def test_a_task_whose_actor_dies_is_done_again(ray_cluster, tmp_path):
    from sudoku_learning.training.actors import ActorPool

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
    from sudoku_learning.training.actors import ActorPool

    class Dies:
        def work(self):
            os._exit(1)

    actor_class = ray_cluster.remote(num_cpus=1)(Dies)
    pool = ActorPool(actor_class.remote, 1)
    with pytest.raises(RuntimeError, match="3 Ray actors died one after another and finished noth"):
        pool.map(lambda actor, _: actor.work.remote(), [0])
    pool.close()


def test_actors_know_the_environments_of_the_learner(ray_cluster):
    from sudoku_learning.training.actors import RaySampler
    from sudoku_learning.training.sampling import SamplingTask

    class Reads:
        def sample(self, weights, task):
            return plugins.find_env(task.env).kwargs["source"]

    sudoku_gym.register("OnlyHere4x4-v0", "4x4", board="4x4")
    try:
        sampler = RaySampler(Reads, RayConfig(actors=1))
        tasks = [SamplingTask(1, None, (0, 0), "OnlyHere4x4-v0")]
        assert sampler.sample({}, tasks) == ["4x4"]
        sampler.close()
    finally:
        gym.registry.pop("OnlyHere4x4-v0")


def test_a_cluster_that_fails_says_how_to_go_on(monkeypatch):
    from ray.exceptions import RaySystemError

    from sudoku_learning.training import actors

    class Pool:
        closed = False

        def map(self, submit, tasks):
            raise RaySystemError("the node is gone")

        def close(self):
            self.closed = True

    sampler = actors.RaySampler(object, RayConfig(actors=1))
    sampler.pool = pool = Pool()
    monkeypatch.setattr(actors.ray, "put", lambda value: value)
    with pytest.raises(RuntimeError, match=r"Ray has failed .*node is gone.*with --resume"):
        sampler.sample({}, [])
    assert pool.closed and sampler.pool is None


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
