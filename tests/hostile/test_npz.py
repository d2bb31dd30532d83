"""Files that pretend to hold boards: each is refused by name, in little memory, or read."""

import io
import os
import pickle
import struct
import tracemalloc
import zipfile
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sudoku_gym import puzzles
from sudoku_gym.puzzles import files
from sudoku_gym.puzzles.npz import read_arrays, read_board_arrays

BANK = puzzles.load("4x4", "test")[::800]


def header(descr="'|i1'", shape="(1, 4, 4)", order="False", length=None, version=b"\x01\x00"):
    """Write an array's header, whatever stands in it."""
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    return raw_header(text, length, version)


def raw_header(text, length=None, version=b"\x01\x00"):
    form = "<H" if version == b"\x01\x00" else "<I"
    return b"\x93NUMPY" + version + struct.pack(form, length or len(text)) + text


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def archive(content, name="puzzles.npy", method=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as opened:
        opened.writestr(name, content)
    return stream.getvalue()


def many_members(count):
    """Name a good array, and others that are nowhere, in a directory as long as one likes."""
    data = archive(npy(BANK.puzzles))
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entry = bytearray(data[start : start + 46]) + b"a"
    entry[28:34] = struct.pack("<3H", 1, 0, 0)
    directory = data[start:end] + bytes(entry) * count
    counts = [count + 1] * 2
    size, place = len(directory), len(data[:start]) + len(directory)
    last = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, *counts, size, start)
    last += struct.pack("<4sLQL", b"PK\6\7", 0, place, 1)
    last += struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 2**16 - 1, 2**16 - 1, *[2**32 - 1] * 2, 0)
    return data[:start] + directory + last


def two_of_a_name(content):
    with zipfile.ZipFile(stream := io.BytesIO(), "w") as opened:
        opened.writestr("puzzles.npy", content)
        opened.filelist *= 2
    return stream.getvalue()


def encrypted(content):
    """Set the flag that says so in both headers of the only member."""
    data = bytearray(archive(content))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def corrupt(content, method):
    data = bytearray(archive(content, method=method))
    data[60:90] = b"\xff" * 30
    return bytes(data)


ZEROS = bytes(16)
# What the file holds, and what is said of it: one more is one line more.
FILES = {
    "empty": (b"", "no readable npz"),
    "npy renamed": (npy(BANK.puzzles), "no readable npz"),
    "pickle": (pickle.dumps(BANK.puzzles), "no readable npz"),
    "text": (b"1234....21.34..1\n", "no readable npz"),
    "member is text": (archive(b"1234....21.34..1"), "no readable npz"),
    "member is empty": (archive(b""), "no readable npz"),
    "member is a pickle": (archive(pickle.dumps([1])), "no readable npz"),
    "member is a folder": (archive(b"", "puzzles/"), "holds no array `puzzles`"),
    "no member": (zipfile.ZipFile(io.BytesIO(), "w").fp.getvalue(), "holds no array `puzzles`"),
    "0-d": (archive(npy(np.int8(3))), r"must be \[M, N, N\] or \[M, N\*\*2\], not \(\)"),
    "1-d": (archive(npy(np.zeros(16, np.int8))), r"not \(16,\)"),
    "4-d": (archive(npy(np.zeros((1, 1, 4, 4), np.int8))), r"not \(1, 1, 4, 4\)"),
    "no square": (archive(npy(np.zeros((5, 3, 27), np.int8))), r"not \(5, 3, 27\)"),
    "too large": (archive(npy(np.zeros((1, 26, 26), np.int8))), r"not \(1, 26, 26\)"),
    "no board has 5 digits": (archive(npy(np.zeros((1, 5, 5), np.int8))), "no standard board"),
    "time spans": (archive(npy(np.zeros((1, 4, 4), "m8[s]"))), "not timedelta64"),
    "dates": (archive(npy(np.zeros((1, 4, 4), "M8[s]"))), "not datetime64"),
    "objects": (archive(npy(np.full((1, 4, 4), None))), "not object"),
    "truths": (archive(npy(np.zeros((1, 4, 4), bool))), "not bool"),
    "records": (archive(header("[('a', '|i1')]") + ZEROS), "must be integers"),
    "nested type": (archive(header("('|i1', (4, 4))", "(1,)") + ZEROS), "must be integers"),
    "huge type": (archive(header("'V2147483647'")), "must be integers"),
    "10^11 boards": (archive(header(shape="(100000000000, 4, 4)") + ZEROS), "header claims 1,600"),
    "10^30 boards": (archive(header(shape=f"({10**30}, 4, 4)") + ZEROS), "a header claims"),
    "1e9 boards": (archive(header("'<i8'", "(1000000000, 9, 9)")), "a header claims 648,000"),
    "too few bytes": (archive(header() + ZEROS[1:]), "claims 16 bytes, and there are 15"),
    "too many bytes": (archive(header() + ZEROS * 2), "claims 16 bytes, and there are 32"),
    "booleans in a shape": (archive(header(shape="(True, 4, 4)") + ZEROS), "not .True, 4, 4."),
    "negative": (archive(header(shape="(-1, 4, 4)") + ZEROS), r"not \(-1, 4, 4\)"),
    "no board": (archive(header(shape="(0, 4, 4)")), r"not \(0, 4, 4\)"),
    "shape is a list": (archive(header(shape="[1, 4, 4]") + ZEROS), "no readable npz"),
    "fraction in a shape": (archive(header(shape="(1.0, 4, 4)") + ZEROS), "no readable npz"),
    "unterminated": (
        archive(raw_header(b"{'descr': '|i1', 'shape': (1, 4") + ZEROS),
        "no readable",
    ),
    "unterminated text": (archive(raw_header(b"{'descr': '''|i1") + ZEROS), "no readable npz"),
    "code": (archive(header(shape="(print(7), 4, 4)") + ZEROS), "no readable npz"),
    "deep": (archive(header(shape="(" * 4000 + ")" * 4000)), "no readable npz"),
    "long header": (
        archive(header(shape=f"(1, 4, 4){' ' * 20_000}") + ZEROS),
        "of 20,063 bytes",
    ),
    "header without end": (archive(header(length=9_000)), "it ends too early"),
    "header of 4 GB": (
        archive(header(length=2**32 - 1, version=b"\x02\x00")),
        "header of 4,294,967,295 bytes, where 10,000 are allowed",
    ),
    "a number of 4,000 digits": (archive(header(shape=f"({'9' * 4000}, 4, 4)")), "header claims"),
    "two of a name": (two_of_a_name(npy(BANK.puzzles)), "holds 2 arrays `puzzles`"),
    "30,000 members": (many_members(30_000), "lists arrays in 1,410,05. bytes"),
    "version 9": (archive(header(version=b"\x09\x00")), "no readable npz"),
    "encrypted": (encrypted(npy(BANK.puzzles)), "no readable npz"),
    "LZMA": (archive(npy(BANK.puzzles), method=zipfile.ZIP_LZMA), "savez does not use"),
    "corrupt LZMA": (corrupt(npy(BANK.puzzles), zipfile.ZIP_LZMA), "savez does not use"),
    "corrupt deflate": (corrupt(npy(BANK.puzzles), zipfile.ZIP_DEFLATED), "no readable npz"),
    "bzip2": (archive(npy(BANK.puzzles), method=zipfile.ZIP_BZIP2), "savez does not use"),
    "checksum": (archive(npy(BANK.puzzles)).replace(npy(BANK.puzzles)[-99:], b"\0" * 99), "CRC"),
    "numbers of 64 bits": (archive(npy(np.full((1, 4, 4), 2**63, "u8"))), "is no digit"),
}


@contextmanager
def little_memory(most=10 * 2**20):
    """Assert that a block takes so many bytes at most."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def check(path):
    """Read a file, which must say why not by name, or hold puzzles."""
    try:
        found = files.read(path)
    except ValueError as error:
        assert str(path) in str(error)
        return str(error)
    found.check()
    return ""


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_refused_by_name(tmp_path, name):
    content, said = FILES[name]
    path = tmp_path / "hostile.npz"
    path.write_bytes(content)
    with little_memory(), pytest.raises(ValueError, match=said) as refusal:
        files.read(path)
    assert str(path) in str(refusal.value) and len(str(refusal.value)) < 500


def test_a_header_is_not_read_before_its_length_is_known(tmp_path):
    """A header of 256 MB, compressed to a thousandth."""
    path = tmp_path / "bomb.npz"
    blanks = b" " * 2**28
    path.write_bytes(archive(raw_header(blanks, version=b"\x02\x00"), method=zipfile.ZIP_DEFLATED))
    del blanks
    with little_memory(), pytest.raises(ValueError, match="header of 268,435,456 bytes"):
        files.read(path)


def test_one_puzzle_a_million_times_is_refused_in_little_memory(tmp_path):
    """Boards so alike are packed to a thousandth; the puzzles of a bank to a sixth at most."""
    path = tmp_path / "same.npz"
    np.savez_compressed(path, puzzles=np.tile(BANK.puzzles[:1], (1_000_000, 1, 1)))
    with (
        little_memory(),
        pytest.raises(ValueError, match="holds 16,000,000 bytes of boards in a file of "),
    ):
        files.read(path)


def test_many_members_may_be_listed(tmp_path):
    path = tmp_path / "many.npz"
    path.write_bytes(many_members(20_000))
    assert np.array_equal(files.read(path).puzzles, BANK.puzzles)


def test_members_may_not_share_their_bytes(tmp_path):
    """A member that is listed a thousand times would take a thousand times its bytes."""
    path = tmp_path / "replay.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as opened:
        opened.writestr("boards.npy", npy(np.zeros(100_000)))
        opened.filelist *= 1_000
    with little_memory(), pytest.raises(ValueError, match=r"replay\.npz: 'boards\.npy' is not"):
        read_arrays(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression_is_not_unpacked(tmp_path, method):
    """A few hundred bytes of bz2 are unpacked to gigabytes before anyone can count them."""
    path = tmp_path / "part.npz"
    path.write_bytes(archive(npy(np.zeros(10_000)), method=method))
    with (
        little_memory(),
        pytest.raises(ValueError, match=r"'puzzles\.npy' is not stored"),
    ):
        read_arrays(path, 10**6)
    path.write_bytes(archive(npy(np.zeros(10_000)), method=zipfile.ZIP_DEFLATED))
    assert not read_arrays(path, 10**6)["puzzles"].any()
    with pytest.raises(ValueError, match=r"part\.npz: its arrays have more than 1,000 bytes"):
        read_arrays(path, 1000)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_bomb_is_refused_in_little_memory(tmp_path, order):
    """400 MB of blank boards in a file of 400 kB."""
    path = tmp_path / "bomb.npz"
    claim = header(shape="(25000000, 4, 4)", order=str(order == "F"))
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened,
        opened.open("puzzles.npy", "w") as member,
    ):
        member.write(claim)
        for _ in range(400):
            member.write(bytes(1_000_000))
    with (
        little_memory(50 * 2**20),
        pytest.raises(ValueError, match=r"400,000,000 bytes of boards in a file|by column"),
    ):
        files.read(path)


def test_numbers_column_by_column_are_read_in_little_memory(tmp_path):
    """26 MB of numbers, whose digits take 3 MB."""
    path = tmp_path / "columns.npz"
    boards = np.random.default_rng(0).integers(0, 5, (200_000, 4, 4))
    np.savez_compressed(path, puzzles=np.asfortranarray(boards))
    with little_memory():
        for part, _, _ in read_board_arrays(path, ["puzzles"], [], 1000):
            last = part
    assert np.array_equal(last, boards[-1000:])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such files elsewhere")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(ValueError, match=r"pipe\.npz: .*no regular file"):
        files.read(tmp_path / "pipe.npz")


def good_file(method):
    stream = io.BytesIO()
    save = np.savez if method == zipfile.ZIP_STORED else np.savez_compressed
    save(stream, puzzles=BANK.puzzles, solutions=BANK.solutions)
    return stream.getvalue()


GOOD = [good_file(method) for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)]
PLACE = st.integers(0, max(map(len, GOOD)) - 1)


@given(
    which=st.sampled_from(GOOD),
    cut=st.none() | PLACE,
    flips=st.lists(st.tuples(PLACE, st.integers(0, 255)), max_size=4),
    swap=st.none() | st.tuples(PLACE, PLACE, st.integers(1, 60)),
)
@example(which=GOOD[0], cut=None, flips=[], swap=None)
@settings(
    max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_damaged_file_reads_or_says_why_not(tmp_path, which, cut, flips, swap):
    data = bytearray(which)
    for place, value in flips:
        data[place % len(data)] = value
    if swap is not None:
        first, second, length = (number % len(data) for number in swap)
        one, other = data[first : first + length], data[second : second + length]
        data[first : first + length], data[second : second + length] = other, one
    path = tmp_path / "damaged.npz"
    path.write_bytes(data if cut is None else data[: cut % len(data)])
    said = check(path)
    if not flips and cut is None and swap is None:
        assert said == ""


@given(
    descr=st.sampled_from(["'|i1'", "'<i8'", "'>u2'", "'|O'", "'<f8'", "'<m8[s]'", "[]", "None"]),
    shape=st.recursive(
        st.integers(-2, 2**70) | st.booleans() | st.none() | st.floats() | st.sampled_from([4, 16]),
        lambda inner: st.lists(inner, max_size=3).map(tuple),
    ),
    order=st.sampled_from(["True", "False", "0", "None"]),
    data=st.binary(max_size=64),
)
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_header_reads_or_says_why_not(tmp_path, descr, shape, order, data):
    path = tmp_path / "header.npz"
    path.write_bytes(archive(header(descr, repr(shape), order) + data))
    check(path)
