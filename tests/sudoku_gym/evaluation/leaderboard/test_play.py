"""Plays what is missing or out of date, nothing else, and the same each time."""

import json
import re
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from sudoku_gym import evaluate, load_policy
from sudoku_gym.evaluation.leaderboard import (
    LeaderboardConfig,
    cells,
    play_leaderboard,
    players,
    read_leaderboard,
    runs,
)
from sudoku_gym.evaluation.leaderboard import play as play_module
from sudoku_gym.evaluation.leaderboard.fixed_sets import fixed_sets
from sudoku_gym.storage.lock import locked

SETS = ["4x4", "9x9"]
CELLS = [f"{policy} on {name}" for policy in ("masked-random", "naked-singles") for name in SETS]
TIMED = ["masked-random on 4x4", "naked-singles on 4x4"]


def test_every_cell_is_played_once_and_timed_where_it_is_to_be(small, play, tmp_path):
    results, done = play()
    assert done == CELLS + TIMED
    naked = results.rows["naked-singles"]
    cell = naked.cells["4x4"]
    assert (cell.error, cell.played, cell.solved, cell.outcomes) == ("", 140, 140, "1" * 140)
    assert cell.orbits == (8, 8) and cell.seconds >= 0
    assert len(cell.timing.seconds) == cells.TIMED_PUZZLES
    assert naked.cells["9x9"].timing is None and naked.cells["9x9"].orbits is None
    assert naked.package.startswith("sudoku-gym ") and naked.weights == ""
    assert 0 < results.rows["masked-random"].cells["4x4"].solved < 60
    assert asdict(read_leaderboard(tmp_path / "board.json"))["sets"] == asdict(results)["sets"]


def test_a_cell_is_the_policys_games_in_batches(small, play):
    puzzles = fixed_sets()[0].load(0)
    cell = play()[0].rows["masked-random"].cells["4x4"]
    batch = cells.BATCH_CELLS // 16
    assert batch == 128 and len(puzzles) == 140
    for start in (0, batch):
        part = puzzles[start : start + batch]
        solved = evaluate(load_policy("masked-random"), part, seed=start).solved
        assert cell.outcomes[start : start + batch] == "".join("01"[int(won)] for won in solved)


def test_the_same_again_to_the_letter(small, play, tmp_path, outcomes):
    for name in ("a.json", "b.json"):
        play(tmp_path / name)
    assert outcomes(tmp_path / "a.json") == outcomes(tmp_path / "b.json")


def test_nothing_is_played_twice(small, play, tmp_path):
    play()
    before = (tmp_path / "board.json").read_bytes()
    assert play()[1] == []
    assert (tmp_path / "board.json").read_bytes() == before


@pytest.mark.parametrize("stop", [1, 3, 5])
def test_a_run_that_was_stopped_goes_on_where_it_was(
    small, play, tmp_path, monkeypatch, in_this_process, stop, outcomes
):
    play(tmp_path / "whole.json")
    left = iter(range(stop))

    def stopping(tasks, jobs):
        for answer in in_this_process(tasks, jobs):
            yield answer
            if next(left, None) == stop - 1:
                raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(play_module, "perform", stopping)
        with pytest.raises(KeyboardInterrupt):
            play()
    assert play()[1] == (CELLS + TIMED)[stop:]
    assert outcomes(tmp_path / "board.json") == outcomes(tmp_path / "whole.json")


def test_a_third_party_policy_adds_a_row(small, play, own_policies):
    play()
    results, done = play(add=("third_party:First", "third_party:First?last=true"))
    names = ["third_party:First", "third_party:First?last=true"]
    assert done == [f"{policy} on {name}" for policy in names for name in SETS] + [
        f"{policy} on 4x4" for policy in names
    ]
    assert list(results.rows)[2:] == names
    first, last = (results.rows[name] for name in names)
    assert first.kind == last.kind == "added"
    assert first.cells["4x4"].outcomes != last.cells["4x4"].outcomes


def test_an_added_row_stays_and_is_never_loaded(small, play, own_policies, tmp_path):
    play(add=("third_party:First",))
    (tmp_path / "third_party.py").unlink()
    sys.modules.pop("third_party", None)
    results, done = play()
    assert done == [] and results.rows["third_party:First"].cells["9x9"].played == 4
    assert len(play(remove=("third_party:First",))[0].rows) == 2


def test_an_added_row_is_played_again_by_its_name_alone(small, play, own_policies):
    name = "third_party:First"
    before = play(add=(name,))[0].rows[name].cells
    assert play(only=(name,))[1] == []
    results, done = play(only=(name,), again=(name,), sets=("9x9",))
    assert done == [f"{name} on 9x9"] and results.rows[name].kind == "added"
    assert results.rows[name].cells["9x9"].outcomes == before["9x9"].outcomes


def test_rows_that_are_not_played_stay_as_they_are(small, play, tmp_path):
    """Whether their packages are not installed here, or their code has changed since."""
    play()
    path = tmp_path / "board.json"
    before = json.loads(path.read_text())
    before["rows"]["theirs"] = {**before["rows"]["masked-random"], "kind": "solver"}
    before["rows"]["masked-random"]["package"] = "sudoku-gym 0.0.1"
    path.write_text(json.dumps(before))
    play(only=("naked-singles",))
    after = json.loads(path.read_text())
    assert after["rows"] == before["rows"]
    assert "theirs" not in play(remove=("theirs",))[0].rows


def test_what_is_asked_for_in_vain_is_refused(small, play):
    for changes, said in [
        ({"add": ("nobody",)}, "no policy 'nobody'"),
        ({"add": ("masked-random?x=1",)}, "has no option x"),
        (
            {"remove": ("masked-random",)},
            "no row that no installed package lists is called 'masked-random': use none",
        ),
        (
            {"again": ("solver",)},
            "no row listed, in the file, or given with --add is called 'solver': use masked-random",
        ),
        ({"only": ("solver",)}, "is called 'solver': use masked-random, naked-singles"),
        ({"sets": ("25x25",)}, "no set is called '25x25': use 4x4, 9x9"),
        ({"jobs": 0}, "jobs must be at least 1"),
        ({"budget": float("nan")}, "budget must be positive"),
        ({"limit": 0.0}, "limit must be positive"),
        ({"budget": float("inf")}, "budget and limit must be at most"),
        ({"add": ("a:B",), "remove": ("a:B",)}, "'a:B' is to be played and removed"),
        ({"only": ("a:B",), "remove": ("a:B",)}, "'a:B' is to be played and removed"),
        (
            {"only": ("naked-singles",), "again": ("masked-random",)},
            "'masked-random' is to be played again, but not among --only",
        ),
    ]:
        with pytest.raises(ValueError, match=said):
            play(**changes)


def test_parts_can_be_chosen(small, play):
    assert play(only=("naked-singles",), sets=("9x9",))[1] == ["naked-singles on 9x9"]
    assert play(only=("naked-singles",))[1] == ["naked-singles on 4x4"] * 2
    assert play(again=("naked-singles",), sets=("9x9",))[1] == [CELLS[1], CELLS[3]]


def test_what_is_played_again_stays_until_it_is_played(small, play, tmp_path, monkeypatch):
    before = play()[0].rows["naked-singles"].cells

    def dying(tasks, jobs):
        yield tasks[0], "its process died"
        raise KeyboardInterrupt

    monkeypatch.setattr(play_module, "perform", dying)
    path = tmp_path / "board.json"
    with pytest.raises(KeyboardInterrupt):
        play_leaderboard(LeaderboardConfig(out=path, again=("naked-singles",)), print)
    assert read_leaderboard(path).rows["naked-singles"].cells == before


def test_a_row_is_stale_once_its_policy_plays_by_other_files(small, play, own_policies, tmp_path):
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "side").write_text("first")
    name = "third_party:Weighty"
    first, done = play(add=(name,))
    assert len(done) == 9
    (tmp_path / "weights" / "README.md").write_text("words are no weights")
    assert play(add=(name,))[1] == []
    (tmp_path / "weights" / "side").write_text("last")
    second, done = play(add=(name,))
    assert done == [f"{name} on 4x4", f"{name} on 9x9", f"{name} on 4x4"]
    cells = [each.rows[name].cells["4x4"].outcomes for each in (first, second)]
    assert cells[0] != cells[1]


def test_a_row_is_stale_once_the_code_of_its_policy_changes(small, play, own_policies, tmp_path):
    name = "third_party:First"
    first, done = play(add=(name,))
    assert len(done) == 9
    file = tmp_path / "third_party.py"
    file.write_text(file.read_text() + "\n# another line\n")
    del sys.modules["third_party"]  # as in another run
    second, done = play(add=(name,))
    assert done == [f"{name} on 4x4", f"{name} on 9x9", f"{name} on 4x4"]
    codes = [each.rows[name].code for each in (first, second)]
    assert len(codes[0]) == 64 and codes[0] != codes[1]
    assert second.rows["naked-singles"].code == ""


def test_a_row_of_another_version_is_played_anew(small, play, tmp_path):
    play()
    path = tmp_path / "board.json"
    forged = json.loads(path.read_text())
    forged["rows"]["naked-singles"]["package"] = "sudoku-gym 0.0.1"
    path.write_text(json.dumps(forged))
    results, done = play()
    assert done == [*[each for each in CELLS if "naked" in each], "naked-singles on 4x4"]
    assert results.rows["naked-singles"].package == results.rows["masked-random"].package


def test_a_set_of_other_puzzles_is_played_anew(exchange, play, own_policies):
    sets = json.loads(exchange().read_text())
    play(add=("third_party:First",))
    sets[0]["count"] = 60
    exchange(sets=sets)
    results, done = play()
    assert done == [*CELLS[::2], *TIMED]
    assert list(results.rows["third_party:First"].cells) == ["9x9"]
    exchange(sets=sets, seed=1)
    results, done = play()
    assert done == CELLS + TIMED and results.rows["third_party:First"].cells == {}


def test_outcomes_of_others_are_not_lost_without_a_word(small, play, tmp_path):
    path, out = tmp_path / "mine.txt", tmp_path / "board.json"
    path.write_text("1234....21.34..1\n")
    play(lists=(path,), sets=("9x9",))
    path = tmp_path / "new" / path.name
    path.parent.mkdir()
    path.write_text("1234341221434...\n")
    before = out.read_bytes()
    with pytest.raises(ValueError, match=r"outcomes of masked-random on mine with other puzzles"):
        play(lists=(path,), only=("naked-singles",))
    assert out.read_bytes() == before
    forged = json.loads(before)
    forged["rows"]["theirs"] = {**forged["rows"]["masked-random"], "kind": "solver"}
    out.write_text(json.dumps(forged))
    lines = []
    play_leaderboard(LeaderboardConfig(out=out, lists=(path,), sets=("9x9",)), lines.append)
    said = "left out, since it was played before something changed: theirs on mine"
    assert [line for line in lines if "left out" in line] == [said]
    assert read_leaderboard(out).rows["masked-random"].cells["mine"].solved == 1


def test_a_list_that_is_called_like_a_bank_is_a_list(small, play, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("6x6").write_text("1234....21.34..1\n")
    with pytest.raises(ValueError, match=r"6x6: a list of puzzles ends in \.txt"):
        play(lists=(Path("6x6"),))


def test_two_sets_of_one_name_are_refused(small, play, tmp_path):
    for names in (("9x9.txt",), ("a/mine.txt", "b/mine.txt")):
        with pytest.raises(ValueError, match=r"two sets are called .*: rename"):
            play(lists=tuple(tmp_path / name for name in names))


def test_a_list_stays_when_it_is_not_at_hand(small, play, tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("1234....21.34..1\n")
    results, done = play(lists=(path,), sets=("9x9",))
    assert "naked-singles on mine" in done and results.sets["mine"].is_file
    path.unlink()
    results, done = play()
    assert results.rows["naked-singles"].cells["mine"].solved == 1 and len(done) == 4
    assert str(tmp_path) not in (tmp_path / "board.json").read_text()


def test_boards_that_a_policy_refuses_are_told(small, play, own_policies):
    names = ("third_party:SmallOnly", "third_party:Breaks")
    results, _ = play(add=names, only=names)
    refused = results.rows[names[0]].cells
    assert refused["4x4"].error == "" and refused["4x4"].played == 140
    assert refused["9x9"].error == "knows 4x4, not 9x9"
    broken = results.rows[names[1]].cells["4x4"]
    assert (broken.error, broken.played) == ("KeyError: 'lost'", 0)
    assert play(add=names, only=names)[1] == []


def test_a_slow_policy_plays_the_subset_and_with_a_larger_budget_the_whole(
    small, play, own_policies
):
    """Slow takes 0.01 s a move, whether of one game or of many: 0.13 s for 128 puzzles of 4x4."""
    name = "third_party:Slow"
    asked = {"add": (name,), "only": (name,), "sets": ("4x4",)}
    cell = play(budget=0.02, **asked)[0].rows[name].cells["4x4"]
    assert (cell.error, cell.played, cell.budget) == ("", 128, 0.02)
    assert cell.timing is None and cell.puzzle_seconds == cell.seconds / 128
    assert play(budget=0.02, **asked)[1] == []
    whole = play(budget=30.0, **asked)[0].rows[name].cells["4x4"]
    assert whole.played == 140 and whole.outcomes.startswith(cell.outcomes)
    assert len(whole.timing.seconds) == cells.TIMED_PUZZLES
    assert play(budget=0.02, **asked)[1] == []  # nobody takes away what was played


def test_a_policy_that_is_not_through_with_the_subset_is_stopped(small, play, own_policies):
    name = "third_party:Slow"
    asked = {"add": (name,), "only": (name,), "sets": ("9x9",), "limit": 0.3}
    cell = play(**asked)[0].rows[name].cells["9x9"]
    assert re.fullmatch(r"it takes more than (0.3 s of processor|1.2 s of wall) time", cell.error)
    assert cell.played == 0
    assert play(**asked)[1] == []


def test_all_slow_policies_play_the_same_puzzles(small, play, own_policies):
    names = ("third_party:Slow", "third_party:First")
    results, _ = play(add=names, sets=("9x9",), budget=1e-9)
    cells = [row.cells["9x9"] for row in results.rows.values() if "9x9" in row.cells]
    assert {cell.played for cell in cells} == {2} and len(cells) == 4
    assert results.sets["9x9"].subset == 2


def test_two_at_once_are_refused(small, play, tmp_path):
    path = tmp_path / "board.json"
    with (
        locked(tmp_path / ".board.json.lock", "no"),
        pytest.raises(ValueError, match=r"another leaderboard .*/board\.json"),
    ):
        play(path)
    play(path)


def test_a_folder_that_is_not_there(small, tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        play_leaderboard(LeaderboardConfig(out=tmp_path / "docs" / "board.json"), print)


def test_a_policy_is_made_once_for_a_cell(small, play, monkeypatch):
    """There are things that a process can do once only, as to start an engine."""
    made = []

    def load_described(policy):
        made.append(policy)
        return runs.load_described(policy)

    monkeypatch.setattr(players, "load_described", load_described)
    play(only=("naked-singles",), sets=("4x4",))
    assert made == ["naked-singles"] * 2  # in the process of its games, and of their times
