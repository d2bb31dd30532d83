"""Lists of the form `source,question,answer,rating`, as Sudoku-Extreme has it: read and played."""

import json
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from sudoku_baselines.classical.trivial import MaskedRandom
from sudoku_gym import evaluate, load_policy, puzzles
from sudoku_gym.evaluation import lists
from sudoku_gym.evaluation.list_results import ListRow
from sudoku_gym.puzzles import files
from sudoku_gym.puzzles.puzzle_set import PuzzleSet


def read(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def test_a_rated_list_reads_back(extreme):
    with open("test.csv", encoding="ascii") as lines:
        assert next(lines) == "source,question,answer,rating\n"
    again = files.read("test.csv")
    for column in ("puzzles", "solutions", "ratings", "sources"):
        assert (getattr(again, column) == getattr(extreme, column)).all()
    parts = list(files.read_in_parts("test.csv", chunk=50))
    assert [len(part) for part in parts] == [50, 50, 20]
    assert (np.concatenate([part.sources for part in parts]) == extreme.sources).all()


def test_ratings_that_are_none_are_bad_rows(extreme, tmp_path):
    lines = (tmp_path / "test.csv").read_text().splitlines()
    lines[3] = lines[3].rpartition(",")[0] + ",2.5"
    lines[4] = lines[4].rpartition(",")[0] + ","
    lines[5] = lines[5].rpartition(",")[0] + ",2147483647"
    (tmp_path / "test.csv").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"line 4: the rating '2.5' is no whole number"):
        files.read("test.csv")
    with pytest.warns(UserWarning, match="1 rows skipped"):
        found = files.read("test.csv", on_bad_row="skip")
    assert [*found.ratings[2:4]] == [-1, 2**31 - 1] and len(found) == len(extreme) - 1
    (tmp_path / "test.csv").write_text("\n".join(lines).replace("2147483647", "2147483648"))
    with pytest.warns(UserWarning, match="2 rows skipped"):
        files.read("test.csv", on_bad_row="skip")


def test_the_highest_rating_is_in_a_group():
    *_, (name, least, above) = lists.rating_names()
    assert name.endswith("and more") and least < np.iinfo(np.int32).max < above


def test_a_draw_depends_on_the_seed_alone(extreme, monkeypatch):
    draws = []
    for chunk, seed in ((10_000, 5), (7, 5), (7, 6)):
        monkeypatch.setattr(files.read_in_parts, "__kwdefaults__", KEYWORDS | {"chunk": chunk})
        draws.append(files.read_sample("test.csv", 40, np.random.default_rng(seed)))
    first, again, other = (draw.puzzles for draw in draws)
    assert len(first) == 40 and (first == again).all() and not (first == other).all()
    places = [int((extreme.puzzles == puzzle).all((1, 2)).argmax()) for puzzle in first]
    assert places == sorted(set(places))  # in the order of the file, none twice


KEYWORDS = dict(files.read_in_parts.__kwdefaults__)


def test_all_puzzles_are_drawn_alike(extreme):
    """Of 12 puzzles 4 are drawn 150 times: each about 50 times, by a standard deviation of 6."""
    files.write("few.csv", extreme[:12])
    drawn = np.zeros(12, int)
    for seed in range(150):
        four = files.read_sample("few.csv", 4, np.random.default_rng(seed)).puzzles
        drawn += (extreme.puzzles[:12, None] == four).all((2, 3)).any(1)
    assert drawn.sum() == 600 and drawn.min() > 25 and drawn.max() < 75


def test_too_many_and_wrong_puzzles_are_refused(extreme, tmp_path):
    with pytest.raises(ValueError, match=r"count 500: test.csv has 120 puzzles"):
        files.read_sample("test.csv", 500, np.random.default_rng(0))
    with pytest.raises(ValueError, match="count must be at least 1"):
        files.read_sample("test.csv", 0, np.random.default_rng(0))
    several = "." * 81 + "," + "".join(map(str, extreme.solutions[0].ravel()))
    (tmp_path / "several.csv").write_text(f"question,answer\n{several}\n")
    with pytest.raises(ValueError, match="puzzle 0 has several solutions"):
        files.read_sample("several.csv", 1, np.random.default_rng(0))


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
    arguments = ["compare", "solver", "--puzzles", "test.csv", "--sample", "50", "--seed", "3"]
    code, out, _ = run(*arguments, "--format", "json")
    assert code == 0 and json.loads(out)["solver"]["puzzles"] == 50


def test_training_puzzles_are_left_out(run, tmp_path, monkeypatch):
    pytest.importorskip("igraph")
    monkeypatch.chdir(tmp_path)
    known, test = puzzles.load("9x9-hard", "train")[:3], puzzles.load("9x9", "test")[:5]
    files.write("test.csv", PuzzleSet.join([known, test]))
    for sample in ([], ["--sample", "8"]):
        arguments = ["evaluate", "solver", "--puzzles", "test.csv", "--leave-out-training", *sample]
        code, out, _ = run(*arguments, "--out", f"{len(sample)}.json")
        assert code == 0 and "5 puzzles, 3 left out" in out
        assert read(f"{len(sample)}.json")["left_out"] == 3
    files.write("known.csv", known)
    for sample in ([], ["--sample", "3"]):
        code, _, error = run(*arguments[:3], "known.csv", "--leave-out-training", *sample)
        assert code == 2 and "training splits hold all" in error


def test_what_was_left_out_is_of_the_whole_list_once_a_row_is(run, tmp_path, monkeypatch):
    pytest.importorskip("igraph")
    monkeypatch.chdir(tmp_path)
    known, test = puzzles.load("9x9-hard", "train")[:3], puzzles.load("9x9", "test")[:5]
    files.write("test.csv", PuzzleSet.join([test[:2], known, test[2:]]))
    plain, calls = lists.evaluate, count()

    def stops(*given, **options):
        if next(calls) == 3 + 1:  # in the second batch of the second policy
            raise KeyboardInterrupt
        return plain(*given, **options)

    monkeypatch.setattr(lists, "evaluate", stops)
    policies = ["hidden-singles", "naked-singles", "--batch-size", "2"]
    arguments = ["compare", *policies, "--puzzles", "test.csv", "--leave-out-training"]
    assert run(*arguments, "--out", "row.json")[0] == 130
    found = read("row.json")
    assert [row["is_done"] for row in found["rows"]] == [True, False]
    assert found["left_out"] == 3 and next(calls) == 5
    files.write("test.csv", PuzzleSet.join([test[:4], known[:1]]))
    code, _, error = run("compare", "dlx", *arguments[3:], "--out", "row.json")
    assert code == 2 and "has changed since" in error and read("row.json")["left_out"] == 3


def test_what_was_left_out_stays_while_the_only_policy_plays_again(run, tmp_path, monkeypatch):
    pytest.importorskip("igraph")
    monkeypatch.chdir(tmp_path)
    known, test = puzzles.load("9x9-hard", "train")[:3], puzzles.load("9x9", "test")[:5]
    files.write("test.csv", PuzzleSet.join([test[:2], known[:1], test[2:4], known[1:], test[4:]]))
    plain, calls = lists.evaluate, count()

    def stops(*given, **options):
        if next(calls) in (1, 6):  # in the second batch of the first and of the third run
            raise KeyboardInterrupt
        return plain(*given, **options)

    monkeypatch.setattr(lists, "evaluate", stops)
    arguments = ["evaluate", "hidden-singles", "--batch-size", "2", "--puzzles", "test.csv"]
    arguments += ["--leave-out-training", "--out", "row.json"]
    for options, code, left_out in ([], 130, None), ([], 0, 3), (["--again"], 130, 3):
        assert run(*arguments, *options)[0] == code
        assert read("row.json")["left_out"] == left_out
    assert read("row.json")["rows"][0]["is_done"]


def test_an_empty_list_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "none.csv").write_text("source,question,answer,rating\n")
    code, _, error = run("evaluate", "solver", "--puzzles", "none.csv")
    assert code == 2 and "none.csv: no puzzle found" in error


def test_parts_are_the_batches_of_the_whole(extreme):
    some = extreme[:40]
    whole = evaluate(MaskedRandom(), some.puzzles[:, :, :], seed=4, batch_size=8)
    row = ListRow("masked-random", {"seed": 4}, "")
    parts = [some[start : start + 8] for start in range(0, 40, 8)]
    assert (lists.play_list(MaskedRandom(), parts, row, seed=4).solved == whole.solved).all()
    assert lists.play_list(MaskedRandom(), parts, row, seed=4).constraint_fraction == pytest.approx(
        whole.constraint_fraction
    )
    with pytest.raises(ValueError, match="has played another list"):
        lists.play_list(MaskedRandom(), parts[:2], row, seed=4)
