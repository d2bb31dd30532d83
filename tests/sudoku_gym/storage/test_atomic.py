"""Files are whole or as they were; of two processes that lock a file one is refused."""

import errno
import os

import pytest

from sudoku_gym.storage.atomic import atomic_write, temporary_path, write_json, write_text
from sudoku_gym.storage.lock import locked


def test_a_failure_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "figures.json"
    write_json(path, {"a": 1})
    with pytest.raises(RuntimeError), atomic_write(path) as temporary:
        assert (temporary.parent, temporary.suffix) == (tmp_path, ".json")
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == '{\n  "a": 1\n}\n'
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_nothing_is_written_through_a_link_that_lies_in_wait(tmp_path):
    path, precious = tmp_path / "figures.json", tmp_path / "precious"
    precious.write_text("mine")
    temporary_path(path).symlink_to(precious)
    write_json(path, {"a": 1})
    assert precious.read_text() == "mine" and path.read_text().startswith("{")
    assert sorted(tmp_path.iterdir()) == [path, precious]


def test_text_has_the_same_bytes_on_every_system(tmp_path):
    write_text(tmp_path / "page.md", "é\n")
    assert (tmp_path / "page.md").read_bytes() == "é\n".encode()


def test_a_lock_is_held_once(tmp_path):
    lock = tmp_path / ".lock"
    with locked(lock, "first"):
        with pytest.raises(ValueError, match="second"), locked(lock, "second"):
            pytest.fail("two hold the lock")
    with locked(lock, "third"):
        assert lock.exists()


def test_an_error_names_the_file_and_not_the_temporary_one(tmp_path):
    path = tmp_path / "figures.json"
    with pytest.raises(OSError) as full, atomic_write(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as a write says it
    with pytest.raises(OSError) as missing, atomic_write(tmp_path / "nowhere" / "a.json") as file:
        file.write_text("half")
    with pytest.raises(OSError) as other, atomic_write(path):
        (tmp_path / "other").read_text()
    names = [each.value.filename for each in (full, missing, other)]
    assert names == [str(path), str(tmp_path / "nowhere" / "a.json"), str(tmp_path / "other")]
    assert not any(tmp_path.iterdir())
