"""Whole grids that a network predicts in one go, with its own verdict on each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks.convergence import NO_RESTARTS, Restarts
from sudoku_learning.networks.network import Network
from sudoku_learning.networks.policy import evaluate_boards


@dataclass(frozen=True)
class Prediction:
    """The grids that a network predicts for B boards, and which of them it stands by."""

    grids: NDArray[np.int8]
    """`[B, N, N]`, the givens and the best legal digit of each blank; 0 where none is legal"""
    converged: NDArray[np.bool_]
    """`[B]`, whether the rounds had converged, with restarts to a solution; False of a network that
    can't converge"""
    rounds: NDArray[np.int64]
    """`[B]`, the rounds that each board has taken, of all its starts"""


def predict_grids(
    network: Network,
    boards: NDArray[np.int8],
    geometry: Geometry,
    rounds: int | None = None,
    restarts: Restarts = NO_RESTARTS,
) -> Prediction:
    """Fill all blanks of boards int8 `[B, N, N]` from one evaluation each by the head `policy`.

    Args:
        network: in evaluation mode.
        boards: 0 = blank.
        geometry: the boards' units.
        rounds: of each start, at most, of a network that can converge; None: the body's.
        restarts: the further starts of boards that have not converged.

    Raises:
        ValueError: if there are restarts, but the network can't converge.
    """
    legal = board.candidates(boards, geometry)
    given = boards, legal.reshape(len(boards), -1), geometry, ["policy"], rounds, restarts
    reading = evaluate_boards(network, *given)
    logits = np.where(legal, reading.outputs["policy"].reshape(legal.shape), -np.inf)
    digits = np.where(legal.any(3), logits.argmax(3) + 1, 0)
    grids = np.where(boards > 0, boards, digits).astype(np.int8)
    return Prediction(grids, reading.converged, reading.rounds)
