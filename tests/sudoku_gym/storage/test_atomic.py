"""Files are whole or as they were; of two processes that lock a file one is refused."""

import errno
import os
import subprocess
import sys
from unittest.mock import Mock

import pytest

from sudoku_gym.storage import atomic, lock
from sudoku_gym.storage.atomic import (
    atomic_write,
    sync,
    temporary_files,
    temporary_path,
    write_json,
    write_text,
)
from sudoku_gym.storage.lock import HAS_LOCKS, locked


def test_a_failure_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "figures.json"
    write_json(path, {"a": 1})
    with pytest.raises(RuntimeError), atomic_write(path) as temporary:
        assert (temporary.parent, temporary.suffix) == (tmp_path, ".json")
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == '{\n  "a": 1\n}\n'
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("length", [1, 100_000])
def test_a_file_that_is_mounted_by_itself_is_written_over(tmp_path, monkeypatch, length):
    """Nothing can be renamed onto it, as where a container is given a single file."""
    path = tmp_path / "figures.json"
    path.write_text("before" * 1000)

    def refuse(source, target):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), os.fspath(source))

    monkeypatch.setattr(os, "replace", refuse)
    write_text(path, "1" * length)
    assert path.read_text() == "1" * length and [*tmp_path.iterdir()] == [path]


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="room is made on some systems only")
def test_a_full_disk_takes_nothing_of_a_file_that_is_mounted_by_itself(tmp_path, monkeypatch):
    path = tmp_path / "figures.json"
    path.write_text("before")

    def refuse(source, target):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), os.fspath(source))

    def full(descriptor, start, length):
        os.ftruncate(descriptor, length // 2)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left"):
        write_text(path, "1" * 100)
    assert path.read_text() == "before" and [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("letter", ["a", "ä"])  # of one byte, and of two
def test_a_name_as_long_as_a_file_may_have(tmp_path, letter):
    path = tmp_path / (letter * (245 // len(letter.encode())) + ".json")
    write_json(path, {"a": 1})
    assert [*tmp_path.iterdir()] == [path]
    (left := temporary_path(path)).touch()
    assert temporary_files(path) == [left]


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_nothing_is_written_through_a_link_that_lies_in_wait(tmp_path, monkeypatch):
    path, precious = tmp_path / "figures.json", tmp_path / "precious"
    precious.write_text("mine")
    link = temporary_path(path)
    link.symlink_to(precious)
    monkeypatch.setattr(atomic, "temporary_path", lambda path: link)
    with pytest.raises(FileExistsError):
        write_json(path, {"a": 1})
    assert precious.read_text() == "mine" and sorted(tmp_path.iterdir()) == [link, precious]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_stay(tmp_path):
    path = tmp_path / "e.json"
    for mode in (0o600, 0o444, 0o640):
        write_text(path, "before")
        path.chmod(mode)
        write_text(path, "after")
        assert path.stat().st_mode & 0o777 == mode and path.read_text() == "after"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="root alone gives any group")
def test_the_group_stays(tmp_path, monkeypatch):
    path = tmp_path / "e.json"
    write_text(path, "before")
    path.chmod(0o640)
    os.chown(path, -1, 12345)
    write_text(path, "of a team")
    assert path.stat().st_gid == 12345 and path.stat().st_mode & 0o777 == 0o640
    with monkeypatch.context() as patch:
        patch.setattr(os, "chown", Mock(side_effect=PermissionError))
        write_text(path, "of a team that one has left")
    assert path.stat().st_mode & 0o777 == 0o600
    os.chown(path, 12345, -1)  # somebody else's, who may read what others write
    write_text(path, "of another")
    assert path.stat().st_uid == 0 and path.stat().st_mode & 0o044 == 0o044


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such files elsewhere")
def test_a_device_is_not_replaced(tmp_path):
    """As root, `--out /dev/null` would put a file in its place for every program."""
    (tmp_path / "link").symlink_to("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "link"):
        with pytest.raises(ValueError, match="is no regular file"), atomic_write(path):
            pass
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "link").is_symlink()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "pipe"]


def test_of_two_that_write_a_file_at_once_the_last_to_end_wins(tmp_path):
    path = tmp_path / "figures.json"
    with atomic_write(path) as first:
        first.write_text("first")
        with atomic_write(path) as second:
            second.write_text("half of the second")
            os.utime(first, (0, 0))
            with atomic_write(path) as third:  # takes no file of others for one that is left
                third.write_text("third")
            assert path.read_text() == "third"
        assert path.read_text() == "half of the second"
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


KILLED = """
import os, pathlib, signal, sys
from sudoku_gym.storage.atomic import atomic_write
with atomic_write(sys.argv[1]) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not HAS_LOCKS, reason="locks of POSIX")
def test_what_killed_processes_left_goes_with_the_next_write(tmp_path):
    path = tmp_path / "figures.json"
    subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    (left,) = tmp_path.iterdir()
    write_json(path, {})
    assert left.exists()  # so young that another may just have made it
    os.utime(left, (0, 0))
    others = [".figures.draft.json", ".figures.mine.draft.json", ".other.0123abcd.draft.json"]
    for name in others:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    write_json(path, {})
    assert sorted(each.name for each in tmp_path.iterdir()) == [*others, "figures.json"]


def test_a_folder_named_as_a_temporary_file_is_in_nobody_s_way(tmp_path):
    (tmp_path / ".figures.draft.json").mkdir()
    write_json(tmp_path / "figures.json", {})
    assert (tmp_path / "figures.json").exists() and (tmp_path / ".figures.draft.json").is_dir()


def test_text_has_the_same_bytes_on_every_system(tmp_path):
    write_text(tmp_path / "page.md", "é\n")
    assert (tmp_path / "page.md").read_bytes() == "é\n".encode()


def test_a_lock_is_held_once(tmp_path):
    file = tmp_path / ".lock"
    with locked(file, "first"):
        with pytest.raises(ValueError, match="second"), locked(file, "second"):
            pytest.fail("two hold the lock")
    with locked(file, "third"):
        assert file.exists()


def test_a_disk_without_locks_is_told(tmp_path, monkeypatch):
    """As a network disk may be."""

    def acquire(self, timeout):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock.FileLock, "acquire", acquire)
    said = r"\.lock: this disk has no locks, .* \(No locks available\): give a folder on another"
    with pytest.raises(ValueError, match=said), locked(tmp_path / ".lock", ""):
        pytest.fail("nobody holds it")


@pytest.mark.skipif(os.name != "posix", reason="folders are synced")
def test_a_disk_that_syncs_files_alone_is_enough(tmp_path, monkeypatch):
    """As a shared folder of a virtual machine is."""
    (tmp_path / "file").touch()

    def fsync(descriptor):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", fsync)
    sync(tmp_path)
    with pytest.raises(OSError, match="Invalid argument"):
        sync(tmp_path / "file")


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
