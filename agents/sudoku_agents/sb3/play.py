"""A model of Stable-Baselines3 as a policy, and the forms in which boards reach it.

SB3 hands its networks neither masks nor infos, so boards and legal placements are computed from
observations.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.base_class import BaseAlgorithm
from torch import Tensor

from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry
from sudoku_gym.wrappers.encodings import one_hot_boards
from sudoku_learning.networks import PlacementPolicy


class SB3Policy(PlacementPolicy):
    """Plays greedily with a model: a `sudoku_gym.Policy` for `evaluate` and `compare`.

    A model without masks may choose an illegal action, and loses that game. A saved model is loaded
    with SB3's own `MaskablePPO.load` and its like: these files hold pickles, so nothing here opens
    them.

    Args:
        model: trained on an environment of `make_vec_env`.
    """

    def __init__(self, model: BaseAlgorithm) -> None:
        self.model = model

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games; ValueError if the model was trained on boards of another size."""
        check_observations(self.model.observation_space, geometry.size)
        super().reset(puzzles, geometry, rng)

    def choose(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], games: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Choose the action that the model finds likeliest."""
        options: dict[str, Any] = {"deterministic": True}
        if isinstance(self.model.policy, MaskableActorCriticPolicy):
            erasures = spaces.flatdim(self.model.action_space) - masks.shape[1]  # never chosen
            options["action_masks"] = np.pad(masks, ((0, 0), (0, erasures)))
        observations = encode(boards, self.model.observation_space)
        return np.asarray(self.model.predict(observations, **options)[0])


def check_observations(space: spaces.Space[Any], size: int) -> None:
    """Raise ValueError unless a space holds boards: N**2 digits or N**3 bits, in any shape."""
    if space.shape is None or prod(space.shape) not in (size**2, size**3):
        raise ValueError(
            f"{space} holds no {size}x{size} board, neither as digits nor as bits: make the "
            "environment with sudoku_agents.sb3.make_vec_env"
        )


def encode(boards: NDArray[np.int8], space: spaces.Space[Any]) -> NDArray[np.int8]:
    """Write boards int8 `[B, N, N]` as observations of their space, digits or bits."""
    shape = space.shape or ()
    written = boards if prod(shape) == boards.shape[1] ** 2 else one_hot_boards(boards)
    return written.reshape(len(boards), *shape)


def decode(observations: Tensor, size: int) -> Tensor:
    """Return int8 boards `[B, N, N]` of observations, digits or bits of any type."""
    if observations.shape[1:].numel() == size**2:
        return observations.reshape(-1, size, size).to(torch.int8)
    digits = torch.arange(1, size + 1, dtype=torch.int8, device=observations.device)
    bits = observations.reshape(-1, size, size, size).to(torch.int8)
    return (bits * digits).sum(3, dtype=torch.int8)


def boards_and_legal(observations: Tensor, geometry: Geometry) -> tuple[Tensor, Tensor]:
    """Return int8 boards `[B, N, N]` and their candidates, bool `[B, N**3]`.

    The models play and learn only these, also where an environment allows any digit in a blank.
    """
    boards = decode(observations, geometry.size)
    legal = legal_placements(boards.numpy(force=True), geometry, "legal")
    return boards, torch.from_numpy(legal).to(boards.device)
