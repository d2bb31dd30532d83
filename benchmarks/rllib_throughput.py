"""How fast RLlib samples: our vector environment against Gymnasium's SyncVectorEnv of single ones.

python benchmarks/rllib_throughput.py
python benchmarks/rllib_throughput.py Sudoku9x9-v0 --num-envs 64
"""

import argparse
import time
from pathlib import Path
from statistics import median

import ray
import torch

from results import command_of, keep
from sudoku_agents.rllib import ppo_config

MODES = ("vector_entry_point", "sync")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("env", nargs="?", default="Sudoku4x4-v0")
    parser.add_argument("--num-envs", type=int, default=64, help="boards")
    parser.add_argument("--steps", type=int, default=10_000, help="of a repetition")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--out", type=Path, help="a JSON file; other parts in it stay")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    ray.init("local", include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)

    algorithms = {
        mode: ppo_config(options.env, num_envs=options.num_envs)
        .env_runners(gym_env_vectorize_mode=mode)
        .debugging(seed=0)
        .build_algo()
        for mode in MODES
    }
    # By turns, so that other work on the machine slows both.
    rates = {(mode, acts): [] for mode in MODES for acts in ("at random", "by the network")}
    for mode, acts in list(rates) * options.repetitions:
        rates[mode, acts].append(rate(algorithms[mode].env_runner, acts, options.steps))
    for algorithm in algorithms.values():
        algorithm.stop()

    speeds = {key: median(values) for key, values in rates.items()}
    rows = []
    for acts in ("at random", "by the network"):
        ours, sync = (round(speeds[mode, acts]) for mode in MODES)
        figures = {"ours, steps/s": ours, "`SyncVectorEnv`, steps/s": sync}
        rows.append({"actions": acts} | figures | {"ratio": round(ours / sync, 1)})
    part = f"RLlib's sampling of {options.env}, {options.num_envs} boards"
    keep(options.out, part, command_of(__file__, argv), rows)
    return speeds


def rate(runner, acts, steps):
    """Sample so many steps; return steps per second."""
    start = time.perf_counter()
    episodes = runner.sample(
        num_timesteps=steps, random_actions=acts == "at random", force_reset=True
    )
    return sum(len(episode) for episode in episodes) / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
