"""Tabular Q-learning (Watkins and Dayan, 1992) on a few 4x4 puzzles, with a curriculum over blanks.

python examples/q_table_with_curriculum.py      # ten seconds; writes runs/q-table
tensorboard --logdir runs/q-table
"""

import argparse
from pathlib import Path

import gymnasium as gym
import numpy as np
from torch.utils.tensorboard import SummaryWriter

from sudoku_curricula import VectorCurriculumWrapper, make_schedule
from sudoku_gym import compare, load_policy, puzzles, sample_actions
from sudoku_gym.evaluation import to_markdown

LEARNING_RATE, EPSILON = 0.5, 0.1


class QTable:
    """A value for each placement of each board that was met; as a policy it plays the best."""

    def __init__(self, size):
        self.rows, self.values = {}, np.zeros((1024, size**3), np.float32)

    def look_up(self, boards):  # int8 [B, N, N] -> int64 [B], a row of `values` each
        rows = [self.rows.setdefault(board.tobytes(), len(self.rows)) for board in boards]
        if len(self.rows) > len(self.values):
            self.values = np.concatenate([self.values, np.zeros_like(self.values)])
        return np.array(rows)

    def best(self, rows, masks, rng):  # of equals any
        values = np.where(masks, self.values[rows] + 1e-6 * rng.random(masks.shape), -1)
        return values.argmax(1)

    def reset(self, puzzles, geometry, rng):
        self.rng = rng

    def act(self, boards, action_masks):
        return self.best(self.look_up(boards), action_masks, self.rng)


def learn(table, envs, steps, seed):
    rng = np.random.default_rng(seed)
    boards, infos = envs.reset(seed=seed)
    rows = table.look_up(boards)
    for _ in range(steps):
        masks = infos["action_mask"].astype(bool)
        actions = table.best(rows, masks, rng)
        explores = rng.random(len(rows)) < EPSILON
        actions = np.where(explores, sample_actions(infos["action_mask"], rng), actions)
        boards, rewards, terminated, truncated, infos = envs.step(actions)
        after = table.look_up(boards)  # where an episode ended it is the next one's first board
        future = np.where(infos["action_mask"], table.values[after], 0).max(1)
        targets = rewards + np.where(terminated | truncated, 0, future)
        table.values[rows, actions] += LEARNING_RATE * (targets - table.values[rows, actions])
        rows = after


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, default=Path("runs/q-table"), help="for the curves")
    parser.add_argument("--puzzles", type=int, default=8, help="how many it plays, over and over")
    parser.add_argument("--steps", type=int, default=6000, help="of 256 boards at once")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--smoke", action="store_true", help="two puzzles and a few steps")
    options = parser.parse_args(argv)
    count, steps = (2, 300) if options.smoke else (options.puzzles, options.steps)

    train = puzzles.load("4x4", split="train")
    few = train[:: len(train) // count][:count]
    # The same boards again and again: no symmetries. A lost game ends where it is lost.
    options_of_env = {"augment": False, "reward": "sparse", "end_at_dead_end": True}
    envs = gym.make_vec(
        "Sudoku-v0", num_envs=256, source=few, autoreset_mode="SameStep", **options_of_env
    )
    schedule = make_schedule("success-rate?start=2&threshold=0.6", stop=int(few.blanks.max()))
    table = QTable(few.geometry.size)
    with SummaryWriter(options.run) as writer:
        envs = VectorCurriculumWrapper(envs, schedule, episodes_per_update=500, writer=writer)
        learn(table, envs, steps, options.seed)
    print(f"{schedule.level} blanks reached, {len(table.rows):,} boards met\n")

    players = {"masked-random": load_policy("masked-random"), "Q-table": table}
    results = {}
    others = puzzles.load("4x4", split="test")[:: 400 if options.smoke else 40]
    for name, boards in {"its own puzzles": few, "others": others}.items():
        results[name] = compare(players, boards)
        print(f"{name}, as stored\n\n{to_markdown(results[name])}\n")
    return results


if __name__ == "__main__":
    main()
