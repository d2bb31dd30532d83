"""cAlphaZero in one file: AlphaZero's self-play on 4x4 Sudoku, with more and more blanks.

A network gives a board a policy (which moves look good) and a value (the reward to expect). Before
each move of a game a Monte Carlo tree search looks ahead with both, and how often it visits a move
makes a better policy; the network then learns this policy, and the reward that the game ended with.
Games begin on puzzles of which stored solutions fill in all but 2 blanks, and have one more each
time that both policies agree often enough. Equations and sections are those of Agarwal, Han,
Kyimpopkin and Klein, "cAlphaZero: a reinforcement-learning Sudoku solver with curriculum
scheduling"; report and code are at https://github.com/danny1078/alphazero-sudoku.

    python examples/one_file/calphazero.py

It takes 4 minutes of one core (4,656 updates). In short, with seed 1 it prints, of 500 puzzles
with 12 blanks each, solved in % (95 % interval), playing what the network or a search likes best:

    trained: 82.8 (79.2 to 85.9); 100 simulations: 90.6 (87.7 to 92.9)
    train split: 86.6 (83.3 to 89.3); 100 simulations: 97.0 (95.1 to 98.2)
    masked-random: 0.0 (0.0 to 0.8); untrained: 0.0 (0.0 to 0.8)

No symmetry turns a puzzle of the first and last line into a training puzzle. The paper tests on no
puzzles; its public code reports 96.7 % of training games, after about 1.5 million updates.
"""

import time
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import torch
import tyro
from torch import nn
from torch.utils.tensorboard import SummaryWriter

from sudoku_gym import Geometry, evaluate, load_policy, puzzles


@dataclass(frozen=True)
class Args:
    """Train cAlphaZero; in brackets: the paper's value, or that of its code; others are ours."""

    run_dir: str = "runs"  # folder of all runs
    seed: int = 1  # seed of the experiment
    num_iterations: int = 46  # times that games are played and learned from
    num_envs: int = 256  # games of an iteration [500]
    num_simulations: int = 100  # simulations before each move [200]
    c_puct: float = 1.0  # weight of the prior in the search [1]
    unvisited_bonus: float = 0.5  # added for untried moves, to values of 0 to 1, section 2.1 [0.5]
    temperature: float = 0.5  # above 0; self-play draws moves by visits ** (1 / temperature)
    min_blanks: int = 2  # blanks of the first games, 1 or more [2]; `max_blanks`: no curriculum
    max_blanks: int = 12  # blanks of the last games, 12 at most; u in algorithm 1 [12]
    level_accuracy: float = 0.6  # accuracy above which games get a blank more, gamma in algorithm 1
    level_iterations: int = 8  # iterations after which they get it anyway
    hidden: int = 512  # width of the three hidden layers, 0.6 million weights in all [2.5 million]
    learning_rate: float = 1e-3  # of Adam [0.2, of Adam too]
    batch_size: int = 256  # positions of an update
    update_epochs: int = 16  # times that a position is learned from, in as many symmetries
    max_grad_norm: float = 1.0  # the maximum norm of the gradient
    vf_coef: float = 100.0  # lambda in equation 5: squared errors of values are small [100]
    ent_coef: float = 0.01  # xi in equation 5: keeps the policy from being sure too early
    test_puzzles: int = 500  # puzzles of each test; drawn before the games, which it so changes


# ---- The game: a move puts any digit into any blank cell, action = 4 * cell + digit - 1. It ends
# when the board is full. All games of an iteration have as many blanks, so they end together.

CELLS = np.arange(16).reshape(4, 4)  # cells are numbered row by row
UNITS = Geometry.standard(4).units  # (12, 4): the cells of each row, column and box


def reward(boards):
    """Return the share of units that hold 1 to 4, float32 (boards,), of full boards: equation 4."""
    is_satisfied = (np.sort(boards[:, UNITS]) == [1, 2, 3, 4]).all(2)  # (boards, units)
    return is_satisfied.mean(1, dtype=np.float32)


def legal_actions(boards):
    """Return which actions fill a blank cell, bool (boards, 64)."""
    return (boards == 0).repeat(4, axis=1)


def place(boards, actions):
    """Return the boards int8 (boards, 16) after an action in each."""
    after = boards.copy()
    after[np.arange(len(boards)), actions // 4] = actions % 4 + 1
    return after


def draw_boards(bank, num_blanks, count, rng):
    """Draw minimal puzzles (10 to 12 blanks) with replacement; fill in all but `num_blanks`."""
    bank = bank[bank.blanks >= num_blanks]
    drawn = rng.integers(len(bank), size=count)
    boards, solutions = bank.puzzles.reshape(-1, 16)[drawn], bank.solutions.reshape(-1, 16)[drawn]
    keys = np.where(boards == 0, rng.random(boards.shape), 2)  # below 1 for blanks, 2 for givens
    ranks = keys.argsort(1).argsort(1)  # 0 for the smallest key of a board: blanks come first
    return np.where(ranks < num_blanks, 0, solutions)


class Network(nn.Module):
    """The policy pi over all 64 actions, and the value v, the reward to expect, from 0 to 1."""

    def __init__(self, hidden):
        super().__init__()
        self.layer1 = nn.Linear(80, hidden)
        self.layer2 = nn.Linear(hidden, hidden)
        self.layer3 = nn.Linear(hidden, hidden)
        self.policy = nn.Linear(hidden, 64)
        self.value = nn.Linear(hidden, 1)

    def forward(self, boards):
        """Return log pi float32 (boards, 64) and v float32 (boards,) of boards int (boards, 16)."""
        cells = nn.functional.one_hot(boards.long(), 5)  # (boards, 16, 5): blank, or a digit
        x = self.layer1(cells.flatten(1).float()).relu()
        x = self.layer3(self.layer2(x).relu()).relu()
        return self.policy(x).log_softmax(1), self.value(x).squeeze(1).sigmoid()

    @torch.no_grad()
    def predict(self, boards):
        """Return pi and v of boards as numpy arrays."""
        log_pi, v = self(torch.from_numpy(boards))
        return log_pi.exp().numpy(), v.numpy()


def search(network, roots, args):
    """Search from boards int8 (games, 16), none of them full; return visits float32 (games, 64).

    All games search at once, each in its own tree. A node is a board: node 0 is the root, and each
    simulation adds one. An edge is an action at a node; it has P, N and N * Q of section 2.1.
    """
    games, num_nodes = np.arange(len(roots)), args.num_simulations + 1
    boards = np.zeros((len(roots), num_nodes, 16), np.int8)
    children = np.zeros((len(roots), num_nodes, 64), np.int64)  # the node behind an edge, 0 if none
    prior, visits, total_value = np.zeros((3, len(roots), num_nodes, 64), np.float32)
    boards[:, 0] = roots
    prior[:, 0], _ = network.predict(roots)  # of all 64 actions, illegal ones keep their share
    for new_node in range(1, num_nodes):
        # Select: walk down from the root along the best edges, up to an edge without a node.
        node, action = np.zeros_like(games), np.zeros_like(games)  # where each game has got to
        path, walking = [], games  # the edges walked, (games, nodes, actions) for each step down
        while len(walking):
            here = walking, node[walking]
            n = visits[here]  # (walking, 64)
            q = total_value[here] / np.maximum(n, 1)
            all_visits = np.maximum(n.sum(1, keepdims=True), 1)  # 1 at first: then P decides
            u = q + args.c_puct * prior[here] * (np.sqrt(all_visits) / (1 + n))  # equation 1
            u = u + args.unvisited_bonus * (n == 0)  # untried: no P, however sure, can hide it
            u = np.where(legal_actions(boards[here]), u, -1)  # below all others, as u >= 0
            action[walking] = u.argmax(1)  # equation 2
            edge = walking, node[walking], action[walking]
            path.append(edge)
            child = children[edge]
            walking = walking[child > 0]
            node[walking] = child[child > 0]
        # Expand: a full board is worth its reward, any other what the network thinks of it.
        new_boards = place(boards[games, node], action)
        is_full = (new_boards > 0).all(1)
        boards[:, new_node] = new_boards
        prior[:, new_node], value = network.predict(new_boards)
        value = np.where(is_full, reward(new_boards), value)
        # A full board gets no link: a walk to it ends there each time, and takes one more node.
        children[games, node, action] = np.where(is_full, 0, new_node)
        # Back up: all edges of the path count a visit, and add the value.
        for edge in path:
            visits[edge] += 1
            total_value[edge] += value[edge[0]]
    return visits[:, 0]


def self_play(network, boards, args, rng):
    """Play games to their end; return states s, policies p_s and rewards r of section 4.2."""
    states, policies = [], []
    while (boards == 0).any():
        visits = search(network, boards, args)  # (games, 64)
        states.append(boards)
        policies.append(visits / visits.sum(1, keepdims=True))  # the target: no temperature
        # Draw an action by its odds: the first one whose cumulated odds exceed a random share.
        cumulated = (visits ** (1 / args.temperature)).cumsum(1)
        share = rng.random((len(visits), 1)) * cumulated[:, -1:]
        boards = place(boards, (cumulated <= share).sum(1))
    rewards = np.tile(reward(boards), len(states))  # a position has the reward of its game's end
    return np.concatenate(states), np.concatenate(policies), rewards


# ---- Training, on symmetric positions too (section 4.2): lines trade places within their band,
# bands trade places, the board is mirrored at its diagonal: 128 ways. And digits trade names: 24.

LINES = [p for p in permutations(range(4)) if p[0] // 2 == p[1] // 2]  # 8 orders of rows or columns
GRIDS = [CELLS[np.ix_(rows, columns)] for rows in LINES for columns in LINES]  # cells, moved
MOVES = np.array([cells.ravel() for grid in GRIDS for cells in (grid, grid.T)])  # (128, 16)
RENAMINGS = np.array([(0, *p) for p in permutations(range(1, 5))], np.int8)  # (24, 5), 0 stays


def augment(states, policies, rng):
    """Turn each position, its board and its policy, by a random symmetry of its own."""
    old_cell = MOVES[rng.integers(128, size=len(states))]  # (positions, 16): what moves to a cell
    new_digit = RENAMINGS[rng.integers(24, size=len(states))]  # (positions, 5)
    old_digit = new_digit[:, 1:].argsort(1)  # the inverse, (positions, 4), digits from 0
    states = np.take_along_axis(states, old_cell, 1)
    states = np.take_along_axis(new_digit, states.astype(np.int64), 1)
    policies = policies.reshape(-1, 16, 4)  # (positions, cells, digits)
    policies = np.take_along_axis(policies, old_cell[:, :, None], 1)
    policies = np.take_along_axis(policies, old_digit[:, None, :], 2)
    return states, policies.reshape(-1, 64)


def train(network, optimizer, states, policies, rewards, args, rng):
    """Learn from the positions of an iteration; return what to watch, float32 (updates, 4)."""
    watched = []
    for _ in range(args.update_epochs):
        order = rng.permutation(len(states))
        for batch in np.split(order, range(args.batch_size, len(order), args.batch_size)):
            boards, p = augment(states[batch], policies[batch], rng)
            boards, p, r = map(torch.from_numpy, (boards, p, rewards[batch]))
            log_pi, v = network(boards)  # (batch, 64), (batch,)
            value_loss = (r - v).square().mean()  # the three terms of equation 5
            policy_loss = -(p * log_pi).sum(1).mean()
            minus_entropy = (log_pi.exp() * log_pi).sum(1).mean()
            loss = args.vf_coef * value_loss + policy_loss + args.ent_coef * minus_entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), args.max_grad_norm)
            optimizer.step()
            # Accuracy in training, alpha of algorithm 1: pi's first choice is one of the search's.
            p_of_first_choice = p.gather(1, log_pi.argmax(1, keepdim=True))[:, 0]
            accuracy = (p_of_first_choice == p.amax(1)).float().mean()
            latest = torch.stack([value_loss, policy_loss, -minus_entropy, accuracy])
            watched.append(latest.detach())
    return torch.stack(watched)


class Player:
    """Plays the action of the highest score, in the form that `evaluate` asks for."""

    def __init__(self, score_actions):
        self.score_actions = score_actions

    def reset(self, puzzles, geometry, rng):
        """Begin a batch of games: there is nothing to remember."""

    def act(self, boards, action_masks):
        """Choose an action for each game, int64 (games,). All games end together: none is full."""
        scores = self.score_actions(boards.reshape(-1, 16))
        return np.where(action_masks, scores, -1).argmax(1)


def main(argv=None):
    args = tyro.cli(Args, args=argv)
    writer = SummaryWriter(f"{args.run_dir}/calphazero__{args.seed}__{int(time.time())}")
    writer.add_text("hyperparameters", str(args))
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # more threads on a small network are slower
    rng = np.random.default_rng(args.seed)
    network = Network(args.hidden)
    optimizer = torch.optim.Adam(network.parameters(), args.learning_rate)

    train_bank, test_bank = puzzles.load("4x4", "train"), puzzles.load("4x4", "test")
    test = draw_boards(test_bank, args.max_blanks, args.test_puzzles, rng).reshape(-1, 4, 4)
    trained_on = draw_boards(train_bank, args.max_blanks, args.test_puzzles, rng).reshape(-1, 4, 4)
    greedy = Player(lambda boards: network.predict(boards)[0])  # the likeliest action
    searching = Player(lambda boards: search(network, boards, args))  # the most visited action
    how = {"seed": args.seed, "actions": "blank"}  # legal is any digit in any blank cell
    results = {
        "masked-random": evaluate(load_policy("masked-random"), test, **how),
        "untrained": evaluate(greedy, test, **how),
    }

    blanks, iterations_of_level, updates = args.min_blanks, 0, 0
    start_time = time.process_time()
    for iteration in range(args.num_iterations):
        boards = draw_boards(train_bank, blanks, args.num_envs, rng)
        states, policies, rewards = self_play(network, boards, args, rng)
        watched = train(network, optimizer, states, policies, rewards, args, rng)
        updates += len(watched)
        value_loss, policy_loss, entropy, accuracy = watched.mean(0).tolist()
        solved, seconds = (rewards == 1).mean(), time.process_time() - start_time
        writer.add_scalar("curriculum/blanks", blanks, updates)
        writer.add_scalar("charts/episodic_return", rewards.mean(), updates)
        writer.add_scalar("charts/policy_accuracy", accuracy, updates)
        writer.add_scalar("losses/value_loss", value_loss, updates)
        writer.add_scalar("losses/policy_loss", policy_loss, updates)
        writer.add_scalar("losses/entropy", entropy, updates)
        print(f"{iteration=}, {seconds=:.0f}, {blanks=}, {solved=:.3f}, {accuracy=:.3f}")

        # Algorithm 1 and section 4.3: a blank more once alpha > gamma, or after some iterations.
        iterations_of_level += 1
        is_learned = accuracy > args.level_accuracy or iterations_of_level == args.level_iterations
        if is_learned and blanks < args.max_blanks:
            blanks, iterations_of_level = blanks + 1, 0
    writer.close()

    for name, boards in {"trained": test, "train split": trained_on}.items():
        results[name] = evaluate(greedy, boards, **how)
        results[f"{name}, {args.num_simulations} simulations"] = evaluate(searching, boards, **how)
    print(f"seed {args.seed}, {args.max_blanks} blanks, held-out orbits or train split:")
    for name, result in results.items():
        print(f"{name}: {result}")
    return results


if __name__ == "__main__":
    main()
