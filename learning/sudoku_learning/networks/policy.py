"""Networks as policies: boards in numpy in, actions out, a bounded number of boards at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection

import numpy as np
import torch
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry
from sudoku_learning.networks.network import Network
from sudoku_learning.networks.plan import Plan

BOARDS_AT_ONCE = 256
SURE = 5.0  # logit of a placement that is played without asking again


class BatchedPolicy(ABC):
    """Plays placements, a few hundred boards at a time: a `sudoku_gym.Policy`.

    Subclasses choose; games that are over and erasures never reach them.
    """

    def __init__(self) -> None:
        self._geometry: Geometry | None = None

    @property
    def geometry(self) -> Geometry:
        """The units of the boards in play.

        Raises:
            RuntimeError: before the first reset.
        """
        if self._geometry is None:
            raise RuntimeError("call reset(puzzles, geometry, rng) first")
        return self._geometry

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games; nothing is drawn from `rng`."""
        self._geometry = geometry

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose a placement for each board that has a legal one; 0 for the others.

        Args:
            boards: int8 `[B, N, N]`.
            action_masks: bool `[B, A]`; erasures are never chosen.

        Returns:
            int64 `[B]`.
        """
        masks = action_masks[:, : self.geometry.num_placements]
        choices = np.zeros(len(boards), np.int64)
        rows = np.flatnonzero(masks.any(1))
        for start in range(0, len(rows), BOARDS_AT_ONCE):
            part = rows[start : start + BOARDS_AT_ONCE]
            choices[part] = self.choose(boards[part], masks[part])
        return choices

    @abstractmethod
    def choose(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose a legal placement int64 `[B]` for boards `[B, N, N]` with masks `[B, N**3]`."""


class NetworkPolicy(BatchedPolicy):
    """Plays the placement that a network scores highest.

    Args:
        network: put in evaluation mode.
        head: the name of the head whose numbers rate placements: logits or action values.
        sure: all placements with a higher score are played one after the other, the best first,
            before the network is asked again. None asks it before every move.
    """

    def __init__(self, network: Network, head: str = "policy", sure: float | None = None) -> None:
        super().__init__()
        self.network = network.eval()
        self.head = head
        self.sure = sure
        self._plan = Plan(np.zeros((0, 0, 0), np.int8))
        self._thoughts: list[NDArray[np.float32]] = []

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games; nothing is drawn from `rng`."""
        super().reset(puzzles, geometry, rng)
        self._plan = Plan(puzzles)

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose a placement for each board: what is planned, else what `choose` says.

        Raises:
            ValueError: if there are not as many boards as games were started with.
        """
        masks = action_masks[:, : self.geometry.num_placements].copy()
        self._plan.check(boards)
        planned = self._plan.next(boards, masks)
        masks[planned >= 0] = False
        self._thoughts = []
        choices = np.where(planned >= 0, planned, super().act(boards, masks))
        if self._thoughts:
            self._plan.make(np.flatnonzero(masks.any(1)), np.concatenate(self._thoughts))
        self._plan.expect(boards, choices)
        return choices

    def choose(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose the placement with the highest score, and plan those that are sure."""
        scores = self._scores(boards, masks)
        if self.sure is not None:
            self.plan(np.where(scores > self.sure, scores, -np.inf))
        return scores.argmax(1)

    def plan(self, ratings: NDArray[np.float32]) -> None:
        """Plan placements after the one that `choose` is about to return.

        Args:
            ratings: float32 `[B, N**3]`, for all boards that `choose` was given; the best are
                played first, and what has -inf is not planned.
        """
        self._thoughts.append(ratings)

    def probabilities(
        self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """Return the softmax of the scores, float32 `[B, A]`; erasures have no chance.

        Each board must have a legal placement.
        """
        chances = np.zeros(action_masks.shape, np.float32)
        masks = action_masks[:, : self.geometry.num_placements]
        scores = self._scores(boards, masks)
        chances[:, : masks.shape[1]] = torch.softmax(torch.from_numpy(scores), 1).numpy()
        return chances

    def _scores(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        return evaluate_boards(self.network, boards, masks, self.geometry, [self.head])[self.head]


def evaluate_boards(
    network: Network,
    boards: NDArray[np.int8],
    masks: NDArray[np.bool_],
    geometry: Geometry,
    heads: Collection[str] | None = None,
    rounds: int | None = None,
) -> dict[str, NDArray[np.float32]]:
    """Evaluate boards in numpy, without gradients: see `Network.think`."""
    given = torch.from_numpy(boards), torch.from_numpy(masks), geometry
    with torch.inference_mode():
        outputs = network.think(*given, heads, rounds)
    return {name: output.numpy() for name, output in outputs.items()}
