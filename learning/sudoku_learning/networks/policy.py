"""Networks as policies and predictors: boards in numpy in, actions or whole grids out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Convergence, ModelCard
from sudoku_learning.networks.bodies import chunks
from sudoku_learning.networks.convergence import NO_RESTARTS, NetworkOutput, Restarts
from sudoku_learning.networks.network import Network

PLAY_THRESHOLD = 1.0
"""Logit above which a placement of a converged board is played without another evaluation."""


class PlacementPolicy(ABC):
    """Plays placements, a few hundred boards at a time: a `sudoku_gym.Policy`.

    Subclasses choose; games that are over and erasures never reach them. Where no placement is
    legal, the first erasure is played, if there is one.
    """

    geometry: Geometry  # the units of the boards in play, from the first reset on

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games; nothing is drawn from `rng`."""
        self.geometry = geometry

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose a placement for each board int8 `[B, N, N]`: int64 `[B]`, 0 if nothing is legal.

        Masks are bool `[B, A]`; an erasure is chosen where no placement is legal.
        """
        masks = action_masks[:, : self.geometry.num_placements]
        choices = action_masks.argmax(1)
        rows = np.flatnonzero(masks.any(1))
        for chunk in chunks(len(rows)):
            part = rows[chunk]
            choices[part] = self.choose(boards[part], masks[part], part)
        return choices

    @abstractmethod
    def choose(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], games: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Choose a legal placement int64 `[B]` for boards `[B, N, N]` with masks `[B, N**3]`.

        `games` int64 `[B]` are the numbers of their games in the batch.
        """


class MoveQueue:
    """A digit for some blank cells of each of B games, with a score; the best are played first.

    Games begin at puzzles int8 `[B, N, N]` with empty queues; the queue of a game is dropped once
    it goes on by another move than the queued one.
    """

    def __init__(self, puzzles: NDArray[np.int8]) -> None:
        self._expected = puzzles.copy()
        self._digits = np.zeros(puzzles.shape, np.int8)
        self._scores = np.full(puzzles.shape, -np.inf, np.float32)

    def next_moves(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the best queued placement that is legal, int64 `[B]`; -1 where there is none."""
        count, size = boards.shape[:2]
        is_expected = (boards == self._expected).all((1, 2), keepdims=True)
        scores = np.where(is_expected & (boards == 0), self._scores, -np.inf)
        scores = scores.reshape(count, -1)
        placements = np.arange(size**2) * size + self._digits.reshape(count, -1) - 1
        is_legal = np.take_along_axis(masks, np.maximum(placements, 0), 1)
        scores[~is_legal] = -np.inf
        best = scores.argmax(1)
        rows = np.arange(count)
        return np.where(scores[rows, best] > -np.inf, placements[rows, best], -1)

    def fill(self, rows: NDArray[np.int64], scores: NDArray[np.float32]) -> None:
        """Queue the best digit of each cell for the games `rows` int64 `[K]`.

        Scores are float32 `[K, N**3]`; placements of -inf are not queued.
        """
        size = self._expected.shape[1]
        scores = scores.reshape(len(rows), size, size, size)
        self._digits[rows] = scores.argmax(3) + 1
        self._scores[rows] = scores.max(3)

    def expect(self, boards: NDArray[np.int8], actions: NDArray[np.int64]) -> None:
        """Record the action, int64 `[B]`, that is played on each of the boards.

        An erasure drops the queue of its game.
        """
        size = boards.shape[1]
        self._expected[:] = boards
        rows = np.flatnonzero(actions < size**3)
        cells, digits = actions[rows] // size, actions[rows] % size + 1
        self._expected.reshape(len(boards), -1)[rows, cells] = digits


class NetworkPolicy(PlacementPolicy):
    """Plays the placement that a network scores highest.

    Args:
        network: put in evaluation mode.
        head: the name of the head whose numbers rate placements: logits or action values.
        threshold: all placements with a higher score are played one after the other, the best
            first, before the network is evaluated again; but of a board that has not converged
            only the best one, if the network can converge. None evaluates it before every move.
        restarts: further starts of boards that have not converged, until a board of the game has
            not converged after all of them: what is played then is a guess, and its later boards
            get one start each. The seed is drawn at each reset.
        solutions: different puzzles whose solution the network was shown in training.

    Attributes:
        convergence: what the games since the last reset have cost, and whether the boards that were
            evaluated had converged; None before the first move, of a network that can't converge,
            and where moves do not come from it alone.
        last_convergence: the same of the last move alone, with 0 rounds where the move had been
            queued; None as above, and where all moves had been.

    Raises:
        ValueError: if there are restarts, but the network can't converge.
    """

    def __init__(
        self,
        network: Network,
        head: str = "policy",
        threshold: float | None = None,
        restarts: Restarts = NO_RESTARTS,
        solutions: int = 0,
    ) -> None:
        network.check_restarts(restarts)
        self.network = network.eval()
        self.head = head
        self.threshold = threshold
        self.restarts = restarts
        self.solutions = solutions
        self.convergence: Convergence | None = None
        self.last_convergence: Convergence | None = None
        self._queue = MoveQueue(np.zeros((0, 0, 0), np.int8))

    @property
    def model_card(self) -> ModelCard:
        """What stands beside its figures."""
        return self.network.model_card("sequential", self.solutions, self.restarts)

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games; `rng` draws the seed of restarts, if there are any."""
        super().reset(puzzles, geometry, rng)
        if self.restarts.count:
            self.restarts = replace(self.restarts, seed=int(rng.integers(2**63)))
        self.convergence = self.last_convergence = None
        self._queue, self._num_games = MoveQueue(puzzles), len(puzzles)

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose a placement for each board: the next queued one, else what `choose` returns."""
        masks, num_placements = action_masks.copy(), self.geometry.num_placements
        self.last_convergence = None
        queued = self._queue.next_moves(boards, masks[:, :num_placements])
        masks[queued >= 0] = False
        choices = np.where(queued >= 0, queued, super().act(boards, masks))
        self._queue.expect(boards, choices)
        return choices

    def choose(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], games: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Choose the placement with the highest score, and queue those above the threshold."""
        scores, is_trusted = self._read_games(boards, masks, games)
        if self.threshold is not None:
            is_sure = (scores > self.threshold) & is_trusted[:, None]
            self.queue(games, np.where(is_sure, scores, -np.inf))
        return scores.argmax(1)

    def queue(self, games: NDArray[np.int64], scores: NDArray[np.float32]) -> None:
        """Queue placements of some games, to follow those that `choose` is about to return.

        The best scores float32 `[B, N**3]` are played first; -inf is not queued.
        """
        self._queue.fill(games, scores)

    def probabilities(
        self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """Return how likely each action is, float32 `[B, A]`; 0 for erasures.

        Each board must have a legal placement.
        """
        probabilities = np.zeros(action_masks.shape, np.float32)
        masks = action_masks[:, : self.geometry.num_placements]
        probabilities[:, : masks.shape[1]] = self.placement_probabilities(boards, masks)
        return probabilities

    def placement_probabilities(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """Return float32 `[B, N**3]`: the sigmoid of logits that mean *right*, else the softmax."""
        scores = torch.from_numpy(self._read(boards, masks, self.restarts).outputs[self.head])
        is_right = self.network.can_converge
        return (torch.sigmoid(scores) if is_right else torch.softmax(scores, 1)).numpy()

    def _read_games(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], games: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the scores `[B, N**3]`, and whether each board has converged, if it can."""
        if not self.network.can_converge:
            return self._read(boards, masks).outputs[self.head], np.ones(len(boards), np.bool_)
        self.convergence = self.convergence or Convergence.of_none(self._num_games)
        self.last_convergence = self.last_convergence or Convergence.of_none(self._num_games)
        scores, has_converged = np.empty(masks.shape, np.float32), np.empty(len(boards), np.bool_)
        may_restart = self.convergence.converged[games] | (self.restarts.count == 0)
        for part, restarts in ((may_restart, self.restarts), (~may_restart, NO_RESTARTS)):
            if part.any():
                output = self._read(boards[part], masks[part], restarts)
                scores[part], has_converged[part] = output.outputs[self.head], output.converged
                latest = Convergence(output.rounds, output.converged)
                self.convergence.add(latest, games[part])
                self.last_convergence.add(latest, games[part])
        return scores, has_converged

    def _read(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], restarts: Restarts = NO_RESTARTS
    ) -> NetworkOutput[NDArray[Any]]:
        given = boards, masks, self.geometry, [self.head]
        return evaluate_boards(self.network, *given, restarts=restarts)


def evaluate_boards(
    network: Network,
    boards: NDArray[np.int8],
    masks: NDArray[np.bool_],
    geometry: Geometry,
    heads: Collection[str] | None = None,
    rounds: int | None = None,
    restarts: Restarts = NO_RESTARTS,
) -> NetworkOutput[NDArray[Any]]:
    """Evaluate boards in numpy without gradients: `Network.forward_until_converged`, in chunks.

    They go to the device of the network's weights. ValueError if an output is not finite.
    """
    parts, device = [], next(network.parameters()).device
    for part in chunks(max(1, len(boards))):
        given = (
            torch.from_numpy(boards[part]).to(device),
            torch.from_numpy(masks[part]).to(device),
            geometry,
        )
        with torch.inference_mode():
            parts.append(network.forward_until_converged(*given, heads, rounds, restarts))
    outputs = {
        name: np.concatenate([output.outputs[name].cpu().numpy() for output in parts])
        for name in parts[0].outputs
    }
    for name, values in outputs.items():
        if not np.isfinite(values).all():
            raise ValueError(f"the network's {name} is not finite: its weights are damaged")
    return NetworkOutput(
        outputs,
        np.concatenate([output.converged.numpy() for output in parts]),
        np.concatenate([output.rounds.numpy() for output in parts]),
    )
