"""What a new machine meets: nothing is compiled yet."""

import json
import os
import subprocess
import sys

import pytest

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


@pytest.mark.nightly
def test_first_steps_compile_only_what_they_need_and_the_next_ones_nothing(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", PROGRAM]
    for wanted in ([[1, 1, 1], [1, 1], [0, 0, 0, 0]], [[1, 1, 1], [0, 0], [0, 0, 0, 0]]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        assert json.loads(done.stdout) == wanted
