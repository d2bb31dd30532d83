"""Damaged `npz` files of puzzles: each is refused by name, or read."""

import io
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sudoku_gym import puzzles
from sudoku_gym.puzzles import files

BANK = puzzles.load("4x4", "test")[::800]


def npy(array):
    np.save(stream := io.BytesIO(), array)
    return stream.getvalue()


def claiming(shape, descr="|i1"):
    """An array's header that claims a shape, over 16 bytes."""
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream := io.BytesIO(), header)
    return stream.getvalue() + bytes(16)


def archive(content, name="puzzles.npy"):
    with zipfile.ZipFile(stream := io.BytesIO(), "w") as opened:
        opened.writestr(name, content)
    return stream.getvalue()


FILES = {
    "empty": b"",
    "npy renamed": npy(BANK.puzzles),
    "pickle": pickle.dumps(BANK.puzzles),
    "text": b"1234....21.34..1\n",
    "member is text": archive(b"1234....21.34..1"),
    "member is a pickle": archive(pickle.dumps([1])),
    "member is a folder": archive(b"", "puzzles/"),
    "another name": archive(npy(BANK.puzzles), "boards.npy"),
    "0-d": archive(npy(np.int8(3))),
    "1-d": archive(npy(np.zeros(16, np.int8))),
    "no square": archive(npy(np.zeros((5, 3, 27), np.int8))),
    "too large": archive(npy(np.zeros((1, 26, 26), np.int8))),
    "dates": archive(npy(np.zeros((1, 4, 4), "M8[s]"))),
    "objects": archive(npy(np.full((1, 4, 4), None))),
    "records": archive(claiming((1,), [("a", "|i1")])),
    "10^11 boards": archive(claiming((10**11, 4, 4))),
    "10^30 boards": archive(claiming((10**30, 4, 4))),
    "too few bytes": archive(claiming((2, 4, 4))),
    "negative": archive(claiming((-1, 4, 4))),
    "no board": archive(claiming((0, 4, 4))),
    "wrong digit": archive(npy(np.full((1, 4, 4), 2**63, "u8"))),
    "checksum": archive(npy(BANK.puzzles)).replace(npy(BANK.puzzles)[-99:], b"\0" * 99),
}


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_refused_by_name(tmp_path, name):
    path = tmp_path / "damaged.npz"
    path.write_bytes(FILES[name])
    with pytest.raises(ValueError, match=r"damaged\.npz"):
        files.read(path)


def whole_file(save):
    save(stream := io.BytesIO(), puzzles=BANK.puzzles, solutions=BANK.solutions)
    return stream.getvalue()


GOOD = [whole_file(save) for save in (np.savez, np.savez_compressed)]
PLACE = st.integers(0, max(map(len, GOOD)) - 1)


@given(
    which=st.sampled_from(GOOD),
    cut=st.none() | PLACE,
    flips=st.lists(st.tuples(PLACE, st.integers(0, 255)), max_size=4),
)
@example(which=GOOD[0], cut=None, flips=[])
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_damaged_at_random_reads_or_says_why_not(tmp_path, which, cut, flips):
    data = bytearray(which)
    for place, value in flips:
        data[place % len(data)] = value
    path = tmp_path / "damaged.npz"
    path.write_bytes(data if cut is None else data[: cut % len(data)])
    try:
        files.read(path).check()
    except ValueError as error:
        assert "damaged.npz" in str(error) and (flips or cut is not None)
