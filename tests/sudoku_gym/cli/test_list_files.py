"""Files of results, `--out`: what they keep, what they refuse, how a run goes on."""

import importlib
import json
import sys
from itertools import count
from pathlib import Path

import numpy as np

from sudoku_gym import board, puzzles
from sudoku_gym.evaluation import list_results, lists
from sudoku_gym.geometry import latin_square
from sudoku_gym.policies import identity
from sudoku_gym.puzzles import files
from sudoku_gym.storage.lock import locked


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
    times = ("seconds", "processor_seconds", "milliseconds")
    assert {key: row[key] for key in row.keys() - set(times)} == {
        key: whole[key] for key in whole.keys() - set(times)
    }
    monkeypatch.setattr(lists, "evaluate", None)
    assert run(*arguments, "--out", "row.json")[0] == 0  # nothing is left to play


def test_the_file_is_written_every_few_seconds_only(extreme, run, monkeypatch):
    """So that short parts of a long list do not cost more in writing than in playing."""
    plain, writes = list_results.write_json, []

    def counted(*given, **options):
        writes.append(1)
        plain(*given, **options)

    monkeypatch.setattr(lists.time, "monotonic", lambda: 7.0)
    monkeypatch.setattr(list_results, "write_json", counted)
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
    row = list_results.ListRow(
        "a", {"seed": 0}, "", outcomes="1" * count, all=list_results.Share.of(count, count)
    )
    row.converged_outcomes, row.rounds_of_each = "1" * count, [*range(count)]
    groups = lists._Groups()
    for number in range(lists._MOST_SOURCES + 5):
        groups.by_source[str(number)] = np.array([1, 1 + (number == 7)])
    groups.fill_in(row)
    assert len(row.by_source) == lists._MOST_SOURCES and "7" in row.by_source
    file = list_results.ListFile(tmp_path / "long.json", {"name": "long"})
    file.results.rows.append(row)
    file.write()
    assert list_results.read_list_results(tmp_path / "long.json").rows == [row]


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
    arguments = ["--puzzles", "test.csv", "--out", "row.json"]
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
        for policy in ("own_player:Mine", "solver"):
            assert run("evaluate", policy, *arguments)[0] == 0
        seen.append(read("row.json")["rows"])
    assert calls == ["Mine", "SolverPolicy", "Mine"]
    own = [next(row for row in rows if row["policy"] == "own_player:Mine") for rows in seen]
    assert own[0]["code"] == own[1]["code"] != own[2]["code"]
    assert own[0]["package"] == "" and all(len(row["code"]) == 64 for row in own)
    solver = next(row for row in seen[2] if row["policy"] == "solver")
    assert solver["code"] == "" and solver["package"].startswith("sudoku-gym ")
    for policy in ("own_player:Mine", "solver"):
        assert run("evaluate", policy, *arguments, "--again")[0] == 0
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


def test_names_of_sources_are_shown_as_text(extreme, run):
    arguments = ["compare", "hidden-singles", "--puzzles", "test.csv", "--out", "row.json"]
    text = Path("test.csv").read_text(encoding="ascii")
    Path("test.csv").write_text(
        text.replace(extreme.sources[0], "\x1b[31mred<b>"), encoding="ascii"
    )
    code, out, _ = run(*arguments, "--format", "markdown")
    assert code == 0 and r"[31mred\<b>" in out and "\x1b" not in out


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


def test_lists_of_boards_without_standard_boxes(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    source = "from sudoku_gym.geometry import latin_square\nL5 = latin_square(5)\n"
    Path("own_board.py").write_text(source)
    some = puzzles.generate(4, latin_square(5), np.random.default_rng(0))
    files.write("five.txt", some)
    arguments = ["evaluate", "solver", "--puzzles", "five.txt", "--board", "own_board:L5"]
    assert run(*arguments, "--out", "row.json")[0] == 0
    assert read("row.json")["rows"][0]["outcomes"] == "1111"


def test_groups_are_those_of_the_list_as_it_is(extreme, run):
    arguments = ["compare", "hidden-singles", "--puzzles", "test.csv", "--out", "row.json"]
    assert run(*arguments)[0] == 0
    text = Path("test.csv").read_text(encoding="ascii")
    Path("test.csv").write_text(text.replace(extreme.sources[0], "elsewhere"), encoding="ascii")
    code, out, _ = run(*arguments)
    assert code == 0 and "elsewhere" in out and extreme.sources[0] not in out
    assert "elsewhere" in read("row.json")["rows"][0]["by_source"]


def test_a_list_that_has_grown_is_another_one(extreme, run):
    """By whole batches too; nothing that was played is lost."""
    files.write("test.csv", extreme[:60])
    arguments = ["compare", "--puzzles", "test.csv", "--out", "row.json", "--batch-size", "60"]
    assert run(*arguments, "hidden-singles", "naked-singles")[0] == 0
    before = Path("row.json").read_bytes()
    files.write("test.csv", extreme)
    for policy in ("hidden-singles", "naked-singles"):
        code, _, error = run(*arguments, policy)
        assert code == 2 and f"{policy} has played another list" in error
    code, _, error = run(*arguments, "solver")
    assert code == 2 and "test.csv has changed since hidden-singles played it" in error
    code, _, error = run(*arguments, "hidden-singles", "--again")
    assert code == 2 and "test.csv has changed since naked-singles played it" in error
    after, rows = read("row.json"), json.loads(before)["rows"]
    assert sorted(after["rows"], key=str) == sorted(rows, key=str)
