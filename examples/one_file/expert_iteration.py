"""Expert iteration in one file: a search solves 9x9 puzzles, and a network learns from them.

The expert is a search that tries placements and takes them back where they fail. The apprentice is
a network that says how likely each placement is right: it learns from the solutions that the expert
finds, and tells it what to try first, so that the next searches solve more. This follows algorithm
1 of Anthony, Tian and Barber, "Thinking fast and slow with deep learning and tree search", 2017,
arXiv 1705.08439; but the expert labels whole puzzles, and training makes no wrong placement. The
rounds of messages, with a loss at each, are from Palm, Paquet and Winther, "Recurrent relational
networks", 2018, arXiv 1711.08028. No stored solution and no other solver is asked.

    python examples/one_file/expert_iteration.py

It prints after six minutes of one core (seed 1), of 1,000 minimal 9x9 test puzzles: trained 94.2 %
(95 % interval 92.6 to 95.5), hidden singles 51.0 % (47.9 to 54.1), random play 0; untrained, of
100, 0. With --size 4 --total-updates 100, after 7 s: trained 100 % of 1,000 (99.6 to 100).
"""

import heapq
import time
from dataclasses import dataclass
from itertools import count

import numpy as np
import torch
import tyro
from torch import nn
from torch.utils.tensorboard import SummaryWriter

from sudoku_gym import Geometry, evaluate, load_policy, puzzles


@dataclass(frozen=True)
class Args:
    """Train a network by expert iteration."""

    run_dir: str = "runs"  # folder of all runs
    seed: int = 1  # seed of the training; that of random play is 0
    size: int = 9  # digits of the board, 4 or 9
    total_updates: int = 1200  # updates of the network
    warmup_updates: int = 100  # the first of them, on 4x4 boards, which a beginner's search solves
    learning_rate: float = 4e-3  # of the optimizer; falls to 0 over the last 60 % of the updates
    policy_coef: float = 0.4  # coefficient of the policy loss
    num_envs: int = 32  # games played side by side, of which an update learns one position each
    channels: int = 16  # the width of the network's states
    num_rounds: int = 16  # rounds of messages with a loss at each
    free_rounds: int = 32  # fewer than these before, without gradients, to learn late rounds too
    search_rounds: int = 32  # rounds of messages for an evaluation in a search
    play_rounds: int = 64  # rounds of messages when playing
    threshold: float = 3.0  # a placement is sure if its logit is above; 3 says 95 %
    search_frequency: int = 10  # updates from one search to the next
    search_puzzles: int = 16  # random training puzzles for a search
    search_evaluations: int = 63  # evaluations of the network, at most, for a puzzle
    test_puzzles: int = 1000  # test puzzles to play; no symmetry makes one a training puzzle


class ExactCover:
    """The rules: exactly one placement of a solved board satisfies each of 4 N^2 constraints."""

    def __init__(self, size):
        self.size, self.num_constraints = size, 4 * size**2
        cell, digit = np.divmod(np.arange(size**3), size)  # placement = cell * N + digit, from 0
        row, column = np.divmod(cell, size)
        box = Geometry.standard(size).regions[row, column]
        units = np.stack([row, size + column, 2 * size + box])  # (3, placements), units from 0
        table = np.stack([cell, *(size**2 + units * size + digit)])  # the 4 that each satisfies
        self.constraints = torch.from_numpy(table)  # (4, placements): of cell, row, column and box
        self.clashes = (table[:, :, None] == table[:, None]).any(0)  # (placements, placements)
        self.satisfies = (table[:, :, None] == np.arange(self.num_constraints)).any(0)

    def placed(self, boards):
        """Return which placements are made on boards int8 (boards, N, N): (boards, placements)."""
        return (boards[..., None] == np.arange(1, self.size + 1)).reshape(-1, self.size**3)

    def legal(self, placed):
        """Return where no made placement clashes (each does with itself): bool like `placed`."""
        return placed.astype(np.float32) @ self.clashes.astype(np.float32) == 0


class FactorGraphNetwork(nn.Module):
    """The apprentice: logits of legal placements, from rounds of messages about the constraints.

    In a round each placement claims its four constraints, and each constraint replies how much its
    other placements claim it: a strong reply speaks against a placement. (That is belief
    propagation, with learned messages.) An intersection is a digit in a line (row or column) and a
    box that meet. It hears the claims inside, of placements in both, and outside: a digit without
    a place in the rest of the box must not be in the rest of the line. One layer serves all rounds,
    cells, digits and sizes: symmetric boards are played alike, and 4x4 prepares for 9x9.
    """

    def __init__(self, channels):
        super().__init__()
        self.start = nn.Parameter(torch.randn(2, channels))  # of placements, of intersections
        self.gamma = nn.Parameter(torch.zeros(channels))  # weight of the last reply in a claim
        self.message = nn.Linear(channels, channels)
        self.placement_gates = nn.Linear(3 * channels, 2 * channels)
        self.intersection_gates = nn.Linear(3 * channels, 2 * channels)
        self.head = nn.Linear(channels, 1)

    def forward(self, cover, legal, rounds, free_rounds=0):
        """Return logits (rounds, boards, placements) of legal placements (boards, placements)."""
        # One graph of all boards: P legal placements, C constraints, Q intersections; H channels.
        board, placement = torch.from_numpy(legal).nonzero(as_tuple=True)  # (P,)
        num_constraints = len(legal) * cover.num_constraints  # C
        constraint = board * cover.num_constraints + cover.constraints[:, placement]  # (4, P)
        pair = constraint[1:3] * num_constraints + constraint[3]  # (2, P): line, box: one number
        pairs, intersection = pair.unique(return_inverse=True)  # (Q,), (2, P)
        line, box = pairs // num_constraints, pairs % num_constraints  # (Q,), their constraints
        x = self.start[0].expand(len(board), -1)  # (P, H), the states of placements
        y = self.start[1].expand(len(pairs), -1)  # (Q, H), the states of intersections
        reply = x.new_zeros(4, *x.shape)  # (4, P, H)
        logits = []
        for r in range(free_rounds + rounds):
            with torch.set_grad_enabled(torch.is_grad_enabled() and r >= free_rounds):
                # The clamp keeps exp from overflowing, 0.001 keeps log from 0.
                claim = (self.message(x) + self.gamma * reply).clamp(-5, 5).exp()  # (4, P, H)
                total = add_rows(claim, constraint, num_constraints)  # (C, H)
                reply = (1e-3 + total[constraint] - claim).log()  # (4, P, H), what others claim
                line_inside = add_rows(claim[1:3], intersection, len(pairs))  # (Q, H)
                box_inside = add_rows(claim[[3, 3]], intersection, len(pairs))
                line_outside, box_outside = total[line] - line_inside, total[box] - box_inside
                inside = ((1e-3 + line_inside) * (1e-3 + box_inside)).log()
                outside = ((1e-3 + line_outside) * (1e-3 + box_outside)).log()
                # 0.15 brings these sums of logs to about the size of the states, -1 to 1.
                y = move(self.intersection_gates, y, 0.15 * inside, 0.15 * outside)
                x = move(self.placement_gates, x, 0.15 * reply.sum(0), y[intersection].sum(0))
            if r >= free_rounds:
                everywhere = torch.full(legal.shape, -1e9)  # illegal ones have probability 0
                logits.append(everywhere.index_put((board, placement), self.head(x)[:, 0]))
        return torch.stack(logits)


def add_rows(x, index, num_rows):
    """Add up rows of x (*index.shape, channels) that have the same index: (num_rows, channels)."""
    return x.new_zeros(num_rows, x.shape[-1]).index_add(0, index.flatten(), x.flatten(0, -2))


def move(gates, state, *heard):
    """Move a state a part of the way to a new one: a GRU without its reset gate."""
    part, new = gates(torch.cat([state, *heard], 1)).chunk(2, 1)
    return state + part.sigmoid() * (new.tanh() - state)


@torch.no_grad()
def read(network, cover, legal, rounds):
    """Return logits float32 (boards, placements) after some rounds, 64 boards at a time."""
    parts = np.array_split(legal, 1 + (len(legal) - 1) // 64)
    return torch.cat([network(cover, part, 1, rounds - 1)[0] for part in parts]).numpy()


def divide(case, logits, cover, threshold):
    """Yield the cases into which a case falls, by its sure placements p1, p2, ... (at least one).

    Either p1 is wrong, or p1 right and p2 wrong, and so on, or all right. A case is (cost, placed,
    legal): minus the log of its probability, placements as independent; those made; those allowed.
    """
    cost, placed, legal = case
    num_sure = max(1, (logits > threshold).sum())
    for p in np.argsort(-logits)[:num_sure]:
        if legal[p]:  # else one before has ruled it out
            logit = max(float(logits[p]), 0.0)  # if it is a guess, it is right as likely as not
            legal_if_wrong = legal & (np.arange(len(legal)) != p)
            yield cost + np.logaddexp(0, logit), placed, legal_if_wrong  # -log(1 - sigmoid(logit))
            cost = cost + np.logaddexp(0, -logit)  # -log sigmoid(logit)
            placed, legal = placed.copy(), legal & ~cover.clashes[p]
            placed[p] = True
    yield cost, placed, legal


def best_first_search(network, cover, boards, args):
    """The expert: of each board int8 (boards, N, N), divide the likeliest case until one solves it.

    Returns solved bool (boards,), solutions bool (boards, placements), evaluations int (boards,).
    """
    placed = cover.placed(boards)
    solved, solutions = np.zeros(len(boards), bool), np.zeros_like(placed)
    evaluations, number = np.zeros(len(boards), int), count()  # numbers break ties in the heaps
    heaps = [[(0.0, next(number), *case)] for case in zip(placed, cover.legal(placed), strict=True)]
    while True:
        cases = {}  # of each board that is still searched, the likeliest that is not refuted
        for b, heap in enumerate(heaps):
            while heap and not solved[b] and b not in cases:
                cost, _, placed, legal = heapq.heappop(heap)
                is_possible = cover.satisfies[placed | legal].any(0).all()  # no constraint is lost
                if is_possible and legal.any():
                    cases[b] = cost, placed, legal
                elif is_possible:  # nothing legal, and no constraint lost: solved
                    solved[b], solutions[b] = True, placed
        if not cases or evaluations.max() == args.search_evaluations:
            return solved, solutions, evaluations
        legal = np.stack([legal for _, _, legal in cases.values()])
        for b, logits in zip(cases, read(network, cover, legal, args.search_rounds), strict=True):
            evaluations[b] += 1
            for cost, *case in divide(cases[b], logits, cover, args.threshold):
                heapq.heappush(heaps[b], (cost, next(number), *case))


class Games:
    """Games on puzzles that the expert has solved; where a board is full, another puzzle begins."""

    def __init__(self, size, num_envs):
        self.cover, self.solved = ExactCover(size), []  # puzzles with their solutions
        self.puzzles = puzzles.load(f"{size}x{size}", "train").puzzles
        self.placed, self.target = np.ones((2, num_envs, size**3), bool)  # equal: full

    def search(self, network, args, rng):
        """Let the expert try random puzzles; return the share solved and the mean evaluations."""
        boards = rng.choice(self.puzzles, args.search_puzzles, replace=False)
        solved, solutions, evaluations = best_first_search(network, self.cover, boards, args)
        self.solved.extend(zip(self.cover.placed(boards[solved]), solutions[solved], strict=True))
        return solved.mean(), evaluations.mean()

    def refill(self, rng):
        """Replace full boards; 30 % begin later, with fewer than half of the blanks filled."""
        for b in np.flatnonzero((self.placed == self.target).all(1)):  # full
            self.placed[b], self.target[b] = self.solved[rng.integers(len(self.solved))]
            blank = np.flatnonzero(self.target[b] & ~self.placed[b])
            num_filled = rng.integers(len(blank) // 2) if rng.random() < 0.3 else 0
            self.placed[b, rng.choice(blank, num_filled, replace=False)] = True

    def losses(self, logits):
        """Return the losses of placements and policy, of logits (rounds, games, placements)."""
        right = torch.from_numpy(self.target & ~self.placed)
        cross_entropy = nn.functional.softplus(logits) - logits.where(right, 0.0)
        # The policy's is minus the log of the share of the softmax that is on right placements.
        policy_loss = (logits.logsumexp(2) - logits.where(right, -1e9).logsumexp(2)).mean()
        return cross_entropy.sum(2).mean() / 100, policy_loss  # 100 or 200 are legal on a board

    def play(self, logits, threshold):
        """Make all right placements that are sure, or else the right one with the best logit."""
        right = np.where(self.target & ~self.placed, logits, -np.inf)  # (games, placements)
        self.placed |= right >= np.minimum(right.max(1, keepdims=True), threshold)


class Player:
    """Plays what is sure, the surest first and one digit at a time; then reads the board again."""

    def __init__(self, read_masks, threshold):
        self.read_masks, self.threshold = read_masks, threshold

    def reset(self, puzzles, geometry, rng):
        """Begin a batch of games, nothing read: a row of logits for each, finished or not."""
        self.logits = np.full((len(puzzles), geometry.num_placements), -np.inf, np.float32)

    def act(self, boards, action_masks):
        """Choose a placement for each game."""
        best = np.where(action_masks, self.logits, -np.inf).max(1)
        unread = action_masks.any(1) & (best < self.threshold)
        if unread.any():
            self.logits[unread] = self.read_masks(action_masks[unread])
        return np.where(action_masks, self.logits, -np.inf).argmax(1)


def main(argv=None):
    args = tyro.cli(Args, args=argv)
    writer = SummaryWriter(f"{args.run_dir}/expert_iteration__{args.seed}__{int(time.time())}")
    writer.add_text("hyperparameters", str(args))
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # more threads on small tensors are slower
    rng = np.random.default_rng(args.seed)
    warmup_games, games = Games(4, args.num_envs), Games(args.size, args.num_envs)
    network = FactorGraphNetwork(args.channels)
    player = Player(lambda x: read(network, games.cover, x, args.play_rounds), args.threshold)
    optimizer = torch.optim.Adam(network.parameters(), args.learning_rate)
    test = puzzles.load(f"{args.size}x{args.size}", "test").spread(args.test_puzzles)
    results = {n: evaluate(load_policy(n), test) for n in ("masked-random", "hidden-singles")}
    results["untrained"] = evaluate(player, test.spread(100))
    for update in range(args.total_updates):
        done = update / args.total_updates
        now = warmup_games if update < args.warmup_updates else games
        if update % args.search_frequency == 0 or not now.solved:
            solved, evaluations = now.search(network, args, rng)
            now = now if now.solved else warmup_games  # learn 4x4 until a 9x9 one is solved
            if not now.solved:
                continue  # there is nothing to learn from: search again
        now.refill(rng)
        legal = now.cover.legal(now.placed)  # (games, placements)
        free_rounds = int(rng.integers(int(done * args.free_rounds) + 1))  # few at first
        logits = network(now.cover, legal, args.num_rounds, free_rounds)  # (rounds, *legal.shape)
        placement_loss, policy_loss = now.losses(logits)
        optimizer.param_groups[0]["lr"] = args.learning_rate * min(1, (1 - done) / 0.6)
        optimizer.zero_grad()
        (placement_loss + args.policy_coef * policy_loss).backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)  # rare large gradients stay harmless
        optimizer.step()
        now.play(logits[-1].detach().numpy(), args.threshold)
        writer.add_scalar("losses/placement_loss", placement_loss.item(), update)
        writer.add_scalar("losses/policy_loss", policy_loss.item(), update)
        writer.add_scalar("charts/search_evaluations", evaluations, update)
        if update % 100 == 99 or update == args.total_updates - 1:
            print(f"{update=}, {solved=:.2f}, {evaluations=:.1f}")  # of the last search
    writer.close()
    results["trained"] = evaluate(player, test)
    print(f"seed {args.seed}, test split, minimal puzzles, greedy play:")
    for name, result in results.items():
        print(f"{name}: {result}")
    return results


if __name__ == "__main__":
    main()
