"""Curves as TensorBoard itself reads them back."""

import builtins
import struct
import sys
from time import time

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.summary_pb2 import DATA_CLASS_BLOB_SEQUENCE, DATA_CLASS_SCALAR

from sudoku_curricula import curves, make_schedule
from sudoku_curricula.curriculum import Curriculum
from sudoku_curricula.curves import (
    BLANKS_LEVEL,
    POLICY_LOSS,
    SUCCESS_RATE,
    CurveWriter,
    read_curves,
)


def read(folder, tag):
    events = EventAccumulator(str(folder))
    events.Reload()
    return [(event.step, event.value) for event in events.Scalars(tag)]


def test_a_resumed_run_counts_though_the_clock_is_behind(tmp_path, monkeypatch):
    for behind, value, steps in ((0, 1.0, range(1, 9)), (86_400, 2.0, range(6, 9))):
        now = time() - behind
        monkeypatch.setattr(curves.time, "time", lambda now=now: now)
        with CurveWriter(tmp_path, resume_step=5 if behind else None) as writer:
            for step in steps:
                writer.add_scalar(SUCCESS_RATE, value, step)
    found = read_curves(tmp_path)[SUCCESS_RATE]
    assert found[1] == [1.0] * 5 + [2.0] * 3
    assert read(tmp_path, SUCCESS_RATE) == [*zip(*found, strict=True)]


def test_points_are_read_back(tmp_path):
    with CurveWriter(tmp_path / "new" / "run") as writer:
        writer.add_scalar(POLICY_LOSS, 4.125, 1)
        writer.add_scalars({POLICY_LOSS: 0.5, BLANKS_LEVEL: 3}, 2)
    assert read(tmp_path / "new" / "run", POLICY_LOSS) == [(1, 4.125), (2, 0.5)]
    assert read(tmp_path / "new" / "run", BLANKS_LEVEL) == [(2, 3.0)]


def test_a_record_of_any_length_is_refused_by_name(tmp_path):
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

    with CurveWriter(tmp_path) as writer:
        writer.add_scalar("losses/a", 1.0, 1)
    (file,) = tmp_path.iterdir()
    length = struct.pack("<Q", 2**64 - 1)
    with file.open("ab") as events:
        events.write(length + struct.pack("<I", masked_crc32c(length)) + bytes(20))
    with pytest.raises(ValueError, match=f"{tmp_path}: its curves are damaged"):
        read_curves(tmp_path)


def test_a_damaged_record_is_refused_and_a_cut_one_is_not(tmp_path):
    with CurveWriter(tmp_path) as writer:
        for step in range(10):
            writer.add_scalar("losses/a", step, step)
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    file.write_bytes(content[:-3])  # as of a run that was killed
    assert read_curves(tmp_path)["losses/a"][0] == [*range(9)]
    middle = len(content) // 2
    file.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    with pytest.raises(ValueError, match=f"{tmp_path}: its curves are damaged .*crc32"):
        read_curves(tmp_path)


def test_a_full_disk_is_told_with_the_file(tmp_path):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with (
            pytest.raises(OSError, match=r"events\.out\.tfevents"),
            CurveWriter(tmp_path) as writer,
        ):
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
            writer.add_scalar("losses/a", 1.0, 1)
            writer.flush()
            writer.add_text("configuration", "a" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert read(tmp_path, "losses/a") == [(1, 1.0)]


def test_texts_pictures_options_and_descriptions_are_read_back(tmp_path):
    with CurveWriter(tmp_path) as writer:
        writer.add_scalars({BLANKS_LEVEL: 3, "losses/mine": 1}, 2)
        writer.add_text("configuration", "| seed | 0 |", 0)
        writer.add_image("boards", np.zeros((2, 3, 3), np.uint8), 2, "How it ended.")
        writer.add_hparams({"seed": 0, "env": "x"}, [SUCCESS_RATE])
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    metadata = events.SummaryMetadata(BLANKS_LEVEL)
    assert metadata.summary_description == "The level of the curriculum: blanks of a puzzle."
    assert metadata.data_class == DATA_CLASS_SCALAR  # TensorBoard shows no description without one
    assert [event.value for event in events.Scalars("losses/mine")] == [1]
    text = events.Tensors("configuration")[0].tensor_proto.string_val[0]
    assert text == b"| seed | 0 |"
    (picture,) = events.Images("boards")
    assert (picture.height, picture.width, picture.step) == (2, 3, 2)
    metadata = events.SummaryMetadata("boards")
    assert metadata.summary_description == "How it ended."
    assert metadata.data_class == DATA_CLASS_BLOB_SEQUENCE
    assert events.PluginTagToContent("hparams").keys() == {
        "_hparams_/experiment",
        "_hparams_/session_start_info",
    }


def test_a_resumed_run_drops_what_came_after_its_checkpoint(tmp_path):
    with CurveWriter(tmp_path) as writer:
        for step in range(1, 6):
            writer.add_scalar(BLANKS_LEVEL, step, step)
    # TensorBoard orders files by name, which begins with the second they were made in.
    next(tmp_path.iterdir()).rename(tmp_path / "events.out.tfevents.0000000001.earlier")
    with CurveWriter(tmp_path, resume_step=3) as writer:
        writer.add_scalar(BLANKS_LEVEL, 40, 4)
    assert read(tmp_path, BLANKS_LEVEL) == [(1, 1.0), (2, 2.0), (3, 3.0), (4, 40.0)]


def test_a_resumed_curriculum_leaves_one_curve_that_rises_in_steps(tmp_path):
    def start(writer):
        schedule = make_schedule("algorithm-1?metric=completion", start=2, stop=9, gamma=0.5)
        return Curriculum(schedule, lambda blanks: None, 1, writer)

    with CurveWriter(tmp_path) as writer:
        first = start(writer)
        first.steps = 10
        first.report([2], [True])
    next(tmp_path.iterdir()).rename(tmp_path / "events.out.tfevents.0000000001.earlier")
    with CurveWriter(tmp_path, resume_step=10) as writer:
        second = start(writer)
        second.load_state_dict(first.state_dict())
        second.steps = 20
        second.report([3], [True])
    assert read_curves(tmp_path)[BLANKS_LEVEL] == ([0, 10, 20], [2.0, 3.0, 4.0])


def test_the_curriculum_is_drawn(tmp_path):
    with CurveWriter(tmp_path) as writer:
        schedule = make_schedule("algorithm-1?metric=completion", start=2, stop=3, gamma=0.5)
        curriculum = Curriculum(schedule, lambda blanks: None, 4, writer)
        curriculum.steps = 10
        curriculum.report([2, 2, 2, 2], [True, True, True, False])
    assert read(tmp_path, BLANKS_LEVEL) == [(0, 2.0), (10, 3.0)]
    assert read(tmp_path, SUCCESS_RATE) == [(10, 0.75)]


def test_a_missing_tensorboard_is_named(tmp_path, monkeypatch):
    real_import = builtins.__import__

    def without_tensorboard(name, *args, **kwargs):
        if name.startswith("tensorboard"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real_import(name, *args, **kwargs)

    for name in [name for name in sys.modules if name.startswith("tensorboard")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without_tensorboard)
    with pytest.raises(ModuleNotFoundError, match=r"constraints.txt '\.\[agents\]' in a checkout"):
        CurveWriter(tmp_path)
