"""Deep Q-learning in one file: it learns which digit to place in a 4x4 Sudoku.

Q(s, a) is the sum of rewards that follow if action a is taken in state s and the best ones after
it; a network learns it from games that it plays itself, mostly by its own best actions. All steps
are kept in a replay buffer, and on random samples of it the network learns to make Q(s, a) the
reward of the step plus the best Q of the next state. This is algorithm 1 of Mnih et al., "Playing
Atari with deep reinforcement learning", 2013, arXiv 1312.5602, with the target of van Hasselt, Guez
and Silver, "Deep reinforcement learning with double Q-learning", AAAI 2016, arXiv 1509.06461
(M2, H4: their equations). The target network moves as in Lillicrap et al., 2015, arXiv 1509.02971.

    python examples/one_file/q_learning.py

It takes a minute of one core. With seed 1 it ends with what greedy play solves of
puzzles that no symmetry turns into training puzzles ("... entirely" is cut off):

    seed 1, test split of 4x4, minimal puzzles, greedy play:
    masked-random: 9.6 % of 15,744 puzzles solved (95 % interval 9.1 % to 10.0 %), 0 of 8 orbits ...
    untrained: 30.0 % of 15,744 puzzles solved (95 % interval 29.3 % to 30.8 %), 0 of 8 orbits ...
    trained: 100.0 % of 15,744 puzzles solved (95 % interval 99.98 % to 100.0 %), 8 of 8 orbits ...

An orbit is all puzzles that symmetries turn into each other, solved entirely if each of them is.
The untrained network knows no difference yet and plays the first legal placement. 4x4 shows that
the algorithm works, and no more: who plays cells with a single legal digit solves all of these.
"""

import time
from collections import deque
from copy import deepcopy
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import tyro
from torch.nn.functional import mse_loss
from torch.utils.tensorboard import SummaryWriter

from sudoku_gym import evaluate, load_policy, puzzles, sample_actions


@dataclass(frozen=True)
class Args:
    """Train a network of action values by deep Q-learning with action masks."""

    run_dir: str = "runs"  # folder of all runs
    seed: int = 1  # seed of the experiment
    total_timesteps: int = 60_000  # placements to play, in all games together
    num_envs: int = 64  # games played side by side; one update for each of their common steps
    learning_rate: float = 2e-3  # the learning rate of the optimizer
    buffer_size: int = 20_000  # transitions that the replay buffer keeps
    learning_starts: int = 2_000  # timestep at which the updates begin
    batch_size: int = 128  # transitions of an update
    gamma: float = 1.0  # discount; 1 since only the end is paid, however long it took
    tau: float = 0.02  # how far the target network moves to the trained one at each update
    start_e: float = 1.0  # epsilon, the share of random placements, at the start
    end_e: float = 0.05  # epsilon at the end
    exploration_fraction: float = 0.2  # part of `total_timesteps` over which epsilon falls, above 0
    first_level: int = 2  # blanks of the first games
    last_level: int = 12  # most blanks of a game; minimal 4x4 puzzles have 10 to 12
    threshold: float = 0.8  # share of the last games to win before games have a blank more
    window: int = 256  # the number of these last games
    test_puzzles: int | None = None  # test puzzles to play before and after; None or 0 plays all


# ---- The game (`Sudoku4x4-v0`): a placement writes digit d into blank cell c, its action is
# a = c * N + d - 1, and it is legal if no row, column or box of the cell holds d. It pays 1 if it
# solves the board, else 0. A game ends at a solved board or (by an option; not in ppo.py) at a
# dead end: a blank cell that no digit fits. Without a discount Q(s, a) is thus 1 if the board can
# still be solved after the placement, and else 0. Illegal placements are never considered: not by
# exploration, not by greedy play, and not by the maximum in the target.


def constraints_of_placements(geometry):
    """Return the rules, float32 (placements, constraints): 1 where one can satisfy the other.

    A solved board satisfies each constraint by exactly one placement: a cell has one digit, and a
    unit (row, column or box) holds each digit once. So each placement lies in four constraints.
    """
    size = geometry.size  # N
    table = torch.zeros(size**3, size**2 + len(geometry.units) * size)
    for placement in range(size**3):
        cell, digit = divmod(placement, size)
        table[placement, cell] = 1
        for unit, cells in enumerate(geometry.units):
            table[placement, size**2 + unit * size + digit] = cell in cells
    return table


class QNetwork(nn.Module):
    """Q(s, a) of all placements a; the mask of legal placements is all it sees of a state s.

    In each layer a constraint hears from its legal placements, and these from it. After two layers
    a placement has heard of its rivals, and of theirs. All placements share their weights, and so
    do all constraints: no symmetry of the board changes a value.
    """

    def __init__(self, geometry, channels=32, num_layers=2):
        super().__init__()
        self.rules = constraints_of_placements(geometry)
        self.start = nn.Linear(1, channels)
        self.constraint = nn.ModuleList(nn.Linear(channels, channels) for _ in range(num_layers))
        self.placement = nn.ModuleList(nn.Linear(2 * channels, channels) for _ in range(num_layers))
        self.value = nn.Linear(channels, 1)
        nn.init.zeros_(self.value.weight)  # the first values are all equal

    def forward(self, masks):
        """Return Q float32 (boards, placements), -inf where bool masks of this shape are False."""
        legal = masks[:, :, None].float()  # (boards, placements, 1)
        x = self.start(legal) * legal  # (boards, placements, channels); illegal ones say nothing
        for constraint, placement in zip(self.constraint, self.placement, strict=True):
            sums = self.rules.T @ x  # (boards, constraints, channels)
            heard = self.rules @ torch.relu(constraint(sums))  # (boards, placements, channels)
            x = (x + torch.relu(placement(torch.cat([x, heard], -1)))) * legal
        return self.value(x).squeeze(-1).masked_fill(~masks, -torch.inf)


class GreedyPolicy:
    """Plays the placement of the highest value, in the form that `evaluate` asks for."""

    def __init__(self, network):
        self.network = network

    def reset(self, puzzles, geometry, rng):
        """Begin a batch of games: there is nothing to remember."""

    @torch.no_grad()
    def act(self, boards, action_masks):
        """Choose an action for each board, int64 (boards,)."""
        return self.network(torch.from_numpy(action_masks)).argmax(1).numpy()


class ReplayBuffer:
    """The latest transitions (s, a, r, s', done); a state is kept as its mask."""

    def __init__(self, capacity, num_actions):
        self.columns = (
            np.zeros((capacity, num_actions), np.bool_),  # masks
            np.zeros(capacity, np.int64),  # actions
            np.zeros(capacity, np.float32),  # rewards
            np.zeros((capacity, num_actions), np.bool_),  # next masks
            np.zeros(capacity, np.float32),  # dones
        )
        self.capacity, self.length, self.next_row = capacity, 0, 0

    def add(self, *transitions):
        """Put transitions, an array for each column, in the place of the oldest."""
        count = len(transitions[0])
        rows = (self.next_row + np.arange(count)) % self.capacity
        for column, values in zip(self.columns, transitions, strict=True):
            column[rows] = values
        self.next_row = (self.next_row + count) % self.capacity
        self.length = min(self.length + count, self.capacity)

    def sample(self, count, rng):
        """Draw transitions with replacement, as tensors."""
        rows = rng.integers(self.length, size=count)
        return [torch.from_numpy(column[rows]) for column in self.columns]


def q_loss(network, target_network, batch, gamma):
    """Return the loss of a batch of transitions, equation M2, and the mean value."""
    masks, actions, rewards, next_masks, dones = batch
    with torch.no_grad():
        # H4: the trained network chooses the next placement, a second one, here the target network,
        # says its value. A single network would choose what it overestimates, and believe it.
        best = network(next_masks).argmax(1, keepdim=True)  # (batch, 1)
        next_values = target_network(next_masks).gather(1, best).squeeze(1)
        targets = torch.where(dones > 0, rewards, rewards + gamma * next_values)
    values = network(masks).gather(1, actions[:, None]).squeeze(1)  # (batch,)
    return mse_loss(values, targets), values.mean()


def main(argv=None):
    args = tyro.cli(Args, args=argv)
    writer = SummaryWriter(f"{args.run_dir}/q_learning__{args.seed}__{int(time.time())}")
    writer.add_text("hyperparameters", str(args))
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # more threads on a small network are slower
    rng = np.random.default_rng(args.seed)

    envs = gym.make_vec(
        "Sudoku4x4-v0",
        num_envs=args.num_envs,
        blanks=args.first_level,
        reward="sparse",  # 1 for a solved board, else 0
        end_at_dead_end=True,
        autoreset_mode="SameStep",  # where a step ends a game, it returns the next puzzle at once
    )
    network = QNetwork(envs.unwrapped.geometry)
    target_network = deepcopy(network)
    optimizer = torch.optim.Adam(network.parameters(), lr=args.learning_rate)
    replay = ReplayBuffer(args.buffer_size, envs.single_action_space.n)
    policy = GreedyPolicy(network)

    # No symmetry turns a test puzzle into one that was trained on.
    test = puzzles.load("4x4", split="test")
    test = test.spread(args.test_puzzles or len(test))  # evenly over the set
    results = {
        "masked-random": evaluate(load_policy("masked-random"), test, seed=args.seed),
        "untrained": evaluate(policy, test),
    }

    level = args.first_level
    won = deque(maxlen=args.window)  # 1 or 0 for each of the last games since the level rose
    _, infos = envs.reset(seed=args.seed)
    masks = infos["action_mask"].astype(np.bool_)  # (games, placements)
    for global_step in range(0, args.total_timesteps, args.num_envs):
        # Algorithm 1 of M: with probability epsilon a random placement, otherwise the best one.
        share = global_step / (args.exploration_fraction * args.total_timesteps)
        epsilon = args.start_e + (args.end_e - args.start_e) * min(share, 1.0)
        best_actions = policy.act(None, masks)
        explores = rng.random(args.num_envs) < epsilon
        actions = np.where(explores, sample_actions(masks, rng), best_actions)

        # Where a game is over, the next mask is of a new puzzle; the target does not look at it.
        _, rewards, terminations, _, infos = envs.step(actions)  # legal play is never truncated
        next_masks = infos["action_mask"].astype(np.bool_)
        replay.add(masks, actions, rewards, next_masks, terminations)
        masks = next_masks

        # The curriculum: from here on games have `first_level` to `level` blanks.
        won.extend(rewards[terminations])
        if len(won) == args.window and np.mean(won) >= args.threshold and level < args.last_level:
            level += 1
            won.clear()
            envs.unwrapped.set_blanks((args.first_level, level))

        if global_step < args.learning_starts:
            continue
        batch = replay.sample(args.batch_size, rng)
        loss, value = q_loss(network, target_network, batch, args.gamma)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(target_network.parameters(), network.parameters(), strict=True):
                slow.lerp_(fast, args.tau)  # slow <- (1 - tau) slow + tau fast

        if global_step // args.num_envs % 50 == 0:
            writer.add_scalar("losses/td_loss", loss.item(), global_step)
            writer.add_scalar("losses/q_values", value.item(), global_step)
            writer.add_scalar("curriculum/blanks", level, global_step)
            if won:  # not where the level has just risen
                writer.add_scalar("charts/episodic_return", np.mean(won), global_step)
                print(
                    f"global_step={global_step}, blanks={level}, "
                    f"episodic_return={np.mean(won):.3f}, td_loss={loss.item():.4f}"
                )
    envs.close()
    writer.close()

    results["trained"] = evaluate(policy, test)
    print(f"seed {args.seed}, test split of 4x4, minimal puzzles, greedy play:")
    for name, result in results.items():
        print(f"{name}: {result}")
    return results


if __name__ == "__main__":
    main()
