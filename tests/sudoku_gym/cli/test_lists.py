"""Policies on lists: results by source and rating, and files of results that a run goes on with."""

import json
import re
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from sudoku_gym import load_policy, puzzles
from sudoku_gym.evaluation import evaluate, lists
from sudoku_gym.policies.loading import weights_file
from sudoku_gym.puzzles import files
from sudoku_gym.puzzles.puzzle_set import PuzzleSet


def read(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def test_a_stopped_run_goes_on(extreme, run, monkeypatch):
    """What was played before is not played again, and the whole is what one run would say."""
    arguments = ["compare", "masked-random", "--puzzles", "test.csv", "--batch-size", "25"]
    assert run(*arguments, "--out", "whole.json")[0] == 0
    plain, calls = lists.evaluate, count()

    def stops(*given, **options):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return plain(*given, **options)

    monkeypatch.setattr(lists, "evaluate", stops)
    assert run(*arguments, "--out", "row.json")[0] == 130
    stopped = read("row.json")["rows"][0]
    assert len(stopped["outcomes"]) == 50 and not stopped["is_done"]
    assert run(*arguments, "--out", "row.json")[0] == 0
    assert next(calls) == 3 + 3  # two parts, the one that was stopped, and the three it left
    whole, row = (read(name)["rows"][0] for name in ("whole.json", "row.json"))
    differ = {key for key in row.keys() | whole.keys() if row.get(key) != whole.get(key)}
    assert differ <= {"seconds", "processor_seconds", "milliseconds"}
    monkeypatch.setattr(lists, "evaluate", None)
    assert run(*arguments, "--out", "row.json")[0] == 0  # nothing is left to play


def test_results_by_source_and_by_rating(extreme, run):
    arguments = ["compare", "hidden-singles", "solver", "--puzzles", "test.csv"]
    code, out, _ = run(*arguments, "--out", "row.json")
    sources = np.unique(extreme.sources)
    assert code == 0
    for word in (*sources, "80 and more", "solutions shown", "seed", "120 puzzles"):
        assert word in out
    row = read("row.json")["rows"][0]
    played = evaluate(load_policy("hidden-singles"), extreme)
    assert row["outcomes"] == "".join(map(str, played.solved.astype(int)))
    assert row["is_done"] and row["all"]["solved"] == played.solved.sum()
    of_source = extreme.sources == sources[1]
    assert row["by_source"][sources[1]]["count"] == of_source.sum()
    assert row["by_source"][sources[1]]["solved"] == played.solved[of_source].sum()
    highest = extreme.ratings >= 80
    assert row["by_rating"]["80 and more"]["solved"] == played.solved[highest].sum()
    assert sum(group["count"] for group in row["by_rating"].values()) == 120
    as_json = json.loads(run(*arguments, "--format", "json")[1])["hidden-singles"]
    assert as_json["by_rating"] == row["by_rating"]


def test_a_sample_is_played(extreme, run):
    arguments = ["compare", "solver", "--puzzles", "test.csv", "--count", "50", "--seed", "3"]
    code, out, _ = run(*arguments, "--format", "json")
    assert code == 0 and json.loads(out)["solver"]["puzzles"] == 50


def test_puzzles_are_chosen_by_their_rating(extreme, run):
    arguments = ["compare", "solver", "--puzzles", "test.csv", "--rating", "20..40"]
    assert run(*arguments, "--out", "row.json")[0] == 0
    chosen = (extreme.ratings >= 20) & (extreme.ratings < 40)
    assert read("row.json")["rows"][0]["by_rating"]["20 to 39"]["count"] == chosen.sum()
    assert run(*arguments[:-1], "20..60", "--out", "row.json")[0] == 2  # the file has others


def test_training_puzzles_are_left_out(run, tmp_path, monkeypatch):
    pytest.importorskip("igraph")
    monkeypatch.chdir(tmp_path)
    known, test = puzzles.load("9x9-hard", "train")[:3], puzzles.load("9x9", "test")[:5]
    files.write("test.csv", PuzzleSet.join([known, test]))
    for sample in ([], ["--count", "8"]):
        arguments = ["compare", "solver", "--puzzles", "test.csv", "--leave-out-training", *sample]
        code, out, _ = run(*arguments, "--out", f"{len(sample)}.json")
        assert code == 0 and "5 puzzles, 3 left out" in out
        assert read(f"{len(sample)}.json")["left_out"] == 3
    files.write("known.csv", known)
    for sample in ([], ["--count", "3"]):
        code, _, error = run(*arguments[:3], "known.csv", "--leave-out-training", *sample)
        assert code == 2 and "training splits hold all" in error


def test_what_another_version_or_other_weights_have_played_is_played_anew(extreme, run):
    arguments = ["compare", "hidden-singles", "--puzzles", "test.csv", "--out", "row.json"]
    assert run(*arguments)[0] == 0
    whole = read("row.json")
    row = whole["rows"][0]
    for changed in ({"package": "sudoku-gym 0.0.1"}, {"weights": "0" * 64}):
        forged = row | changed | {"outcomes": "0" * 120, "by_source": {}, "by_rating": {}}
        forged["all"] = {"count": 120, "solved": 0, "low": 0.0, "high": 3.0}
        Path("row.json").write_text(json.dumps(whole | {"rows": [forged]}))
        assert run(*arguments)[0] == 0
        assert read("row.json")["rows"][0]["outcomes"] == row["outcomes"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "row.csv"], "ends in .json"),
        (["--out", "gone/row.json"], "gone/row.json: No such file"),
        (["--out", "row.json", "--count", "9"], "holds results of other puzzles"),
        (["--out", "row.json", "--puzzles", "other/test.csv"], "holds results of other puzzles"),
        (["--out", "row.json", "--max-steps", "1"], "max_steps=None, not 1: give another file"),
        (["--puzzles", "none.csv"], "none.csv: no puzzle found"),
        (["--puzzles", "several.csv", "--count", "1"], "puzzle 0 has several solutions"),
        (["--count", "500"], "count 500: test.csv has 120 puzzles"),
        (["--rating", "100..200"], "test.csv has no puzzle with --rating 100..200"),
        (["--rating", "hard"], "'rating=hard' is no factor"),
    ],
)
def test_wrong_lists_and_files(extreme, run, arguments, said):
    several = "." * 81 + "," + "".join(map(str, extreme.solutions[0].ravel()))
    Path("several.csv").write_text(f"question,answer\n{several}\n")
    Path("none.csv").write_text("source,question,answer,rating\n")
    Path("other").mkdir()
    files.write("other/test.csv", extreme[1:])
    command = ["compare", "hidden-singles", "--puzzles", "test.csv"]
    assert run(*command, "--out", "row.json")[0] == 0
    code, _, error = run(*command, *arguments)
    assert code == 2 and said in error and error.count("\n") == 1


def test_rows_of_a_list_are_played_by_their_numbers(extreme, run):
    Path("rows.txt").write_text("3\n0\n3\n")
    arguments = ["compare", "solver", "--puzzles", "test.csv", "--format", "json", "--rows"]
    code, out, _ = run(*arguments, "rows.txt")
    assert code == 0 and json.loads(out)["solver"]["puzzles"] == 3
    for text, problem in [("120", "numbers from 0 to 119"), ("", "from 0"), ("x", "no numbers of")]:
        Path("rows.txt").write_text(text)
        assert problem in run(*arguments, "rows.txt")[2]


def test_puzzles_that_a_run_was_trained_on_are_not_held_out(run, tmp_path, monkeypatch):
    """A random division of the 4x4 bank trains on nine tenths of its test split."""
    monkeypatch.chdir(tmp_path)
    shipped = weights_file("cnn").parent
    arguments = ["compare", "runs/cnn", "cnn", "hidden-singles", "--count", "400"]
    for name in ("config.json", "weights.safetensors"):
        Path("runs/cnn").mkdir(parents=True, exist_ok=True)
        Path("runs/cnn", name).write_bytes((shipped / name).read_bytes())
    config = read("runs/cnn/config.json")
    config["puzzles"]["division"] = "random"
    Path("runs/cnn/config.json").write_text(json.dumps(config))
    out = run(*arguments)[1]
    seen = [int(number) for number in re.findall(r"│ +(\d+) of 400", out)]
    assert "held out" not in out and seen[1] == 0 and 330 < seen[0] < 390
    assert "held out" in run("compare", "cnn", "--count", "20")[1]
    assert "│ 0 of 2 │" in " ".join(run("compare", "dqn", "--count", "2")[1].split())
    assert "seen in" not in run("compare", "dqn", "--count", "2", "--blanks", "5")[1]
