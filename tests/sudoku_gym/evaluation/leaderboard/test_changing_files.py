"""Lists and policies whose files change while a leaderboard is played."""

import sys

import pytest

from sudoku_gym.evaluation.leaderboard import LeaderboardConfig, play_leaderboard


def test_a_policy_that_changes_while_it_plays_loses_its_cell(small, own_policies, tmp_path):
    def saves(line):
        if "to play" in line:  # the process that plays loads it twice
            file = tmp_path / "third_party.py"
            save = f"\nPath({str(file)!r}).write_text({file.read_text()!r})\n"
            file.write_text(file.read_text() + save)
            sys.modules.pop("third_party", None)

    name = "third_party:First"
    config = LeaderboardConfig(
        out=tmp_path / "board.json", add=(name,), only=(name,), sets=("9x9",)
    )
    results, failures = play_leaderboard(config, saves)
    (said,) = failures
    assert said.startswith(f"{name} on 9x9: its files have changed since its row was begun")
    assert results.rows[name].cells == {}


@pytest.mark.parametrize("changed", ["weights/side", "weights/config.json", "third_party.py"])
def test_a_policy_that_changes_before_it_plays_loses_its_cell(
    small, play, own_policies, tmp_path, changed
):
    (tmp_path / "weights").mkdir()
    for each in ("side", "config.json"):
        (tmp_path / "weights" / each).write_text("first")
    name, file = "third_party:Weighty", tmp_path / changed

    def exchange(line):
        if "to play" in line:
            file.write_text(file.read_text() + "\n")
            sys.modules.pop("third_party", None)  # another process would import it anew

    play()
    config = LeaderboardConfig(out=tmp_path / "board.json", add=(name,), sets=("9x9",))
    results, failures = play_leaderboard(config, exchange)
    (said,) = failures
    assert said.startswith(f"{name} on 9x9: its files have changed since its row was begun")
    assert results.rows[name].cells == {}
    assert play(add=(name,), sets=("9x9",))[1] == [f"{name} on 9x9"]


def test_a_list_that_changes_is_played_as_it_was_first(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("1234....21.34..1\n")

    def exchange(line):
        if "to play" in line:  # two solutions, none by singles
            path.write_text("1.........1.....\n1234341221434...\n")

    config = LeaderboardConfig(
        out=tmp_path / "board.json", lists=(path,), sets=("4x4",), only=("naked-singles",)
    )
    results, failures = play_leaderboard(config, exchange)
    assert failures == [] and results.sets["mine"].count == 1
    assert [*results.rows] == ["naked-singles"]  # no other policy was loaded
    assert results.rows["naked-singles"].cells["mine"].outcomes == "1"
