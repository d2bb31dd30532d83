"""A model of Stable-Baselines3 as a policy."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.utils import set_random_seed

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
        deterministic: play the likeliest action rather than draw one. SB3 draws from the global
            generators of numpy and torch, which the generator of `reset` seeds before each move.
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
        actions = self.model.action_space
        sizes = geometry.num_placements, geometry.num_placements + geometry.num_cells
        if not isinstance(actions, spaces.Discrete) or actions.n not in sizes:
            raise ValueError(
                f"a model with the actions {actions} was trained on other boards than "
                f"{geometry.name}, which has {sizes[0]} placements"
            )
        super().reset(puzzles, geometry, rng)
        self._rng = rng

    def choose(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], games: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Choose what the model predicts."""
        options: dict[str, Any] = {"deterministic": self.deterministic}
        if not self.deterministic:
            seed = int(self._rng.integers(2**32))
            set_random_seed(seed)
            self.model.action_space.seed(seed)
        if isinstance(self.model.policy, MaskableActorCriticPolicy):
            erasures = spaces.flatdim(self.model.action_space) - masks.shape[1]  # never chosen
            options["action_masks"] = np.pad(masks, ((0, 0), (0, erasures)))
        observations = encode(boards, self.model.observation_space)
        actions: Any = self.model.predict(observations, **options)[0]
        return actions
