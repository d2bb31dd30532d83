"""A GFlowNet in one file: it learns to draw the completions of a 4x4 board, all equally often.

A GFlowNet builds an object step by step, and learns to end at each object x with a probability in
proportion to a reward R(x). Here a step writes a digit into a blank cell, and R is 1 for a solved
board; so once it has learned, it draws every completion of a board equally often, and log Z, a
number that it learns besides, is the log of how many there are. It learns by trajectory balance, a
squared error per trajectory: Malkin, Jain, Bengio, Sun and Bengio, "Trajectory balance: improved
credit assignment in GFlowNets", NeurIPS 2022, arXiv 2201.13259, whose equations are numbered below.

    python examples/one_file/gflownet.py

It takes half a minute of one core. For the empty board, and seed 1, it ends with

    seed 1, 288 completions
    masked-random: total variation 0.1667, ELBO 5.6041 <= log Z 5.6630 <= EUBO 5.7196, 100.0% ...
    untrained: total variation 0.1666, ELBO 5.6002 <= log Z 5.6630 <= EUBO 5.7236, 100.0% ...
    trained: total variation 0.0052, ELBO 5.6629 <= log Z 5.6630 <= EUBO 5.6631, 100.0% ...

where "... of the draws solved" is cut off; `exact_measures` says what the measures are. Random
digits fall short: equally likely digits do not lead to equally many completions. The line before
these shows the learned log Z, 5.6626. No way from the empty board meets a dead end, but half of the
random ways from `--puzzle .......32..1..3.` do.
"""

import time
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import tyro
from torch.nn.functional import one_hot
from torch.utils.tensorboard import SummaryWriter

from sudoku_gym import board

# A board with a blank cell that no digit fits should have the reward 0, but the loss needs its log.
# exp(-18) is 1.5e-8: even a thousand such ends weigh next to nothing beside one completion.
LOG_REWARD_OF_A_DEAD_END = -18.0


@dataclass(frozen=True)
class Args:
    """Train a GFlowNet by trajectory balance."""

    run_dir: str = "runs"  # folder of all runs
    seed: int = 1  # seed of the experiment
    puzzle: str = "." * 16  # the 4x4 board to complete, row by row; a dot: a blank, at least one
    total_timesteps: int = 700_000  # digits to write in whole updates, if none meets a dead end
    num_envs: int = 64  # trajectories of one update, sampled in parallel
    learning_rate: float = 3e-3  # of the forward policy; falls to 0
    z_learning_rate: float = 0.1  # of log Z: one number that has to go from 0 to 5.7; falls to 0
    epsilon: float = 0.05  # share of uniform draws in training, so that no digit is forgotten
    hidden: int = 256  # width of the two hidden layers


# ---- The states: boards int8 (boards, rows, columns), 0 for a blank, N digits.
# Of the blank cells the one with the fewest candidates is filled (candidates are digits that its
# row, column and box do not hold yet). The board thus decides the cell, the policy only the digit,
# and every board can be reached in one way only. So the boards form a tree; a board has one parent,
# and P_B, the probability of the step back to it, is 1.


def next_choice(boards):
    """Return the cell to fill, int64 (boards,), and its candidates, bool (boards, digits).

    A trajectory ends where there are no candidates: at a full board or at a dead end.
    """
    size = boards.shape[1]  # N
    candidates = board.candidates(boards).reshape(len(boards), size**2, size)  # none if not blank
    is_blank = boards.reshape(len(boards), size**2) == 0
    num_candidates = np.where(is_blank, candidates.sum(2), size + 1)  # a filled cell comes last
    cells = num_candidates.argmin(1)
    return cells, candidates[np.arange(len(boards)), cells]


def fill(boards, cells, digits):
    """Return the boards with `digits + 1` in the `cells`, both int64 (boards,)."""
    after = boards.reshape(len(boards), boards.shape[1] ** 2).copy()
    after[np.arange(len(boards)), cells] = digits + 1
    return after.reshape(boards.shape)


def log_reward(ends):
    """Return log R of boards at which trajectories ended, float32 (boards,)."""
    return torch.where(torch.from_numpy(board.is_solved(ends)), 0.0, LOG_REWARD_OF_A_DEAD_END)


class ForwardPolicy(nn.Module):
    """P_F, the probability of the next digit given a board, and log Z, a single weight."""

    def __init__(self, size, hidden):
        super().__init__()
        self.log_z = nn.Parameter(torch.zeros(()))
        self.layers = nn.Sequential(
            nn.Linear(size**3, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, size**3),  # a logit for each cell and digit
        )

    def forward(self, boards, cells, candidates):
        """Return log P_F of each digit, float32 (boards, digits), -inf if it is no candidate."""
        num_boards, size = candidates.shape
        digits = torch.from_numpy(boards).long().flatten(1)  # (boards, cells)
        inputs = one_hot(digits, size + 1)[:, :, 1:]  # (boards, cells, digits), all 0 for a blank
        logits = self.layers(inputs.flatten(1).float()).view(num_boards, size**2, size)
        logits = logits[torch.arange(num_boards), torch.from_numpy(cells)]  # (boards, digits)
        return logits.masked_fill(~torch.from_numpy(candidates), -torch.inf).log_softmax(1)


def masked_random(boards, cells, candidates):
    """Return log P_F that draws any candidate: what needs no learning."""
    return torch.where(torch.from_numpy(candidates), 0.0, -torch.inf).log_softmax(1)


# ---- Training: draw trajectories, compare P_F with the reward


def sample_trajectories(policy, boards, epsilon):
    """Write digits into boards int8 (boards, N, N) until all trajectories have ended.

    Returns:
        The boards at their ends, and the sum of log P_F over each trajectory, float32 (boards,).
    """
    boards = boards.copy()
    sum_log_pf = torch.zeros(len(boards))
    running = np.arange(len(boards))  # rows of the trajectories that have not ended
    while True:
        cells, candidates = next_choice(boards[running])
        goes_on = candidates.any(1)
        running, cells, candidates = running[goes_on], cells[goes_on], candidates[goes_on]
        if len(running) == 0:
            return boards, sum_log_pf
        log_pf = policy(boards[running], cells, candidates)  # (running, digits)

        # Draw from (1 - epsilon) P_F + epsilon uniform. Any way of drawing will do, for the loss
        # has to be 0 on every trajectory; what it sums is log P_F of the digits that were drawn.
        uniform = torch.from_numpy(candidates / candidates.sum(1, keepdims=True)).float()
        drawn_from = torch.lerp(log_pf.detach().exp(), uniform, epsilon)
        digits = drawn_from.multinomial(1)  # (running, 1)
        log_pf_of_digits = log_pf.gather(1, digits)[:, 0]
        sum_log_pf = sum_log_pf.index_add(0, torch.from_numpy(running), log_pf_of_digits)
        boards[running] = fill(boards[running], cells, digits[:, 0].numpy())


def trajectory_balance(log_z, sum_log_pf, log_r):
    """Return the loss of trajectories, equation 14, whose P_F and log R are (trajectories,).

    Equation 13 demands Z * product of P_F = R(x) * product of P_B of a trajectory that ends at x;
    the loss is the squared difference of the logs of both sides. P_B is 1 here, its log 0. Where
    this holds for all trajectories, P_F ends at x with the probability R(x) / Z (Proposition 1).
    """
    return (log_z + sum_log_pf - log_r).square().mean()


# ---- Exact measures: the trees of 4x4 boards, not of 9x9, are small enough to walk whole


@torch.no_grad()
def walk_tree(policy, puzzle):
    """Return all ends below a board, int8 (ends, N, N), and log P_F to get there, float32."""
    boards, log_pf = puzzle[None], torch.zeros(1)  # one level of the tree after the other
    ends, log_pf_of_ends = [], []
    while len(boards):
        cells, candidates = next_choice(boards)
        is_end = ~candidates.any(1)
        ends.append(boards[is_end])
        log_pf_of_ends.append(log_pf[torch.from_numpy(is_end)])
        parents, digits = np.nonzero(candidates)  # a child for each candidate; ends (NaN) have none
        log_pf = (log_pf[:, None] + policy(boards, cells, candidates))[parents, digits]
        boards = fill(boards[parents], cells[parents], digits)
    return np.concatenate(ends), torch.cat(log_pf_of_ends)


def exact_measures(policy, puzzle):
    """Compare P_F, what the policy samples, with the target R / Z, over all ends of the tree.

    Total variation is half the sum of |P_F(x) - R(x) / Z|: 0 if both are the same, 1 if they share
    no end. Two evidence bounds enclose log Z, and meet it only where both are the same: the mean
    of log(R / P_F) over the policy's ends is ELBO = log Z - KL(P_F || target), its mean over the
    target's ends EUBO = log Z + KL(target || P_F), and no KL divergence is negative.
    """
    ends, log_pf = walk_tree(policy, puzzle)
    log_r = log_reward(ends)
    log_z = log_r.logsumexp(0)  # Z is the sum of all rewards
    sampled, target = log_pf.exp(), (log_r - log_z).exp()
    return {
        "total_variation": 0.5 * (sampled - target).abs().sum().item(),
        "elbo": (sampled * (log_r - log_pf)).sum().item(),
        "log_z": log_z.item(),
        "eubo": (target * (log_r - log_pf)).sum().item(),
        "solved": sampled[log_r == 0].sum().item(),
    }


def main(argv=None):
    args = tyro.cli(Args, args=argv)
    writer = SummaryWriter(f"{args.run_dir}/gflownet__{args.seed}__{int(time.time())}")
    writer.add_text("hyperparameters", str(args))
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # more threads on a small network are slower

    puzzle = board.parse(args.puzzle)
    policy = ForwardPolicy(len(puzzle), args.hidden)
    optimizer = torch.optim.Adam(policy.layers.parameters(), lr=args.learning_rate)
    optimizer.add_param_group({"params": [policy.log_z], "lr": args.z_learning_rate})
    results = {
        "masked-random": exact_measures(masked_random, puzzle),
        "untrained": exact_measures(policy, puzzle),
    }

    starts = np.repeat(puzzle[None], args.num_envs, 0)
    num_updates = args.total_timesteps // (args.num_envs * int((puzzle == 0).sum()))
    global_step = 0
    for update in range(1, num_updates + 1):
        share_left = 1 - (update - 1) / num_updates
        optimizer.param_groups[0]["lr"] = share_left * args.learning_rate
        optimizer.param_groups[1]["lr"] = share_left * args.z_learning_rate

        ends, sum_log_pf = sample_trajectories(policy, starts, args.epsilon)
        loss = trajectory_balance(policy.log_z, sum_log_pf, log_reward(ends))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        global_step += int((ends > 0).sum() - (starts > 0).sum())
        if update % 50 == 0 or update == num_updates:
            found = exact_measures(policy, puzzle)
            for name in ("total_variation", "elbo", "eubo"):
                writer.add_scalar(f"charts/{name}", found[name], global_step)
            writer.add_scalar("charts/log_z", policy.log_z.item(), global_step)
            writer.add_scalar("losses/trajectory_balance", loss.item(), global_step)
            print(
                f"global_step={global_step}, loss={loss.item():.5f}, "
                f"log_z={policy.log_z.item():.4f}, total_variation={found['total_variation']:.4f}"
            )
    writer.close()

    results["trained"] = exact_measures(policy, puzzle)
    print(f"seed {args.seed}, {round(np.exp(results['trained']['log_z']))} completions")
    for name, found in results.items():
        print(
            f"{name}: total variation {found['total_variation']:.4f}, "
            f"ELBO {found['elbo']:.4f} <= log Z {found['log_z']:.4f} <= EUBO {found['eubo']:.4f}, "
            f"{found['solved']:.1%} of the draws solved"
        )
    return results


if __name__ == "__main__":
    main()
