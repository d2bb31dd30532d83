"""The benchmarks of readings run, and count what has converged and what is right."""

import json

import numpy as np

import closest_reading
import converged_readings
from sudoku_gym import puzzles
from sudoku_learning.networks import Prediction


def test_converged_readings_are_counted_by_kind_and_once(tmp_path):
    out = tmp_path / "figures.json"
    small = ("--count", "2", "--positions", "2", "--steps", "5", "--out", str(out))
    rows = converged_readings.main(small)
    assert [row["count"] for row in rows] == [*[4, 8] * 4, *[4] * 4, 4, 48]
    assert sum(row["converged"] for row in rows[:8]) == rows[-1]["converged"] > 36
    assert rows[-1]["wrong"] == 0
    assert rows[-1]["highest %"] == round(300 / rows[-1]["converged"], 4)
    written = json.loads(out.read_text())
    assert written["rows"] == rows
    written["rows"][0]["count"] = 5
    out.write_text(json.dumps(written))
    assert converged_readings.main(small)[0]["count"] == 5  # it is not read again


def test_a_wrong_converged_reading_is_counted():
    test = puzzles.load("9x9", "test")[:4]
    grids = test.solutions.copy()
    grids[:2, 0, 0] = grids[:2, 0, 0] % 9 + 1
    converged = np.array([True, False, True, True])
    prediction = Prediction(grids, converged, np.ones(4, np.int64))
    row = converged_readings.verdicts("mine", test, prediction, 1.0)
    assert (row["converged"], row["wrong"], row["wrong of the others"]) == (3, 1, 1)
    assert 0 < row["lowest %"] < 100 / 3 < row["highest %"] < 100


def test_choices_among_starts_are_compared(tmp_path):
    out = tmp_path / "figures.json"
    small = ("--banks", "9x9-hard", "--count", "6", "--rounds", "32", "--restarts", "1")
    rows = closest_reading.main([*small, "--noise", "0.5", "--out", str(out)])
    assert [row["choice"] for row in rows] == list(closest_reading.CHOICES)
    assert all(row["count"] == rows[0]["count"] > 0 for row in rows)
    right = {row["choice"]: row["solved"] for row in rows}
    assert right["any start"] >= right["first start"] > 0
    assert json.loads(out.read_text())["rows"] == rows


def test_each_choice_takes_its_start():
    def ends(best, undecided, least, change):
        logits = np.full((1, 64), -9, np.float32)
        logits[0, best] = best
        numbers = np.array([undecided]), np.array([least]), np.array([change])
        return closest_reading.Ends(logits, *numbers, [])

    # Only the placement 4, the digit 1 of the second cell, is in this grid.
    solutions = np.array([[2, 1, 4, 3] + [1] * 12], np.int8)
    starts = [ends(4, 3, 0.1, 0.5), ends(5, 2, 0.3, 0.1), ends(6, 5, 0.2, 0.7)]
    right = closest_reading.right_placements(starts, solutions)
    assert [name for name, is_right in right.items() if is_right[0]] == ["first start", "any start"]
    right = closest_reading.right_placements(starts[1:] + starts[:1], solutions)
    assert not right["first start"][0] and right["any start"][0]
    starts[0] = ends(4, 1, 0.1, 0.5)
    assert closest_reading.right_placements(starts, solutions)["fewest undecided"][0]
