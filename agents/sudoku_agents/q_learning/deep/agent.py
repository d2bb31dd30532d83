"""The network of action values, and what plays by it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sudoku_agents.q_learning.deep.config import DQNConfig
from sudoku_gym.geometry import Geometry
from sudoku_learning.configs import from_json
from sudoku_learning.networks import Network, NetworkPolicy, QConfig
from sudoku_learning.networks.exact_cover import ExactCoverBody
from sudoku_learning.training.environments import held_out_source
from sudoku_learning.training.playing import load_network

PRETRAINED = Path(__file__).parent / "pretrained"
HEAD = "q"


def make_network(config: DQNConfig, geometry: Geometry) -> Network:
    """Make the network of a configuration, with random weights."""
    return Network(config.network, {HEAD: QConfig(dueling=config.dueling)}, geometry)


def load(folder: str | os.PathLike[str] = PRETRAINED, rounds: int | None = None) -> NetworkPolicy:
    """Make the greedy policy of a checkpoint, or of the latest checkpoint of a run.

    Args:
        folder: of the checkpoint or the run; by default the network that comes with the package.
        rounds: of a recurrent body, in each evaluation; None takes those of the checkpoint.

    Raises:
        ValueError: if there is no sound checkpoint in the folder, or its network has no rounds to
            choose.
    """
    _, network = load_network(folder, read_config, _make)
    if rounds is not None:
        if not isinstance(network.body, ExactCoverBody):
            raise ValueError(f"rounds={rounds}: the network in {folder} has none to choose")
        network.body.rounds = rounds
    return NetworkPolicy(network, HEAD)


def read_config(data: dict[str, Any]) -> DQNConfig:
    """Read the configuration of a checkpoint.

    Raises:
        ValueError: if it is no configuration of deep Q-learning.
    """
    return from_json({name: data[name] for name in data if name != "agent"}, DQNConfig)


def _make(config: DQNConfig) -> Network:
    return make_network(config, held_out_source(config.env).geometry)
