"""Lose a machine of a Ray cluster in the middle of a training: nothing is lost, nothing changes.

The cluster is a small one on this machine: a head with a core, and a second node with two, which is
killed while its actors play. Until it is there again, the actor on the head plays all games. First
self-play alone, then a training of each learner that samples in tasks, whose weights must be those
of a training without Ray, byte by byte; then the node under the learner itself, which ends the
training with a line that says how to go on.

    python benchmarks/lose_a_node.py --out docs/results/checks.json
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np
import ray
import torch
from ray.cluster_utils import Cluster

from results import command_of, keep
from sudoku_agents.alphazero.config import AlphaZeroConfig
from sudoku_agents.alphazero.learner import AlphaZeroLearner
from sudoku_agents.alphazero.search import SearchConfig
from sudoku_agents.alphazero.self_play import SelfPlayer, SelfPlayGames
from sudoku_agents.expert_iteration.config import ExpertIterationConfig
from sudoku_agents.expert_iteration.learner import ExpertIterationLearner
from sudoku_agents.gflownet.config import GFlowNetConfig
from sudoku_agents.gflownet.learner import GFlowNetLearner
from sudoku_agents.q_learning.deep.config import DQNConfig
from sudoku_agents.q_learning.deep.learner import DQNLearner
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies.processes import processes_below
from sudoku_learning.networks import POLICY_AND_VALUE, FactorGraphConfig, Network, PooledConfig
from sudoku_learning.training import RayConfig, Training
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
ITERATIONS = 4
SMALL = FactorGraphConfig(channels=8, rounds=4)
LEARNERS = {
    "calphazero": (AlphaZeroLearner, replace(CONFIG, network=SMALL)),
    "expert-iteration": (
        ExpertIterationLearner,
        ExpertIterationConfig(games=64, evaluate_every=1, network=SMALL),
    ),
    "gflownet": (GFlowNetLearner, GFlowNetConfig(puzzles=512, network=SMALL)),
    "dqn": (DQNLearner, DQNConfig(games=512, network=SMALL)),
}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a JSON file; other parts in it stay")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        command = command_of(__file__, argv)
        keep(options.out, "a lost machine", command, lose_in_self_play(cluster, options.seed))
        rows = [lose_in_training(cluster, name, options.seed) for name in LEARNERS]
        keep(options.out, "a lost machine, every learner", command, rows)
    finally:
        ray.shutdown()
        cluster.shutdown()
    lose_the_learner()


def lose_in_self_play(cluster, seed):
    """Play the same games before, while and after a node is lost; return a row for each."""
    rows = []
    torch.manual_seed(seed)
    weights = Network(CONFIG.network, POLICY_AND_VALUE, Geometry.standard(4)).state_dict()
    wanted = play(LocalSampler(partial(SelfPlayer, CONFIG)), weights, seed)
    sampler = RaySampler(partial(SelfPlayer, CONFIG), CONFIG.ray)
    try:
        node = cluster.add_node(num_cpus=2)
        sampler.start()
        while not sampler.complete:
            rows.append(report("two nodes start", sampler, weights, seed, wanted))
        killer = threading.Timer(0.5, lose, [cluster, node])
        killer.start()
        rows.append(report("a node is lost", sampler, weights, seed, wanted))
        killer.join()
        rows.append(report("one node is left", sampler, weights, seed, wanted))
        node = cluster.add_node(num_cpus=2)
        while not sampler.complete:
            rows.append(report("a node starts", sampler, weights, seed, wanted))
        rows.append(report("two nodes", sampler, weights, seed, wanted))
    finally:
        sampler.close()
    cluster.remove_node(node)
    return rows


def lose(cluster, node):
    """Kill a node and all processes on it."""
    cluster.remove_node(node, allow_graceful=False)


def lose_in_training(cluster, name, seed):
    """Train twice, without Ray and with a node that is lost; return whether both end alike."""
    kind, config = LEARNERS[name]
    small = replace(config, seed=seed, iterations=ITERATIONS, validation_games=16)
    with tempfile.TemporaryDirectory() as folder:
        alone = replace(small, run=Path(folder) / "alone", ray=RayConfig(games_per_task=16))
        Training(alone, kind).run()
        node = cluster.add_node(num_cpus=2)
        there = replace(small, run=Path(folder) / "on Ray", ray=CONFIG.ray)
        training = Training(there, kind)
        pool = training.learner.sampler.start()
        killer = threading.Thread(target=lose_at_work, args=[cluster, node, training, pool])
        killer.start()
        training.run()
        killer.join()
        weights = f"checkpoints/{ITERATIONS:06}/weights.safetensors"
        ends = [(config.run / weights).read_bytes() for config in (alone, there)]
    if ends[0] != ends[1]:
        raise SystemExit(f"{name}: other weights")
    return {"learner": name, "actors lost": pool.deaths, "weights": "equal, byte by byte"}


def lose_at_work(cluster, node, training, pool):
    """Kill a node when all actors are up and an iteration is done, in the middle of the next."""
    while len(pool.processes) < CONFIG.ray.actors or training.iteration < 1:
        time.sleep(0.01)
    time.sleep(0.3)
    lose(cluster, node)


def lose_the_learner():
    """Kill the node under a training, whose last line must say how to go on."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "sudoku_gym", "train", "calphazero", "--run", folder]
        command += ["--iterations", "1000", "--ray.actors", "1"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        own = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
        with subprocess.Popen(command, env=own, **pipes) as training:
            while not (Path(folder) / "checkpoints").exists():
                time.sleep(0.1)
            for process in processes_below(training.pid):
                if Path(f"/proc/{process}/comm").read_text().strip() == "raylet":
                    os.kill(process, signal.SIGKILL)
            _, told = training.communicate(timeout=120)
        last = told.rstrip().splitlines()[-1]
    if "--resume" not in last or training.returncode == 0:
        raise SystemExit(f"the node under the learner was lost, and the last line is: {last}")
    print(f"the node under the learner is lost, {training.returncode}: {last}")


def play(sampler, weights, seed):
    """Play an iteration's games."""
    tasks = split_games(CONFIG.games, BLANKS, CONFIG.ray, np.random.default_rng(seed))
    return SelfPlayGames.concatenate(sampler.sample(weights, tasks))


def report(what, sampler, weights, seed, wanted):
    """Play an iteration's games, hold them to be those that were wanted, and return a row."""
    start, deaths = time.perf_counter(), sampler.pool.deaths
    games = play(sampler, weights, seed)
    seconds, deaths = time.perf_counter() - start, sampler.pool.deaths - deaths
    for name in ("boards", "policies.actions", "policies.shares", "returns"):
        find = attrgetter(name)
        if not np.array_equal(find(games.positions), find(wanted.positions)):
            raise SystemExit(f"{what}: the {name} are others")
    row = {"when": what, "games, all equal": len(games.levels)}
    return row | {"seconds": round(seconds, 1), "actors lost": deaths}


if __name__ == "__main__":
    main()
