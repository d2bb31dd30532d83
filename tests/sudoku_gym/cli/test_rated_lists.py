"""Lists of the form `source,question,answer,rating`, as Sudoku-Extreme has it: read and played."""

import importlib
import json
import sys
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from sudoku_baselines.classical.floors import MaskedRandom
from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_gym.evaluation import lists
from sudoku_gym.policies import identity
from sudoku_gym.puzzles import files
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.storage.lock import locked

SOURCES = np.array(["puzzles0_kaggle", "puzzles3_magictour", "puzzles6_forum_hardest_1905"])


def rated(count=60):
    """Make a set of puzzles, of three sources, with ratings from 0 to 99."""
    easy, hard = puzzles.load("9x9", "test")[:count], puzzles.load("9x9-hard", "test")[:count]
    both = PuzzleSet.join([easy, hard])
    rng = np.random.default_rng(0)
    return PuzzleSet(
        both.puzzles,
        both.solutions,
        both.geometry,
        ratings=rng.integers(0, 100, 2 * count),
        sources=SOURCES[rng.integers(0, 3, 2 * count)],
    )


def read(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


@pytest.fixture
def extreme(tmp_path, monkeypatch):
    """Work in a folder with such a list, `test.csv`."""
    monkeypatch.chdir(tmp_path)
    files.write("test.csv", rated())
    return rated()


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
    (tmp_path / "test.csv").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"line 4: the rating '2.5' is no whole number"):
        files.read("test.csv")
    with pytest.warns(UserWarning, match="1 rows skipped"):
        found = files.read("test.csv", on_bad_row="skip")
    assert found.ratings[2] == -1 and len(found) == len(extreme) - 1


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
    assert code == 0
    for word in (*SOURCES, "80 and more", "solutions shown", "seed", "120 puzzles"):
        assert word in out
    row = read("row.json")["rows"][0]
    played = evaluate(load_policy("hidden-singles"), extreme)
    assert row["outcomes"] == "".join(map(str, played.solved.astype(int)))
    assert row["is_done"] and row["all"]["solved"] == played.solved.sum()
    of_source = extreme.sources == SOURCES[1]
    assert row["by_source"][SOURCES[1]]["count"] == of_source.sum()
    assert row["by_source"][SOURCES[1]]["solved"] == played.solved[of_source].sum()
    highest = extreme.ratings >= 80
    assert row["by_rating"]["80 and more"]["solved"] == played.solved[highest].sum()
    assert sum(group["count"] for group in row["by_rating"].values()) == 120
    as_json = json.loads(run(*arguments, "--format", "json")[1])["hidden-singles"]
    assert as_json["by_rating"] == row["by_rating"]


def test_a_sample_is_played(extreme, run):
    arguments = ["compare", "solver", "--puzzles", "test.csv", "--sample", "50", "--seed", "3"]
    code, out, _ = run(*arguments, "--format", "json")
    assert code == 0 and json.loads(out)["solver"]["puzzles"] == 50


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
    times = ("seconds", "processor_seconds", "milliseconds")
    assert {key: row[key] for key in row.keys() - set(times)} == {
        key: whole[key] for key in whole.keys() - set(times)
    }
    monkeypatch.setattr(lists, "evaluate", None)
    assert run(*arguments, "--out", "row.json")[0] == 0  # nothing is left to play


def test_the_file_is_written_every_few_seconds_only(extreme, run, monkeypatch):
    """So that short parts of a long list do not cost more in writing than in playing."""
    plain, writes = lists.write_json, []
    monkeypatch.setattr(lists.time, "monotonic", lambda: 7.0)
    monkeypatch.setattr(lists, "write_json", lambda *a, **b: (writes.append(1), plain(*a, **b)))
    arguments = ["compare", "masked-random", "--puzzles", "test.csv", "--batch-size", "1"]
    assert run(*arguments, "--out", "row.json")[0] == 0
    assert len(writes) == 3  # the first part, the last, and that it is done
    (row,) = read("row.json")["rows"]
    assert row["is_done"] and row["all"]["count"] == 120


def test_a_list_that_changes_meanwhile_is_noticed(extreme, run, monkeypatch):
    plain = lists.evaluate

    def changes(policy, part, **options):
        found = plain(policy, part, **options)
        files.write("test.csv", extreme[::-1])
        return found

    monkeypatch.setattr(lists, "evaluate", changes)
    arguments = ["compare", "naked-singles", "hidden-singles", "--puzzles", "test.csv"]
    code, _, error = run(*arguments, "--out", "row.json")
    assert code == 2 and "test.csv has changed since naked-singles played it" in error
    assert [row["policy"] for row in read("row.json")["rows"]] == ["naked-singles"]


def test_other_lists_and_files_are_refused(extreme, run, tmp_path):
    arguments = ["compare", "hidden-singles", "--puzzles", "test.csv", "--out", "row.json"]
    assert run(*arguments)[0] == 0
    code, _, error = run(*arguments, "--sample", "9")
    assert code == 2 and "holds results of other puzzles" in error
    files.write("test.csv", extreme[::-1])
    code, _, error = run(*arguments)
    assert code == 2 and "hidden-singles has played another list" in error
    (tmp_path / "row.json").write_text('{"format": "sudoku-gym list", "puzzles": {}, "rows": 3}')
    code, _, error = run(*arguments)
    assert code == 2 and "row.json: it holds no results of a list" in error
    for out, problem in (("row.csv", "ends in .json"), ("gone/row.json", "no folder gone")):
        code, _, error = run(*arguments[:-1], out)
        assert code == 2 and problem in error


def test_rows_of_other_rules_stand_in_other_files(extreme, run):
    arguments = ["compare", "--puzzles", "test.csv", "--out", "row.json"]
    assert run(*arguments, "hidden-singles")[0] == 0
    before = Path("row.json").read_bytes()
    for policy in ("hidden-singles", "naked-singles"):
        code, _, error = run(*arguments, policy, "--max-steps", "1")
        said = "row.json holds hidden-singles with max_steps=None, not 1: give another file"
        assert code == 2 and said in error
    assert Path("row.json").read_bytes() == before
    assert run(*arguments, "hidden-singles", "--max-steps", "1", "--again")[0] == 0
    assert read("row.json")["rows"][0]["all"]["solved"] == 0


def test_what_was_written_can_be_read_however_long_the_list(tmp_path):
    count = 20_001
    row = lists.ListRow(
        "a", {"seed": 0}, "", outcomes="1" * count, all=lists.Share.of(count, count)
    )
    row.converged_outcomes, row.rounds_of_each = "1" * count, [*range(count)]
    groups = lists._Groups()
    for number in range(lists._MOST_SOURCES + 5):
        groups.by_source[str(number)] = np.array([1, 1 + (number == 7)])
    groups.fill_in(row)
    assert len(row.by_source) == lists._MOST_SOURCES and "7" in row.by_source
    file = lists.ListFile(tmp_path / "long.json", {"name": "long"})
    file.results.rows.append(row)
    file.write()
    assert lists.read_list_results(tmp_path / "long.json").rows == [row]


def test_what_has_played_is_what_was_loaded(extreme, run, tmp_path, monkeypatch):
    """Weights that are replaced while another policy plays are none of a row's."""
    monkeypatch.syspath_prepend(tmp_path)
    weights = tmp_path / "weights"
    weights.mkdir()
    (weights / "w.bin").write_bytes(b"old")
    swap = f"__import__('pathlib').Path({str(weights / 'w.bin')!r}).write_bytes(b'new')"
    first = POLICY.replace("pass", swap)
    (tmp_path / "swapping.py").write_text(first)
    later = POLICY + "\n    def __init__(self, folder):\n        pass\n"
    (tmp_path / "swapped.py").write_text(later)
    name = f"swapped:Mine?folder={weights}"
    before = identity.weights_checksum(name)
    arguments = ["compare", "swapping:Mine", name, "--puzzles", "test.csv", "--out", "row.json"]
    assert run(*arguments)[0] == 0
    assert read("row.json")["rows"][1]["weights"] == before != identity.weights_checksum(name)


POLICY = """
class Mine:
    def reset(self, puzzles, geometry, rng):
        pass

    def act(self, boards, action_masks):
        return action_masks.argmax(1)
"""


def test_a_policy_whose_code_has_changed_plays_anew(extreme, run, tmp_path, monkeypatch):
    """`again` lets it play anew in any case; what others have played stays."""
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "own_player.py"
    arguments = ["compare", "own_player:Mine", "solver", "--puzzles", "test.csv"]
    calls, plain = [], lists.evaluate

    def counted(policy, *given, **options):
        calls.append(type(policy).__name__)
        return plain(policy, *given, **options)

    monkeypatch.setattr(lists, "evaluate", counted)
    seen = []
    backwards = "shape[1] - 1 - action_masks[:, ::-1].argmax(1)"
    for source in (POLICY, POLICY, POLICY.replace("argmax(1)", backwards)):
        file.write_text(source)
        sys.modules.pop("own_player", None)
        importlib.invalidate_caches()
        assert run(*arguments, "--out", "row.json")[0] == 0
        seen.append(read("row.json")["rows"])
    assert calls == ["Mine", "SolverPolicy", "Mine"]
    own = [next(row for row in rows if row["policy"] == "own_player:Mine") for rows in seen]
    assert own[0]["code"] == own[1]["code"] != own[2]["code"]
    assert own[0]["package"] == "" and all(len(row["code"]) == 64 for row in own)
    solver = next(row for row in seen[2] if row["policy"] == "solver")
    assert solver["code"] == "" and solver["package"].startswith("sudoku-gym ")
    assert run(*arguments, "--out", "row.json", "--again")[0] == 0
    assert calls[3:] == ["Mine", "SolverPolicy"]


def test_what_another_version_has_played_is_played_anew(extreme, run):
    arguments = ["compare", "hidden-singles", "--puzzles", "test.csv", "--out", "row.json"]
    assert run(*arguments)[0] == 0
    whole = read("row.json")
    row = whole["rows"][0]
    forged = row | {"package": "sudoku-gym 0.0.1", "outcomes": "0" * 120}
    forged["all"] = {"count": 120, "solved": 0, "low": 0.0, "high": 3.0}
    Path("row.json").write_text(json.dumps(whole | {"rows": [forged]}))
    assert run(*arguments)[0] == 0
    again = read("row.json")["rows"][0]
    assert (again["outcomes"], again["package"]) == (row["outcomes"], row["package"])


def test_what_is_played_again_replaces_the_old_when_it_is_through(extreme, run, monkeypatch):
    arguments = ["compare", "masked-random", "--puzzles", "test.csv", "--batch-size", "25"]
    assert run(*arguments, "--out", "row.json")[0] == 0
    before, calls, plain = Path("row.json").read_text(), count(), lists.evaluate

    def stops(*given, **options):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return plain(*given, **options)

    monkeypatch.setattr(lists, "evaluate", stops)
    assert run(*arguments, "--out", "row.json", "--again")[0] == 130
    assert Path("row.json").read_text() == before
    assert run(*arguments, "--out", "row.json", "--again")[0] == 0
    assert next(calls) == 3 + 5
    old, new = (json.loads(each)["rows"][0] for each in (before, Path("row.json").read_text()))
    assert old["outcomes"] == new["outcomes"] and old["seconds"] != new["seconds"]


def test_two_commands_do_not_write_one_file(extreme, run, tmp_path):
    arguments = ["compare", "hidden-singles", "--puzzles", "test.csv", "--out", "row.json"]
    with locked(tmp_path / ".row.json.lock", "no"):
        code, _, error = run(*arguments)
    assert code == 2 and "row.json: another command is writing it" in error
    assert not (tmp_path / "row.json").exists()
    assert run(*arguments)[0] == 0


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"constraint_fraction": 5}, "constraint_fraction=5"),
        ({"seconds": -1}, "times and rounds"),
        ({"milliseconds": -1}, "times and rounds"),
        ({"illegal": 120}, "illegal=120: more games than were lost"),
        ({"rounds": -3}, "times and rounds"),
        ({"all": {"count": 3, "solved": 4, "low": 0, "high": 1}}, "4 solved of 3"),
        ({"all": {"count": 3, "solved": 2, "low": 9, "high": 1}}, "an interval from 9.0"),
        ({"outcomes": "1" * 120}, "are not those of the outcomes"),
        ({"by_source": {"x": {"count": 121, "solved": 1, "low": 0, "high": 1}}}, "groups of more"),
        ({"converged_outcomes": "1" * 120, "rounds_of_each": [2**70] * 120}, "rounds_of_each"),
    ],
)
def test_results_that_can_not_be_are_refused(extreme, run, wrong, why):
    arguments = ["compare", "hidden-singles", "--puzzles", "test.csv", "--out", "row.json"]
    assert run(*arguments)[0] == 0
    found = read("row.json")
    found["rows"][0] |= wrong
    Path("row.json").write_text(json.dumps(found))
    code, _, error = run(*arguments)
    assert code == 2 and "row.json: it holds no results of a list" in error and why in error


def test_rows_of_one_policy_and_names_that_are_none(extreme, run):
    arguments = ["compare", "hidden-singles", "--puzzles", "test.csv", "--out", "row.json"]
    assert run(*arguments)[0] == 0
    whole = read("row.json")
    Path("row.json").write_text(json.dumps(whole | {"rows": whole["rows"] * 2}))
    code, _, error = run(*arguments)
    assert code == 2 and "two rows of one policy" in error
    Path("row.json").unlink()
    text = Path("test.csv").read_text(encoding="ascii")
    Path("test.csv").write_text(text.replace(SOURCES[0], "\x1b[31mred"), encoding="ascii")
    code, out, _ = run(*arguments, "--format", "markdown")
    assert code == 0 and "[31mred" in out and "\x1b" not in out


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


def test_the_same_digits_on_other_boards_are_another_list(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    grid = "\n".join(
        board.to_line(each) for each in puzzles.load("windows9x9", "test").solutions[:3]
    )
    (tmp_path / "grids.txt").write_text(grid.replace("1", "."))
    arguments = ["compare", "solver", "--puzzles", "grids.txt", "--out", "row.json"]
    assert run(*arguments, "--board", "9x9")[0] == 0
    code, _, error = run(*arguments, "--board", "windows9x9")
    assert code == 2 and "solver has played another list" in error
    assert run(*arguments, "--board", "9x9")[0] == 0


def test_groups_are_those_of_the_list_as_it_is(extreme, run):
    arguments = ["compare", "hidden-singles", "--puzzles", "test.csv", "--out", "row.json"]
    assert run(*arguments)[0] == 0
    text = Path("test.csv").read_text(encoding="ascii")
    Path("test.csv").write_text(text.replace(SOURCES[0], "elsewhere"), encoding="ascii")
    code, out, _ = run(*arguments)
    assert code == 0 and "elsewhere" in out and SOURCES[0] not in out
    assert "elsewhere" in read("row.json")["rows"][0]["by_source"]


def test_an_empty_list_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "none.csv").write_text("source,question,answer,rating\n")
    code, _, error = run("evaluate", "solver", "--puzzles", "none.csv")
    assert code == 2 and "none.csv: no puzzle found" in error


def test_parts_are_the_batches_of_the_whole():
    some = rated(20)
    whole = evaluate(MaskedRandom(), some.puzzles[:, :, :], seed=4, batch_size=8)
    row = lists.ListRow("masked-random", {"seed": 4}, "")
    parts = [some[start : start + 8] for start in range(0, 40, 8)]
    assert (lists.play_list(MaskedRandom(), parts, row, seed=4).solved == whole.solved).all()
    assert lists.play_list(MaskedRandom(), parts, row, seed=4).constraint_fraction == pytest.approx(
        whole.constraint_fraction
    )
    with pytest.raises(ValueError, match="has played another list"):
        lists.play_list(MaskedRandom(), parts[:2], row, seed=4)
