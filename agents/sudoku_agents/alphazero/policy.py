"""A policy and value network as a policy: greedy, or with a tree search before each move."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from sudoku_agents.alphazero.search import Evaluator, SearchConfig, SearchOutput, tree_search
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import Network, NetworkPolicy, evaluate_boards


class AlphaZeroPolicy(NetworkPolicy):
    """Plays with a policy and value network.

    Args:
        network: with the heads `policy` and `value`; put in evaluation mode.
        search_config: the tree search before each move, or None to play the network's first choice.
        threshold: without a search, see `NetworkPolicy`.

    Attributes:
        searched: what the search before the last move found, of the boards that it was asked about;
            None if that move took no search.
    """

    def __init__(
        self,
        network: Network,
        search_config: SearchConfig | None = None,
        threshold: float | None = None,
    ) -> None:
        super().__init__(network, threshold=threshold)
        self.search_config = search_config
        self.searched: SearchOutput | None = None

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose a placement for each board: what is planned, else what `choose` says."""
        self.searched = None
        return super().act(boards, action_masks)

    def choose(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose the network's first choice, or the search's.

        Where a search meets a solved board, the moves after it follow that board and ask neither
        the network nor another search.
        """
        if self.search_config is None:
            return super().choose(boards, masks)
        evaluate = evaluator(self.network, self.geometry)
        found = tree_search(boards, masks, self.geometry, evaluate, self.search_config)
        self.searched = found
        digits = np.arange(1, boards.shape[1] + 1, dtype=np.int8)
        wins = found.solutions[..., None] == digits  # all zeros where none was met
        self.queue(np.where(wins, 0, -np.inf).reshape(len(boards), -1).astype(np.float32))
        return found.best_actions()


def evaluator(network: Network, geometry: Geometry) -> Evaluator:
    """Return what a search asks: boards and masks in numpy in, priors and values out."""

    def evaluate(
        boards: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        found = evaluate_boards(network, boards, masks, geometry)
        return torch.softmax(torch.from_numpy(found["policy"]), 1).numpy(), found["value"]

    return evaluate
