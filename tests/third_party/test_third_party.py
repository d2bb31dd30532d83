"""Every command and every trainer with what a third-party package brings."""

import json
import os
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import pytest

from sudoku_gym import cli, plugins

pytest.importorskip("torch")

pytestmark = pytest.mark.usefixtures("package")

WITH_MODULE, NAMED = "corner_sudoku.reg:Corners4x4-v0", "CornersNamed4x4-v0"
FEW = "--iterations 2 --validation-games 8 --checkpoint-every 1".split()
SCHEDULE = "curriculum:hurdles --curriculum.stop 3".split()
PUZZLES = "--puzzles corner_sudoku.boards:all_puzzles --count 4".split()
RUN = "runs/mine"
RESUME = ["train", "corners", "--run", RUN, "--resume"]
# What makes each trainer quick.
TRAINERS = {
    "calphazero": "--games 4 --search.simulations 2",
    "expert-iteration": f"--envs {WITH_MODULE} --shares 1 --games 4 --pool 8 --recurrent.updates 2",
    "dqn": "--games 4",
    "multiverse": "--updates 2",
    "recurrent-transformer": "--updates 2",
    "mlp": "--updates 2",
    "cnn": "--updates 2",
    "rrn": "--updates 2",
    "tiny-recursion": "--updates 2",
    "masked-diffusion": "--updates 2",
    "symbol-equivariant": "--updates 2",
    "exact-cover": "--recurrent.updates 2",
    "guissart": "--grids 8 --epochs 1 --fillers 1",
    "gflownet": "",
    "corners": "",
}


def run(capsys, *arguments):
    code = cli.main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    assert code in (0, 1), captured.err
    return captured.out


def refused(capsys, *arguments):
    assert cli.main([str(argument) for argument in arguments]) == 2
    return " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_all_trainers_are_tried():
    assert set(TRAINERS) == set(plugins.available("trainers"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "trainer",
    [
        pytest.param(name, marks=[] if name == "corners" else pytest.mark.nightly)
        for name in TRAINERS
    ],
)
def test_trainers_take_the_environment_and_the_schedule(capsys, package, trainer):
    options = ["--env", WITH_MODULE, "--run", RUN, *TRAINERS[trainer].split()]
    run(capsys, "train", trainer, *FEW, *options, *SCHEDULE)
    saved = json.loads(Path(RUN, "config.json").read_text())
    assert saved["env"] == WITH_MODULE
    assert saved["curriculum"]["type"] == "schedule/hurdles" and saved["curriculum"]["stop"] == 3
    package()  # as in the next process
    run(capsys, "train", trainer, *options, "--resume", "--iterations", "3")
    package()
    assert RUN in run(capsys, "compare", RUN, "first-legal", *PUZZLES, "--trust")


def test_a_run_with_a_named_environment_needs_no_trust(capsys, package):
    run(capsys, "train", "mlp", "--env", NAMED, "--run", RUN, *FEW, "--updates", "2", *SCHEDULE)
    package()
    assert RUN in run(capsys, "compare", RUN, *PUZZLES)
    package()
    run(capsys, "train", "mlp", "--run", RUN, "--resume", "--iterations", "3")
    package()
    assert RUN in run(capsys, "watch", RUN, "--puzzles", "4x4")
    run(capsys, "plot", RUN)
    assert Path("curves.png").exists()


def test_a_file_imports_no_module(capsys, package):
    run(capsys, "train", "corners", "--env", WITH_MODULE, "--run", RUN, *FEW)
    package()
    for command in (["compare", RUN, *PUZZLES], [*RESUME, "--iterations", "3"]):
        problem = refused(capsys, *command)
        assert "Corners4x4-v0 is not registered" in problem
        assert f"--env {WITH_MODULE}" in problem and "--trust" in problem
        assert "corner_sudoku.reg" not in sys.modules


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ("Corners4x4-v0", "One of another package is given with its module"),
        ("corner_sudoku.nowhere:Corners4x4-v0", "No module named"),
        ("corner_sudoku.reg:Other4x4-v0", "corner_sudoku.reg registers no 'Other4x4-v0'"),
        ("CartPole-v1", "is no Sudoku environment"),
    ],
)
def test_an_unknown_environment_is_told_how_to_register(capsys, env, message):
    assert message in refused(capsys, "train", "mlp", "--env", env, "--run", RUN)


def test_python_makes_both_environments():
    for name in (WITH_MODULE, NAMED):
        assert plugins.find_env(plugins.import_environment(name)).kwargs["board"]
        envs = gym.make_vec(name, num_envs=3)
        boards, _ = envs.reset(seed=0)
        assert boards.shape == (3, 4, 4) and envs.unwrapped.geometry.name == "Corners 4x4"


def test_every_command_takes_the_board_the_puzzles_and_the_policies(capsys):
    assert "CornersNamed4x4-v0" in (info := run(capsys, "info"))
    assert "first-legal" in info and "corners" in info
    board = ["--board", "corner_sudoku.boards:CORNERS"]
    run(capsys, "generate", *board, "--count", "5", "--seed", "0", "--out", "mine.csv")
    borrowed = "corner_sudoku.policies:Borrowed"
    assert "100.0 %" in run(capsys, "compare", borrowed, "--puzzles", "mine.csv", *board)
    assert "100.0 %" in run(capsys, "compare", borrowed, *PUZZLES)
    run(capsys, "solve", "mine.csv", *board, "--out", "solved.csv")
    assert Path("solved.csv").read_text().count(",1,1\n") == 5
    assert "solved" in run(capsys, "watch", borrowed, "--puzzles", "mine.csv", *board)
    assert "hurdles" in run(capsys, "train", "mlp", "--help")


@pytest.mark.slow
def test_the_program_itself_finds_it_in_the_working_folder(site_folder, tmp_path):
    """Without an installer: the module lies in the folder where the shell is."""
    (tmp_path / "corner_sudoku").symlink_to(site_folder / "corner_sudoku")
    command = [sys.executable, "-m", "sudoku_gym", "train", "dqn", "--env", WITH_MODULE]
    command += ["--run", RUN, *FEW, *TRAINERS["dqn"].split()]
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    subprocess.run(command, check=True, cwd=tmp_path, env=environment, timeout=120)
    assert (tmp_path / RUN / "config.json").exists()
