"""Algorithms of RLlib on 4x4, dense network and exact cover, with a curriculum or without.

python benchmarks/rllib_algorithms.py DQN --steps 20000
python benchmarks/rllib_algorithms.py --help
"""

import argparse
import time
from pathlib import Path

import ray
import torch

from results import Results, command_of, played
from sudoku_agents.rllib import RLlibPolicy, appo_config, dqn_config, ppo_config
from sudoku_curricula import ConstantConfig, SuccessRateConfig
from sudoku_gym import evaluate, puzzles
from sudoku_learning.networks import MLPConfig

ALGORITHMS = {  # name: configuration, network
    "PPO": (ppo_config, None),
    "PPO-dense": (ppo_config, MLPConfig()),
    "APPO": (appo_config, None),
    "APPO-dense": (appo_config, MLPConfig()),
    "DQN": (dqn_config, None),
    "DQN-dense": (dqn_config, MLPConfig()),
}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("algorithm", choices=ALGORITHMS)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-curriculum", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="test every so manieth puzzle only")
    parser.add_argument("--out", type=Path, default=Path("runs/rllib-algorithms.json"))
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    ray.init("local", include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)

    if options.no_curriculum:
        curriculum = ConstantConfig(blanks=12)
    else:
        curriculum = SuccessRateConfig(start=2, stop=12, threshold=0.9)
    configure, network = ALGORITHMS[options.algorithm]
    config = configure(
        "Sudoku4x4-v0",
        network=network,
        curriculum=curriculum,
        evaluate_every=options.steps // 10,
    )
    # In one process, so that a figure depends less on the machine.
    algorithm = config.env_runners(num_env_runners=0).debugging(seed=options.seed).build_algo()
    start = time.perf_counter()
    steps = 0
    while steps < options.steps:
        result = algorithm.train()
        steps = int(result["num_env_steps_sampled_lifetime"])
    minutes = (time.perf_counter() - start) / 60
    test = puzzles.load("4x4", split="test")[:: options.every]
    found = evaluate(RLlibPolicy(algorithm.get_module()), test)
    algorithm.stop()
    Results(options.out, command_of(__file__, argv)).add(
        {
            "library": "RLlib",
            "algorithm": options.algorithm,
            "curriculum": not options.no_curriculum,
            "seed": options.seed,
            "steps": steps,
            "minutes": round(minutes, 1),
            "blanks at last": round(result["curriculum"]["blanks"]),
            **played(found),
        }
    )
    return found


if __name__ == "__main__":
    main()
