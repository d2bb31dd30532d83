"""A small run that hostile files are made of."""

import shutil
from dataclasses import replace
from functools import cache

import numpy as np
import pytest


class Run:
    """A run of two iterations; what loads its copies, and what to compare of them."""

    def __init__(self, folder):
        from sudoku_agents.calphazero.config import CAlphaZeroConfig
        from sudoku_agents.calphazero.search import SearchConfig
        from sudoku_curricula.schedules import SuccessRateConfig
        from sudoku_learning.networks import FactorGraphConfig

        self.config = CAlphaZeroConfig(
            run=folder,
            iterations=2,
            games=4,
            validation_games=4,
            checkpoint_every=2,
            search=SearchConfig(simulations=2, reward="sparse"),
            network=FactorGraphConfig(channels=8, rounds=2),
            curriculum=SuccessRateConfig(start=2, stop=4, threshold=0.3, window=8, min_count=4),
        )
        self.checkpoint = folder / "checkpoints" / "000002"
        self.training(self.config).run()

    def training(self, config):
        from sudoku_agents.calphazero.learner import CAlphaZeroLearner
        from sudoku_learning.training import Training

        return Training(config, CAlphaZeroLearner)

    def copy(self, folder):
        """Copy the run; return the folder of its checkpoint."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.config.run, folder)
        return folder / "checkpoints" / "000002"

    def played(self, checkpoint):
        """What the network of a checkpoint says of a few boards."""
        from sudoku_gym import board, load_policy, puzzles
        from sudoku_learning.networks import evaluate_boards

        few = puzzles.load("4x4", "test")[np.arange(3)]
        masks = board.candidates(few.puzzles).reshape(3, -1).astype(bool)
        network = load_policy(checkpoint).network
        return evaluate_boards(network, few.puzzles, masks, few.geometry).outputs

    def resumed(self, checkpoint):
        """Everything that a training holds which was resumed from a checkpoint."""
        config = replace(self.config, run=checkpoint.parent.parent, resume=True)
        saved = self.training(config)._checkpoint()
        parts = (saved.learner.weights, saved.learner.tensors, saved.learner.arrays)
        arrays = [{name: np.asarray(part[name]).tobytes() for name in part} for part in parts]
        return arrays, saved.progress, saved.seconds


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    torch = pytest.importorskip("torch")
    from sudoku_gym import plugins
    from sudoku_gym.puzzles import sources

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:  # what takes most of a load, and is never damaged
        available = cache(plugins.available)
        for module in (plugins, plugins.entry_points):
            patch.setattr(module, "available", available)
        patch.setattr(sources, "_named_source", cache(sources._named_source))
        yield Run(tmp_path_factory.mktemp("whole") / "run")
    torch.set_num_threads(threads)
