"""Play Sudoku at random, then compare two baselines on puzzles nobody trains on.

python examples/quickstart.py
"""

import argparse

import gymnasium as gym
import numpy as np

from sudoku_gym import compare, load_policy, puzzles, sample_actions
from sudoku_gym.evaluation import to_markdown


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="a few steps and puzzles only")
    smoke = parser.parse_args(argv).smoke

    # One board. The mask in `info` says which of the N**3 placements are legal.
    env = gym.make("Sudoku4x4-v0", blanks=6, render_mode="ansi")
    env.action_space.seed(0)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        action = env.action_space.sample(mask=info["action_mask"])
        _, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    print(f"{env.render()}\n\nA random game: {reward:.0%} of the units hold every digit.\n")

    # Many boards at once: one compiled call steps them all.
    envs = gym.make_vec("Sudoku4x4-v0", num_envs=16 if smoke else 1024, blanks=6)
    rng = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    games = solved = 0
    for _ in range(20 if smoke else 200):
        actions = sample_actions(infos["action_mask"], rng)
        _, _, terminated, truncated, infos = envs.step(actions)
        games += np.count_nonzero(terminated | truncated)
        solved += np.count_nonzero(infos["is_success"] & terminated)
    print(f"{games:,} random games with 6 blanks: {solved / games:.1%} solved.\n")

    # The test split holds puzzles that no symmetry turns into a training puzzle.
    policies = {name: load_policy(name) for name in ("masked-random", "naked-singles")}
    test = puzzles.load("4x4", split="test")[:: 100 if smoke else 1]
    results = compare(policies, test, seed=0)
    print(to_markdown(results))
    return results


if __name__ == "__main__":
    main()
