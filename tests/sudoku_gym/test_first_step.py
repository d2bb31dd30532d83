"""What a new machine meets: the package alone, on a disk that it can't write to, without a home."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sudoku_gym

PROGRAM = """
import json
import gymnasium as gym
import sudoku_gym
from sudoku_gym.envs import episodes, steps
from sudoku_gym.kernels import moves

env = gym.make("Sudoku4x4-v0")
_, info = env.reset(seed=0)
env.step(info["action_mask"].argmax())
envs = gym.make_vec("Sudoku4x4-v0", num_envs=2)
_, infos = envs.reset(seed=0)
envs.step(infos["action_mask"].argmax(1))
asked = [steps.step_one, steps.step_boards, steps.draw_boards]
shared = [moves.place, episodes._play]
needless = [episodes._erase, episodes._fill_singles, moves.erase, steps.load_boards]
print(json.dumps([[len(f.signatures) for f in group] for group in (asked, shared, needless)]))
"""


@pytest.fixture
def install(tmp_path):
    """A copy of the package as a wheel leaves it, with no room for anything in its folders."""
    package = Path(sudoku_gym.__file__).parent
    copy = tmp_path / "site" / "sudoku_gym"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()  # root, too, can't make a folder where there is a file
        folder.chmod(0o555)
    yield copy.parent
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        folder.chmod(0o755)


@pytest.mark.slow
def test_a_read_only_install_without_a_home_plays_and_compiles_only_what_it_needs(
    install, tmp_path
):
    (tmp_path / "temporary").mkdir(mode=0o700)
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(install),
        "HOME": os.devnull,
        "XDG_CACHE_HOME": os.devnull,
        "TMPDIR": str(tmp_path / "temporary"),
    }
    for wanted in ([[1, 1, 1], [1, 1], [0, 0, 0, 0]], [[1, 1, 1], [0, 0], [0, 0, 0, 0]]):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == wanted
        said = [line for line in done.stderr.splitlines() if "compiling kernels" not in line]
        assert len(said) == 1 and "set NUMBA_CACHE_DIR" in said[0]
