"""Checkpoints that were tampered with: one line that names the file, at once."""

import io
import json
import os
import shutil
import zipfile

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file, save_file

from sudoku_gym import cli, load_policy

JSON, TENSORS = ("config.json", "state.json", "timing.json"), ("weights", "optimizer")
FILES = (*JSON, *(f"{name}.safetensors" for name in TENSORS), "replay.npz", "SHA256SUMS")
NAN, INF = float("nan"), float("inf")
VALUES = [None, True, -1, 0, 3, 2**63, 10**30, 1.5, NAN, INF, "", "x", [], {}, [[1]], {"type": "x"}]


def in_json(*keys, to):
    """Put a value where the keys lead."""

    def change(path):
        whole = inner = json.loads(path.read_text())
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = to
        path.write_text(json.dumps(whole))

    return change


def in_tensors(change_of):
    """Change the tensors of a file, given as a dictionary."""

    def change(path):
        tensors = load_file(path)
        change_of(tensors)
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)

    return change


def in_arrays(name, change_of):
    """Replace an array of the replay; None takes it away."""

    def change(path):
        with np.load(path) as npz:
            arrays = dict(npz)
        arrays[name] = change_of(arrays.get(name))
        np.savez(path, **{key: array for key, array in arrays.items() if array is not None})

    return change


def to(tensor_name, change_of):
    return in_tensors(lambda each: each.update({tensor_name: change_of(each[tensor_name])}))


def header_of(claims):
    """Claim a shape in the header of safetensors, over eight bytes of data."""
    text = json.dumps({"body.start": {"dtype": "F32", "shape": claims, "data_offsets": [0, 8]}})
    return lambda path: path.write_bytes(len(text).to_bytes(8, "little") + text.encode() + bytes(8))


def npz_of(claims):
    """Claim a shape in the header of an array, over eight bytes of data."""

    def change(path):
        stream = io.BytesIO()
        header = {"descr": "|i1", "fortran_order": False, "shape": claims}
        np.lib.format.write_array_header_1_0(stream, header)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("boards.npy", stream.getvalue() + bytes(8))

    return change


def fifo(path):
    path.unlink()
    os.mkfifo(path)


def link(target):
    def change(path):
        path.unlink()
        path.symlink_to(target)

    return change


SPECIAL = [fifo, link("/dev/zero"), link("/etc/hostname"), link("."), link("nowhere"), link("/")]
START, MOMENT = "body.start", "0.exp_avg"
# A file, what is done to it, and what is said: the next one found is one line more.
PLAYING = [
    ("config.json", in_json("network", "channels", to=10**6), "float32 [1000000]"),
    ("config.json", in_json("network", "channels", to=10**9), "no such network"),
    ("config.json", in_json("network", "channels", to=10**30), "no such network"),
    ("config.json", in_json("network", "channels", to=-1), "must be at least 1"),
    ("config.json", in_json("network", "rounds", to=10**9), "must be 1 to 10,000"),
    ("config.json", in_json("network", "rounds", to=None), "rounds: None is no int"),
    ("config.json", in_json("network", to={"type": "mlp", "hidden": [10**6] * 2}), "none of this"),
    ("config.json", in_json("network", to={"type": "mlp", "hidden": [1] * 9999}), "more tensors"),
    ("config.json", in_json("network", to={"type": "mlp", "hidden": [1] * 99999}), "99,999 values"),
    ("config.json", in_json("network", to={"type": "mlp", "hidden": [1.5]}), "1.5 is no int"),
    ("config.json", in_json("network", to={"type": "pooled", "layers": 10**9}), "more tensors"),
    (
        "config.json",
        in_json("network", to={"type": "attention", "width": 2**40}),
        "no such network",
    ),
    ("config.json", in_json("network", to="factor-graph"), "no configuration"),
    ("config.json", in_json("network", to=[[[[]]]]), "no configuration"),
    ("config.json", in_json("temperature", to=NAN), "nan is no float"),
    ("config.json", in_json("type", to="t" * 99999), "is unknown"),
    ("config.json", in_json("version", to=10**9), "unknown key 'version'"),
    ("config.json", in_json("env", to="os:Mine4x4-v0"), "env='os:Mine4x4-v0'"),
    ("weights.safetensors", header_of([10**12]), "the file is damaged"),
    ("weights.safetensors", header_of([2**62, 2**62]), "the file is damaged"),
    ("weights.safetensors", lambda path: path.write_bytes(b"\xff" * 99), "the file is damaged"),
    ("weights.safetensors", to(START, lambda each: each * NAN), "not all finite"),
    ("weights.safetensors", to(START, lambda each: each + INF), "not all finite"),
    ("weights.safetensors", to(START, lambda each: each[:-1]), "must be float32 [8]"),
    ("weights.safetensors", to(START, lambda each: each[None]), "it is float32 [1, 8]"),
    ("weights.safetensors", to(START, lambda each: each.double()), "it is float64"),
    ("weights.safetensors", to(START, lambda each: each.to(torch.int8)), "it is int8"),
    ("weights.safetensors", in_tensors(lambda each: each.pop(START)), "'body.start' is missing"),
    ("weights.safetensors", in_tensors(dict.clear), "is missing"),
    ("weights.safetensors", in_tensors(lambda each: each.update(y=torch.ones(1))), "'y' is none"),
    *((name, special, name) for name in FILES[:1] + FILES[3:4] for special in SPECIAL),
]
RESUMING = [
    *(case for case in PLAYING if case[0] == "weights.safetensors"),
    *(("state.json", in_json("iteration", to=value), "iteration must be") for value in VALUES[:3]),
    *(("state.json", in_json("steps", to=value), "steps must be") for value in VALUES[5:12]),
    ("state.json", in_json("learner", to=[]), "a list, not an object"),
    ("state.json", in_json("curriculum", "schedule", "level", to=5), "5 blanks is none of 2, 3, 4"),
    ("state.json", in_json("curriculum", "schedule", "level", to=3.0), "level must be of type int"),
    (
        "state.json",
        in_json("curriculum", "schedule", "finished", to="no"),
        "finished must be of type bool",
    ),
    ("state.json", in_json("curriculum", "schedule", "schedule", to="Linear"), "is a Linear"),
    (
        "state.json",
        in_json("curriculum", "schedule", "results", to=[[3, 2]]),
        "no successes and count",
    ),
    (
        "state.json",
        in_json("curriculum", "schedule", "results", to=[[0, 0]]),
        "no successes and count",
    ),
    ("state.json", in_json("curriculum", "schedule", "results", to=[[1]]), "state.json"),
    ("state.json", in_json("curriculum", "schedule", "results", to=[[NAN, 2]]), "must be a count"),
    ("state.json", in_json("curriculum", "schedule", "rate", to=-INF), "rate must be a count"),
    ("state.json", in_json("curriculum", "schedule", "rate", to=10**400), "rate must be a count"),
    ("state.json", in_json("curriculum", "schedule", "history", to=[{}]), "state.json"),
    ("state.json", in_json("rng", to={}), "state.json"),
    ("state.json", in_json("rng", "bit_generator", to="MT19937"), "state.json"),
    ("state.json", in_json("rng", "state", "state", to=-1), "state.json"),
    ("state.json", in_json("rng", "state", "state", to=2**128), "state.json"),
    ("state.json", in_json("rng", "uinteger", to=2**40), "state.json"),
    ("state.json", lambda path: path.write_text("[" * 10**5), "RecursionError"),
    ("state.json", lambda path: path.write_text("[" * 10**6), "more than 200,000 lists"),
    ("state.json", lambda path: path.write_text("[" + "9" * 10**5 + "]"), "the file is damaged"),
    ("state.json", lambda path: os.truncate(path, 10**10), "it has more than"),
    *(("timing.json", in_json("seconds", to=value), "no number of s") for value in (-1.0, NAN, "")),
    ("optimizer.safetensors", to(MOMENT, lambda each: each[:-1]), "0.exp_avg must be"),
    ("optimizer.safetensors", to(MOMENT, lambda each: each * NAN), "not all finite"),
    ("optimizer.safetensors", to("0.exp_avg_sq", lambda each: each - 9), "negative"),
    ("optimizer.safetensors", to("0.step", lambda each: each - 9), "negative"),
    ("optimizer.safetensors", in_tensors(lambda each: each.pop("0.step")), "'0.step' is missing"),
    (
        "optimizer.safetensors",
        in_tensors(lambda e: e.update({"99.step": torch.ones(())})),
        "is none",
    ),
    (
        "optimizer.safetensors",
        in_tensors(lambda e: e.update({"0.more": torch.ones(())})),
        "is none",
    ),
    ("optimizer.safetensors", to("torch_generator", lambda each: each[:-1]), "optimizer.safet"),
    ("optimizer.safetensors", to("torch_generator", lambda each: each.float()), "optimizer.safet"),
    ("optimizer.safetensors", to("torch_generator", lambda each: each * 0 + 255), "optimizer.saf"),
    ("optimizer.safetensors", in_tensors(lambda each: each.pop("torch_generator")), "KeyError"),
    ("replay.npz", npz_of((10**11,)), "claims 100,000,000,000 bytes"),
    ("replay.npz", npz_of((10**30,)), "claims"),
    ("replay.npz", npz_of((-8,)), "shape (-8,)"),
    ("replay.npz", npz_of((True, 8)), "shape (True, 8)"),
    ("replay.npz", in_arrays("boards", lambda each: each[:-1]), "must be int64"),
    ("replay.npz", in_arrays("boards", lambda each: each + np.int8(9)), "digits from 0 to 4"),
    ("replay.npz", in_arrays("boards", lambda each: each - np.int8(1)), "digits from 0 to 4"),
    ("replay.npz", in_arrays("boards", lambda each: each.astype(int)), "must be int8"),
    ("replay.npz", in_arrays("boards", lambda each: each[:, :3]), "must be int8"),
    ("replay.npz", in_arrays("boards", lambda each: each.astype(object)), "replay.npz"),
    ("replay.npz", in_arrays("boards", lambda _: None), "it must hold"),
    ("replay.npz", in_arrays("more", lambda _: np.ones(3)), "it must hold"),
    ("replay.npz", in_arrays("sizes", lambda each: each[:-1]), "sizes add up to"),
    ("replay.npz", in_arrays("sizes", lambda each: each[:0]), "1 to 8 iterations"),
    ("replay.npz", in_arrays("sizes", lambda each: each * 0 + 2**62), "1 to 8 iterations"),
    ("replay.npz", in_arrays("sizes", lambda each: each - [99, -99]), "1 to 8 iterations"),
    ("replay.npz", in_arrays("sizes", lambda each: each.sum()), "sizes must be int64"),
    ("replay.npz", in_arrays("offsets", lambda each: each[:-1]), "must be int64"),
    ("replay.npz", in_arrays("offsets", lambda each: each + 1), "offsets do not rise"),
    ("replay.npz", in_arrays("offsets", lambda each: each * 0), "offsets do not rise"),
    ("replay.npz", in_arrays("offsets", lambda each: each * 2**40), "offsets do not rise"),
    ("replay.npz", in_arrays("offsets", lambda each: each - each[1] * 2), "offsets do not rise"),
    ("replay.npz", in_arrays("actions", lambda each: each[:-1]), "must be float32"),
    ("replay.npz", in_arrays("actions", lambda each: each * np.uint16(0)), "actions do not rise"),
    ("replay.npz", in_arrays("actions", lambda each: each + np.uint16(64)), "actions do not rise"),
    ("replay.npz", in_arrays("actions", lambda each: each.astype(int)), "must be uint16"),
    ("replay.npz", in_arrays("boards", lambda each: each * 0 + np.int8(1)), "not blank"),
    ("replay.npz", in_arrays("shares", lambda each: each * np.float32(0)), "not above 0"),
    ("replay.npz", in_arrays("shares", lambda each: each * np.float32(NAN)), "not all finite"),
    ("replay.npz", in_arrays("shares", lambda each: -each), "not above 0"),
    ("replay.npz", in_arrays("shares", lambda each: each / np.float32(2)), "do not sum to 1"),
    ("replay.npz", in_arrays("returns", lambda each: each * np.float32(NAN)), "not all finite"),
    *((name, special, name) for name in FILES for special in SPECIAL),
]


def damaged(run, folder, case):
    name, change, _ = case
    where = run.copy(folder)
    change(where / name)
    if name != "SHA256SUMS":
        (where / "SHA256SUMS").unlink()  # an attacker would
    return where


def check_refusal(refusal, said):
    text = str(refusal.value)
    assert said in text and any(name in text for name in FILES), text
    assert "\n" not in text and len(text) < 900


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
@pytest.mark.parametrize("case", PLAYING)
def test_a_hostile_checkpoint_is_not_played(tmp_path, run, capsys, case):
    where = damaged(run, tmp_path / "run", case)
    with pytest.raises(ValueError) as refusal:
        load_policy(where)
    check_refusal(refusal, case[2])
    assert cli.main(["evaluate", str(where), "--count", "1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
@pytest.mark.parametrize("case", RESUMING)
def test_a_hostile_checkpoint_is_not_resumed(tmp_path, run, case):
    damaged(run, tmp_path / "run", case)
    with pytest.raises(ValueError) as refusal:
        run.resumed(tmp_path / "run" / "checkpoints" / "000002")
    check_refusal(refusal, case[2])


def test_the_two_files_that_play_may_be_copied(tmp_path, run):
    for name in ("config.json", "weights.safetensors"):
        shutil.copy(run.checkpoint / name, tmp_path / name)
    np.testing.assert_equal(run.played(tmp_path), run.played(run.checkpoint))


def test_a_checkpoint_of_a_release_without_sums_is_resumed(tmp_path, run):
    where = run.copy(tmp_path / "run")
    (where / "SHA256SUMS").unlink()
    assert run.resumed(where) == run.resumed(run.checkpoint)
