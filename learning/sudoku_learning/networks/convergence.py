"""Outputs of networks whose rounds converge, and starts anew where they do not."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sudoku_gym.board import is_solved
from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.checks import check_not_negative
from sudoku_learning.networks.factor_graph import RecurrentState, add_noise

_Array = TypeVar("_Array", Tensor, NDArray[Any])


@dataclass(frozen=True)
class NetworkOutput(Generic[_Array]):
    """The outputs of a network for B boards, and whether its rounds had converged."""

    outputs: dict[str, _Array]
    """the output of each head, by its name, `[B, ...]`"""
    converged: _Array
    """bool `[B]`, whether the rounds had converged, with restarts to a solution; False of a network
    that can't converge"""
    rounds: _Array
    """int64 `[B]`, the rounds that each board has taken, of all its starts; 1 of a body without
    rounds"""


@dataclass(frozen=True)
class Restarts:
    """Further starts of the rounds of a board that has not converged, or to what breaks a rule.

    Each begins with the state after the board's first segment of rounds, plus Gaussian noise. What
    is added depends on the seed, the number of the start, the board and its mask alone, so a board
    gets the same in every batch.
    """

    count: int = 0
    """further starts, at most; each has as many rounds as the first"""
    noise: float = 0.6
    """standard deviation of the noise, relative to that of the numbers of the state (of the
    variables, the messages and the intersections of a board apart)"""
    seed: int = 0
    """seed of the noise"""

    def __post_init__(self) -> None:
        check_not_negative(self, "count", "noise", "seed")

    @classmethod
    def of_options(cls, count: int, noise: float | None) -> Restarts:
        """Make the restarts of a policy's options; ValueError for noise without restarts."""
        if noise is None:
            return cls(count)
        if not count:
            raise ValueError(f"noise={noise} is for further starts: give restarts too")
        return cls(count, noise)

    def perturb(
        self, state: RecurrentState, start: int, board: Tensor, mask: Tensor
    ) -> RecurrentState:
        """Return the state with which a start, counted from 1, of a board begins.

        `state` is that after the first segment of rounds, the board int8 `[N, N]`, the mask of its
        legal placements bool `[N**3]`.
        """
        given = board.cpu().numpy().tobytes() + mask.cpu().numpy().tobytes()
        digest = hashlib.blake2b(given, digest_size=16).digest()
        rng = np.random.default_rng([self.seed, start, *np.frombuffer(digest, np.uint32)])
        return add_noise(state, self.noise, rng)


def are_solutions(boards: Tensor, logits: Tensor, geometry: Geometry) -> Tensor:
    """Return whether the digits with the best logits in all blanks solve boards, bool `[B]`.

    Boards are int8 `[B, N, N]`, logits `[B, N**3]`, lowest where a placement is not legal.
    """
    size = boards.shape[1]
    digits = logits.reshape(len(boards), size, size, size).argmax(3) + 1
    filled = torch.where(boards > 0, boards, digits.to(boards.dtype))
    return torch.from_numpy(is_solved(filled.cpu().numpy(), geometry))


NO_RESTARTS = Restarts()
"""No further starts."""
