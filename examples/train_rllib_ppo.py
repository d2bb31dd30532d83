"""Train RLlib's PPO with a curriculum over blanks.

python examples/train_rllib_ppo.py  # 4x4, some minutes; writes runs/rllib
python examples/train_rllib_ppo.py --schedule 'constant?blanks=12'  # no curriculum
python examples/train_rllib_ppo.py --size 9 --minutes 15
tensorboard --logdir runs/rllib
"""

import argparse
import copy
import time
from pathlib import Path

import ray
import torch
from torch.utils.tensorboard import SummaryWriter

from sudoku_agents.rllib import RLlibPolicy, ppo_config
from sudoku_curricula import SCHEDULES, configure_schedule, curves
from sudoku_curricula.rllib import write_curves
from sudoku_gym import compare, load_policy, puzzles
from sudoku_gym.evaluation import to_markdown

# blanks at first, at last, and added by a promotion
LEVELS = {4: (2, 12, 1), 9: (10, 54, 2)}
AT_9X9 = {"lr": 5e-4, "entropy_coeff": 0.0, "minibatch_size": 1024}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, default=Path("runs/rllib"), help="folder to write to")
    parser.add_argument("--size", type=int, choices=LEVELS, default=4, help="of the board")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=100_000, help="most environment steps")
    parser.add_argument("--minutes", type=float, help="processor time to train, not --steps")
    parser.add_argument("--schedule", help=f"{', '.join(SCHEDULES)}; options as name?key=value&...")
    parser.add_argument("--runners", type=int, default=0, help="processes that sample, a core each")
    parser.add_argument("--address", default="local", help="of a cluster; else Ray starts here")
    parser.add_argument("--reward", default="sparse", help="or terminal, or a module:function")
    parser.add_argument("--smoke", action="store_true", help="a few steps and puzzles only")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # more threads on a small network are slower
    quiet = {"include_dashboard": False, "log_to_driver": False, "ignore_reinit_error": True}
    ray.init(options.address, **quiet)

    first, last, step = LEVELS[options.size]
    usual = f"success-rate?start={first}&stop={last}&step={step}&threshold=0.9"
    curriculum = configure_schedule(options.schedule or usual)
    steps, every = (8_192, 4_096) if options.smoke else (options.steps, 16_384)
    bank = f"{options.size}x{options.size}"
    given = {"evaluate_every": every, "reward": options.reward}
    config = ppo_config(f"Sudoku{bank}-v0", curriculum=curriculum, **given)
    config.training(**AT_9X9 if bank == "9x9" else {})
    config.env_runners(num_env_runners=options.runners)  # 0: sampling is in this process
    algorithm = config.debugging(seed=options.seed).build_algo()
    untrained = copy.deepcopy(algorithm.get_module())

    start = time.process_time()  # of this process, which learns
    trained, minutes = 0, 0.0
    with SummaryWriter(options.run) as writer:
        while minutes < options.minutes if options.minutes else trained < steps:
            result = algorithm.train()
            write_curves(result, writer)
            trained = int(result["num_env_steps_sampled_lifetime"])
            minutes = (time.process_time() - start) / 60
            print(progress(trained, result["curves"]), flush=True)
    algorithm.save_to_path(options.run.absolute() / "checkpoint")
    print(f"\nseed {options.seed}, {trained:,} steps, {minutes:.1f} busy minutes")
    # The network knows the graph of the board, and random weights may play well by that alone.
    players = {name: load_policy(name) for name in ("masked-random", "naked-singles")}
    players |= {"untrained": RLlibPolicy(untrained), "PPO": RLlibPolicy(algorithm.get_module())}
    test = puzzles.load(bank, split="test")[:: 100 if options.smoke else 1]
    results = compare(players, test)
    algorithm.stop()
    print(f"\n{len(test):,} test puzzles, minimal\n\n{to_markdown(results)}")
    return results


def progress(steps, points):
    """Say in a line how the training goes."""
    line = f"{steps:9,} steps  {points[curves.BLANKS_LEVEL]:3.0f} blanks"
    if curves.COMPLETION_RATE in points:
        line += f"  held out: {points[curves.COMPLETION_RATE]:6.1%} of minimal puzzles"
    return line


if __name__ == "__main__":
    main()
