"""The trained network as a policy: greedy, or with a tree search before each move."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from sudoku_agents import checkpoint
from sudoku_agents.alphazero.search import Evaluator, SearchConfig, search
from sudoku_agents.networks import ExactCoverNetwork
from sudoku_gym.geometry import Geometry

PRETRAINED = Path(__file__).parent / "pretrained"
BOARDS_AT_ONCE = 256


class AlphaZeroPolicy:
    """Plays with a policy and value network.

    Args:
        network: maps boards, masks and geometry to logits and values; put in evaluation mode.
        search_config: the tree search before each move, or None to play the network's first choice.
    """

    def __init__(self, network: nn.Module, search_config: SearchConfig | None = None) -> None:
        self.network = network.eval()
        self.search_config = search_config
        self._geometry: Geometry | None = None

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
        if self._geometry is None:
            raise RuntimeError("call reset before act")
        masks = action_masks[:, : self._geometry.num_placements]
        choices = np.zeros(len(boards), np.int64)
        rows = np.flatnonzero(masks.any(1))
        for start in range(0, len(rows), BOARDS_AT_ONCE):
            part = rows[start : start + BOARDS_AT_ONCE]
            choices[part] = self._choose(boards[part], masks[part], self._geometry)
        return choices

    def probabilities(
        self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """Return what the network alone, without a search, thinks of each action: `[B, A]`.

        Each board must have a legal placement. Erasures have no chance.
        """
        if self._geometry is None:
            raise RuntimeError("call reset before probabilities")
        chances = np.zeros(action_masks.shape, np.float32)
        masks = action_masks[:, : self._geometry.num_placements]
        priors, _ = evaluator(self.network, self._geometry)(boards, masks)
        chances[:, : masks.shape[1]] = priors
        return chances

    def _choose(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], geometry: Geometry
    ) -> NDArray[np.int64]:
        evaluate = evaluator(self.network, geometry)
        if self.search_config is None:
            return evaluate(boards, masks)[0].argmax(1)
        return search(boards, masks, geometry, evaluate, self.search_config).best_actions()


def evaluator(network: nn.Module, geometry: Geometry) -> Evaluator:
    """Return what a search asks: boards and masks in numpy in, priors and values out."""

    def evaluate(
        boards: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        with torch.inference_mode():
            logits, values = network(torch.from_numpy(boards), torch.from_numpy(masks), geometry)
            return torch.softmax(logits, 1).numpy(), values.numpy()

    return evaluate


def load(folder: str | os.PathLike[str] = PRETRAINED, simulations: int = 0) -> AlphaZeroPolicy:
    """Make a policy of a checkpoint, or of the latest checkpoint of a run.

    Args:
        folder: of the checkpoint or the run; by default the network that comes with the package,
            trained on 4x4 boards only.
        simulations: of the tree search before each move; 0 plays greedily without one.

    Raises:
        ValueError: if there is no sound checkpoint in the folder.
    """
    config, weights = checkpoint.load_weights(folder)
    network = ExactCoverNetwork(**config["network"])
    network.load_state_dict(weights)
    if not simulations:
        return AlphaZeroPolicy(network)
    return AlphaZeroPolicy(
        network, replace(SearchConfig(**config["search"]), simulations=simulations)
    )
