"""The picture of runs, and the curves it is drawn from."""

import numpy as np
import pytest
from PIL import Image

from sudoku_curricula.curves import (
    BLANKS,
    POLICY_LOSS,
    STEPS_PER_SECOND,
    CurveWriter,
    read_curves,
)
from sudoku_curricula.plots import mean_and_range, plot_runs
from sudoku_gym import cli

ROWS, COLUMNS = 2, 3


def write_run(folder, slope, loss=0.5):
    with CurveWriter(folder) as writer:
        for step in range(10):
            writer.add_scalars({BLANKS: 20 + slope * step, POLICY_LOSS: loss}, step)
    return folder


def panels(path):
    """Return the picture's panels by row and column."""
    picture = np.asarray(Image.open(path).convert("RGB"))
    height, width = picture.shape[0] // ROWS, picture.shape[1] // COLUMNS
    return {
        (row, column): picture[row * height :, column * width :][:height, :width]
        for row in range(ROWS)
        for column in range(COLUMNS)
    }


def test_curves_are_drawn_and_show_their_values(tmp_path):
    pictures = []
    for slope in (1, -1):
        run = write_run(tmp_path / str(slope), slope)
        plot_runs([run], run / "curves.png")
        assert not list(run.glob(".*"))
        pictures.append(panels(run / "curves.png"))
    first, second = pictures
    assert (first[0, 0] != second[0, 0]).any()  # the curriculum rose, or fell
    assert all((first[place] == second[place]).all() for place in first if place != (0, 0))


def test_runs_below_a_folder_are_seeds_of_one_line(tmp_path):
    for seed, slope in enumerate((0, 1, 2)):
        write_run(tmp_path / "seeds" / str(seed), slope)
    below, given, alone = (tmp_path / f"{name}.png" for name in ("below", "given", "alone"))
    plot_runs([tmp_path / "seeds"], below)
    plot_runs(sorted((tmp_path / "seeds").iterdir()), given)
    plot_runs([tmp_path / "seeds" / "1"], alone)  # the mean of the three
    assert below.read_bytes() == given.read_bytes()
    coloured = {path: int((panels(path)[0, 0].std(2) > 10).sum()) for path in (below, alone)}
    assert coloured[below] > 5 * coloured[alone]  # the band


def test_folders_are_compared_by_colour(tmp_path):
    folders = [write_run(tmp_path / name, slope) for name, slope in (("with", 1), ("without", 0))]
    plot_runs(folders, tmp_path / "pooled.png")
    plot_runs(folders, tmp_path / "compared.png", compare=True)
    orange = (230, 159, 0)
    for name, expected in (("pooled", False), ("compared", True)):
        level = panels(tmp_path / f"{name}.png")[0, 0]
        assert (level == orange).all(2).any() == expected


def test_mean_and_range_interpolate_and_ignore_what_a_run_has_not_reached():
    runs = [{BLANKS: ([0, 10], [0.0, 10.0])}, {BLANKS: ([0, 5, 20], [2.0, 2.0, 8.0])}, {}]
    steps, (mean, low, high) = mean_and_range(runs, BLANKS)
    assert steps.tolist() == [0, 5, 10, 20]
    assert low.tolist() == [0, 2, 4, 8]
    assert high.tolist() == [2, 5, 10, 8]
    assert mean.tolist() == [1, 3.5, 7, 8]
    assert mean_and_range(runs, STEPS_PER_SECOND)[0].size == 0


def test_curves_are_read_as_written(tmp_path):
    with CurveWriter(tmp_path) as writer:
        writer.add_scalars({BLANKS: 2}, 1)
        writer.add_scalars({BLANKS: 3}, 5)
    assert read_curves(tmp_path) == {BLANKS: ([1, 5], [2.0, 3.0])}


def test_a_folder_without_curves_is_named(tmp_path):
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ValueError, match=f"{folder} holds no curves"):
            plot_runs([folder], tmp_path / "curves.png")
    with pytest.raises(ValueError, match="nothing to draw"):
        plot_runs([], tmp_path / "curves.png")


def test_the_command_draws(tmp_path, capsys):
    runs = [str(write_run(tmp_path / name, 1)) for name in ("first", "second")]
    out = tmp_path / "picture.png"
    assert cli.main(["plot", *runs, "--compare", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"Wrote {out}\n"
    plot_runs(runs, tmp_path / "expected.png", compare=True)
    assert out.read_bytes() == (tmp_path / "expected.png").read_bytes()
    assert cli.main(["plot", str(tmp_path / "missing"), "--out", str(out)]) == 2
    assert "holds no curves" in capsys.readouterr().err
