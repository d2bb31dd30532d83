"""Draws of the policy of a GFlowNet beside the exact distribution of its network, in both trees.

A perceptron is trained by trajectory balance: on the empty 4x4 board, and on boards with 2 to 50
solutions, 100 of which with other orbits are kept for play. Then `GFlowNetPolicy` plays them as
any policy is played, in the order of its training and, for comparison, over all legal placements.
Total variation is between the last boards, dead ends among them, and the solutions alike.

    python benchmarks/gflownet_draws.py --out docs/results/gflownet.json
    python benchmarks/gflownet_draws.py rows --seconds 60 --seeds 0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tyro
from numpy.typing import NDArray

from gflownet import BODIES, EMPTY, FOUR, Fixed, measured, settings, trained
from gflownet_several import several_boards
from results import Row, command_of, share_of
from sudoku_agents.gflownet.agent import GFlowNetPolicy
from sudoku_agents.gflownet.exact import StateGraph, total_variation
from sudoku_agents.gflownet.flows import FlowNetwork
from sudoku_agents.gflownet.orders import Order
from sudoku_gym import board
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles.complete4x4 import solution_grids

Tree = Literal["constrained", "rows"]
IDEAL_SAMPLES = 20


@dataclass(frozen=True)
class Config:
    """What to measure."""

    orders: Annotated[tuple[Tree, ...], tyro.conf.Positional] = ("constrained", "rows")
    """in which the networks are trained"""
    seeds: tuple[int, ...] = (2, 3, 6)
    """of the networks and of everything drawn"""
    seconds: float = 25.0
    """processor seconds of each training"""
    empty_draws: int = 10_000
    """games from the empty board"""
    draws: int = 400
    """games from each of the boards with several solutions"""
    count: int = 100
    """boards with several solutions, at most"""
    out: Path | None = None
    """a JSON file; the figures of other parts in it stay"""


def main(argv: Sequence[str] | None = None) -> list[Row]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    rows_of = {f"draws, {order}": partial(draws_in, config, order) for order in config.orders}
    return measured(rows_of, command_of(__file__, argv), config.out)


def draws_in(config: Config, order: Tree) -> Iterator[Row]:
    """Train in a tree, and let the policy draw."""
    train, test = several_boards()
    kinds = {
        "empty": (EMPTY[None], EMPTY[None], config.empty_draws),
        "several solutions": (train, test[: config.count], config.draws),
    }
    for name, (shown, boards, draws) in kinds.items():
        for seed in config.seeds:
            made = settings("trajectory-balance", order, BODIES["perceptron"])
            learner, spent, _ = trained(made, config.seconds, seed, Fixed(shown))
            exact = [exact_variation(learner.network, one, order) for one in boards]
            players: dict[str, Order] = {"in the order of training": order, "anywhere": "any"}
            for player, played_order in players.items():
                policy = GFlowNetPolicy(learner.network, sample=True, order=played_order)
                row: Row = {"order": order, "boards": name, "seed": seed, "player": player}
                row |= {"seconds": round(spent, 1), "number of boards": len(boards)}
                yield (
                    row
                    | drawn(policy, boards, draws, seed)
                    | {"exact variation": round(float(np.mean(exact)), 4)}
                )


def exact_variation(network: FlowNetwork, puzzle: NDArray[np.int8], order: Order) -> float:
    """Add up all paths of a network in its order."""
    graph = StateGraph(puzzle, FOUR, order)
    reached = graph.terminating_distribution(graph.log_policies(network))
    is_solution = board.is_solved(graph.terminal_boards())
    return total_variation(reached, is_solution / is_solution.sum())


def drawn(policy: Policy, boards: NDArray[np.int8], draws: int, seed: int) -> Row:
    """Play from each board int8 `[M, 4, 4]`; return the mean total variation beside ideal draws."""
    rng = np.random.default_rng(seed)
    found, ideal, solved = [], [], []
    for puzzle in boards:
        ends = play(policy, puzzle, draws, rng)
        grids = solution_grids()
        grids = grids[((puzzle == 0) | (puzzle == grids)).all((1, 2))]
        counts = (ends[:, None] == grids).all((2, 3)).sum(0)
        uniform = np.full(len(grids), 1 / len(grids))
        dead = draws - int(counts.sum())
        found.append(total_variation(np.r_[counts, dead] / draws, np.r_[uniform, 0.0]))
        samples = rng.multinomial(draws, uniform, size=IDEAL_SAMPLES) / draws
        ideal.append(np.mean([total_variation(one, uniform) for one in samples]))
        solved.append(board.is_solved(ends))
    return {
        **share_of(np.concatenate(solved)),
        "sampled variation": round(float(np.mean(found)), 4),
        "ideal draws": round(float(np.mean(ideal)), 4),
        "times ideal": round(float(np.mean(found) / np.mean(ideal)), 3),
    }


def play(
    policy: Policy, puzzle: NDArray[np.int8], games: int, rng: np.random.Generator
) -> NDArray[np.int8]:
    """Play from one puzzle until no placement is legal; return the last boards `[G, 4, 4]`."""
    boards = np.ascontiguousarray(puzzle[None].repeat(games, 0))
    policy.reset(boards.copy(), FOUR, rng)
    while True:
        masks = board.candidates(boards, FOUR).reshape(games, -1)
        running = np.flatnonzero(masks.any(1))
        if not len(running):
            return boards
        actions = policy.act(boards.copy(), masks)[running]
        cells, digits = np.divmod(actions, FOUR.size)
        boards.reshape(games, -1)[running, cells] = digits + 1


if __name__ == "__main__":
    main()
