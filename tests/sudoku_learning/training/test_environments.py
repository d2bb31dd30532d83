"""The puzzles of training runs on environments of one's own."""

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("torch")

from sudoku_gym import load_policy, puzzles
from sudoku_gym.puzzles import PuzzleSet, files
from sudoku_gym.puzzles.tasks import TaskWeights
from sudoku_learning.training.environments import (
    HeldOut,
    geometry_of_env,
    held_out_source,
    training_envs,
    training_source,
)


@pytest.fixture
def mine():
    whole = puzzles.load("9x9")[:40]
    return PuzzleSet(whole.puzzles, whole.solutions, whole.geometry, "mine")


@pytest.fixture
def register(monkeypatch):
    def register_env(source, board="9x9", **options):
        gym.register(
            "Mine-v0",
            entry_point="sudoku_gym.envs.sudoku:SudokuEnv",
            vector_entry_point="sudoku_gym.envs.vector:SudokuVectorEnv",
            kwargs={"source": source, "board": board, **options},
        )

    yield register_env
    gym.registry.pop("Mine-v0", None)


@pytest.mark.filterwarnings("ignore:.*says no split")
@pytest.mark.parametrize("kind", ["set", "file"])
def test_a_source_of_ones_own_does_not_train_on_its_held_out_puzzles(
    kind, mine, register, tmp_path
):
    files.write(tmp_path / "mine.csv", mine)
    register(mine if kind == "set" else str(tmp_path / "mine.csv"))
    training, held_out = (
        {solution.tobytes() for solution in source("Mine-v0").puzzle_set.solutions}
        for source in (training_source, held_out_source)
    )
    assert training and held_out and not training & held_out
    envs = training_envs("Mine-v0", 8, augment=False)
    allowed = training_source("Mine-v0").puzzle_set.puzzles
    boards, _ = envs.reset(seed=0)
    assert all((allowed == board).all((1, 2)).any() for board in boards)
    assert geometry_of_env("Mine-v0") == mine.geometry


def test_one_puzzle_is_refused(mine, register):
    register(mine[:1])
    with pytest.raises(ValueError, match="none can be held out from training"):
        training_envs("Mine-v0", 2)


def test_learners_get_masks_and_no_erasures(register):
    register("4x4", "4x4", with_mask=False, with_info=False)
    assert {"action_mask", "blanks"} <= training_envs("Mine-v0", 2).reset(seed=0)[1].keys()
    gym.spec("Mine-v0").kwargs["erase"] = True
    with pytest.raises(ValueError, match="has erasures"):
        training_envs("Mine-v0", 2)


def test_banks_draw_from_their_splits():
    envs = training_envs("Sudoku4x4-v0", 5, augment=False)
    boards, _ = envs.reset(seed=0)
    train = puzzles.load("4x4", "train").puzzles
    assert all((train == board).all((1, 2)).any() for board in np.asarray(boards))


def test_an_environment_without_a_vector_form_says_how_to_register(register):
    entry_point = "sudoku_gym.envs.sudoku:SudokuEnv"
    gym.register("Mine-v0", entry_point=entry_point, kwargs={"source": "9x9"})
    with pytest.raises(
        ValueError, match=r"no vector environment of this suite: .*sudoku_gym.regis"
    ):
        training_envs("Mine-v0", 2)


def test_held_out_games_are_on_the_board_that_the_task_names():
    four, six = map(held_out_source, ("Sudoku4x4-v0", "Sudoku6x6-v0"))
    random = np.random.default_rng(0)
    play = HeldOut(load_policy("naked-singles"), four, 3, random, others=[six])
    tasks = TaskWeights.equal("board=4x4 + board=6x6 x blanks=2")
    for weights, shape in ([1, 0], (3, 4, 4)), ([0, 1], (3, 6, 6)):
        _, count = play(TaskWeights(tasks.tasks, np.array(weights, float)))
        assert count == 3 and play.latest.boards.shape == shape
