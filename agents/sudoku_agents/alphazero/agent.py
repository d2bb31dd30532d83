"""The trained network as a policy: greedy, or with a tree search before each move."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.alphazero.config import AlphaZeroConfig, read_config
from sudoku_agents.alphazero.search import Evaluator, SearchConfig, search
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import (
    POLICY_AND_VALUE,
    Network,
    NetworkPolicy,
    evaluate_boards,
)
from sudoku_learning.training.environments import held_out_source
from sudoku_learning.training.playing import load_network

PRETRAINED = Path(__file__).parent / "pretrained"


class AlphaZeroPolicy(NetworkPolicy):
    """Plays with a policy and value network.

    Args:
        network: with the heads `policy` and `value`; put in evaluation mode.
        search_config: the tree search before each move, or None to play the network's first choice.
    """

    def __init__(self, network: Network, search_config: SearchConfig | None = None) -> None:
        super().__init__(network)
        self.search_config = search_config

    def choose(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose the network's first choice, or the search's."""
        if self.search_config is None:
            return super().choose(boards, masks)
        evaluate = evaluator(self.network, self.geometry)
        return search(boards, masks, self.geometry, evaluate, self.search_config).best_actions()


def evaluator(network: Network, geometry: Geometry) -> Evaluator:
    """Return what a search asks: boards and masks in numpy in, priors and values out."""

    def evaluate(
        boards: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        found = evaluate_boards(network, boards, masks, geometry)
        return torch.softmax(torch.from_numpy(found["policy"]), 1).numpy(), found["value"]

    return evaluate


def make_network(config: AlphaZeroConfig, geometry: Geometry) -> Network:
    """Make the network of a configuration, with random weights."""
    return Network(config.network, POLICY_AND_VALUE, geometry)


def load(folder: str | os.PathLike[str] = PRETRAINED, simulations: int = 0) -> AlphaZeroPolicy:
    """Make a policy of a checkpoint, or of the latest checkpoint of a run.

    Args:
        folder: of the checkpoint or the run; by default the network that comes with the package,
            trained on 4x4 boards only.
        simulations: of the tree search before each move; 0 plays greedily without one.

    Raises:
        ValueError: if there is no sound checkpoint in the folder.
    """
    config, network = load_network(folder, read_config, _make, _renamed)
    if not simulations:
        return AlphaZeroPolicy(network)
    return AlphaZeroPolicy(network, replace(config.search, simulations=simulations))


def _make(config: AlphaZeroConfig) -> Network:
    return make_network(config, held_out_source(config.env).geometry)


_OLD_NAMES = {  # of the first release, whose body and heads were one module
    "start": "body.start",
    "layers.": "body.layers.",
    "policy_head.": "heads.policy.readout.",
    "value_head.": "heads.value.readout.perceptron.",
}


def _renamed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    renamed = {}
    for name, tensor in weights.items():
        for old, new in _OLD_NAMES.items():
            if name.startswith(old):
                name = new + name.removeprefix(old)
                break
        renamed[name] = tensor
    return renamed
