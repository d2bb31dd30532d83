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


@pytest.mark.parametrize("suffix", ["txt", "csv"])
@pytest.mark.parametrize("line", ["\n", "# nothing\n"])
def test_empty_lines(tmp_path, monkeypatch, suffix, line):
    monkeypatch.setattr(rows, "_MOST_EMPTY", 1_000)
    path = tmp_path / f"empty.{suffix}"
    path.write_text(line * 2_000)
    with pytest.raises(ValueError, match="line 1001: more than 1,000 lines on end without a pu"):
        files.read(path, on_bad_row=lambda *_: None)


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
