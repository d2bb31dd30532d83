"""The ids, and that importing the package is cheap."""

import json
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest

import sudoku_gym
from sudoku_gym import puzzles
from sudoku_gym.geometry import Geometry, jigsaw, latin_square, sudoku_x, windows
from sudoku_gym.puzzles import files
from sudoku_gym.registration import ANY_BOARD, ENVIRONMENTS, register_all

GEOMETRIES = {
    "Sudoku4x4-v0": Geometry.boxes(2, 2),
    "Sudoku6x6-v0": Geometry.boxes(2, 3),
    "Sudoku9x9-v0": Geometry.boxes(3, 3),
    "SudokuHard9x9-v0": Geometry.boxes(3, 3),
    "SudokuHardest9x9-v0": Geometry.boxes(3, 3),
    "Sudoku16x16-v0": Geometry.boxes(4, 4),
    "Sudoku25x25-v0": Geometry.boxes(5, 5),
    "SudokuX9x9-v0": sudoku_x(9),
    "SudokuWindows9x9-v0": windows(9),
    "SudokuJigsaw9x9-v0": jigsaw(9),
    "LatinSquare9x9-v0": latin_square(9),
}


def in_a_fresh_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_id_makes_both_forms(name):
    env = gym.make(name)
    envs = gym.make_vec(name, num_envs=2)
    assert type(env.unwrapped) is sudoku_gym.SudokuEnv
    assert type(envs) is sudoku_gym.SudokuVectorEnv
    assert env.unwrapped.geometry == envs.geometry == GEOMETRIES[name]
    size = env.unwrapped.geometry.size
    assert env.observation_space == gym.spaces.Box(0, size, (size, size), np.int8)
    assert env.action_space == gym.spaces.Discrete(size**3)
    board, _ = env.reset(seed=8)
    np.testing.assert_array_equal(envs.reset(seed=8)[0][0], board)
    for spec in (env.spec, envs.spec):
        json.loads(spec.to_json())


def test_every_id_is_described():
    assert GEOMETRIES.keys() == ENVIRONMENTS.keys()


def test_registering_twice_changes_nothing():
    before = dict(gym.registry)
    register_all()
    assert gym.registry == before


def test_a_vector_spec_makes_the_same_environment_again():
    envs = gym.make_vec("Sudoku4x4-v0", num_envs=3, autoreset_mode="SameStep", blanks=4)
    again = gym.make_vec(gym.envs.registration.EnvSpec.from_json(envs.spec.to_json()))
    assert again.num_envs == 3
    assert again.metadata == envs.metadata
    np.testing.assert_array_equal(again.reset(seed=1)[0], envs.reset(seed=1)[0])


def test_one_board_and_many_pay_alike_at_their_step_limit():
    options = {"blanks": 4, "max_steps": 2}
    env, envs = gym.make("Sudoku4x4-v0", **options), gym.make_vec("Sudoku4x4-v0", 1, **options)
    (_, info), (_, infos) = env.reset(seed=0), envs.reset(seed=0)
    for _ in range(2):
        _, reward, _, truncated, info = env.step(int(info["action_mask"].argmax()))
        _, rewards, _, truncations, infos = envs.step(infos["action_mask"].argmax(1))
    assert truncated and truncations.all()
    assert reward == rewards[0] == info["constraint_fraction"] > 0
    assert gym.make_vec(envs.spec).unwrapped.max_steps == 2
    with pytest.raises(ValueError, match="use max_steps"):
        gym.make_vec("Sudoku4x4-v0", num_envs=1, max_episode_steps=2)


def test_an_id_without_a_version_means_the_latest():
    with pytest.warns(UserWarning, match="latest versioned environment `Sudoku4x4-v0`"):
        env = gym.make("Sudoku4x4")
    assert env.spec.id == "Sudoku4x4-v0"
    with pytest.raises(gym.error.VersionNotFound):
        gym.make("Sudoku4x4-v9")


def test_one_id_plays_on_the_boards_of_its_source(tmp_path):
    ours = puzzles.load("jigsaw9x9", "test")[:2]
    for env in (gym.make(ANY_BOARD, source=ours), gym.make_vec(ANY_BOARD, 2, source=ours)):
        assert env.unwrapped.geometry == jigsaw(9)
        env.reset(seed=0)
    assert gym.make(ANY_BOARD).unwrapped.geometry == Geometry.standard(9)
    files.write(tmp_path / "x.csv", puzzles.load("x9x9", "test")[:3])
    for made in (("SudokuX9x9-v0", {}), (ANY_BOARD, {"board": "x9x9"})):
        env = gym.make(made[0], source=str(tmp_path / "x.csv"), **made[1])
        assert env.unwrapped.geometry == sudoku_x(9)
    env = gym.make(ANY_BOARD, source=str(tmp_path / "x.csv"), board=sudoku_x(9))
    assert env.unwrapped.geometry == sudoku_x(9)
    with pytest.raises(ValueError, match=r"holds Jigsaw 9x9 .*make\('Sudoku-v0'"):
        gym.make("Sudoku9x9-v0", source=ours)


def test_an_id_with_its_module_imports_by_itself():
    code = "import gymnasium; print(gymnasium.make('sudoku_gym:Sudoku4x4-v0').unwrapped)"
    assert "Sudoku4x4-v0" in in_a_fresh_python(code)


def test_importing_is_light():
    code = (
        "import sys, sudoku_gym; "
        "print([name for name in ('numba', 'torch', 'PIL', 'rich') if name in sys.modules])"
    )
    assert in_a_fresh_python(code) == "[]"


def test_public_names_exist():
    for name in sudoku_gym.__all__:
        assert getattr(sudoku_gym, name) is not None
    assert set(sudoku_gym.__all__) <= set(dir(sudoku_gym))
    with pytest.raises(AttributeError, match="no attribute 'solve_all'"):
        _ = sudoku_gym.solve_all
