"""Draw the tree of a search: its moves with their visits and mean values.

python examples/draw_a_search.py --out tree.png
python examples/draw_a_search.py --bank 4x4 --row 40 --simulations 100
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from sudoku_agents.calphazero.policy import evaluator
from sudoku_agents.calphazero.search import BatchedSearch, SearchConfig
from sudoku_agents.calphazero.search.proofs import LOST, WON
from sudoku_gym import board, load_policy, puzzles

COLOURS = {LOST: "#f6c9c4", WON: "#cbe8c6"}  # of refuted moves, and of moves that win
DEPTH, WIDTH, INCHES = 1.6, 1.15, 0.62  # between two levels and two leaves; of a unit on paper


def draw_search(search: BatchedSearch, game: int = 0, nodes: int = 60) -> Figure:
    """Draw the tree of one game as its last search left it; `Figure.savefig` writes PNG or SVG.

    The root shows the board, every other node the move to it, its simulations N, and its mean
    value Q. Refuted moves are red, moves that win are green; the thicker a line, the more of the
    simulations went along it.

    Args:
        search: after a search.
        game: the number of the game.
        nodes: draw no more than these, the first that the search met.
    """
    trees = search.trees
    size = round(trees.root_solutions.shape[1] ** 0.5)
    b = game * trees.node_exact_values.shape[1]
    cells = trees.node_states[0][b, : size**2].reshape(size, size)
    rows = ["  ".join(f"{digit:d}" if digit else "." for digit in row) for row in cells]
    figure = Figure(layout="constrained")
    axes = figure.subplots()
    axes.axis("off")
    leaves, deepest = 0, 0

    def draw(node: int, depth: int, text: str, outcome: int) -> float:
        """Draw a subtree from left to right; return where its node stands."""
        nonlocal leaves, deepest
        deepest = max(deepest, depth)
        below = []
        first = trees.node_first_edge[game, node]
        for edge in range(first, first + trees.node_num_visited[game, node]):
            child = int(trees.children_index[game, edge])
            if 0 <= child < nodes:
                visits = int(trees.children_visits[game, edge])
                cell, digit = divmod(int(trees.children_actions[game, edge]), size)
                row, column = divmod(cell, size)
                value = trees.children_values[game, edge] / max(visits, 1)
                move = f"r{row + 1}c{column + 1} = {digit + 1}\nN {visits}\nQ {value:.2f}"
                found = int(trees.children_outcomes[game, edge])
                below.append((draw(child, depth + 1, move, found), visits))
        x = sum(place for place, _ in below) / len(below) if below else WIDTH * leaves
        leaves += not below
        most = max(1, sum(visits for _, visits in below))
        for place, visits in below:
            line = [x, place], [-DEPTH * depth, -DEPTH * (depth + 1)]
            axes.plot(*line, color="#888888", linewidth=0.5 + 4 * visits / most, zorder=1)
        box = {"boxstyle": "round", "facecolor": COLOURS.get(outcome, "white")}
        style: dict[str, Any] = {
            "ha": "center",
            "va": "center",
            "fontsize": 7,
            "family": "monospace",
        }
        axes.text(x, -DEPTH * depth, text, bbox=box, zorder=2, **style)
        return x

    draw(0, 0, "\n".join(rows), int(trees.root_outcomes[game]))
    axes.set_xlim(-WIDTH, WIDTH * max(leaves, 1))
    axes.set_ylim(-DEPTH * deepest - 0.8, 1.1)
    figure.set_size_inches(INCHES * WIDTH * (leaves + 1), INCHES * DEPTH * (deepest + 1.4))
    return figure


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bank", default="4x4", help="whose test puzzles are searched")
    parser.add_argument("--row", type=int, default=5200, help="which of them")
    parser.add_argument("--simulations", type=int, default=24)
    parser.add_argument("--out", type=Path, default=Path("tree.png"), help="a PNG or SVG file")
    options = parser.parse_args(argv)
    test = puzzles.load(options.bank, "test")[options.row : options.row + 1]
    config = SearchConfig(
        simulations=options.simulations, root="gumbel", reward="sparse", branching="constraint"
    )
    search = BatchedSearch(test.puzzles, test.geometry, config)
    masks = board.candidates(test.puzzles, test.geometry).reshape(1, -1)
    evaluate = evaluator(load_policy("calphazero").network, test.geometry)
    search.search(np.arange(1), test.puzzles, masks, evaluate)
    draw_search(search).savefig(options.out, dpi=120)
    return search


if __name__ == "__main__":
    main()
