"""The bank `extreme-like`: its mix, its ratings, and that nothing is trained on it."""

import numpy as np
import pytest

from sudoku_gym import puzzles, solver
from sudoku_gym.puzzles.sources import resolve_source
from sudoku_gym.puzzles.splitting import training_and_held_out

BANK = puzzles.load("extreme-like")


def test_its_mix_is_that_of_sudoku_extreme():
    kinds, counts = np.unique(BANK.sources, return_counts=True)
    shares = dict(zip(kinds.tolist(), (counts / len(BANK)).tolist(), strict=True))
    wanted = {"hardest": 0.48, "hard": 0.24, "random": 0.23, "easy": 0.02, "few givens": 0.01}
    assert shares == pytest.approx(wanted, abs=0.011) and len(BANK) == 2000


def test_ratings_are_nodes_of_the_solver():
    nodes = solver.find_solutions(BANK.puzzles, 2).nodes
    assert (BANK.ratings == nodes).all()
    means = {
        kind: BANK.ratings[BANK.sources == kind].mean() for kind in ("hardest", "hard", "random")
    }
    assert means["hardest"] > 1.5 * means["hard"] > 3 * means["random"]


def test_it_is_for_tests_alone():
    assert len(puzzles.load("extreme-like", "test")) == len(BANK)
    for call in (
        lambda: puzzles.load("extreme-like", "train"),
        lambda: training_and_held_out("extreme-like"),
        lambda: resolve_source("extreme-like", "validation"),
    ):
        with pytest.raises(ValueError, match="nothing is trained on extreme-like"):
            call()
    with pytest.raises(ValueError, match="no bank with splits is called 'extreme-like'"):
        puzzles.find_in_splits(BANK.puzzles[0], "extreme-like")


def test_no_training_split_holds_any_of_it():
    pytest.importorskip("igraph")
    known = {
        grid.tobytes()
        for name in ("9x9", "9x9-hard")
        for split in ("validation", "test")
        for grid in puzzles.load(name, split).solutions
    }
    assert all(grid.tobytes() in known for grid in BANK.solutions)
    some = np.random.default_rng(0).permutation(len(BANK))[:40]
    assert not puzzles.find_in_training(BANK[some]).any()
