"""Checksums of folders: equal for copies, different for everything else."""

import os
from hashlib import sha256

import pytest

from sudoku_gym.policies.checksums import files_below, files_checksum


def checksum_of(folder):
    return files_checksum(folder, *files_below(folder))


def test_what_version_control_and_our_locks_keep_is_none_of_it(tmp_path):
    folder = tmp_path / "net"
    folder.mkdir()
    (folder / "weights.bin").write_bytes(b"weights")
    before = checksum_of(folder)
    for name in (
        *(".git/index", ".cache/huggingface/weights.metadata", "inner/.DS_Store", "._weights.bin"),
        *(".README.md.swp", ".ipynb_checkpoints/a.ipynb", ".ruff_cache/0", ".nfs01", "Thumbs.db"),
        "__pycache__/play.cpython-311.pyc",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode())
    (folder / ".results.json.lock").touch()
    assert checksum_of(folder) == before
    for name in (".hidden.bin", ".filled.lock"):  # a policy may read these
        (folder / name).write_bytes(b"weights")
        assert checksum_of(folder) != before
        (folder / name).unlink()


@pytest.mark.skipif(os.name != "posix", reason="names with line breaks")
def test_no_name_of_a_file_stands_for_another_file(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / "a").write_bytes(b"1")
    (one / "b").write_bytes(b"2")
    (one / "c").write_bytes(b"3")
    (other / f"b\n{sha256(b'3').hexdigest()}  c").write_bytes(b"2")
    sums = [checksum_of(each) for each in (one, other)]
    assert sums[0] != sums[1]


def test_folders_without_end_are_refused(tmp_path):
    (tmp_path / "/".join("a" * 250)).mkdir(parents=True)
    with pytest.raises(ValueError, match="more than 200 folders in each other below it"):
        checksum_of(tmp_path)
