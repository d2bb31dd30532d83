"""Games and positions a second of cAlphaZero's self-play: without Ray, with one actor, with more.

The shipped network plays an iteration's games; starting Ray and compiling are not counted. The
three take turns within one run, and each counts with its fastest iteration, since other work on
the machine only adds to it. The learner's part of an iteration is not in it.

    python benchmarks/self_play.py --out docs/results/speed.json
    python benchmarks/self_play.py --env Sudoku9x9-v0 --blanks 50 --games 128
"""

import argparse
import os
import time
from functools import partial
from pathlib import Path

import numpy as np
import ray
import torch

from results import command_of, keep
from sudoku_agents.alphazero.config import AlphaZeroConfig
from sudoku_agents.alphazero.search import SearchConfig
from sudoku_agents.alphazero.self_play import SelfPlayer, SelfPlayGames
from sudoku_agents.calphazero import loading
from sudoku_learning.training import RayConfig, checkpoint
from sudoku_learning.training.actors import RaySampler
from sudoku_learning.training.samplers import make_sampler
from sudoku_learning.training.sampling import split_games


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--env", default="Sudoku4x4-v0")
    parser.add_argument("--blanks", type=int, default=10)
    parser.add_argument("--games", type=int, default=256, help="an iteration")
    parser.add_argument("--games-per-task", type=int, default=128, help="of an actor")
    parser.add_argument("--simulations", type=int, default=64, help="a move")
    parser.add_argument("--actors", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a JSON file; other parts in it stay")
    parser.add_argument("--smoke", action="store_true", help="a few games, to see that it runs")
    options = parser.parse_args(argv)
    if options.smoke:
        options.games, options.games_per_task = 16, 8
        options.simulations, options.repeats = 4, 1
    torch.set_num_threads(1)
    if not ray.is_initialized():
        ray.init(address="local", num_cpus=sum(options.actors), include_dashboard=False)
    samplers = {"without Ray": sampler_of(options, 0)}
    for count in options.actors:
        name = f"{count} actor{'s' if count > 1 else ''}"
        samplers[name] = sampler_of(options, count)
    weights = loading.load().network.state_dict()
    try:
        rates = measure(samplers, weights, options)
    finally:
        for sampler in samplers.values():
            sampler.close()
    part = (
        f"self-play of {options.env}, {options.blanks} blanks, {options.games} games an iteration, "
        f"{options.simulations} simulations a move, {os.cpu_count()} cores"
    )
    keep(options.out, part, command_of(__file__, argv), rows_of(rates))
    return rates


def sampler_of(options, actors):
    """Return what plays so many games, with a network like the shipped one."""
    shipped = loading.read_config(checkpoint.read_config_file(loading.PRETRAINED_CALPHAZERO))
    config = AlphaZeroConfig(
        env=options.env,
        run=Path("not-written"),
        search=SearchConfig(simulations=options.simulations, reward="sparse"),
        network=shipped.network,
    )
    return make_sampler(partial(SelfPlayer, config), ray_of(options, actors))


def ray_of(options, actors):
    return RayConfig(actors=actors, games_per_task=options.games_per_task)


def play(sampler, weights, options, seed):
    """Play an iteration's games."""
    rng = np.random.default_rng(seed)
    tasks = split_games(options.games, options.blanks, ray_of(options, 0), rng)
    return SelfPlayGames.concatenate(sampler.sample(weights, tasks))


def measure(samplers, weights, options):
    """Return games and positions a second by name."""
    for sampler in samplers.values():
        warm_up(sampler, weights, options)
    rates = {}
    for repeat in range(options.repeats):
        for name, sampler in samplers.items():
            start = time.perf_counter()
            games = play(sampler, weights, options, [options.seed, repeat])
            seconds = time.perf_counter() - start
            found = len(games.levels) / seconds, len(games.positions) / seconds
            rates[name] = max(rates.get(name, found), found)
    return rates


def warm_up(sampler, weights, options):
    """Play until every actor has played."""
    play(sampler, weights, options, options.seed)
    if isinstance(sampler, RaySampler):
        while not sampler.complete:
            play(sampler, weights, options, options.seed)
        play(sampler, weights, options, options.seed)


def rows_of(rates):
    alone = rates["without Ray"][0]
    return [
        {
            "self-play": name,
            "games/s": round(games, 1),
            "positions/s": round(positions),
            "times without Ray": round(games / alone, 2),
        }
        for name, (games, positions) in rates.items()
    ]


if __name__ == "__main__":
    main()
