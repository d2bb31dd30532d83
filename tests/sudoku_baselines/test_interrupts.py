"""Ctrl+C ends the solving of many boards, and of one that takes for ever."""

import time

import numpy as np
import pytest

from sudoku_baselines.belief_propagation.solver import Sinkhorn, max_product
from sudoku_baselines.classical.backtracking import Backtracking
from sudoku_baselines.classical.dlx import DancingLinks
from sudoku_baselines.classical.propagation import Propagation
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles import load

ENDLESS = 2**62  # nodes


@pytest.mark.parametrize(
    ("solver", "size", "count"),
    [
        (Backtracking(), 25, 600),
        (Backtracking(ENDLESS), 25, 1),
        (Propagation(), 25, 600),
        (Propagation(ENDLESS), 25, 1),
        (DancingLinks(ENDLESS, item_rule="first"), 25, 1),
        (max_product(), 16, 200),
        (max_product(iterations=10**6), 16, 1),
        (Sinkhorn(), 16, 10_000),
        (Sinkhorn(10**9), 16, 1),
    ],
)
def test_an_interrupt_ends_it(interrupt_after, solver, size, count):
    given, geometry = load(f"{size}x{size}", "test")[1:2], Geometry.standard(size)
    solver.solve(given.solutions, geometry)  # compiles
    boards = np.repeat(given.puzzles, count, axis=0)  # minutes each
    began = time.monotonic()
    interrupt_after(0.5)
    with pytest.raises(KeyboardInterrupt):
        solver.solve(boards, geometry)
    assert time.monotonic() - began < 20
