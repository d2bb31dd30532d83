"""What a file of puzzles is read as: a list, or one board row by row."""

import pytest

from sudoku_gym import board
from sudoku_gym.puzzles import load

PUZZLE = "1234....21.34..1"


@pytest.mark.parametrize("count, said", [(4, "line 3: row 1"), (16, "line 3: row 1")])
def test_a_wrong_symbol_does_not_make_a_list_one_board(run, tmp_path, count, said):
    """Four boards of 4x4 have as many symbols as one of 8x8, and sixteen have as many rows, too."""
    lines = [PUZZLE] * count
    lines[2] = PUZZLE.replace("1", "5", 1)
    (tmp_path / "list.txt").write_text("\n".join(lines))
    code, out, err = run("solve", str(tmp_path / "list.txt"))
    assert (code, out) == (2, "") and f"list.txt: {said}" in err and "'5' is no digit" in err


@pytest.mark.parametrize("bank", ["6x6", "9x9", "16x16", "25x25"])
def test_a_file_may_hold_one_board_row_by_row(run, tmp_path, bank):
    puzzle = load(bank, "test").puzzles[0]
    rows = [
        board.to_line(puzzle)[start : start + len(puzzle)]
        for start in range(0, puzzle.size, len(puzzle))
    ]
    for text in ("\n".join(rows), board.to_text(puzzle)):
        (tmp_path / "one.txt").write_text(text)
        code, out, _ = run("solve", str(tmp_path / "one.txt"), "--format", "line")
        assert code == 0 and out.endswith("  one solution\n")


def test_a_board_whose_size_is_given_may_have_few_givens(run, tmp_path):
    """Each of its rows is a board of 4x4, too."""
    rows = ["1..............2", *["." * 16] * 15]
    (tmp_path / "one.txt").write_text("\n".join(rows))
    code, out, _ = run("solve", str(tmp_path / "one.txt"), "--board", "16x16", "--count", "1")
    assert code == 0 and len(out.split()) > 256


def test_a_file_that_is_called_like_a_puzzle_does_not_take_its_place(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / PUZZLE).write_text("4321....12.43..4")
    code, out, _ = run("solve", PUZZLE, "--format", "line")
    assert code == 0 and out.startswith("1234")
    code, out, _ = run("solve", f"./{PUZZLE}", "--format", "line")
    assert out.startswith("4321")
