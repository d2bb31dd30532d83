"""`sudoku-gym generate`: puzzles with one solution, of the kind that is asked for."""

import pytest

from sudoku_gym import board, solver
from sudoku_gym.puzzles import banks


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


def test_generate_writes_files_of_a_difficulty(run, tmp_path):
    path = tmp_path / "out.csv"
    arguments = ["generate", "--count", "20", "--seed", "3", "--out", str(path)]
    code, out, _ = run(*arguments, "--difficulty", "hidden-singles", "--givens", "30")
    assert code == 0 and "20 puzzles with 30 givens" in out
    assert path.read_text().count("hidden singles") == 20


def test_generate_gives_up_on_what_does_not_exist(run, monkeypatch):
    monkeypatch.setattr("sudoku_gym.cli.generate._TRIES", 100)
    code, _, error = run("generate", "--board", "4x4", "--difficulty", "search")
    assert code == 2 and "0 of 112 puzzles had the difficulty search" in error
