"""The forms in which a board reaches a model of Stable-Baselines3, and the way back.

SB3 hands its networks observations and nothing else, neither masks nor infos. A policy that knows
the rules therefore reads the board from the observation, and the legal placements from the board.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor

from sudoku_gym.geometry import Geometry, geometry_for
from sudoku_gym.wrappers.one_hot import one_hot

Form = Literal["board", "flat", "one-hot"]
FORMS: tuple[Form, ...] = ("board", "flat", "one-hot")


def observation_space(size: int, form: Form) -> spaces.Space[Any]:
    """Return the space of one observation: `[N, N]`, `[N**2]` or bits `[N**3]`.

    Raises:
        ValueError: if there is no such form.
    """
    if form == "board":
        return spaces.Box(0, size, (size, size), np.int8)
    if form == "flat":
        return spaces.Box(0, size, (size**2,), np.int8)
    if form == "one-hot":
        return spaces.MultiBinary(size**3)
    raise ValueError(f"observation={form!r}: use one of {', '.join(map(repr, FORMS))}")


def encode(boards: NDArray[np.int8], form: Form) -> NDArray[np.int8]:
    """Write boards int8 `[B, N, N]` in a form: `[B, N, N]`, `[B, N**2]` or `[B, N**3]`."""
    if form == "board":
        return boards
    return (boards if form == "flat" else one_hot(boards)).reshape(len(boards), -1)


def form_of(space: spaces.Space[Any], size: int) -> Form:
    """Recognise the form that an observation space holds.

    Raises:
        ValueError: if it holds no board of that size.
    """
    for form in FORMS:
        if space.shape == observation_space(size, form).shape:
            return form
    raise ValueError(
        f"{space} holds no {size}x{size} board: make the environment with "
        "sudoku_agents.sb3.make_vec_env"
    )


def decode(observations: Tensor, size: int) -> Tensor:
    """Read int8 boards `[B, N, N]` back from observations in any form and of any type."""
    if observations.shape[1:].numel() == size**2:
        return observations.reshape(-1, size, size).to(torch.int8)
    digits = torch.arange(1, size + 1, dtype=torch.int8, device=observations.device)
    bits = observations.reshape(-1, size, size, size).to(torch.int8)
    return (bits * digits).sum(3, dtype=torch.int8)


def legal_placements(boards: Tensor, geometry: Geometry) -> Tensor:
    """Return bool `[B, N**3]`: a cell is blank, and none of its peers holds the digit."""
    size = geometry.size
    cells = boards.reshape(len(boards), geometry.num_cells)
    digits = torch.arange(1, size + 1, dtype=cells.dtype, device=cells.device)
    placed = (cells[:, :, None] == digits).float()  # [B, N**2, N]
    seen = _peer_matrix(geometry).to(cells.device) @ placed
    return ((cells[:, :, None] == 0) & (seen == 0)).flatten(1)


def geometry_of(action_space: spaces.Space[Any], geometry: Geometry | None) -> Geometry:
    """Return the geometry of an environment's placements; None takes the standard boxes.

    Raises:
        ValueError: if the actions are not the placements of such a board, e.g. with erasures.
    """
    if not isinstance(action_space, spaces.Discrete):
        raise ValueError(f"a board's actions are Discrete, not {action_space}")
    count = int(action_space.n)
    size = round(count ** (1 / 3))
    if size**3 != count or (geometry is not None and geometry.size != size):
        wanted = "N**3" if geometry is None else f"{geometry.size}**3"
        raise ValueError(
            f"{count} actions: need {wanted}, the placements of a board (no erase=True)"
        )
    return geometry_for(size, geometry)


@cache
def _peer_matrix(geometry: Geometry) -> Tensor:
    """Float `[N**2, N**2]`: 1 where two cells share a unit."""
    matrix = torch.zeros(geometry.num_cells, geometry.num_cells)
    for unit in geometry.units:
        cells = torch.as_tensor(np.asarray(unit, np.int64))
        matrix[cells[:, None], cells] = 1
    return matrix
