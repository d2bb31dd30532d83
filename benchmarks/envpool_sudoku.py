"""Measures EnvPool's Sudoku; `env_throughput.py` runs it in an environment of its own.

Plays uniformly random legal actions with automatic resets, one thread, and counts the choosing of
actions. EnvPool 1.2.5 looks for its puzzles in another folder than that in which its wheel has
them, so they are copied first. Prints one JSON object: steps a second for each number of boards.
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


def measure(batch, steps, repeats):
    """Return steps a processor second; each step counts with the fastest of several games."""
    import envpool

    env = envpool.make("Sudoku-v0", env_type="gymnasium", num_envs=batch, num_threads=1, seed=0)
    rng = np.random.default_rng(0)
    seconds = np.full((repeats, steps), np.inf)
    for i in range(repeats):
        observations = env.reset()[0]
        for j in range(steps):
            start = time.process_time()  # of both threads, EnvPool's and this one
            observations = env.step(random_actions(observations["action_mask"], rng))[0]
            seconds[i, j] = time.process_time() - start
    return batch * steps / seconds.min(0).sum()


def main(smoke):
    place_puzzles()
    sizes = (8,) if smoke else (64, 1024)
    steps, repeats = (2, 1) if smoke else (100, 5)
    print(json.dumps({f"{size} boards": measure(size, steps, repeats) for size in sizes}))


if __name__ == "__main__":
    main("--smoke" in sys.argv)
