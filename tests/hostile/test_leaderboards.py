"""Leaderboards that are damaged or foreign: one ValueError with the file's name."""

import copy
import json
import random

import pytest

from sudoku_gym.evaluation.leaderboard import read_leaderboard
from sudoku_gym.evaluation.leaderboard.results import write_leaderboard

CELL = {
    "budget": 60,
    "run": "first",
    "outcomes": "1011",
    "illegal": 0,
    "orbits": None,
    "seconds": 0.5,
    "error": "",
    "timing": {"seconds": [0.1, 0.2], "run": "first"},
}
SET = {
    "title": "9x9",
    "bank": "9x9",
    "is_file": False,
    "board": "9x9",
    "count": 4,
    "givens": [22, 25],
    "sha256": "00ff",
}
RUN = {
    "date": "2026-01-01",
    "commit": "",
    "machine": "any",
    "cores": 2,
    "jobs": 1,
    "versions": {"python": "3.11"},
}
ROW = {"kind": "floor", "package": "", "weights": "", "cells": {"9x9": CELL}}
GOOD = {
    "format": "sudoku-gym leaderboard",
    "seed": 0,
    "batch_cells": 2048,
    "sets": {"9x9": SET},
    "runs": {"first": RUN},
    "rows": {"a": ROW},
}
NONE = object()

# The next one found is one more line: where, what stands there, what is said of it.
DAMAGES = [
    ("format", "fen", "format"),
    ("format", NONE, "format"),
    ("version", 2, "unknown key 'version'"),
    ("seed", NONE, "lacks 'seed'"),
    ("seed", "0", "seed: '0' is no int"),
    ("seed", True, "seed: True is no int"),
    ("more", 1, "unknown key 'more'"),
    ("rows", [], "rows: [] is no dict"),
    ("rows/a", 7, "rows, a must be an object, not 7"),
    ("sets", {}, "there is no such set"),
    ("sets/9x9/count", 3, "a on 9x9: 4 outcomes of 3 puzzles"),
    ("sets/9x9/givens", [22], "givens: [22] is no"),
    ("runs", {}, "there is no run 'first'"),
    ("runs/first/versions", {"python": 3}, "versions, python: 3 is no str"),
    ("rows/a/kind", None, "kind: None is no str"),
    ("rows/a/cells/9x9/outcomes", "1012", "outcomes must consist of 0 and 1"),
    ("rows/a/cells/9x9/outcomes", "10110", "a on 9x9: 5 outcomes of 4 puzzles"),
    ("rows/a/cells/9x9/played", 4, "unknown key 'played'"),
    ("rows/a/cells/9x9/timing/seconds", [float("nan")], "nan is no float"),
    ("rows/a/cells/9x9/illegal", 2, "illegal=2: more games than were lost"),
    ("rows/a/cells/9x9/orbits", [3, 2], "3 of 2 orbits"),
    ("rows/a/cells/9x9/orbits", [5, 5], "5 of 5 orbits"),
    ("rows/a/num_weights", -5, "num_weights must not be negative"),
    ("sets/9x9/givens", [10**50, -5], "givens="),
    ("runs", {str(i): GOOD["runs"]["first"] for i in range(10_001)}, "10,001 runs, more than"),
    ("sets", {str(i): GOOD["sets"]["9x9"] for i in range(1_001)}, "1,001 sets, more than"),
    ("rows/a/cells/9x9/timing/seconds", [1] * 20_001, "seconds: 20,001 values, more than 20,000"),
    ("rows/a/cells/9x9/seconds", -1, "must not be negative"),
    ("rows/a/cells/9x9/seconds", float("inf"), "inf is no float"),
    ("rows/a/cells/9x9/timing", [], "timing must be an object, not []"),
    ("rows/a/cells/9x9/timing/seconds", ["x"], "seconds: 'x' is no float"),
    ("rows/a/cells/9x9/timing/seconds", [-1], "must not be negative"),
    ("rows/a/cells/9x9/timing/seconds", [-1.0], "must not be negative"),
    ("rows/a/cells/9x9/timing/run", "none", "there is no run 'none'"),
    ("rows/a/cells/9x9/run", 1, "run: 1 is no str"),
    ("rows/a/cells/9x9/run", "x" * 1000, "there is no run 'xxx"),
    ("rows/a/cells/9x9/budget", 10**400, "is no float"),
    ("rows/a/cells/9x9/error", "x" * 1000, ""),
    ("runs/first/machine", "\ud800", "surrogates not allowed"),
    ("runs/first/machine", "x" * 1001, "a text of more than 1,000 letters"),
    ("rows/a/kind", "x" * 101, "a kind of 101 letters, more than 100"),
    (
        "rows",
        {str(i): {**GOOD["rows"]["a"], "kind": f"kind {i}"} for i in range(41)},
        "41 kinds of rows, more than 40",
    ),
    ("rows", {"x" * 1001: GOOD["rows"]["a"]}, "a text of more than 1,000 letters"),
    ("rows", {"\u200bdlx": GOOD["rows"]["a"]}, "dlx' has letters that can't be shown"),
    ("rows/a/kind", "\ud800", "has letters that can't be shown"),
    ("sets/9x9/title", "x" * 10**6, "a text of more than 1,000 letters"),
]


def put(data, path, value):
    *way, last = [int(part) if part.isdigit() else part for part in path.split("/")]
    for part in way:
        data = data[part]
    if value is NONE:
        del data[last]
    else:
        data[last] = value


def refused(path):
    with pytest.raises(ValueError) as caught:
        read_leaderboard(path)
    told = str(caught.value)
    assert told.startswith(f"{path}: ") and "\n" not in told
    return told


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "board.json"
    path.write_text(json.dumps(GOOD))
    results = read_leaderboard(path)
    write_leaderboard(path, results)
    assert read_leaderboard(path) == results
    assert [file.name for file in tmp_path.iterdir()] == ["board.json"]
    for run in results.runs.values():
        run.versions["numpy"] = None
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"board\.json: what would be written is no sound"):
        write_leaderboard(path, results)
    assert path.read_bytes() == before


@pytest.mark.parametrize("where, value, said", DAMAGES)
def test_a_damaged_one_is_refused(tmp_path, where, value, said):
    data = copy.deepcopy(GOOD)
    put(data, where, value)
    path = tmp_path / "board.json"
    path.write_text(json.dumps(data))
    if where.endswith("error"):
        assert read_leaderboard(path)
        return
    assert said in refused(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"[" * 100_000,
        b"\xff\xfe",
        bytes(range(256)),
        b'{"format": 1e999}',
    ],
)
def test_what_is_none_is_refused(tmp_path, content):
    path = tmp_path / "board.json"
    path.write_bytes(content)
    refused(path)


def test_a_folder_and_a_device_are_refused(tmp_path):
    assert "no regular file" in refused(tmp_path)
    assert "the file is missing" in refused(tmp_path / "missing.json")


def test_any_damage_is_refused_or_read(tmp_path):
    """Bytes may change: what comes of it is a leaderboard, or a ValueError with the file's name."""
    path = tmp_path / "board.json"
    whole = json.dumps(GOOD).encode()
    dice = random.Random(0)
    refusals = 0
    for _ in range(400):
        content = bytearray(whole)
        for _ in range(dice.randint(1, 3)):
            place = dice.randrange(len(content))
            content[place : place + dice.randint(0, 3)] = dice.choice([b"", b"-", b"9", b'"', b"]"])
        path.write_bytes(content)
        try:
            read_leaderboard(path)
        except ValueError as error:
            assert str(error).startswith(f"{path}: ")
            refusals += 1
    assert refusals > 200
