"""Train a network on 4x4 without a solver, and let it play a size it has never seen.

python examples/train_a_network.py     # half a minute of one core; writes runs/network
tensorboard --logdir runs/network

A search that takes moves back labels training puzzles, and the network learns the labels. `demo.py`
goes on to 9x9.
"""

import argparse
from copy import deepcopy
from pathlib import Path

import torch
from rich.console import Console

from sudoku_agents.calphazero.policy import CAlphaZeroPolicy
from sudoku_agents.expert_iteration.config import ExpertIterationConfig
from sudoku_agents.expert_iteration.learner import ExpertIterationLearner
from sudoku_curricula.plots import plot_runs
from sudoku_gym import compare, load_policy, puzzles
from sudoku_gym.evaluation import to_markdown
from sudoku_learning.recurrent import RecurrentConfig
from sudoku_learning.training import Training, free_folder


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, default=Path("runs/network"), help="folder to write to")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--smoke", action="store_true", help="two short iterations")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # more threads on a small network are slower

    # Every setting is a field; `sudoku-gym train expert-iteration --help` lists the same ones.
    config = ExpertIterationConfig(
        run=free_folder(options.run),
        seed=options.seed,
        env="Sudoku4x4-v0",
        envs=("Sudoku4x4-v0",),
        shares=(1.0,),
        iterations=2 if options.smoke else 8,
        games=16 if options.smoke else 128,
        validation_games=8 if options.smoke else 128,
        recurrent=RecurrentConfig(updates=4 if options.smoke else 60),
    )
    training = Training(config, ExpertIterationLearner)
    untrained = CAlphaZeroPolicy(deepcopy(training.learner.network), threshold=config.threshold)
    training.run(Console())

    # The folder of a run is a policy. The same network before training stands beside it: some
    # random weights play well, since the network compares the placements of each cell and unit.
    policies = {name: load_policy(name) for name in ("naked-singles", "hidden-singles")}
    policies |= {"untrained": untrained, "trained": load_policy(config.run)}
    results = compare(policies, puzzles.load("6x6", split="test")[:: 8 if options.smoke else 1])
    print(f"\n6x6, test split\n\n{to_markdown(results)}\n")
    plot_runs([config.run], config.run / "curves.png")
    print(f"curves  {config.run / 'curves.png'}")
    return results


if __name__ == "__main__":
    main()
