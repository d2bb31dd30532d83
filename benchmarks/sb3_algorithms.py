"""Algorithms of Stable-Baselines3 on 4x4, masked and unmasked, dense network and exact cover.

python benchmarks/sb3_algorithms.py MaskedDQN --steps 60000
python benchmarks/sb3_algorithms.py --help
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.vec_env import VecMonitor

from results import Results, command_of, played
from sudoku_agents.sb3 import (
    FactorGraphDQNPolicy,
    MaskedDQN,
    MaskedDQNPolicy,
    SB3Policy,
    make_vec_env,
)
from sudoku_curricula import make_schedule
from sudoku_curricula.sb3 import BlanksCurriculumCallback
from sudoku_gym import evaluate, puzzles
from sudoku_gym.puzzles.sources import resolve_source
from sudoku_learning.training import HeldOut

ON_POLICY = {
    "n_steps": 64,
    "batch_size": 512,
    "n_epochs": 4,
    "learning_rate": 1e-3,
    "ent_coef": 0.01,
}
OFF_POLICY = {
    "learning_rate": 1e-3,
    "train_freq": 1,
    "gradient_steps": 1,
    "batch_size": 256,
    "target_update_interval": 1280,
    "buffer_size": 100_000,
    "learning_starts": 1000,
    "exploration_fraction": 0.3,
}
DENSE = {"policy_kwargs": {"net_arch": [256, 256]}}
# name: class, policy, options, and whether it plays legally
ALGORITHMS = {
    "MaskablePPO": (MaskablePPO, "MlpPolicy", ON_POLICY | DENSE, True),
    "PPO": (PPO, "MlpPolicy", ON_POLICY | DENSE, False),
    "A2C": (A2C, "MlpPolicy", {"n_steps": 8} | DENSE, False),
    "MaskedDQN": (MaskedDQN, MaskedDQNPolicy, OFF_POLICY | DENSE, True),
    "MaskedDQN-exact-cover": (MaskedDQN, FactorGraphDQNPolicy, OFF_POLICY, True),
    "DQN": (DQN, "MlpPolicy", OFF_POLICY | DENSE, False),
}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("algorithm", choices=ALGORITHMS)
    parser.add_argument("--steps", type=int, default=250_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-curriculum", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("runs/sb3-algorithms.json"))
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    start = time.process_time()
    make, policy, settings, masked = ALGORITHMS[options.algorithm]
    if options.no_curriculum:
        schedule = make_schedule("constant", blanks=12)
    else:
        schedule = make_schedule("success-rate", start=2, stop=12, threshold=0.9)
    # Without masks a sparse reward is hardly ever seen, so each placement pays or costs.
    rewards = (
        {"reward": "sparse", "end_at_dead_end": True}
        if masked
        else {"reward": "dense", "illegal_reward": -0.1}
    )
    boards = make_vec_env(
        "Sudoku4x4-v0", 64, observation="one-hot", blanks=schedule.level, **rewards
    )
    gamma = 1.0 if masked else 0.99
    model = make(
        policy, VecMonitor(boards), gamma=gamma, seed=options.seed, device="cpu", **settings
    )
    rng = np.random.default_rng(options.seed)
    held_out = HeldOut(SB3Policy(model), resolve_source("4x4", "validation"), 128, rng)
    model.learn(
        options.steps,
        BlanksCurriculumCallback(schedule, held_out, evaluate_every=options.steps // 10, verbose=1),
    )
    result = evaluate(SB3Policy(model), puzzles.load("4x4", split="test"))
    minutes = (time.process_time() - start) / 60
    Results(options.out, command_of(__file__, argv)).add(
        {
            "library": "Stable-Baselines3",
            "algorithm": options.algorithm,
            "curriculum": not options.no_curriculum,
            "seed": options.seed,
            "steps": model.num_timesteps,
            "minutes": round(minutes, 1),
            **played(result),
        }
    )
    return result


if __name__ == "__main__":
    main()
