"""What the tests of the command share."""

import numpy as np
import pytest

from sudoku_gym import cli, puzzles
from sudoku_gym.puzzles import files
from sudoku_gym.puzzles.puzzle_set import PuzzleSet


@pytest.fixture
def run(capsys):
    """Run the command in this process; return its exit code, standard output and error."""

    def call(*arguments):
        code = cli.main(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def extreme(tmp_path, monkeypatch):
    """Work in a folder with a list of 120 puzzles, `test.csv`: of three sources, rated 0 to 99."""
    monkeypatch.chdir(tmp_path)
    easy, hard = puzzles.load("9x9", "test")[:60], puzzles.load("9x9-hard", "test")[:60]
    both, rng = PuzzleSet.join([easy, hard]), np.random.default_rng(0)
    sources = np.array(["puzzles0_kaggle", "puzzles3_magictour", "puzzles6_forum_hardest_1905"])
    rated = PuzzleSet(
        both.puzzles,
        both.solutions,
        both.geometry,
        ratings=rng.integers(0, 100, 120),
        sources=sources[rng.integers(0, 3, 120)],
    )
    files.write("test.csv", rated)
    return rated
