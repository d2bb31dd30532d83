"""Batches are concatenated and indexed field by field; sampling on Ray is that of one process."""

import os
from dataclasses import dataclass

import numpy as np
import pytest

from sudoku_learning.training import RayConfig
from sudoku_learning.training.sampling import Batch, SamplingTask, make_sampler, split_games


@dataclass(frozen=True)
class Rows(Batch):
    boards: np.ndarray
    returns: np.ndarray


@dataclass(frozen=True)
class Counted(Batch):
    rows: Rows
    tried: int


def rows(*numbers):
    returns = np.array(numbers, np.float32)
    return Rows(np.repeat(returns[:, None], 4, 1).astype(np.int8), returns)


def test_batches():
    whole = Counted.concatenate([Counted(rows(1, 2), 5), Counted(rows(), 1), Counted(rows(3), 2)])
    assert whole.tried == 8 and len(whole.rows) == 3
    assert whole.rows.boards.dtype == np.int8 and whole.rows.boards.shape == (3, 4)
    assert whole.rows[np.array([2, 0])].returns.tolist() == [3, 1]


def test_games_are_split_into_tasks_with_seeds_of_their_own():
    tasks = split_games(300, {5: 1.0}, RayConfig(games_per_task=128), np.random.default_rng(0))
    assert [task.games for task in tasks] == [128, 128, 44]
    assert len({task.seed for task in tasks}) == 3


class Sums:
    """Draws the numbers of its tasks, and dies once where it finds no mark."""

    def __init__(self, mark=None):
        self.mark = mark

    def sample(self, weights, task):
        if self.mark is not None and task.seed[1] == 3 and not self.mark.exists():
            self.mark.touch()
            os._exit(1)
        return int(np.random.default_rng(task.seed).integers(2**40)) + weights["start"]


TASKS = [SamplingTask(1, None, (0, number)) for number in range(6)]


@pytest.mark.xdist_group("ray")
def test_a_task_whose_process_dies_is_done_again_with_the_same_samples(ray_cluster, tmp_path):
    mark = tmp_path / "mark"
    sampler = make_sampler(lambda: Sums(mark), RayConfig(actors=2))
    found = sampler.sample({"start": 7}, TASKS)
    assert mark.exists()  # so a process died
    assert found == make_sampler(Sums, RayConfig()).sample({"start": 7}, TASKS)


@pytest.mark.nightly
@pytest.mark.xdist_group("ray")
def test_processes_that_die_again_and_again_end_in_an_error(ray_cluster):
    class Dies:
        def sample(self, weights, task):
            os._exit(1)

    sampler = make_sampler(Dies, RayConfig(actors=1))
    with pytest.raises(ray_cluster.exceptions.WorkerCrashedError):
        sampler.sample({}, TASKS[:1])


@pytest.mark.nightly
@pytest.mark.xdist_group("ray")
def test_actors_know_the_environments_of_the_learner(ray_cluster):
    import gymnasium as gym

    import sudoku_gym
    from sudoku_gym import plugins

    class Reads:
        def sample(self, weights, task):
            return plugins.find_env(task.env).kwargs["source"]

    sudoku_gym.register("OnlyHere4x4-v0", "4x4", board="4x4")
    try:
        sampler = make_sampler(Reads, RayConfig(actors=1))
        tasks = [SamplingTask(1, None, (0, 0), "OnlyHere4x4-v0")]
        assert sampler.sample({}, tasks) == ["4x4"]
    finally:
        gym.registry.pop("OnlyHere4x4-v0")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"actors": -1}, "actors must be at least 0"),
        ({"actors": 1, "games_per_task": 0}, "games_per_task must be at least 1"),
        ({"address": "auto"}, "ray.address=auto: say how many actors"),
    ],
)
def test_unusable_settings_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        RayConfig(**wrong)
