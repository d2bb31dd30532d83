"""Boards a second of the factor-graph body: compiled, in plain torch, and of the pooled body.

Minimal puzzles of the training split go through each of them in turns, in rounds; each counts with
its fastest turn on processor time, one thread. 'Trained' is forward and backward with a loss on the
placements after every round of messages (the pooled body: after its last layer); 'played' is
forward alone. Plain torch gets boards in batches of 16, where it is fastest.

The arithmetic limit divides the vector instructions that the rounds can't do without by the rate
this core reaches on registers alone, running nothing else. A round takes 5 H**2 numbers multiplied
and added for each placement, 35 instructions a channel for each edge (an exponential, a logarithm,
three sums) and 45 for each placement's gates. With intersections it takes 2 H**2 more for each
placement, and for each intersection 6 H**2, 45 for its gates, 28 for two logarithms of products,
and one for each message that it sums. To train, a board's rounds are run twice, and walking back
takes twice as many products, 25 for each edge and 10 for gates; the rest of the way back through
intersections is not counted.

    python benchmarks/factor_graph_body.py
    python benchmarks/factor_graph_body.py --channels 24 --rounds 24 --intersections
"""

import argparse
import time

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from sudoku_gym import board, puzzles
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import POLICY_AND_VALUE, Network, PooledConfig, factor_graph
from sudoku_learning.networks.factor_graph import function, reference, vectors
from sudoku_learning.networks.factor_graph.graph import FactorGraph

PLAIN_BATCH = 16


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--banks", nargs="+", default=["4x4", "9x9", "16x16"])
    parser.add_argument("--channels", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=16, help="of messages")
    parser.add_argument("--intersections", action="store_true")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--turns", type=int, default=5, help="of each body")
    parser.add_argument("--smoke", action="store_true", help="a few boards, to see that it runs")
    options = parser.parse_args(argv)
    if options.smoke:
        options.banks, options.batch, options.turns, options.rounds = ["4x4"], 4, 1, 2
    torch.set_num_threads(1)
    torch.manual_seed(0)
    console = Console()
    console.print(f"compiling took {compile_seconds(options):.1f} processor seconds")
    rates = {}
    for bank in options.banks:
        rates[bank] = measure(bank, options)
        console.print(table_of(bank, rates[bank], options))
    return rates


def compile_seconds(options):
    """Processor seconds of the first calls; next to nothing with a warm cache of numba's."""
    start = time.process_time()
    boards, masks, geometry = boards_of("4x4", 1)
    Compiled(options).train(boards, masks, geometry)
    return time.process_time() - start


def boards_of(bank, count):
    chosen = puzzles.load(bank, split="train").puzzles[:count]
    geometry = Geometry.standard(chosen.shape[-1])
    masks = board.candidates(chosen, geometry).reshape(len(chosen), -1)
    return torch.from_numpy(chosen), torch.from_numpy(masks), geometry


class Compiled:
    """The body as it is used."""

    def __init__(self, options):
        sizes = options.channels, options.rounds
        config = factor_graph.FactorGraphConfig(*sizes, intersections=options.intersections)
        self.body = factor_graph.FactorGraphBody(config)
        self.head = self.body.placement_readout(1)

    def play(self, boards, masks, geometry):
        """Forward alone."""
        with torch.inference_mode():
            self.head(self.body(boards, masks, geometry))

    def train(self, boards, masks, geometry):
        """Forward and backward."""
        self.head(self.body(boards, masks, geometry, all_rounds=True)).square().sum().backward()


class Plain(Compiled):
    """The same body with its rounds in plain torch, in small batches."""

    def play(self, *boards):
        """Forward alone."""
        self._in_batches(super().play, *boards)

    def train(self, *boards):
        """Forward and backward."""
        self._in_batches(super().train, *boards)

    def _in_batches(self, call, boards, masks, geometry):
        compiled, function.run_rounds = function.run_rounds, reference.run_rounds
        try:
            for first in range(0, len(boards), PLAIN_BATCH):
                part = slice(first, first + PLAIN_BATCH)
                call(boards[part], masks[part], geometry)
        finally:
            function.run_rounds = compiled


class Pooled:
    """The body before: mean and maximum, two layers with weights of their own."""

    def __init__(self, _options):
        self.network = Network(PooledConfig(), POLICY_AND_VALUE, Geometry.standard(9))

    def play(self, boards, masks, geometry):
        """Forward alone."""
        with torch.inference_mode():
            self.network(boards, masks, geometry)

    def train(self, boards, masks, geometry):
        """Forward and backward."""
        logits = self.network(boards, masks, geometry)["policy"]
        logits[masks].square().sum().backward()


def measure(bank, options):
    """Return boards a second, `{body: (trained, played)}`, of the limit too and of the graph.

    "bytes" is what a board's rounds leave behind for the way back, without intersections.
    """
    boards, masks, geometry = boards_of(bank, options.batch)
    bodies = {"compiled": Compiled(options), "plain torch": Plain(options), "pooled": Pooled(None)}
    fastest = {(name, what): np.inf for name in bodies for what in ("train", "play")}
    graphs = multiplications = np.inf
    for turn in range(options.turns + 1):
        for (name, what), seconds in fastest.items():
            spent = seconds_of(getattr(bodies[name], what), boards, masks, geometry)
            if turn:  # the first is for warming up
                fastest[name, what] = min(seconds, spent)
        inputs = boards.numpy(), masks.numpy(), geometry, options.intersections
        graphs = min(graphs, seconds_of(FactorGraph.of, *inputs))
        multiplications = min(multiplications, seconds_of(multiply, 1_000_000) / 8e6)
    rates = {
        name: tuple(len(boards) / fastest[name, what] for what in ("train", "play"))
        for name in bodies
    }
    graph = FactorGraph.of(*inputs)
    count, edges = len(graph.positions), len(graph.edge_variable)
    channels, steps = options.channels, options.rounds
    nodes = len(graph.intersection_lists)
    products = (7 if nodes else 5) * count + 6 * nodes
    forward = products * channels + 45 * (count + nodes) + 35 * edges
    forward += 28 * nodes + len(graph.list_edges)
    back = 2 * products * channels + 10 * (count + nodes) + 25 * edges
    limits = tuple(
        len(boards) * vectors.LANES / (multiplications * work * channels * steps)
        for work in (2 * forward + back, forward)
    )
    kept = 4 * channels * (steps + 1) * (4 * count + 2 * edges) / len(boards)
    return {
        **rates,
        "arithmetic limit": limits,
        "graph": len(boards) / graphs,
        "bytes": kept,
    }


def seconds_of(call, *arguments):
    start = time.process_time()
    call(*arguments)
    return time.process_time() - start


@njit()
def multiply(count):
    """Multiply and add eight vectors `count` times, without touching memory."""
    x, y = vectors.spread(0.999), vectors.spread(0.001)
    a = b = c = d = e = f = g = h = vectors.spread(0.5)
    for _ in range(count):
        a, b = vectors.multiply_add(a, x, y), vectors.multiply_add(b, x, y)
        c, d = vectors.multiply_add(c, x, y), vectors.multiply_add(d, x, y)
        e, f = vectors.multiply_add(e, x, y), vectors.multiply_add(f, x, y)
        g, h = vectors.multiply_add(g, x, y), vectors.multiply_add(h, x, y)
    total = np.empty(vectors.LANES, np.float32)
    vectors.store(total, 0, a + b + c + d + e + f + g + h)
    return total


def table_of(bank, rates, options):
    nodes = ", intersections" if options.intersections else ""
    table = Table(
        title=f"minimal {bank}, {options.channels} channels, {options.rounds} rounds{nodes}: "
        "boards a second"
    )
    for name in ("body", "trained", "played", "compiled / it, trained", "played"):
        table.add_column(name, justify="left" if name == "body" else "right")
    for name in ("compiled", "plain torch", "pooled", "arithmetic limit"):
        trained, played = rates[name]
        table.add_row(
            name,
            f"{trained:,.0f}",
            f"{played:,.0f}",
            f"{rates['compiled'][0] / trained:.2f}",
            f"{rates['compiled'][1] / played:.2f}",
        )
    share = rates["compiled"][1] / rates["graph"]
    table.caption = (
        f"building the graph takes {share:.0%} of playing; the way back reads "
        f"{rates['bytes'] / 2**20:.1f} MiB a board"
    )
    return table


if __name__ == "__main__":
    main()
