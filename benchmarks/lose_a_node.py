"""Lose a machine of a Ray cluster in the middle of self-play: no game is lost, none changes.

The cluster is a small one on this machine: a head with a core, and a second node with two, which is
killed while its actors play. Until it is there again, the actor on the head plays all games.

    python benchmarks/lose_a_node.py
"""

import argparse
import threading
import time
from pathlib import Path

import numpy as np
import ray
import torch
from ray.cluster_utils import Cluster
from sudoku_agents.alphazero.distributed import Player, RaySelfPlay, split
from sudoku_agents.networks import ExactCoverNetwork

from sudoku_agents.alphazero.config import AlphaZeroConfig, NetworkConfig, RayConfig
from sudoku_agents.alphazero.search import SearchConfig
from sudoku_agents.alphazero.self_play import Games

CONFIG = AlphaZeroConfig(
    run=Path("not-written"),
    games=256,
    search=SearchConfig(simulations=64, reward="sparse"),
    network=NetworkConfig(channels=8, layers=2),
    ray=RayConfig(actors=3, games_per_task=16),
)
BLANKS = 12


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args(argv).seed
    torch.set_num_threads(1)
    network = ExactCoverNetwork(CONFIG.network.channels, CONFIG.network.layers).eval()
    wanted = play_here(network, seed)
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    ray.init(address=cluster.address, log_to_driver=False)
    self_play = RaySelfPlay(CONFIG)
    try:
        node = cluster.add_node(num_cpus=2)
        self_play.start()
        while len(self_play.pool.places) < CONFIG.ray.actors:
            report("two nodes start", self_play, network, seed, wanted)
        killer = threading.Timer(0.5, cluster.remove_node, [node], {"allow_graceful": False})
        killer.start()
        report("a node is lost", self_play, network, seed, wanted)
        killer.join()
        report("one node is left", self_play, network, seed, wanted)
        cluster.add_node(num_cpus=2)
        while len(self_play.pool.places) < CONFIG.ray.actors:
            report("a node starts", self_play, network, seed, wanted)
        report("two nodes", self_play, network, seed, wanted)
    finally:
        self_play.close()
        ray.shutdown()
        cluster.shutdown()


def play_here(network, seed):
    """Play the same tasks in this process, without Ray."""
    player, tasks = Player(CONFIG), split(CONFIG, BLANKS, np.random.default_rng(seed))
    return Games.concatenate([player.play(network.state_dict(), task) for task in tasks])


def report(what, self_play, network, seed, wanted):
    """Play an iteration's games and hold them to be those that were wanted."""
    start, deaths = time.perf_counter(), self_play.pool.deaths
    games = self_play.play(network, BLANKS, np.random.default_rng(seed))
    seconds, deaths = time.perf_counter() - start, self_play.pool.deaths - deaths
    for name in ("boards", "visit_counts", "returns"):
        found, other = getattr(games.positions, name), getattr(wanted.positions, name)
        if not np.array_equal(found, other):
            raise SystemExit(f"{what}: the {name} are others")
    print(f"{what}: {len(games.levels)} games in {seconds:.1f} s, {deaths} actors lost, all equal")


if __name__ == "__main__":
    main()
