"""A model of Stable-Baselines3 as a policy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.base_class import BaseAlgorithm

from sudoku_agents.sb3.observations import check_observations, encode
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import PlacementPolicy


class SB3Policy(PlacementPolicy):
    """Plays with a model: a `sudoku_gym.Policy` for `evaluate` and `compare`.

    A model without masks may choose an illegal action, and loses that game. A saved model is loaded
    with SB3's own `MaskablePPO.load` and its like: these files hold pickles, so nothing here opens
    them.

    Args:
        model: trained on an environment of `make_vec_env`.
        deterministic: play the likeliest action rather than draw one.
    """

    def __init__(self, model: BaseAlgorithm, deterministic: bool = True) -> None:
        super().__init__()
        self.model = model
        self.deterministic = deterministic
        self._rng = np.random.default_rng(0)

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games.

        Raises:
            ValueError: if the model was trained on boards of another size.
        """
        check_observations(self.model.observation_space, geometry.size)
        super().reset(puzzles, geometry, rng)
        self._rng = rng

    def choose(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], games: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Choose what the model predicts."""
        options: dict[str, Any] = {"deterministic": self.deterministic}
        if isinstance(self.model.policy, MaskableActorCriticPolicy):
            erasures = spaces.flatdim(self.model.action_space) - masks.shape[1]  # never chosen
            options["action_masks"] = np.pad(masks, ((0, 0), (0, erasures)))
        observations = encode(boards, self.model.observation_space)
        if self.deterministic:
            return np.asarray(self.model.predict(observations, **options)[0])
        with _drawing_from(self._rng, self.model):
            return np.asarray(self.model.predict(observations, **options)[0])


@contextmanager
def _drawing_from(rng: np.random.Generator, model: BaseAlgorithm) -> Iterator[None]:
    """Let a model draw from a generator.

    SB3 draws from global generators and that of the actions, which are left as they were.
    """
    actions, seed = model.action_space, int(rng.integers(2**32))
    before = np.random.get_state()  # noqa: NPY002 - SB3's
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        model.action_space = deepcopy(actions)
        model.action_space.seed(seed)
        try:
            yield
        finally:
            model.action_space = actions
            np.random.set_state(before)  # noqa: NPY002
