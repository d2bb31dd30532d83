"""TorchRL's own wrapper and its transform of masks, with one board and with many."""

import re
from pathlib import Path

import gymnasium as gym
import pytest

import sudoku_gym  # noqa: F401 - registers the ids

pytest.importorskip("torchrl", reason="the extra torchrl is not installed")
from torchrl.envs import ActionMask, GymWrapper, TransformedEnv, default_info_dict_reader

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore")]  # from torchrl


def wrapped(envs):
    return GymWrapper(envs, categorical_action_encoding=True)


def steps_of(env, transform, count):
    """Play random actions, and see that each was legal."""
    env = TransformedEnv(env, transform)
    env.set_seed(0)
    steps = env.rollout(count, break_when_any_done=False)
    assert steps["action_mask"].gather(-1, steps["action"].unsqueeze(-1)).all()
    return steps


def test_the_masks_of_one_board():
    env = wrapped(gym.make("Sudoku4x4-v0", blanks=6))
    env.set_info_dict_reader(default_info_dict_reader(["action_mask"]))
    assert steps_of(env, ActionMask(), 40)["next", "done"].sum() > 5
    with pytest.raises(AttributeError, match="dtype"):  # else the page need not tell of it
        wrapped(gym.make("Sudoku4x4-v0", blanks=6)).auto_register_info_dict()


def test_the_lines_of_the_page_keep_the_masks_of_boards_that_play_on():
    page = (Path(__file__).parents[3] / "docs" / "libraries.md").read_text(encoding="utf-8")
    page = page.partition("## TorchRL\n")[2].partition("\n## ")[0]
    names = {}
    for block in re.findall(r"^```py\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        exec(block, names)
    envs = gym.make_vec("Sudoku4x4-v0", num_envs=8, blanks=8, autoreset_mode="Disabled")
    env = wrapped(envs).auto_register_info_dict()
    with pytest.raises(RuntimeError, match="probabilities"):  # else the page need not tell of it
        steps_of(env, ActionMask(), 60)
    steps = steps_of(env, names["KeptActionMask"](), 60)
    over = steps["next", "done"].squeeze(-1)
    assert (over.any(0) & ~over.all(0)).any()  # some boards were reset while others played on
