"""`sudoku-gym generate`: puzzles with one solution, of the kind that is asked for."""

import pytest

from sudoku_gym import board, solver
from sudoku_gym.puzzles import banks, files


def test_generate_prints_puzzles_with_one_solution(run):
    code, out, _ = run("generate", "--count", "5", "--board", "6x6", "--seed", "1")
    boards = board.parse_many(out.splitlines())
    assert code == 0 and boards.shape == (5, 6, 6)
    assert (solver.count_solutions(boards) == 1).all()
    assert run("generate", "--count", "5", "--board", "6", "--seed", "1")[1] == out
    assert run("generate", "--count", "5", "--board", "6", "--seed", "2")[1] != out


@pytest.mark.parametrize("name", ["jigsaw9x9"])
def test_generate_takes_the_name_of_a_bank(run, name):
    code, out, _ = run("generate", "--board", name, "--seed", "1")
    geometry = banks.named_geometry(name)
    assert code == 0
    assert solver.count_solutions(board.parse_many([out], geometry), 2, geometry).tolist() == [1]


def test_generate_writes_files(run, tmp_path):
    path = tmp_path / "out.csv"
    arguments = ["generate", "--count", "20", "--seed", "3", "--out", str(path)]
    code, out, _ = run(*arguments, "--givens", "30")
    assert code == 0 and "20 puzzles with 30 to 30 givens" in out
    assert (files.read(path).blanks == 51).all()
