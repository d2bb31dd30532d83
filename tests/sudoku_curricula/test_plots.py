"""The picture of runs, and the curves it is drawn from."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from torch.utils.tensorboard import SummaryWriter

from sudoku_curricula.curves import (
    BLANKS_LEVEL,
    COMPLETION_RATE,
    EPISODIC_RETURN,
    ITERATION,
    POLICY_LOSS,
    STEPS_PER_SECOND,
    SUCCESS_RATE,
    VALUE_LOSS,
)
from sudoku_curricula.plots import mean_and_range, plot_runs, set_scale, tags_of, task_history
from sudoku_gym import cli

ROWS, COLUMNS = 1, 2  # of the picture of `write_run`: the level and a loss


def write_run(folder, slope, loss=0.5):
    with SummaryWriter(folder) as writer:
        for step in range(10):
            writer.add_scalar(BLANKS_LEVEL, 20 + slope * step, step)
            writer.add_scalar(POLICY_LOSS, loss, step)
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


def test_folders_are_compared_by_colour(tmp_path):
    folders = [write_run(tmp_path / name, slope) for name, slope in (("with", 1), ("without", 0))]
    plot_runs(folders, tmp_path / "pooled.png")
    plot_runs(folders, tmp_path / "compared.png", compare=True)
    orange = (230, 159, 0)
    for name, expected in (("pooled", False), ("compared", True)):
        level = panels(tmp_path / f"{name}.png")[0, 0]
        assert (level == orange).all(2).any() == expected


def test_mean_and_range_interpolate_and_ignore_what_a_run_has_not_reached():
    runs = [
        {BLANKS_LEVEL: ([0, 10], [0.0, 10.0])},
        {BLANKS_LEVEL: ([0, 5, 20], [2.0, 2.0, 8.0])},
        {},
    ]
    steps, (mean, low, high) = mean_and_range(runs, BLANKS_LEVEL)
    assert steps.tolist() == [0, 5, 10, 20]
    assert low.tolist() == [0, 2, 4, 8]
    assert high.tolist() == [2, 5, 10, 8]
    assert mean.tolist() == [1, 3.5, 7, 8]


def curves_of(tags, low=0.2, high=0.9):
    return {tag: ([0, 1], [low, high]) for tag in tags}


def test_panels_follow_the_groups_that_the_runs_hold():
    run = curves_of([EPISODIC_RETURN, COMPLETION_RATE, POLICY_LOSS, ITERATION, BLANKS_LEVEL])
    tags = tags_of([run, curves_of(["rollout/ep_rew_mean", "losses/kl"])])
    assert tags == [BLANKS_LEVEL, COMPLETION_RATE, "losses/kl", POLICY_LOSS, EPISODIC_RETURN]


@pytest.mark.parametrize(
    ("tag", "values", "scale"),
    [
        (BLANKS_LEVEL, [0, 1], "linear"),
        (SUCCESS_RATE, [0, 1], "share"),
        ("search/evaluations", [0, 30], "linear"),
        (VALUE_LOSS, [0, 1e-9, 0.3], "log"),
        (POLICY_LOSS, [0.2, 0.9], "linear"),
        (POLICY_LOSS, [-0.2, 9], "linear"),
        (STEPS_PER_SECOND, [1, 9000], "linear"),
    ],
)
def test_the_scale_is_that_of_the_values(tag, values, scale):
    axes = Figure().subplots()
    axes.plot(values)
    set_scale(axes, tag, np.array(values, float))
    is_log, is_share = axes.get_yscale() == "log", axes.get_ylim() == (-0.02, 1.02)
    assert (is_log and axes.get_ylim()[0] >= 1e-5, is_share) == (scale == "log", scale == "share")


def test_points_that_are_no_numbers_are_left_out(tmp_path):
    run = write_run(tmp_path / "run", 1)
    plot_runs([run], tmp_path / "without.png")
    with SummaryWriter(run) as writer:
        writer.add_scalar(POLICY_LOSS, float("nan"), 10)
        writer.add_scalar("losses/kl", float("inf"), 10)
    plot_runs([run], tmp_path / "with.png")
    assert (tmp_path / "with.png").read_bytes() == (tmp_path / "without.png").read_bytes()


def test_a_run_without_curves_of_ours_is_refused(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("rollout/ep_rew_mean", 1.0, 1)
    with pytest.raises(ValueError, match="hold no curve of a group to draw: curriculum, eval"):
        plot_runs([tmp_path], tmp_path / "curves.png")


def dark_rows(path):
    """Return which rows of the loss's panel are dark grey for a third of its width or more."""
    right = panels(path)[0, 1].astype(int)
    is_grey = (np.ptp(right, axis=2) < 10) & (right.max(2) < 120)
    return set(np.flatnonzero(is_grey.mean(1) > 1 / 3).tolist())


def test_floors_are_lines_at_their_heights(tmp_path):
    run = write_run(tmp_path / "run", 1, loss=0.9)
    paths = {height: tmp_path / f"{height}.png" for height in (0, 0.3, 0.6)}
    plot_runs([run], paths[0])
    for height in (0.3, 0.6):
        plot_runs([run], paths[height], floors={POLICY_LOSS: {"hidden singles": height}})
    without, low, high = (dark_rows(path) for path in paths.values())
    assert low - without and high - without
    assert max(high - without) < min(low - without)  # rows are counted from the top
    levels = [panels(path)[0, 0] for path in paths.values()]
    assert all((level == levels[0]).all() for level in levels)  # another curve's panel has none


def test_the_command_draws(tmp_path, capsys):
    runs = [str(write_run(tmp_path / name, 1)) for name in ("first", "second")]
    out = tmp_path / "picture.png"
    assert cli.main(["plot", *runs, "--compare", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"Wrote {out}\n"
    plot_runs(runs, tmp_path / "expected.png", compare=True)
    assert out.read_bytes() == (tmp_path / "expected.png").read_bytes()
    assert cli.main(["plot", str(tmp_path / "missing"), "--out", str(out)]) == 2
    assert "holds no curves" in capsys.readouterr().err


def test_tasks_are_a_heat_map_in_the_order_of_their_numbers():
    run = {
        "task_weight/as stored": ([0, 20], [0.0, 0.6]),
        "task_weight/10 blanks": ([5, 20], [0.7, 0.1]),
        "task_weight/2 blanks": ([0, 10], [1.0, 0.3]),
        "losses/a": ([0], [1.0]),
    }
    tasks, steps, values = task_history(run, "task_weight")
    assert tasks == ["2 blanks", "10 blanks", "as stored"] and steps.tolist() == [0, 5, 10, 20]
    np.testing.assert_equal(values[:2], [[1, 1, 0.3, 0.3], [np.nan, 0.7, 0.7, 0.1]])
