"""The picture of runs, and the curves it is drawn from."""

from pathlib import Path

import matplotlib
import numpy as np
import pytest
from PIL import Image

from sudoku_curricula.curves import (
    BLANKS_LEVEL,
    COMPLETION_RATE,
    CONSTRAINT_FRACTION,
    ENTROPY,
    EPISODIC_LENGTH,
    EPISODIC_RETURN,
    ITERATION,
    POLICY_LOSS,
    STEPS_PER_SECOND,
    SUCCESS_RATE,
    VALUE_LOSS,
    CurveWriter,
    read_curves,
)
from sudoku_curricula.plots import Panel, _label, mean_and_range, panels_of, plot_runs
from sudoku_gym import cli

ROWS, COLUMNS = 1, 2  # of the picture of `write_run`: the level and a loss


def write_run(folder, slope, loss=0.5):
    with CurveWriter(folder) as writer:
        for step in range(10):
            writer.add_scalars({BLANKS_LEVEL: 20 + slope * step, POLICY_LOSS: loss}, step)
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


def test_a_single_compared_folder_has_the_colour_of_the_legend(tmp_path):
    with CurveWriter(tmp_path / "run") as writer:
        for step in range(10):
            writer.add_scalars({ENTROPY: 0.4, POLICY_LOSS: 0.5}, step)
    plot_runs([tmp_path / "run"], tmp_path / "alone.png")
    plot_runs([tmp_path / "run"], tmp_path / "compared.png", compare=True)
    orange = (230, 159, 0)  # of a second curve, or of a second folder
    for name, expected in (("alone", True), ("compared", False)):
        picture = np.asarray(Image.open(tmp_path / f"{name}.png").convert("RGB"))
        assert (picture == orange).all(2).any() == expected


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
    assert mean_and_range(runs, STEPS_PER_SECOND)[0].size == 0


def run_of(**values):
    """Return a run with some values of each curve; `a__b` stands for the tag a/b."""
    tags = {name.replace("__", "/"): points for name, points in values.items()}
    return {tag: (list(range(len(points))), points) for tag, points in tags.items()}


def curves_of(tags, low=0.2, high=0.9):
    return {tag: ([0, 1], [low, high]) for tag in tags}


def test_panels_follow_the_groups_that_the_runs_hold():
    usual = [COMPLETION_RATE, CONSTRAINT_FRACTION, SUCCESS_RATE, POLICY_LOSS, ENTROPY]
    run = curves_of([*usual, EPISODIC_RETURN]) | curves_of([BLANKS_LEVEL, EPISODIC_LENGTH], 2, 12)
    run |= curves_of([VALUE_LOSS], 1e-4, 0.3) | curves_of([ITERATION], 1, 9)
    run |= curves_of(["throughput/games_per_second"], 300, 400) | curves_of(
        [STEPS_PER_SECOND], 9000, 10_000
    )
    panels = panels_of([run, curves_of(["rollout/ep_rew_mean", "time/fps"])])
    assert panels == [
        Panel("curriculum", (BLANKS_LEVEL,)),
        Panel("curriculum", (SUCCESS_RATE,), "share"),
        Panel("evaluation", (COMPLETION_RATE, CONSTRAINT_FRACTION), "share"),
        Panel("losses", (ENTROPY, POLICY_LOSS)),
        Panel("losses", (VALUE_LOSS,), "log"),
        Panel("throughput", (STEPS_PER_SECOND,)),
        Panel("throughput", ("throughput/games_per_second",)),
        Panel("charts", (EPISODIC_LENGTH,)),
        Panel("charts", (EPISODIC_RETURN,)),
    ]
    titles = [panel.title for panel in panels]
    assert titles[:4] == ["Blanks", "Success rate", "Evaluation", "Losses"]
    assert titles[-1] == "Episodic return"


def test_a_new_loss_is_drawn_beside_those_of_its_kind():
    small = run_of(losses__td_error=[0.5, 0.4], losses__entropy=[1.0, 0.6], losses__kl=[0.01, 0.02])
    assert panels_of([small]) == [
        Panel("losses", ("losses/entropy", "losses/td_error")),
        Panel("losses", ("losses/kl",)),  # ten times smaller: it would lie flat below them
    ]
    falling = run_of(losses__logz_error=[30.0, 0.01], losses__value_loss=[0.3, 0.0])
    assert panels_of([small | falling])[-1] == Panel(
        "losses", ("losses/logz_error", "losses/value_loss"), "log"
    )
    signed = run_of(losses__policy_loss=[-0.9, 1e-6])
    assert panels_of([signed]) == [Panel("losses", ("losses/policy_loss",))]


def test_a_metric_outside_0_to_1_is_no_share():
    run = run_of(evaluation__completion_rate=[0.0, 1.0], evaluation__moves=[3.0, 40.0])
    assert panels_of([run]) == [
        Panel("evaluation", (COMPLETION_RATE,), "share"),
        Panel("evaluation", ("evaluation/moves",)),
    ]


def test_a_picture_has_so_many_curves_at_most():
    run = {f"losses/{number}": ([1, 2], [1.0, 2.0]) for number in range(201)}
    with pytest.raises(ValueError, match="the runs hold 201 curves: 200 at most are drawn"):
        panels_of([run])
    del run["losses/0"]
    assert panels_of([run])


def test_no_panel_holds_more_lines_than_can_be_told_apart():
    tags = [f"losses/loss_{number}" for number in range(10)]
    panels = panels_of([curves_of(tags)])
    assert [len(panel.tags) for panel in panels] == [4, 3, 3]
    assert [tag for panel in panels for tag in panel.tags] == tags


def test_points_that_are_no_numbers_are_left_out(tmp_path):
    run = write_run(tmp_path / "run", 1)
    plot_runs([run], tmp_path / "without.png")
    with CurveWriter(run) as writer:
        writer.add_scalars({POLICY_LOSS: float("nan"), "losses/kl": float("inf")}, 10)
    plot_runs([run], tmp_path / "with.png")
    assert (tmp_path / "with.png").read_bytes() == (tmp_path / "without.png").read_bytes()


def test_a_loss_of_any_size_and_a_name_of_any_length_are_drawn(tmp_path):
    with CurveWriter(tmp_path) as writer:
        for step, value in enumerate((0.5, 3e38)):
            writer.add_scalars({POLICY_LOSS: value, f"losses/{'a' * 300}": 1.0}, step)
    plot_runs([tmp_path], tmp_path / "curves.png")
    assert _label(f"losses/{'a' * 300}") == "a" * 80


def test_settings_of_matplotlib_in_the_working_folder_change_nothing(tmp_path):
    write_run(tmp_path / "run", 0.1)
    plot_runs([tmp_path / "run"], tmp_path / "plain.png")
    with matplotlib.rc_context({"text.usetex": True, "figure.facecolor": "red"}):  # as if read
        plot_runs([tmp_path / "run"], tmp_path / "same.png")
    assert (tmp_path / "same.png").read_bytes() == (tmp_path / "plain.png").read_bytes()


def test_a_run_without_curves_of_ours_is_refused(tmp_path):
    with CurveWriter(tmp_path) as writer:
        writer.add_scalar("rollout/ep_rew_mean", 1.0, 1)
    with pytest.raises(ValueError, match="hold no curve of a group to draw: curriculum, eval"):
        plot_runs([tmp_path], tmp_path / "curves.png")


def test_every_kind_of_panel_is_drawn(tmp_path):
    folders = []
    for folder, scale in (("one", 1.0), ("two", 0.5)):
        with CurveWriter(tmp_path / folder) as writer:
            for step in range(5):
                names = [SUCCESS_RATE, COMPLETION_RATE, POLICY_LOSS, ENTROPY, EPISODIC_RETURN]
                writer.add_scalars(dict.fromkeys(names, scale * step / 5), 1000 * step)
                writer.add_scalars({VALUE_LOSS: 10.0**-step, STEPS_PER_SECOND: 50_000}, 1000 * step)
        folders.append(tmp_path / folder)
    plot_runs(folders, tmp_path / "curves.png", compare=True)
    with Image.open(tmp_path / "curves.png") as picture:
        assert picture.width > 1500  # three columns


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


def test_a_curve_with_floors_has_a_panel_of_its_own():
    run = curves_of([COMPLETION_RATE, CONSTRAINT_FRACTION, "evaluation/other"])
    assert panels_of([run], apart={COMPLETION_RATE: {}}) == [
        Panel("evaluation", (COMPLETION_RATE,), "share"),
        Panel("evaluation", (CONSTRAINT_FRACTION, "evaluation/other"), "share"),
    ]


def test_floors_that_can_not_be_drawn_are_refused(tmp_path):
    run = write_run(tmp_path / "run", 1)
    with pytest.raises(ValueError, match="4 floors of losses/policy_loss can't be told apart"):
        plot_runs([run], tmp_path / "x.png", floors={POLICY_LOSS: dict.fromkeys("abcd", 0.5)})
    with pytest.raises(ValueError, match="floors of losses/entropy: no run holds a curve"):
        plot_runs([run], tmp_path / "x.png", floors={ENTROPY: {"random": 0.5}})
    assert not (tmp_path / "x.png").exists()


def test_curves_are_read_as_written(tmp_path):
    with CurveWriter(tmp_path) as writer:
        writer.add_scalars({BLANKS_LEVEL: 2}, 1)
        writer.add_scalars({BLANKS_LEVEL: 3}, 5)
    assert read_curves(tmp_path) == {BLANKS_LEVEL: ([1, 5], [2.0, 3.0])}


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


def test_no_plot_is_replaced_that_was_not_named(tmp_path, capsys, monkeypatch):
    write_run(tmp_path / "run", 1)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["plot", "run"]) == 0
    before = Path("curves.png").read_bytes()
    assert cli.main(["plot", "run"]) == 2
    assert "curves.png is there already: name it with --out" in capsys.readouterr().err
    assert Path("curves.png").read_bytes() == before


def test_a_plot_is_written_over_no_file_of_another_kind(tmp_path):
    write_run(tmp_path / "run", 1)
    (curves,) = (tmp_path / "run").iterdir()
    before = curves.read_bytes()
    for path in (curves, tmp_path / "plot.svg"):
        with pytest.raises(ValueError, match=r"use a name that ends in \.png"):
            plot_runs([tmp_path / "run"], path)
    assert curves.read_bytes() == before
