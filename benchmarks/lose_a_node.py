"""Lose a machine of a Ray cluster in the middle of self-play: no game is lost, none changes.

The cluster is a small one on this machine: a head with a core, and a second node with two, which is
killed while its actors play. Until it is there again, the actor on the head plays all games.

    python benchmarks/lose_a_node.py --out docs/results/checks.json
"""

import argparse
import threading
import time
from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np
import ray
import torch
from ray.cluster_utils import Cluster

from results import command_of, keep
from sudoku_agents.alphazero.config import AlphaZeroConfig
from sudoku_agents.alphazero.search import SearchConfig
from sudoku_agents.alphazero.self_play import SelfPlayer, SelfPlayGames
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import POLICY_AND_VALUE, Network, PooledConfig
from sudoku_learning.training import RayConfig
from sudoku_learning.training.actors import RaySampler
from sudoku_learning.training.samplers import LocalSampler
from sudoku_learning.training.sampling import split_games

CONFIG = AlphaZeroConfig(
    run=Path("not-written"),
    games=256,
    search=SearchConfig(simulations=64, reward="sparse"),
    network=PooledConfig(channels=8, layers=2),
    ray=RayConfig(actors=3, games_per_task=16),
)
BLANKS = 12


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a JSON file; other parts in it stay")
    options = parser.parse_args(argv)
    seed, rows = options.seed, []
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    weights = Network(CONFIG.network, POLICY_AND_VALUE, Geometry.standard(4)).state_dict()
    wanted = play(LocalSampler(partial(SelfPlayer, CONFIG)), weights, seed)
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    ray.init(address=cluster.address, log_to_driver=False)
    sampler = RaySampler(partial(SelfPlayer, CONFIG), CONFIG.ray)
    try:
        node = cluster.add_node(num_cpus=2)
        sampler.start()
        while not sampler.complete:
            rows.append(report("two nodes start", sampler, weights, seed, wanted))
        killer = threading.Timer(0.5, cluster.remove_node, [node], {"allow_graceful": False})
        killer.start()
        rows.append(report("a node is lost", sampler, weights, seed, wanted))
        killer.join()
        rows.append(report("one node is left", sampler, weights, seed, wanted))
        cluster.add_node(num_cpus=2)
        while not sampler.complete:
            rows.append(report("a node starts", sampler, weights, seed, wanted))
        rows.append(report("two nodes", sampler, weights, seed, wanted))
    finally:
        sampler.close()
        ray.shutdown()
        cluster.shutdown()
    keep(options.out, "a lost machine", command_of(__file__, argv), rows)


def play(sampler, weights, seed):
    """Play an iteration's games."""
    tasks = split_games(CONFIG.games, BLANKS, CONFIG.ray, np.random.default_rng(seed))
    return SelfPlayGames.concatenate(sampler.sample(weights, tasks))


def report(what, sampler, weights, seed, wanted):
    """Play an iteration's games, hold them to be those that were wanted, and return a row."""
    start, deaths = time.perf_counter(), sampler.pool.deaths
    games = play(sampler, weights, seed)
    seconds, deaths = time.perf_counter() - start, sampler.pool.deaths - deaths
    for name in ("boards", "board.actions", "policies.shares", "returns"):
        find = attrgetter(name)
        if not np.array_equal(find(games.positions), find(wanted.positions)):
            raise SystemExit(f"{what}: the {name} are others")
    row = {"when": what, "games, all equal": len(games.levels)}
    return row | {"seconds": round(seconds, 1), "actors lost": deaths}


if __name__ == "__main__":
    main()
