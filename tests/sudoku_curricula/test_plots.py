"""The picture of a run, and the curves it is drawn from."""

import numpy as np
import pytest
from PIL import Image

from sudoku_curricula.plots import plot_run
from sudoku_curricula.tensorboard import BLANKS, POLICY_LOSS, CurveWriter, read_curves


def test_curves_are_drawn_and_show_their_values(tmp_path):
    pictures = []
    for slope in (1, -1):
        run = tmp_path / str(slope)
        with CurveWriter(run) as writer:
            for step in range(10):
                writer.add_scalars({BLANKS: 10 + slope * step, POLICY_LOSS: 0.5}, step)
        plot_run(run, run / "curves.png")
        assert not list(run.glob(".*"))
        pictures.append(np.asarray(Image.open(run / "curves.png")))
    first, second = pictures
    assert first.shape == second.shape
    half = np.array(first.shape[:2]) // 2
    top_left = (slice(half[0]), slice(half[1]))
    assert (first[top_left] != second[top_left]).any()  # the curriculum rose, or fell
    assert (first[half[0] :] == second[half[0] :]).all()  # the losses were the same


def test_curves_are_read_as_written(tmp_path):
    with CurveWriter(tmp_path) as writer:
        writer.add_scalars({BLANKS: 2}, 1)
        writer.add_scalars({BLANKS: 3}, 5)
    assert read_curves(tmp_path) == {BLANKS: ([1, 5], [2.0, 3.0])}


def test_a_folder_without_curves_is_named(tmp_path):
    with pytest.raises(ValueError, match="holds no curves"):
        plot_run(tmp_path, tmp_path / "curves.png")
