"""A policy and value network as a policy: greedy, or with a tree search before each move."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from sudoku_agents.alphazero.search import Evaluator, SearchConfig, SearchOutput, tree_search
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import ModelCard
from sudoku_learning.networks import NO_RESTARTS, Network, NetworkPolicy, Restarts, evaluate_boards


class AlphaZeroPolicy(NetworkPolicy):
    """Plays with a policy and value network.

    Args:
        network: a network with the heads `policy` and `value`; it is put in evaluation mode.
        search_config: the tree search before each move, or None to play the highest logit.
        threshold: without a search, see `NetworkPolicy`.
        restarts: without a search, see `NetworkPolicy`.
        most_visited: play the action that the search of each move visited most often, as the
            cAlphaZero paper does, and not what a solved board or the halving says.

    Attributes:
        last_search: result of the search before the last move, for the boards passed to `act`
            then; None if that move took no search.
    """

    def __init__(
        self,
        network: Network,
        search_config: SearchConfig | None = None,
        threshold: float | None = None,
        most_visited: bool = False,
        restarts: Restarts = NO_RESTARTS,
    ) -> None:
        super().__init__(network, threshold=threshold, restarts=restarts)
        self.search_config = search_config
        self.most_visited = most_visited
        self.last_search: SearchOutput | None = None

    @property
    def model_card(self) -> ModelCard:
        """What stands beside its figures."""
        if self.search_config is None:
            return super().model_card
        return self.network.model_card("search")

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose a placement for each board: the next queued one, else what `choose` returns."""
        self.last_search = None
        return super().act(boards, action_masks)

    def choose(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], games: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the placement with the highest logit, or the search's.

        Where a search meets a solved board, the next moves are queued from that board, and take
        neither an evaluation nor another search.
        """
        if self.search_config is None:
            return super().choose(boards, masks, games)
        evaluate = evaluator(self.network, self.geometry)
        found = tree_search(boards, masks, self.geometry, evaluate, self.search_config)
        self.last_search = found
        if self.most_visited:
            return found.visit_counts.argmax(1)
        digits = np.arange(1, boards.shape[1] + 1, dtype=np.int8)
        wins = found.solutions[..., None] == digits  # all zeros where none was met
        scores = np.where(wins, 0, -np.inf).reshape(len(boards), -1).astype(np.float32)
        self.queue(games, scores)
        return found.best_actions()


def evaluator(network: Network, geometry: Geometry) -> Evaluator:
    """Return a network as a search calls it, see `Evaluator`."""

    def evaluate(
        boards: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        found = evaluate_boards(network, boards, masks, geometry).outputs
        return torch.softmax(torch.from_numpy(found["policy"]), 1).numpy(), found["value"]

    return evaluate
