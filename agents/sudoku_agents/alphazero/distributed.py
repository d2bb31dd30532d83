"""Self-play on Ray: actors on one or many machines play, one learner trains.

An iteration's games are split into tasks, each with a seed of its own, and are put together in the
order of the tasks. So what the learner sees does not depend on how many actors there are, on which
of them plays what, or on whether some die.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import ray
import torch
from torch import Tensor, nn

from sudoku_agents.alphazero.actor_pool import ActorPool
from sudoku_agents.alphazero.config import AlphaZeroConfig, RayConfig
from sudoku_agents.alphazero.self_play import Games, LocalSelfPlay
from sudoku_agents.networks import ExactCoverNetwork
from sudoku_gym.puzzles.sources import Blanks


@dataclass(frozen=True)
class Task:
    """A share of an iteration's games.

    Attributes:
        games: how many.
        blanks: of their puzzles.
        seed: of everything random in them.
    """

    games: int
    blanks: Blanks
    seed: tuple[int, int]


class Player:
    """Plays tasks with a network of its own; an actor is one of these in a process of its own.

    Args:
        config: the run's.
    """

    def __init__(self, config: AlphaZeroConfig) -> None:
        torch.set_num_threads(1)
        self._config = config
        self._network = ExactCoverNetwork(config.network.channels, config.network.layers).eval()

    def play(self, weights: Mapping[str, Tensor], task: Task) -> Games:
        """Play a task with these weights."""
        self._network.load_state_dict(weights)
        self_play = LocalSelfPlay(replace(self._config, games=task.games))
        return self_play.play(self._network, task.blanks, np.random.default_rng(task.seed))


class RaySelfPlay:
    """Lets actors play an iteration's games; a `SelfPlay`.

    The weights of an iteration go into Ray's object store once, and each node fetches them once.

    Args:
        config: `config.ray` says how many actors and where.

    Attributes:
        config: the run's.
        pool: the actors, or None while there are none.

    Raises:
        ValueError: if the environment is unknown or no Sudoku.
    """

    def __init__(self, config: AlphaZeroConfig) -> None:
        LocalSelfPlay(replace(config, games=1))  # a wrong environment is refused here and now
        self.config = config
        self.pool: ActorPool | None = None

    def play(self, network: nn.Module, blanks: Blanks, rng: np.random.Generator) -> Games:
        """Play as many games as the configuration says, see `SelfPlay`.

        Raises:
            ConnectionError: if no cluster answers at the address.
            RuntimeError: if actors die again and again.
        """
        pool = self.start()
        weights = ray.put(network.state_dict())
        tasks = split(self.config, blanks, rng)
        try:
            parts = pool.map(lambda actor, task: actor.play.remote(weights, task), tasks)
        except BaseException:
            self.close()
            raise
        return Games.concatenate(parts)

    def start(self) -> ActorPool:
        """Connect to Ray and start the actors, unless they are there.

        Raises:
            ConnectionError: if no cluster answers at the address.
        """
        if self.pool is None:
            connect(self.config.ray)
            player: Any = ray.remote(num_cpus=1)(Player)
            self.pool = ActorPool(lambda: player.remote(self.config), self.config.ray.actors)
        return self.pool

    def close(self) -> None:
        """End the actors; the next games start new ones."""
        if self.pool is not None:
            self.pool.close()
        self.pool = None


def split(config: AlphaZeroConfig, blanks: Blanks, rng: np.random.Generator) -> list[Task]:
    """Split an iteration's games into tasks; their seeds come from one number of `rng`."""
    entropy = int(rng.integers(2**63))
    most = config.ray.games_per_task
    return [
        Task(min(most, config.games - start), blanks, (entropy, number))
        for number, start in enumerate(range(0, config.games, most))
    ]


def connect(config: RayConfig) -> None:
    """Join a cluster, or start Ray on this machine with a core for each actor.

    If this process uses Ray already, nothing happens.

    Raises:
        ConnectionError: if no cluster answers at the address.
    """
    if ray.is_initialized():
        return
    address = config.address or os.environ.get("RAY_ADDRESS")
    if address is not None:
        _reach(address)
        ray.init(address=address)
    else:
        ray.init(address="local", num_cpus=config.actors, include_dashboard=False)


def _reach(address: str) -> None:
    """Find out in seconds that nobody listens at HOST:PORT; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise ConnectionError(f"no Ray cluster answers at {address}: {error}") from error
