"""Files are whole or as they were, locks are held once, and what is damaged is named."""

import errno
import os
import subprocess
import sys
from math import inf, nan
from types import SimpleNamespace

import numpy as np
import pytest

from sudoku_gym.storage.atomic import atomic_write, locked, write_json, write_text
from sudoku_gym.storage.checks import check_counts, check_not_negative, check_positive, check_shares
from sudoku_gym.storage.reading import error_context, read_arrays, read_json


def test_a_failure_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "figures.json"
    write_json(path, {"a": 1})
    with pytest.raises(RuntimeError), atomic_write(path) as temporary:
        assert (temporary.parent, temporary.suffix) == (tmp_path, ".json")
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == '{\n  "a": 1\n}\n'
    assert list(tmp_path.iterdir()) == [path]


KILLED = """
import os, signal, sys
from sudoku_gym.storage.atomic import atomic_write
with atomic_write(sys.argv[1]) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_write_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "figures.json"
    write_json(path, {})
    subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert read_json(path) == {}
    write_json(path, {"a": 1})
    assert read_json(path) == {"a": 1}


def test_two_writers_of_one_file_do_not_mix(tmp_path):
    path = tmp_path / "figures.json"
    with atomic_write(path) as first, atomic_write(path) as second:
        first.write_text("1")
        second.write_text("2")
    assert path.read_text() == "1" and [*tmp_path.iterdir()] == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such files elsewhere")
def test_a_device_is_not_replaced(tmp_path):
    """As root, `--out /dev/null` would put a file in its place for every program."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is no regular file"), atomic_write(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_text_has_the_same_bytes_on_every_system(tmp_path):
    write_text(tmp_path / "page.md", "é\n")
    assert (tmp_path / "page.md").read_bytes() == "é\n".encode()


def test_an_error_names_the_file_and_not_the_temporary_one(tmp_path):
    path = tmp_path / "figures.json"
    with pytest.raises(OSError) as full, atomic_write(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as a write says it
    with pytest.raises(OSError) as missing, atomic_write(tmp_path / "nowhere" / "a.json"):
        pass
    with pytest.raises(OSError) as other, atomic_write(path):
        (tmp_path / "other").read_text()
    names = [each.value.filename for each in (full, missing, other)]
    assert names == [str(path), str(tmp_path / "nowhere" / "a.json"), str(tmp_path / "other")]
    assert not any(tmp_path.iterdir())


def test_a_lock_is_held_once(tmp_path):
    file = tmp_path / ".lock"
    with locked(file, "first"):
        with pytest.raises(ValueError, match="second"), locked(file, "second"):
            pytest.fail("two hold the lock")
    with locked(file, "third"):
        assert file.exists()


def read_objects(path):
    np.savez(path, column=np.array([{}], object))
    path.with_suffix(".npz").rename(path)
    return read_arrays(path)


@pytest.mark.parametrize(
    ("read", "content", "problem"),
    [
        (read_json, b"{", "the file is damaged"),
        (read_json, b" " * (2**26 + 1), "it has more than 67,108,864 bytes"),
        (read_json, b"[" * 200_000, "RecursionError"),
        (read_json, None, "the file is missing"),
        (read_arrays, b"PK\3\4", "the file is damaged"),
        (read_arrays, b"\x80\4.", "the file is damaged"),
        (read_arrays, None, "the file is missing"),
        (read_objects, b"", "allow_pickle=False"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, read, content, problem):
    path = tmp_path / "state"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"state: .*{problem}"), error_context(path):
        read(path)


def test_arrays_survive_a_file(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", a=np.arange(3), b=np.zeros((2, 0)))
    arrays = read_arrays(tmp_path / "a.npz")
    assert arrays["a"].tolist() == [0, 1, 2] and arrays["b"].shape == (2, 0)


@pytest.mark.parametrize(
    ("check", "good", "bad", "message"),
    [
        (check_counts, (1, 7, None), 0, "value must be at least 1, not 0"),
        (check_not_negative, (0, 0.5, None), -1, "value must be at least 0, not -1"),
        (check_positive, (0.1, None), 0.0, r"value must be positive, not 0\.0"),
        (check_shares, (0, 0.5, 1), 1.5, r"value must lie in \[0, 1\], not 1\.5"),
    ],
)
def test_values_are_checked(check, good, bad, message):
    for value in good:
        check(SimpleNamespace(value=value), "value")
    with pytest.raises(ValueError, match=message):
        check(SimpleNamespace(value=bad), "value")
    for damaged in (nan, inf):
        with pytest.raises(ValueError, match=f"value must be finite, not {damaged}"):
            check(SimpleNamespace(value=damaged), "value")
