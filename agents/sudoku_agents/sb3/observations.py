"""The forms in which a board reaches a model of Stable-Baselines3, and the way back.

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
from torch import Tensor

from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry
from sudoku_gym.wrappers.encodings import one_hot_boards


def check_observations(space: spaces.Space[Any], size: int) -> None:
    """Check that a space holds boards: digits (N**2 of them) or bits (N**3), in any shape.

    Raises:
        ValueError: if it does not.
    """
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
