"""Train cAlphaZero on 4x4 with a curriculum, then let it play puzzles it has never seen.

python examples/demo.py            # about two minutes on two cores; writes runs/demo
tensorboard --logdir runs/demo
"""

import argparse
import time
from copy import deepcopy
from functools import partial
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
from rich.console import Console

from sudoku_agents.alphazero.agent import AlphaZeroPolicy, make_network
from sudoku_agents.alphazero.config import AlphaZeroConfig
from sudoku_agents.alphazero.learner import AlphaZeroLearner
from sudoku_curricula.plots import plot_runs
from sudoku_gym import compare, load_policy, puzzles
from sudoku_gym.envs.films import save_gif
from sudoku_gym.evaluation import to_markdown
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import BankSource
from sudoku_learning.networks import seeded
from sudoku_learning.training import Training, free_folder

FLOORS = ("masked-random", "naked-singles", "hidden-singles")
SEED = 3  # with it the network solves nothing before training
LUCKIEST = 7  # of ten untrained networks, seeds 0 to 9


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--run",
        type=Path,
        default=Path("runs/demo"),
        help="folder to write to; if it is taken, another one beside it",
    )
    parser.add_argument("--smoke", action="store_true", help="two iterations and few puzzles")
    options = parser.parse_args(argv)
    run, smoke = free_folder(options.run), options.smoke
    torch.set_num_threads(1)  # more threads on a small network are slower
    console = Console()
    start = time.perf_counter()

    console.rule("1. Train on Sudoku4x4-v0, training orbits only")
    config = AlphaZeroConfig(run=run, seed=SEED, iterations=2 if smoke else 30)
    training = Training(config, AlphaZeroLearner)
    before = AlphaZeroPolicy(deepcopy(training.learner.network))
    training.run(console)
    plot_runs([run], run / "curves.png")

    console.rule("2. Every minimal 4x4 puzzle of the test orbits")
    test = puzzles.load("4x4", split="test")[:: 100 if smoke else 1]
    greedy = {"cAlphaZero before training": before, "untrained, luckiest of ten": luckiest()}
    greedy["cAlphaZero, no search"] = load_policy(run)
    policies = {name: load_policy(name) for name in (*FLOORS, "backtracking")} | greedy
    compare(policies, test[:1])  # compiles what is compiled at first use, before times are taken
    small = compare(policies, test, seed=SEED)
    # A searched move costs 25 network calls, so every 8th puzzle has to do.
    part = test[::8]
    small |= compare({"cAlphaZero, 25 simulations*": load_policy(run, simulations=25)}, part)
    print(f"\n{to_markdown(small)}\n\n* on every 8th of the puzzles: {len(part):,}")
    print("Naked singles solve all of them too, and so do untrained networks with luck.\n")

    console.rule("3. The same network plays 9x9, which it has never seen")
    policies = {name: load_policy(name) for name in FLOORS} | greedy
    source = BankSource(puzzles.load("9x9", split="test"))
    large = {}
    for blanks in (20, 30, 40, 50, None):
        rng = np.random.default_rng(SEED)
        boards, _ = source.sample(8 if smoke else 256, blanks, rng)
        large[blanks] = compare(policies, boards, seed=SEED)
        title = "Minimal puzzles" if blanks is None else f"{blanks} blanks"
        print(f"\n{title}, {len(boards)} of the test split\n{to_markdown(large[blanks])}")

    film = run / "9x9.gif"
    solved = large[50]["cAlphaZero, no search"].solved
    boards, _ = source.sample(len(solved), 50, np.random.default_rng(SEED))
    save_gif(frames(greedy["cAlphaZero, no search"], boards[solved.argmax()]), film)

    console.rule(f"Done in {time.perf_counter() - start:.0f} s")
    print(f"curves      {run / 'curves.png'}, or: tensorboard --logdir {run}")
    print(f"one solve   {film}")
    print(f"checkpoint  {run}: sudoku-gym compare hidden-singles {run} --puzzles 9x9")
    return small, large


def luckiest():
    """Return the untrained network that plays best of ten.

    The structure alone makes about half of all random weights prefer placements that few others
    rival, so a trained network has learned what it solves beyond this one.
    """
    make = partial(make_network, AlphaZeroConfig(), Geometry.standard(4))
    return AlphaZeroPolicy(seeded(LUCKIEST, make))


def frames(policy, puzzle):
    """Yield the pictures of one 9x9 game."""
    env = gym.make("Sudoku9x9-v0", render_mode="rgb_array")
    board, info = env.reset(seed=SEED, options={"puzzle": puzzle})
    policy.reset(board[None], env.unwrapped.geometry, np.random.default_rng(SEED))
    yield env.render()
    over = False
    while not over:
        (action,) = policy.act(board[None], info["action_mask"][None].astype(bool))
        board, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        yield env.render()


if __name__ == "__main__":
    main()
