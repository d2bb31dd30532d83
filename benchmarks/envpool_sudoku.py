"""Plays EnvPool's Sudoku; `beside_envpool.py` runs it in an environment of its own.

Plays uniformly random legal actions with automatic resets, one thread. EnvPool 1.2.5 looks for its
puzzles in another folder than that in which its wheel has them, so they are copied first. Prints
one JSON object: for each number of boards the processor seconds of each step, and of each choosing
of actions, the fastest of several games.

    python envpool_sudoku.py STEPS REPEATS BOARDS...
"""

import importlib.util
import json
import shutil
import sys
import time
from pathlib import Path

import numpy as np


def place_puzzles():
    """Copy the puzzles to where EnvPool looks for them."""
    packages = Path(importlib.util.find_spec("envpool_assets").origin).parent.parent
    folder = Path("jumanji", "assets", "sudoku")
    target = packages / "envpool_assets" / folder
    if not target.exists():
        shutil.copytree(packages / "envpool" / folder, target)


def random_actions(masks, rng):
    """Draw a legal (row, column, digit) for each mask bool `[B, 9, 9, 9]`."""
    flat = masks.reshape(len(masks), -1)
    counts = flat.sum(1)
    firsts = np.cumsum(counts) - counts
    legal = np.append(np.flatnonzero(flat) % flat.shape[1], 0)
    chosen = legal[firsts + (rng.random(len(flat)) * counts).astype(int)]
    return np.stack(np.unravel_index(chosen, masks.shape[1:]), 1).astype(np.int32)


def measure(boards, steps, repeats):
    """Return seconds of each step and of each choosing, float `[2, steps]`."""
    import envpool

    env = envpool.make("Sudoku-v0", env_type="gymnasium", num_envs=boards, num_threads=1, seed=0)
    seconds = np.full((2, steps), np.inf)
    for _ in range(repeats):
        rng = np.random.default_rng(0)
        observations = env.reset()[0]
        for i in range(steps):
            start = time.process_time()  # of both threads, EnvPool's and this one
            actions = random_actions(observations["action_mask"], rng)
            chosen = time.process_time()
            observations = env.step(actions)[0]
            spent = time.process_time() - chosen, chosen - start
            seconds[:, i] = np.minimum(seconds[:, i], spent)
    return seconds


def main(steps, repeats, *sizes):
    place_puzzles()
    print(json.dumps([measure(boards, steps, repeats).tolist() for boards in sizes]))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
