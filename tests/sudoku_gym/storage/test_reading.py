"""Files of third parties that are too large, or no text, are refused before they are read."""

import bz2
import hashlib
import lzma
import os
import tracemalloc

import pytest

from sudoku_gym.evaluation.leaderboard import read_leaderboard
from sudoku_gym.evaluation.list_results import read_list_results
from sudoku_gym.storage import reading
from sudoku_gym.storage.reading import describe_error, open_text, read_json, sha256_of


@pytest.mark.parametrize("read", [read_leaderboard, read_list_results])
@pytest.mark.parametrize("part", ["[]", "{}"])
def test_lists_and_objects_are_counted_before_they_are_read(tmp_path, read, part):
    path = tmp_path / "results.json"
    path.write_text('{"rows":[' + f"{part}," * 300_000 + "0]}")
    with pytest.raises(ValueError, match=r"results\.json: .* more than 200,000 lists and obj"):
        read(path)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="it has more than 200,000 lists and objects"):
            read_json(path)
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()


def test_a_key_stands_once(tmp_path):
    """Of two readers one may take the first, the other the last, and a reviewer sees either."""
    path = tmp_path / "twice.json"
    path.write_text('[{"outcomes": "1", "error": "", "outcomes": "0"}]')
    with pytest.raises(ValueError, match="the key 'outcomes' stands there more than once"):
        read_json(path)


def test_values_are_counted_before_they_are_read(tmp_path, monkeypatch):
    path = tmp_path / "values.json"
    path.write_text("[" + "0," * 200 + "0]")
    assert len(read_json(path)) == 201
    monkeypatch.setattr(reading, "_MOST_VALUES", 100)
    with pytest.raises(ValueError, match="it has more than 100 values"):
        read_json(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (lzma.compress(b"puzzle"), "unpack it with xz -d"),
        (bz2.compress(b"puzzle"), "unpack it with bzip2 -d"),
        (b"\x28\xb5\x2f\xfd\x24", "unpack it with zstd -d"),
        (b"PK\x03\x04\x14\x00", "unpack it with unzip"),
        ("puzzle".encode("utf-16"), "the text is UTF-16"),
        ("puzzle".encode("utf-32"), "the text is UTF-32"),
        (b"\x00\x00\xfe\xff" + "puzzle".encode("utf-32-be"), "the text is UTF-32"),
    ],
)
def test_what_is_no_text_is_named(tmp_path, content, problem):
    (tmp_path / "list").write_bytes(content)
    with pytest.raises(ValueError, match=problem):
        open_text(tmp_path / "list")


def test_errors_are_lines_that_can_be_written():
    assert describe_error(ValueError("bad\n\ud800")) == "bad ?"
    assert describe_error(KeyError()) == "KeyError"


@pytest.mark.parametrize("length", [0, 1, 2**20, 2**20 + 1])
def test_the_checksum_of_a_file_is_that_of_sha256sum(tmp_path, length):
    path, content = tmp_path / "weights.bin", b"ab" * length
    path.write_bytes(content)
    assert sha256_of(path) == hashlib.sha256(content).hexdigest()


@pytest.mark.skipif(not os.path.exists("/proc/self/pagemap"), reason="a file of Linux")
def test_a_file_that_is_called_empty_and_has_no_end_is_not_read(tmp_path):
    """A stranger's checkpoint may hold a link to one."""
    link = tmp_path / "weights.bin"
    link.symlink_to("/proc/self/pagemap")
    assert sha256_of(link) == hashlib.sha256(b"").hexdigest()
    with pytest.raises(ValueError, match="no regular file"):
        sha256_of(tmp_path)
