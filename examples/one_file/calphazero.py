"""cAlphaZero in one file: self-play with a tree search, and a curriculum over the blanks of 4x4.

Agarwal, Han, Kyimpopkin and Klein, "cAlphaZero: a reinforcement-learning Sudoku solver with
curriculum scheduling"; the numbers in brackets are those of its equations and sections. All games
of an iteration have as many blanks, so they take as many moves and go on in lock step.

    python examples/one_file/calphazero.py
    python examples/one_file/calphazero.py --no-curriculum --max-blanks 8  # the control of figure 2

The first command takes 4 minutes of one core, 4,656 updates (the authors' public code about
1.5 million). With seed 1 it prints, of 500 puzzles with 12 blanks each, any digit allowed in any
blank, solved in % (95 % interval):
    trained: 82.8 (79.2 to 85.9); 100 simulations: 90.6 (87.7 to 92.9)
    train split: 86.6 (83.3 to 89.3); 100 simulations: 97.0 (95.1 to 98.2)
    masked-random: 0.0 (0.0 to 0.8); untrained: 0.0 (0.0 to 0.8)

That code's figure is about 96.7 %, in training; the paper has no number and no test puzzles.
"""

import time
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations

import numpy as np
import torch
import tyro
from torch import nn
from torch.utils.tensorboard import SummaryWriter

from sudoku_gym import evaluate, load_policy, puzzles


@dataclass(frozen=True)
class Args:
    """Train cAlphaZero; what the paper gives, or else its public code, stands in brackets."""

    exp_name: str = "calphazero"  # the name of this experiment
    run_dir: str = "runs"  # folder of all runs
    seed: int = 1  # seed of the experiment
    num_iterations: int = 46  # times that games are played and learned from
    num_envs: int = 256  # games of an iteration [500]
    num_simulations: int = 100  # simulations before each move [200]
    c_puct: float = 1.0  # weight of the prior in the search [1]
    unvisited_bonus: float = 0.5  # added to the score of an action that was not tried yet [0.5]
    temperature: float = 0.5  # moves of self-play are drawn by visits ** (1 / temperature)
    curriculum: bool = True  # start with few blanks; if not, all games have `max_blanks`
    min_blanks: int = 2  # blanks of the first level [2]
    max_blanks: int = 12  # blanks of the last level, u in algorithm 1 [12]
    level_accuracy: float = 0.6  # accuracy that ends a level, gamma in algorithm 1
    level_iterations: int = 8  # iterations after which a level ends anyway
    hidden: int = 512  # width of the three hidden layers [2.5 million weights in all]
    learning_rate: float = 1e-3  # the learning rate of Adam [0.2]
    batch_size: int = 256  # positions of an update
    update_epochs: int = 16  # times that a position is learned from, in as many symmetries
    max_grad_norm: float = 1.0  # the maximum norm of the gradient
    value_coef: float = 100.0  # coefficient of the value loss, lambda [100]
    entropy_coef: float = 0.01  # coefficient of minus the entropy, xi
    test_puzzles: int = 500  # puzzles of each test


# ---- The puzzle: a move puts any digit into any blank cell; the game ends when the board is full

CELLS = np.arange(16).reshape(4, 4)
BOXES = CELLS.reshape(2, 2, 2, 2).swapaxes(1, 2).reshape(4, 4)
UNITS = np.concatenate([CELLS, CELLS.T, BOXES])  # [12, 4], the cells of rows, columns and boxes


def reward(boards):
    """The share of the 3 N constraints that hold, float32 [B] (4)."""
    return (np.sort(boards[:, UNITS]) == [1, 2, 3, 4]).all(2).mean(1, dtype=np.float32)


def legal_actions(boards):
    """Actions cell * 4 + digit - 1 of blank cells, bool [B, 64]."""
    return (boards == 0).repeat(4, axis=1)


def draw_boards(bank, blanks, count, rng):
    """Draw minimal puzzles and show cells of the solution until so many blanks are left."""
    bank = bank[bank.blanks >= blanks]
    drawn = rng.integers(len(bank), size=count)
    boards, solutions = bank.puzzles.reshape(-1, 16)[drawn], bank.solutions.reshape(-1, 16)[drawn]
    order = np.where(boards == 0, rng.random(boards.shape), 2).argsort(1).argsort(1)
    return np.where((boards == 0) & (order >= blanks), solutions, boards)


# ---- The network: a policy over all 64 actions and a value, the expected reward


class Network(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.body = nn.Sequential(
            *(nn.Linear(80, hidden), nn.ReLU()),
            *(nn.Linear(hidden, hidden), nn.ReLU()),
            *(nn.Linear(hidden, hidden), nn.ReLU()),
        )
        self.policy, self.value = nn.Linear(hidden, 64), nn.Linear(hidden, 1)

    def forward(self, boards):
        """Return log pi float32 [B, 64] and v float32 [B] of boards int [B, 16]."""
        cells = nn.functional.one_hot(boards.long(), 5)  # [B, 16, 5]
        features = self.body(cells.flatten(1).float())
        return self.policy(features).log_softmax(1), self.value(features).squeeze(1).sigmoid()

    @torch.no_grad()
    def evaluate(self, boards):
        """The same of numpy arrays, pi in place of log pi."""
        log_policy, value = self(torch.from_numpy(boards))
        return log_policy.exp().numpy(), value.numpy()


# ---- The search (section 2.1): one simulation at a time, in the trees of all games at once


def search(network, roots, args):
    """Search from boards int8 [G, 16], none of them full; return visits float32 [G, 64]."""
    games, nodes = np.arange(len(roots)), args.num_simulations + 1
    boards = np.zeros((len(roots), nodes, 16), np.int8)
    children = np.zeros((len(roots), nodes, 64), np.int64)  # 0, the root, stands for none
    prior, visits, total_value = np.zeros((3, len(roots), nodes, 64), np.float32)
    boards[:, 0] = roots
    prior[:, 0] = network.evaluate(roots)[0]
    for new in range(1, nodes):
        # Select: from the root along the highest scores, up to an action without a node
        node, action, path = np.zeros_like(games), np.zeros_like(games), []
        walking = games
        while len(walking):
            at = walking, node[walking]
            n = visits[at]  # [W, 64]
            q = total_value[at] / np.maximum(n, 1)
            exploration = np.sqrt(np.maximum(n.sum(1, keepdims=True), 1)) / (1 + n)
            score = q + args.c_puct * prior[at] * exploration + args.unvisited_bonus * (n == 0)
            action[walking] = np.where(legal_actions(boards[at]), score, -1).argmax(1)  # (1), (2)
            path.append((walking, node[walking], action[walking]))
            child = children[path[-1]]
            walking = walking[child > 0]
            node[walking] = child[child > 0]
        # Expand: a full board has its reward, any other one the value of the network
        boards[:, new] = boards[games, node]
        boards[games, new, action // 4] = action % 4 + 1
        is_full = (boards[:, new] > 0).all(1)
        prior[:, new], value = network.evaluate(boards[:, new])
        value = np.where(is_full, reward(boards[:, new]), value)
        children[games, node, action] = np.where(is_full, 0, new)
        # Back up
        for edge in path:
            visits[edge] += 1
            total_value[edge] += value[edge[0]]
    return visits[:, 0]


def self_play(network, boards, args, rng):
    """Play games with the same number of blanks to their end: states, p_s and r (section 4.2)."""
    states, policies = [], []
    while (boards == 0).any():
        visits = search(network, boards, args)
        states.append(boards)
        policies.append(visits / visits.sum(1, keepdims=True))
        odds = visits ** (1 / args.temperature)
        cumulative = odds.cumsum(1)
        action = (cumulative < rng.random((len(odds), 1)) * cumulative[:, -1:]).sum(1)
        boards = boards.copy()
        boards[np.arange(len(boards)), action // 4] = action % 4 + 1
    rewards = reward(boards)
    return np.concatenate(states), np.concatenate(policies), np.tile(rewards, len(states))


# ---- Training

LINES = [p for p in permutations(range(4)) if p[0] // 2 == p[1] // 2]  # bands stay together
MOVES = [CELLS[np.ix_(rows, columns)] for rows in LINES for columns in LINES]
MOVES = np.array([m.ravel() for move in MOVES for m in (move, move.T)])  # [128, 16]
RENAMINGS = np.array([(0, *p) for p in permutations(range(1, 5))], np.int8)  # [24, 5]


def augment(states, policies, rng):
    """Move each position by a symmetry of its own, of all 128 moves and 24 renamings of digits."""
    moves, names = MOVES[rng.integers(128, size=len(states))], rng.integers(24, size=len(states))
    states = np.take_along_axis(states, moves, 1)
    moved = np.take_along_axis(policies.reshape(-1, 16, 4), moves[:, :, None], 1)
    new = RENAMINGS[names]
    old = new[:, 1:].argsort(1)  # the digit - 1 that gets each new name
    moved = np.take_along_axis(moved, old[:, None], 2)
    return np.take_along_axis(new, states.astype(np.int64), 1), moved.reshape(-1, 64)


def loss_of(network, boards, p, r, args):
    """Return the loss, and what to watch: its terms, and how often pi's first choice is p's too."""
    log_pi, v = network(boards)
    value_loss = (r - v).square().mean()
    policy_loss = -(p * log_pi).sum(1).mean()
    minus_entropy = (log_pi.exp() * log_pi).sum(1).mean()
    loss = args.value_coef * value_loss + policy_loss + args.entropy_coef * minus_entropy  # (5)
    chosen = p.gather(1, log_pi.argmax(1, keepdim=True))[:, 0]
    accuracy = (chosen == p.amax(1)).float().mean()
    return loss, torch.stack([value_loss, policy_loss, -minus_entropy, accuracy]).detach()


def train(network, optimizer, data, args, rng):
    """Learn from the positions of an iteration; return what to watch, of each update."""
    states, policies, rewards = data
    watched = []
    for _ in range(args.update_epochs):
        order = rng.permutation(len(states))
        for batch in np.split(order, range(args.batch_size, len(order), args.batch_size)):
            boards, p = map(torch.from_numpy, augment(states[batch], policies[batch], rng))
            loss, latest = loss_of(network, boards, p, torch.from_numpy(rewards[batch]), args)
            watched.append(latest)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), args.max_grad_norm)
            optimizer.step()
    return torch.stack(watched)


class Player:
    """Plays the most visited action of a search, or without simulations the likeliest action."""

    def __init__(self, network, args, num_simulations=0):
        self.network, self.args = network, replace(args, num_simulations=num_simulations)

    def reset(self, puzzles, geometry, rng):
        """Begin a batch of games: there is nothing to remember."""

    def act(self, boards, action_masks):
        """Choose an action for each game; that of a game that is over does not count."""
        boards, actions = boards.reshape(-1, 16), np.zeros(len(boards), np.int64)
        running = (boards == 0).any(1)
        boards = boards[running]
        if self.args.num_simulations:
            scores = search(self.network, boards, self.args)
        else:
            scores = self.network.evaluate(boards)[0]
        actions[running] = np.where(legal_actions(boards), scores, -1).argmax(1)
        return actions


def main(argv=None):
    args = tyro.cli(Args, args=argv)
    writer = SummaryWriter(f"{args.run_dir}/4x4__{args.exp_name}__{args.seed}__{int(time.time())}")
    writer.add_text("hyperparameters", str(args))
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # more threads on a small network are slower
    rng = np.random.default_rng(args.seed)
    network = Network(args.hidden)
    optimizer = torch.optim.Adam(network.parameters(), args.learning_rate)

    # No symmetry turns a minimal puzzle of the test split into one of the train split.
    banks = {split: puzzles.load("4x4", split) for split in ("train", "test")}
    test, trained_on = (
        draw_boards(banks[split], args.max_blanks, args.test_puzzles, rng).reshape(-1, 4, 4)
        for split in ("test", "train")
    )
    play = partial(evaluate, seed=args.seed, actions="blank")
    results = {
        "masked-random": play(load_policy("masked-random"), test),
        "untrained": play(Player(network, args), test),
    }
    blanks = args.min_blanks if args.curriculum else args.max_blanks
    iterations, updates, start_time = 0, 0, time.process_time()
    for iteration in range(args.num_iterations):
        boards = draw_boards(banks["train"], blanks, args.num_envs, rng)
        data = self_play(network, boards, args, rng)
        watched = train(network, optimizer, data, args, rng)
        updates += len(watched)
        value_loss, policy_loss, entropy, accuracy = watched.mean(0).tolist()
        solved, seconds = (data[2] == 1).mean(), time.process_time() - start_time
        writer.add_scalar("curriculum/blanks", blanks, updates)
        writer.add_scalar("charts/episodic_return", data[2].mean(), updates)
        writer.add_scalar("charts/solved", solved, updates)
        writer.add_scalar("charts/policy_accuracy", accuracy, updates)
        writer.add_scalar("losses/value_loss", value_loss, updates)
        writer.add_scalar("losses/policy_loss", policy_loss, updates)
        writer.add_scalar("losses/entropy", entropy, updates)
        writer.add_scalar("throughput/updates_per_second", updates / seconds, updates)
        line = (
            f"{iteration=}, {seconds=:.0f}, {updates=}, {blanks=}, {solved=:.3f}, {accuracy=:.3f}"
        )
        print(f"{line}, {policy_loss=:.3f}, {value_loss=:.4f}", flush=True)

        iterations += 1  # of this level
        if blanks < args.max_blanks:
            if accuracy > args.level_accuracy or iterations == args.level_iterations:
                blanks, iterations = blanks + 1, 0
    writer.close()

    for name, boards in {"trained": test, "train split": trained_on}.items():
        results[name] = play(Player(network, args), boards)
        searching = Player(network, args, args.num_simulations)
        results[f"{name}, {args.num_simulations} simulations"] = play(searching, boards)
    print(f"seed {args.seed}, {args.max_blanks} blanks, held-out orbits or train split:")
    for name, result in results.items():
        print(f"{name}: {result}")
    return results


if __name__ == "__main__":
    main()
