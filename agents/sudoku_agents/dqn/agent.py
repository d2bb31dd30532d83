"""The network of action values, and what plays by it."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from sudoku_agents.calphazero.policy import choose_starts
from sudoku_agents.dqn.config import DQNConfig
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import Network, NetworkPolicy, PolicyConfig
from sudoku_learning.networks.policy import PLAY_THRESHOLD
from sudoku_learning.training.config import config_from_json
from sudoku_learning.training.environments import geometry_of_env
from sudoku_learning.training.weights import load_network

PRETRAINED = Path(__file__).parent / "pretrained"
HEAD = "q"


def make_q_network(config: DQNConfig, geometry: Geometry) -> Network:
    """Make the network of a configuration, with random weights."""
    return Network(config.network, {HEAD: PolicyConfig()}, geometry)


def load(
    folder: str | os.PathLike[str] = PRETRAINED,
    rounds: int | None = None,
    threshold: float | None = None,
    restarts: int | None = None,
    noise: float | None = None,
) -> NetworkPolicy:
    """Make the greedy policy of a checkpoint, or of the latest checkpoint of a run.

    Args:
        folder: folder of the checkpoint or run; by default the network of this package.
        rounds: most rounds of a recurrent body per evaluation, or of each of its starts; None: as
            in the checkpoint, with restarts at most 256.
        threshold: all placements with a higher value are played, the best first, before the next
            evaluation. None takes 1 where values are the logits of being solvable; otherwise, and
            with 1e9, each move has its own evaluation.
        restarts: further starts of boards that have not converged, each of as many rounds; None
            takes 127, and none of a network that can't converge.
        noise: how far from the first a further start begins, see `Restarts`.

    Raises:
        ValueError: if there is no sound checkpoint in the folder, or its network has no rounds or
            can't converge.
    """
    read = partial(config_from_json, kind=DQNConfig)
    config, network = load_network(folder, read, _make, rounds=rounds)
    threshold = play_threshold(config) if threshold is None else threshold
    return NetworkPolicy(network, HEAD, threshold, choose_starts(network, rounds, restarts, noise))


def play_threshold(config: DQNConfig) -> float | None:
    """Return the default of `load`'s threshold, with which training games are played too."""
    return PLAY_THRESHOLD if config.values == "solvable" else None


def _make(config: DQNConfig) -> Network:
    return make_q_network(config, geometry_of_env(config.env))
