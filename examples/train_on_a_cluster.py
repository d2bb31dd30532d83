r"""Train cAlphaZero with self-play on Ray: on this machine, or on a cluster.

python examples/train_on_a_cluster.py                  # 4x4, two actors here; writes runs/ray
tensorboard --logdir runs/ray

ray up examples/cluster.yaml                           # your machines, once they stand in that file
ray dashboard examples/cluster.yaml                    # leave it open: it forwards the port 8265
ray job submit --address http://localhost:8265 --no-wait --entrypoint-num-cpus 1 -- bash -c \
    'cd ~/sudoku-gym && ~/sudoku/bin/python examples/train_on_a_cluster.py --size 9 --actors 31'

Started again with the same folder, it goes on after the latest checkpoint.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from rich.console import Console

from sudoku_agents.calphazero.config import CAlphaZeroConfig
from sudoku_agents.calphazero.learner import CAlphaZeroLearner
from sudoku_agents.calphazero.search import SearchConfig
from sudoku_curricula.schedules import SuccessRateConfig
from sudoku_gym import compare, load_policy, puzzles
from sudoku_gym.evaluation import to_markdown
from sudoku_gym.puzzles.sources import BankSource
from sudoku_learning.training import RayConfig, Training

CURRICULA = {4: SuccessRateConfig(), 9: SuccessRateConfig(start=10, stop=54, step=2)}
FLOORS = ("masked-random", "naked-singles", "hidden-singles")
TEST_BLANKS = {4: None, 9: 50}  # None: minimal puzzles


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, default=Path("runs/ray"), help="folder to write to")
    parser.add_argument("--size", type=int, choices=CURRICULA, default=4, help="of the board")
    parser.add_argument("--actors", type=int, default=2, help="self-play processes, a core each")
    parser.add_argument("--address", help="of a cluster; a submitted job finds its own")
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--smoke", action="store_true", help="two iterations and few games")
    options = parser.parse_args(argv)
    run, smoke, bank = options.run, options.smoke, f"{options.size}x{options.size}"
    torch.set_num_threads(1)  # the learner's; every actor has one too

    games_per_task = 8 if smoke else 128
    config = CAlphaZeroConfig(
        env=f"Sudoku{bank}-v0",
        run=run,
        resume=(run / "config.json").exists(),
        iterations=2 if smoke else options.iterations,
        games=games_per_task * max(2, options.actors),  # one task an actor, all equally busy
        validation_games=16 if smoke else 512,
        checkpoint_every=1,
        search=SearchConfig(simulations=8 if smoke else 64, reward="sparse"),
        curriculum=CURRICULA[options.size],
        ray=RayConfig(options.actors, options.address, games_per_task),
    )
    Training(config, CAlphaZeroLearner).run(Console())

    source = BankSource(puzzles.load(bank, split="test"))
    blanks = TEST_BLANKS[options.size]
    boards, _ = source.sample(64 if smoke else 1024, blanks, np.random.default_rng(0))
    players = {name: load_policy(name) for name in FLOORS} | {"cAlphaZero": load_policy(run)}
    results = compare(players, boards)
    what = f"with {blanks} blanks" if blanks else "minimal"
    print(f"\n{len(boards):,} {bank} puzzles of the test split, {what}\n\n{to_markdown(results)}")
    return results


if __name__ == "__main__":
    main()
