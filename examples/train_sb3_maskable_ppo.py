"""Train MaskablePPO of sb3-contrib with a curriculum over blanks.

python examples/train_sb3_maskable_ppo.py                  # 4x4, a minute; writes runs/sb3
python examples/train_sb3_maskable_ppo.py --schedule 'constant?blanks=12'  # no curriculum
python examples/train_sb3_maskable_ppo.py --size 9 --minutes 15
tensorboard --logdir runs/sb3
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor

from sudoku_agents.sb3 import FactorGraphPolicy, SB3Policy, make_vec_env
from sudoku_curricula import SCHEDULES, make_schedule
from sudoku_curricula.sb3 import CurriculumCallback
from sudoku_gym import compare, load_policy, puzzles
from sudoku_gym.evaluation import to_markdown
from sudoku_gym.puzzles.sources import BankSource, resolve_source
from sudoku_learning.networks import BODIES
from sudoku_learning.training import HeldOut

# blanks at first, at last, and added by a promotion
LEVELS = {4: (2, 12, 1), 9: (10, 54, 2)}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, default=Path("runs/sb3"), help="folder to write to")
    parser.add_argument("--size", type=int, choices=LEVELS, default=4, help="of the board")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=100_000, help="most environment steps")
    parser.add_argument("--minutes", type=float, help="processor time to train, instead of --steps")
    parser.add_argument("--body", choices=BODIES, default="factor-graph", help="of the network")
    parser.add_argument("--schedule", help=f"{', '.join(SCHEDULES)}; options as name?key=value&...")
    parser.add_argument("--reward", default="sparse", help="or terminal, or a module:function")
    parser.add_argument("--smoke", action="store_true", help="a few steps and puzzles only")
    options = parser.parse_args(argv)
    smoke, bank = options.smoke, f"{options.size}x{options.size}"
    torch.set_num_threads(1)  # more threads on a small network are slower
    start = time.perf_counter(), time.process_time()

    first, last, step = LEVELS[options.size]
    usual = f"success-rate?start={first}&stop={last}&step={step}&threshold=0.9"
    schedule = make_schedule(options.schedule or usual)

    # The return is 1 if the puzzle is solved and 0 if not, so the value is the chance of success.
    # Play beyond a dead end would teach nothing.
    rules = {"reward": options.reward, "end_at_dead_end": True}
    env = make_vec_env(f"Sudoku{bank}-v0", 128, blanks=schedule.blanks(), **rules)
    model = MaskablePPO(
        FactorGraphPolicy,
        VecMonitor(env),
        policy_kwargs={"network": BODIES[options.body]()},
        learning_rate=5e-4 if options.size == 9 else 1e-3,
        n_steps=64 if options.size == 9 else 32,
        batch_size=1024 if options.size == 9 else 512,
        n_epochs=4,
        gamma=1.0,
        ent_coef=0.0 if options.size == 9 else 0.01,
        seed=options.seed,
        tensorboard_log=str(options.run),
        device="cpu",
        verbose=1,
    )
    rng = np.random.default_rng(options.seed)
    held_out = None  # single puzzles take training episodes
    if not schedule.tasks.only_puzzles:
        held_out = HeldOut(SB3Policy(model), resolve_source(bank, "validation"), 128, rng)
    every = 4_096 * (1 if smoke else options.size)
    callbacks = [CurriculumCallback(schedule, held_out, evaluate_every=every)]
    steps = 4_096 if smoke else options.steps
    if options.minutes is not None:
        steps = 10**9
        callbacks.append(StopAfter(options.minutes))
    model.save(options.run / "untrained.zip")
    model.learn(steps, callbacks, tb_log_name="ppo")
    model.save(options.run / "model.zip")
    wall, processor = (time.perf_counter() - start[0]) / 60, (time.process_time() - start[1]) / 60

    print(
        f"\nseed {options.seed}, {model.num_timesteps:,} steps, {wall:.1f} minutes, "
        f"{processor:.1f} of them busy"
    )
    # The network knows the graph of the board, and random weights may play well by that alone.
    untrained = MaskablePPO.load(options.run / "untrained.zip", device="cpu")
    players = {"untrained": SB3Policy(untrained), "MaskablePPO": SB3Policy(model)}
    return evaluate_on_test_puzzles(players, bank, smoke)


class StopAfter(BaseCallback):
    """Ends the training after so many minutes of processor time, busy as the machine may be."""

    def __init__(self, minutes):
        super().__init__()
        self.end = time.process_time() + 60 * minutes

    def _on_step(self):
        return time.process_time() < self.end


def evaluate_on_test_puzzles(players, bank, smoke):
    """Print completion on minimal puzzles, at 9x9 on easier ones by number of blanks too."""
    test = puzzles.load(bank, split="test")[:: 100 if smoke else 1]
    tasks = {None: test}
    for blanks in (40, 50) if bank == "9x9" else ():
        tasks[blanks] = BankSource(test).sample(len(test), blanks, np.random.default_rng(0))[0]
    policies = {name: load_policy(name) for name in ("masked-random", "naked-singles")}
    results = {blanks: compare(policies | players, boards) for blanks, boards in tasks.items()}
    for blanks, result in results.items():
        count = len(tasks[blanks])
        print(f"\n{count:,} test puzzles, {f'{blanks} blanks' if blanks else 'minimal'}\n")
        print(to_markdown(result))
    return results


if __name__ == "__main__":
    main()
