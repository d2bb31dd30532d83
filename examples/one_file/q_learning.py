"""Deep Q-learning among legal placements, on 4x4, in one file in the manner of CleanRL.

Papers: Mnih et al., "Playing Atari with deep reinforcement learning", 2013, arXiv 1312.5602
(replay, Algorithm 1), and van Hasselt, Guez and Silver, "Deep reinforcement learning with double
Q-learning", AAAI 2016, arXiv 1509.06461. Numbers of equations name the paper: M or H.

    python examples/one_file/q_learning.py
    tensorboard --logdir runs

A placement writes a digit into a blank cell, and pays 1 if the board is solved by it, else 0; a
game ends there, or at the first dead end. With a discount of 1 the value of a placement is thus 1
if the board can still be solved after it, and else 0. Illegal placements are never considered:
not by exploration, not by greedy play, and not by the maximum in the target. Games begin with two
blanks, and with up to one more each time that most of them are won.

The command above takes a minute of one core. At last it prints what greedy play solves of puzzles
that no symmetry turns into training puzzles ("... entirely" is cut off):

    seed 1, test split of 4x4, minimal puzzles, greedy play:
    masked-random: 9.6 % of 15,744 puzzles solved (95 % interval 9.1 % to 10.0 %), 0 of 8 orbits ...
    untrained: 30.0 % of 15,744 puzzles solved (95 % interval 29.3 % to 30.8 %), 0 of 8 orbits ...
    trained: 100.0 % of 15,744 puzzles solved (95 % interval 99.98 % to 100.0 %), 8 of 8 orbits ...

The untrained network knows no difference yet and plays the first placement. 4x4 shows that the
algorithm works, and no more: who plays cells with a single legal digit solves all of these puzzles.
"""

import time
from copy import deepcopy
from dataclasses import asdict, dataclass

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import tyro
from torch.nn.functional import mse_loss
from torch.utils.tensorboard import SummaryWriter

from sudoku_gym import evaluate, load_policy, puzzles, sample_actions
from sudoku_gym.geometry.exact_cover import constraint_table


@dataclass(frozen=True)
class Args:
    """Train a network of action values by deep Q-learning with action masks."""

    exp_name: str = "q_learning"
    """the name of this experiment"""
    run_dir: str = "runs"
    """folder of all runs"""
    seed: int = 1
    """seed of the experiment"""
    total_timesteps: int = 60_000
    """total timesteps of the experiment"""
    num_envs: int = 64
    """the number of parallel games; there is one update for each of their common steps"""
    learning_rate: float = 2e-3
    """the learning rate of the optimizer"""
    buffer_size: int = 20_000
    """the capacity of the replay"""
    learning_starts: int = 2_000
    """timestep at which the updates begin"""
    batch_size: int = 128
    """transitions of an update"""
    gamma: float = 1.0
    """the discount factor gamma"""
    tau: float = 0.02
    """share by which the target network moves towards the other one at each update"""
    start_e: float = 1.0
    """share of random placements at the start"""
    end_e: float = 0.05
    """share of random placements at the end"""
    exploration_fraction: float = 0.2
    """fraction of `total_timesteps` that it takes from one to the other"""
    first_level: int = 2
    """blanks of the first games"""
    last_level: int = 12
    """most blanks of a game; minimal 4x4 puzzles have 10 to 12"""
    threshold: float = 0.8
    """share of the last games that must be won before games have one blank more"""
    window: int = 256
    """the number of these last games"""
    test_puzzles: int | None = None
    """puzzles of the test split to play before and after; None plays all"""


class QNetwork(nn.Module):
    """The value Q(s, a) of each placement; the mask of legal placements is all it sees of a board.

    A placement lies in four constraints, each of which exactly one placement must satisfy: its cell
    has a digit, and its digit a place in its row, column and box. In each layer a constraint hears
    from its legal placements, and these from it. All placements share their weights, and so do all
    constraints: no symmetry of the board changes a value.
    """

    def __init__(self, geometry, channels=32, num_layers=2):
        super().__init__()
        table = torch.from_numpy(constraint_table(geometry)).long()  # [A, 4]
        incidence = torch.zeros(len(table), int(table.max()) + 1).scatter_(1, table, 1.0)
        self.register_buffer("incidence", incidence)  # [A, C], 1 where a placement satisfies it
        self.start = nn.Linear(1, channels)
        self.constraint = nn.ModuleList(nn.Linear(channels, channels) for _ in range(num_layers))
        self.placement = nn.ModuleList(nn.Linear(2 * channels, channels) for _ in range(num_layers))
        self.value = nn.Linear(channels, 1)
        nn.init.zeros_(self.value.weight)  # the first values are all equal

    def forward(self, masks):
        """Return the values float32 [B, A], -inf where masks bool [B, A] say illegal."""
        legal = masks[..., None].float()  # [B, A, 1]
        x = self.start(legal) * legal  # [B, A, H]
        for constraint, placement in zip(self.constraint, self.placement, strict=True):
            heard = self.incidence @ torch.relu(constraint(self.incidence.T @ x))  # [B, A, H]
            x = (x + torch.relu(placement(torch.cat([x, heard], -1)))) * legal
        return self.value(x).squeeze(-1).masked_fill(~masks, -torch.inf)


class GreedyPolicy:
    """Plays the placement of the highest value, in the form that `evaluate` asks for."""

    def __init__(self, network):
        self.network = network

    def reset(self, puzzles, geometry, rng):
        """Begin a batch of games: there is nothing to remember."""

    def act(self, boards, action_masks):
        """Choose an action for each board."""
        with torch.no_grad():
            return self.network(torch.from_numpy(action_masks)).argmax(1).numpy()


class ReplayBuffer:
    """The latest transitions (s, a, r, s'), a board being kept as its mask of legal placements."""

    def __init__(self, capacity, num_actions):
        self.masks = np.zeros((capacity, num_actions), np.bool_)
        self.actions = np.zeros(capacity, np.int64)
        self.rewards = np.zeros(capacity, np.float32)
        self.next_masks = np.zeros((capacity, num_actions), np.bool_)
        self.dones = np.zeros(capacity, np.float32)
        self.length = self.next = 0

    def add(self, *transitions):
        """Put transitions, an array for each column, in the place of the oldest."""
        rows = (self.next + np.arange(len(transitions[0]))) % len(self.actions)
        columns = self.masks, self.actions, self.rewards, self.next_masks, self.dones
        for column, values in zip(columns, transitions, strict=True):
            column[rows] = values
        self.next = int(rows[-1]) + 1
        self.length = min(self.length + len(rows), len(self.actions))

    def sample(self, count, rng):
        """Draw transitions with replacement, as tensors."""
        rows = rng.integers(self.length, size=count)
        columns = self.masks, self.actions, self.rewards, self.next_masks, self.dones
        return [torch.from_numpy(column[rows]) for column in columns]


def q_loss(network, target_network, batch, gamma):
    """Return the loss of a batch of transitions, equation M2, and the mean value."""
    masks, actions, rewards, next_masks, dones = batch
    with torch.no_grad():
        # H4: the network that is trained chooses the next placement, the other one says its value.
        best = network(next_masks).argmax(1, keepdim=True)
        next_values = target_network(next_masks).gather(1, best).squeeze(1)
        targets = torch.where(dones > 0, rewards, rewards + gamma * next_values)
    values = network(masks).gather(1, actions[:, None]).squeeze(1)
    return mse_loss(values, targets), values.mean()


def linear_schedule(start, end, share):
    return start + (end - start) * min(share, 1.0)


def main(argv=None):
    args = tyro.cli(Args, args=argv)
    run_name = f"{args.exp_name}__{args.seed}__{int(time.time())}"
    writer = SummaryWriter(f"{args.run_dir}/{run_name}")
    rows = "\n".join(f"|{key}|{value}|" for key, value in asdict(args).items())
    writer.add_text("hyperparameters", f"|param|value|\n|-|-|\n{rows}")

    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # more threads on a small network are slower
    rng = np.random.default_rng(args.seed)

    envs = gym.make_vec(
        "Sudoku4x4-v0",
        num_envs=args.num_envs,
        blanks=args.first_level,
        reward="sparse",
        end_at_dead_end=True,
        autoreset_mode="SameStep",
    )
    network = QNetwork(envs.unwrapped.geometry)
    target_network = deepcopy(network)
    optimizer = torch.optim.Adam(network.parameters(), lr=args.learning_rate)
    replay = ReplayBuffer(args.buffer_size, envs.single_action_space.n)

    # No symmetry turns a test puzzle into one that was trained on.
    test = puzzles.load("4x4", split="test")
    test = test.spread(args.test_puzzles or len(test))
    results = {
        "masked-random": evaluate(load_policy("masked-random"), test, seed=args.seed),
        "untrained": evaluate(GreedyPolicy(network), test),
    }

    level, won = args.first_level, []
    start_time = time.time()
    _, infos = envs.reset(seed=args.seed)
    masks = infos["action_mask"].astype(np.bool_)
    for global_step in range(0, args.total_timesteps, args.num_envs):
        # Algorithm 1 of M: with probability epsilon a random placement, otherwise the best one.
        share = global_step / (args.exploration_fraction * args.total_timesteps)
        epsilon = linear_schedule(args.start_e, args.end_e, share)
        actions = GreedyPolicy(network).act(None, masks)
        explores = rng.random(args.num_envs) < epsilon
        actions = np.where(explores, sample_actions(masks, rng), actions)

        # Where a game is over, the next mask is of a new puzzle; the target does not look at it.
        _, rewards, terminations, _, infos = envs.step(actions)
        next_masks = infos["action_mask"].astype(np.bool_)
        replay.add(masks, actions, rewards, next_masks, terminations)
        masks = next_masks

        won = [*won, *rewards[terminations]][-args.window :]
        if len(won) == args.window and np.mean(won) >= args.threshold and level < args.last_level:
            level, won = level + 1, []
            envs.unwrapped.set_blanks((args.first_level, level))

        if global_step < args.learning_starts:
            continue
        loss, value = q_loss(
            network, target_network, replay.sample(args.batch_size, rng), args.gamma
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(target_network.parameters(), network.parameters(), strict=True):
                slow.lerp_(fast, args.tau)

        if global_step // args.num_envs % 50 == 0:
            writer.add_scalar("losses/td_loss", loss.item(), global_step)
            writer.add_scalar("losses/q_values", value.item(), global_step)
            writer.add_scalar("charts/epsilon", epsilon, global_step)
            speed = global_step / (time.time() - start_time)
            writer.add_scalar("throughput/steps_per_second", speed, global_step)
            writer.add_scalar("curriculum/blanks", level, global_step)
            if won:
                writer.add_scalar("charts/episodic_return", np.mean(won), global_step)
                print(
                    f"global_step={global_step}, blanks={level}, "
                    f"episodic_return={np.mean(won):.3f}, td_loss={loss.item():.4f}"
                )
    envs.close()
    writer.close()

    results["trained"] = evaluate(GreedyPolicy(network), test)
    print(f"seed {args.seed}, test split of 4x4, minimal puzzles, greedy play:")
    for name, result in results.items():
        print(f"{name}: {result}")
    return results


if __name__ == "__main__":
    main()
