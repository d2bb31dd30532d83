"""Inputs that claim endless work: each meets a stated limit at once."""

import json

import pytest

from sudoku_gym import board, load_policy
from sudoku_gym.cli.puzzle_arguments import read_boards
from sudoku_gym.geometry import Geometry, jigsaw, latin_square, sudoku_x, windows
from sudoku_gym.puzzles import banks, files, rows

HUGE = int("49" * 20)


@pytest.mark.parametrize("make", [Geometry.standard, sudoku_x, windows, latin_square, jigsaw])
def test_boards_of_any_size(make):
    with pytest.raises(ValueError, match=r"no standard board has|has 2 to 25 digits|Maximum"):
        make(HUGE)


def test_boxes_and_names_of_any_size():
    with pytest.raises(ValueError, match="has 2 to 25 digits, not 1000000000000"):
        Geometry.boxes(10**6, 10**6)
    with pytest.raises(ValueError, match="no standard board has 4949"):
        banks.named_geometry(str(HUGE))


def test_long_lines(tmp_path):
    line = "1" * 200_000
    with pytest.raises(ValueError, match="200,000 characters are no board: 100,000 are the limit"):
        board.parse(line)
    (tmp_path / "long").write_text(line)
    with pytest.raises(ValueError, match="100,000 are the limit"):
        read_boards(str(tmp_path / "long"), None)


@pytest.mark.parametrize(
    ("suffix", "line"), [("txt", "\n"), ("csv", "\n"), ("txt", "# nothing\n"), ("csv", ',""\n')]
)
def test_empty_lines(tmp_path, monkeypatch, suffix, line):
    monkeypatch.setattr(rows, "_MOST_EMPTY", 1_000)
    path = tmp_path / f"empty.{suffix}"
    path.write_text(line * 2_000)
    with pytest.raises(ValueError, match="line 1001: more than 1,000 lines on end without a pu"):
        files.read(path, on_bad_row=lambda *_: None)


def test_rows_of_csv_may_begin_with_a_hash(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "_MOST_EMPTY", 10)
    path = tmp_path / "hash.csv"
    path.write_text("source,puzzle\n" + "#list,1234341221434321\n" * 20)
    assert len(files.read(path)) == 20


def test_a_row_that_never_ends(tmp_path):
    """Each line closes a field between quotes and opens the next."""
    path = tmp_path / "endless.csv"
    path.write_text('puzzle\n"1234"\n"a\n' + 'a","\n' * 60_000)
    why = r"endless.csv, lines 3 to 200\d\d: a row of more than 100,000 characters; is a quote mis"
    with pytest.raises(ValueError, match=why):
        files.read(path, on_bad_row=lambda *_: None)


def test_a_part_of_long_rows_is_short(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "_MOST_CHARACTERS", 1_000)
    path = tmp_path / "long.csv"
    line = "1234341221434321"
    wide = " ".join(line)
    path.write_text("question,source\n" + f"{line},{'s' * 90_000}\n" * 50 + f"{wide},\n" * 50)
    parts = list(files.read_in_parts(path))
    assert [len(part) for part in parts] == [57, 33, 10]
    assert parts[0].sources[0] == "s" * 100
    assert all((part.puzzles == parts[0].puzzles[0]).all() for part in parts)


def test_long_headers_of_tensors(tmp_path):
    pytest.importorskip("torch")
    from sudoku_learning.training.checkpoint import read_to_play

    entry = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    header = json.dumps({f"t{i}": entry for i in range(20_000)}).encode()
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "weights.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ValueError, match=r"weights.safetensors: .*header claims .* are the limit"):
        read_to_play(tmp_path)


@pytest.mark.parametrize("name", ["x" * 300, "x" * 5_000 + "?a=1", "a\0b"])
def test_names_longer_than_a_file_name_may_be(name):
    with pytest.raises(ValueError, match=r"no policy 'x*|no policy 'a"):
        load_policy(name)
