"""Curves as torch's writer leaves them and as TensorBoard reads them back."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

from sudoku_curricula import make_schedule
from sudoku_curricula.curriculum import Curriculum
from sudoku_curricula.curves import BLANKS_LEVEL, SUCCESS_RATE, TASK_GROUPS, read_curves


def play(curriculum, level, *won):
    """Report games of a level."""
    infos = [{"level": level, "is_success": each} for each in won]
    curriculum.end(curriculum.begin(len(won)), infos)


def test_the_curriculum_is_drawn(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        schedule = make_schedule("algorithm-1?metric=completion", start=2, stop=3, gamma=0.5)
        curriculum = Curriculum(schedule, lambda blanks: None, 4, writer)
        curriculum.steps = 10
        play(curriculum, 2, True, True, True, False)
    found = read_curves(tmp_path)
    assert found[BLANKS_LEVEL] == ([0, 10], [2.0, 3.0])
    assert found[SUCCESS_RATE] == ([10], [0.75])


def test_the_weights_of_tasks_are_a_heat_map_over_time(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        schedule = make_schedule("target?tasks=blanks=2..4&step=1&sensitivity=9&success_target=0.5")
        curriculum = Curriculum(schedule, lambda blanks: None, 2, writer)
        for level in (2, 3):
            play(curriculum, level, True, True)
    events = EventAccumulator(str(tmp_path), {"images": 0}).Reload()
    assert events.Tags()["images"] == [f"{group}/over time" for group in TASK_GROUPS]
    latest = events.Images("task_weight/over time")[-1].encoded_image_string
    weight = np.array(Image.open(BytesIO(latest)))
    assert weight.shape == (3 * 8, 3 * 16, 3)  # a row for each task, a column for each call
    assert (weight[::8, ::16, 0] > 200).tolist() == np.eye(3, dtype=bool).tolist()


def test_a_resumed_curriculum_leaves_one_curve_that_rises_in_steps(tmp_path):
    def start(writer):
        schedule = make_schedule("algorithm-1?metric=completion", start=2, stop=9, gamma=0.5)
        return Curriculum(schedule, lambda blanks: None, 1, writer)

    with SummaryWriter(tmp_path) as writer:
        first = start(writer)
        first.steps = 10
        play(first, 2, True)
        state = first.state_dict()
        first.steps = 15
        play(first, 3, True)  # is not in the state, and so is dropped
    # TensorBoard orders files by name, which begins with the second they were made in.
    next(tmp_path.iterdir()).rename(tmp_path / "events.out.tfevents.0000000001.earlier")
    with SummaryWriter(tmp_path, purge_step=11) as writer:
        second = start(writer)
        second.load_state_dict(state)
        second.steps = 20
        play(second, 3, True)
    assert read_curves(tmp_path)[BLANKS_LEVEL] == ([0, 10, 20], [2.0, 3.0, 4.0])


def test_the_file_of_a_killed_run_is_read(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(10):
            writer.add_scalar("losses/a", step, step)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-3])
    assert read_curves(tmp_path)["losses/a"][0] == [*range(9)]


def test_a_folder_without_curves_is_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ValueError, match="holds no curves: give the folder of a run"):
            read_curves(folder)
