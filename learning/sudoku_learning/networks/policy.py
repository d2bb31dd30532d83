"""Networks as policies: boards in numpy in, actions out, a bounded number of boards at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Convergence
from sudoku_learning.networks.bodies import chunks
from sudoku_learning.networks.convergence import NO_RESTARTS, Reading, Restarts
from sudoku_learning.networks.move_queue import MoveQueue
from sudoku_learning.networks.network import Network

PLAY_THRESHOLD = 5.0
"""Logit above which a placement is played without evaluating the network again."""


class PlacementPolicy(ABC):
    """Plays placements, a few hundred boards at a time: a `sudoku_gym.Policy`.

    Subclasses choose; games that are over and erasures never reach them.
    """

    def __init__(self) -> None:
        self._geometry: Geometry | None = None

    @property
    def geometry(self) -> Geometry:
        """The units of the boards in play; raises RuntimeError before the first reset."""
        if self._geometry is None:
            raise RuntimeError("call reset(puzzles, geometry, rng) first")
        return self._geometry

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games; nothing is drawn from `rng`."""
        self._geometry = geometry

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose a placement for each board int8 `[B, N, N]`: int64 `[B]`, 0 if none is legal.

        Masks are bool `[B, A]`; erasures are never chosen.
        """
        masks = action_masks[:, : self.geometry.num_placements]
        choices = np.zeros(len(boards), np.int64)
        rows = np.flatnonzero(masks.any(1))
        for chunk in chunks(len(rows)):
            part = rows[chunk]
            choices[part] = self.choose(boards[part], masks[part])
        return choices

    @abstractmethod
    def choose(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose a legal placement int64 `[B]` for boards `[B, N, N]` with masks `[B, N**3]`."""


class NetworkPolicy(PlacementPolicy):
    """Plays the placement that a network scores highest.

    Args:
        network: put in evaluation mode.
        head: the name of the head whose numbers rate placements: logits or action values.
        threshold: all placements with a higher score are played one after the other, the best
            first, before the network is evaluated again; but of a board that has not converged
            only the best one, if the network can converge. None evaluates it before every move.
        restarts: further starts of boards that have not converged; the seed is drawn at each reset.

    Attributes:
        convergence: what the games since the last reset have cost, and whether the boards that were
            evaluated had converged; None before the first move, of a network that can't converge,
            and where moves do not come from it alone.

    Raises:
        ValueError: if there are restarts, but the network can't converge.
    """

    def __init__(
        self,
        network: Network,
        head: str = "policy",
        threshold: float | None = None,
        restarts: Restarts = NO_RESTARTS,
    ) -> None:
        super().__init__()
        network.check_restarts(restarts)
        self.network = network.eval()
        self.head = head
        self.threshold = threshold
        self.restarts = restarts
        self.convergence: Convergence | None = None
        self._queue = MoveQueue(np.zeros((0, 0, 0), np.int8))
        self._scores_to_queue: list[NDArray[np.float32]] = []
        self._readings: list[Reading[NDArray[Any]]] = []

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games; `rng` draws the seed of restarts, if there are any."""
        super().reset(puzzles, geometry, rng)
        if self.restarts.count:
            self.restarts = replace(self.restarts, seed=int(rng.integers(2**63)))
        self.convergence = None
        self._queue = MoveQueue(puzzles)

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose a placement for each board: the next queued one, else what `choose` returns.

        Raises ValueError if there are not as many boards as games were started with.
        """
        masks = action_masks[:, : self.geometry.num_placements].copy()
        self._queue.check(boards)
        queued = self._queue.next_moves(boards, masks)
        masks[queued >= 0] = False
        self._scores_to_queue, self._readings = [], []
        choices = np.where(queued >= 0, queued, super().act(boards, masks))
        rows = np.flatnonzero(masks.any(1))
        if self._scores_to_queue:
            self._queue.fill(rows, np.concatenate(self._scores_to_queue))
        if self._readings and self.network.can_converge:
            self.convergence = self.convergence or Convergence.of_none(len(boards))
            self.convergence.add(_convergence_of(self._readings), rows)
        self._queue.expect(boards, choices)
        return choices

    def choose(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose the placement with the highest score, and queue those above the threshold."""
        reading = self._read(boards, masks)
        self._readings.append(reading)
        scores: NDArray[np.float32] = reading.outputs[self.head]
        if self.threshold is not None:
            is_sure = scores > self.threshold
            if self.network.can_converge:
                is_sure &= reading.converged[:, None]
            self.queue(np.where(is_sure, scores, -np.inf))
        return scores.argmax(1)

    def queue(self, scores: NDArray[np.float32]) -> None:
        """Queue placements to follow the one that `choose` is about to return.

        The best scores float32 `[B, N**3]`, of its boards, are played first; -inf is not queued.
        """
        self._scores_to_queue.append(scores)

    def probabilities(
        self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """Return the softmax of the scores, float32 `[B, A]`; 0 for erasures.

        Each board must have a legal placement.
        """
        probabilities = np.zeros(action_masks.shape, np.float32)
        masks = action_masks[:, : self.geometry.num_placements]
        scores = torch.from_numpy(self._read(boards, masks).outputs[self.head])
        probabilities[:, : masks.shape[1]] = torch.softmax(scores, 1).numpy()
        return probabilities

    def _read(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> Reading[NDArray[Any]]:
        given = boards, masks, self.geometry, [self.head]
        return evaluate_boards(self.network, *given, restarts=self.restarts)


def _convergence_of(readings: Sequence[Reading[NDArray[Any]]]) -> Convergence:
    return Convergence(
        np.concatenate([reading.rounds for reading in readings]),
        np.concatenate([reading.converged for reading in readings]),
    )


def evaluate_boards(
    network: Network,
    boards: NDArray[np.int8],
    masks: NDArray[np.bool_],
    geometry: Geometry,
    heads: Collection[str] | None = None,
    rounds: int | None = None,
    restarts: Restarts = NO_RESTARTS,
) -> Reading[NDArray[Any]]:
    """Evaluate boards in numpy without gradients: `Network.forward_until_converged`, in chunks."""
    readings = []
    for part in chunks(max(1, len(boards))):
        given = torch.from_numpy(boards[part]), torch.from_numpy(masks[part]), geometry
        with torch.inference_mode():
            readings.append(network.forward_until_converged(*given, heads, rounds, restarts))
    return Reading(
        {
            name: np.concatenate([reading.outputs[name].numpy() for reading in readings])
            for name in readings[0].outputs
        },
        np.concatenate([reading.converged.numpy() for reading in readings]),
        np.concatenate([reading.rounds.numpy() for reading in readings]),
    )
