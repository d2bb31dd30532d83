"""RLlib modules as policies, and their evaluation on held-out puzzles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from ray.rllib.algorithms import Algorithm
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModule

from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import resolve_source
from sudoku_learning.networks import PlacementPolicy
from sudoku_learning.training import HeldOut

MODULE_PATH = Path("learner_group", "learner", "rl_module", DEFAULT_MODULE_ID)
"""Path of the module in a checkpoint of RLlib."""


class RLlibPolicy(PlacementPolicy):
    """Plays greedily with a module: a `sudoku_gym.Policy` for `evaluate` and `compare`.

    The module of a saved algorithm is loaded with RLlib's own
    `RLModule.from_checkpoint(folder / MODULE_PATH)`: its files hold pickles, so nothing here opens
    them.

    Args:
        module: takes the observations of `MaskedObservation`, and returns
            `Columns.ACTION_DIST_INPUTS`, one logit a placement.
    """

    def __init__(self, module: RLModule) -> None:
        self.module = module

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games; ValueError if the module is for boards of another size."""
        space = self.module.observation_space
        shape = space["observations"].shape if isinstance(space, spaces.Dict) else None
        if shape != puzzles.shape[1:]:
            raise ValueError(
                f"the module plays boards of shape {shape}, not {geometry.size}x{geometry.size}"
            )
        super().reset(puzzles, geometry, rng)

    def choose(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], games: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Choose the placement with the module's highest logit."""
        observations = {
            "observations": torch.from_numpy(boards),
            "action_mask": torch.from_numpy(masks),
        }
        outputs = self.module.forward_inference({Columns.OBS: observations})
        choices: NDArray[np.int64] = outputs[Columns.ACTION_DIST_INPUTS].argmax(1).numpy()
        return choices


def held_out(
    algorithm: Algorithm, source: object, split: str = "validation", games: int = 128
) -> HeldOut:
    """Evaluate an algorithm's newest weights on held-out puzzles, for `CurriculumCallback`.

    Args:
        algorithm: its seed draws the puzzles.
        source: source of the puzzles, as `resolve_source` takes it, e.g. `"4x4"`; a list, and what
            else has no splits, is used whole.
        split: the split of the source.
        games: number of games per call.
    """
    assert algorithm.config is not None
    rng = np.random.default_rng(algorithm.config.seed)
    return HeldOut(_LatestWeights(algorithm), resolve_source(source, split), games, rng)


class _LatestWeights(RLlibPolicy):
    """Plays with the weights that an algorithm's learner has at each reset."""

    def __init__(self, algorithm: Algorithm) -> None:
        module = algorithm.get_module()
        assert module is not None and algorithm.learner_group is not None
        super().__init__(module)
        self._learners = algorithm.learner_group

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        self.module.set_state(self._learners.get_weights()[DEFAULT_MODULE_ID])
        super().reset(puzzles, geometry, rng)
