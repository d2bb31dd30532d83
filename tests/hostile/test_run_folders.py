"""Folders that pretend to be runs: what reads them says why not, in one line and at once."""

import os
import random

import pytest

from sudoku_gym import cli

pytest.importorskip("torch")
pytest.importorskip("tensorboard")

CURVES = "events.out.tfevents.1"
CALPHAZERO = b'{"agent": "calphazero"}'
DEPTH = b"[" * 900 + b"]" * 900
# What the folder holds: bytes for a file, None for a folder, a text for a link, "|" for a pipe.
RUNS = {
    "nothing": {},
    "empty curves": {CURVES: b""},
    "random curves": {CURVES: random.Random(0).randbytes(5000)},
    "curves of great length": {CURVES: b"\xff" * 5000},
    "curves that are a folder": {CURVES: None},
    "curves that are a pipe": {CURVES: "|"},
    "curves that are nowhere": {CURVES: "nowhere"},
    "a loop": {"again": "."},
    "no checkpoint": {"config.json": CALPHAZERO},
    "a checkpoint that is a file": {"config.json": CALPHAZERO, "checkpoints/000001": b"x"},
    "checkpoints that are a file": {"config.json": CALPHAZERO, "checkpoints": b"x"},
    "a checkpoint of a pipe": {"config.json": CALPHAZERO, "checkpoints/000001/config.json": "|"},
    "a checkpoint of links": {
        "config.json": CALPHAZERO,
        "checkpoints/000001/config.json": "/dev/zero",
        "checkpoints/000001/weights.safetensors": "/dev/zero",
    },
    "a checkpoint that loops": {"config.json": CALPHAZERO, "checkpoints/000001": "../checkpoints"},
    "weights that are a pipe": {"config.json": CALPHAZERO, "weights.safetensors": "|"},
    "a configuration without end": {"config.json": "/dev/zero"},
    "a configuration that is a pipe": {"config.json": "|"},
    "a configuration of great depth": {
        "config.json": b'{"agent": "calphazero", "a": ' + b"[" * 900
    },
    "weights alone": {"config.json": CALPHAZERO, "weights.safetensors": b"x"},
    "no agent": {"config.json": b"{}"},
    "no JSON": {"config.json": b"\xff"},
}
COMMANDS = [
    ["plot", "run"],
    ["plot", "run", "--compare"],
    ["evaluate", "run", "--count", "1"],
    ["watch", "4x4", "--policy", "run"],
    ["train", "calphazero", "--resume", "--run", "run"],
]


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_folder_that_is_no_run_takes_one_line(tmp_path, monkeypatch, capsys, command, run):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    for name, content in RUNS[run].items():
        path = tmp_path / "run" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        if content is None:
            path.mkdir()
        elif content == "|":
            os.mkfifo(path)
        elif isinstance(content, str):
            path.symlink_to(content)
        else:
            path.write_bytes(content)
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    assert cli.main(command) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("sudoku-gym: ") and captured.err.count("\n") == 1
    assert cli.TRACEBACK not in captured.err and captured.out == ""
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before
