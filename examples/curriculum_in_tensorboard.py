"""Train a perceptron with three curricula and three seeds each, and read their curves.

python examples/curriculum_in_tensorboard.py      # some minutes; writes runs/curricula
tensorboard --logdir runs/curricula
sudoku-gym plot --compare runs/curricula/* --out curricula.png
"""

import argparse
from pathlib import Path

import torch

from sudoku_agents.calphazero.config import CAlphaZeroConfig, CAlphaZeroLossConfig
from sudoku_agents.calphazero.learner import CAlphaZeroLearner
from sudoku_agents.calphazero.search import SearchConfig
from sudoku_curricula.curves import BLANKS_LEVEL, COMPLETION_RATE, read_curves
from sudoku_curricula.plots import plot_runs
from sudoku_curricula.schedules import Algorithm1Config, ConstantConfig, SuccessRateConfig
from sudoku_learning.networks import MLPConfig
from sudoku_learning.training import OptimizerConfig, Training, free_folder

CURRICULA = {
    "success-rate": SuccessRateConfig(start=2, stop=12),
    "algorithm-1": Algorithm1Config(start=2, stop=12, max_iterations=2),
    "none": ConstantConfig(blanks=12),
}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--run",
        type=Path,
        default=Path("runs/curricula"),
        help="folder to write to; if it is taken, another one beside it",
    )
    parser.add_argument("--seeds", type=int, default=3, help="runs of each curriculum")
    parser.add_argument("--smoke", action="store_true", help="two short iterations of each")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # more threads on a small network are slower
    folder = free_folder(options.run)
    small = {"games": 16, "validation_games": 16} if options.smoke else {"games": 128}
    for name, curriculum in CURRICULA.items():
        for seed in range(options.seeds):
            run = folder / name / f"seed{seed}"
            config = CAlphaZeroConfig(
                run=run,
                seed=seed,
                iterations=2 if options.smoke else 20,
                search=SearchConfig(simulations=4 if options.smoke else 32, reward="sparse"),
                curriculum=curriculum,
                # It sees no structure; on the factor graph no curriculum is needed.
                network=MLPConfig((512, 512)),
                loss=CAlphaZeroLossConfig(passes=8),
                optimizer=OptimizerConfig(1e-3, 256),
                **small,
            )
            Training(config, CAlphaZeroLearner).run()  # writes the curves into the run's folder
            curves = {tag: values for tag, (_, values) in read_curves(run).items()}
            print(
                f"{name:12}  seed {seed}: {curves[BLANKS_LEVEL][-1]:2.0f} blanks after "
                f"{len(curves[BLANKS_LEVEL])} iterations, {curves[COMPLETION_RATE][-1]:.1%} of the "
                "minimal validation puzzles"
            )
    picture = folder / "curves.png"
    plot_runs([folder / name for name in CURRICULA], picture, compare=True)
    print(f"\ncurves  {picture}, or: tensorboard --logdir {folder}")
    return picture


if __name__ == "__main__":
    main()
