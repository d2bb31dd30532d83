"""Games of a leaderboard can be played again: what differs, or can't be compared, is said."""

import json
import re
from dataclasses import replace

import pytest

from sudoku_gym.evaluation.leaderboard import LeaderboardConfig, verify_leaderboard


def test_games_can_be_verified(small, play, own_policies, tmp_path):
    name = "third_party:First"
    play(add=(name,), only=(name,))
    path, lines = tmp_path / "board.json", []
    config = LeaderboardConfig(out=path, only=(name,))
    before = path.read_bytes()
    assert verify_leaderboard(config, lines.append) == [] and path.read_bytes() == before
    expected = [
        r"2 to verify, which took \d+ s of processor time",
        rf"verified 1 of 2, \d+ s left: {name} on (4x4|9x9): all (4|140) outcomes are the same",
        rf"verified 2 of 2: {name} on (4x4|9x9): all (4|140) outcomes are the same",
    ]
    assert len(lines) == 3 and all(map(re.fullmatch, expected, lines))
    forged = json.loads(before)
    cell = forged["rows"][name]["cells"]["4x4"]
    cell["outcomes"] = cell["outcomes"].replace("0", "1", 2)
    path.write_text(json.dumps(forged))
    assert verify_leaderboard(config, lines.append) == [f"{name} on 4x4: 2 of 140 outcomes differ"]
    forged = json.loads(before)
    forged["rows"][name]["cells"]["9x9"] |= {"outcomes": "0", "illegal": 0, "seconds": 1e6}
    cell = forged["rows"][name]["cells"]["4x4"]
    cell["illegal"] = 2
    path.write_text(json.dumps(forged))
    assert sorted(verify_leaderboard(config, lines.append)) == [
        f"{name} on 4x4: illegal differ: 2, not 0",
        f"{name} on 9x9: 1 outcomes of 4, though its time has room for all of them",
    ]
    forged = json.loads(before)
    forged["sets"]["4x4"]["count"] = 1000
    forged["rows"][name]["cells"]["4x4"]["outcomes"] += "1" * 860
    forged["sets"]["9x9"]["sha256"] = "0" * 64
    path.write_text(json.dumps(forged))
    assert sorted(verify_leaderboard(config, lines.append)) == [
        f"{name} on 4x4: its puzzles are others here",
        f"{name} on 9x9: its puzzles are others here",
    ]
    del lines[:]
    whole, forged = json.loads(before), json.loads(before)
    refused = {"outcomes": "", "illegal": 0, "orbits": None, "error": "knows 4x4"}
    forged["rows"][name]["cells"]["9x9"] |= refused
    path.write_text(json.dumps(forged))
    assert verify_leaderboard(config, lines.append) == [
        f"{name} on 9x9: error 'knows 4x4', not 'none'"
    ]
    forged["rows"][name]["cells"]["9x9"]["error"] = ""
    path.write_text(json.dumps(forged))
    assert verify_leaderboard(config, lines.append) == []
    assert f"not compared: {name} on 9x9, which it has not played" in lines
    forged["sets"]["4x4"]["bank"] = "easy ones"
    path.write_text(json.dumps(forged))
    assert verify_leaderboard(config, lines.append) == [
        f"{name} on 4x4: its puzzles are others here"
    ]
    forged = whole
    forged["rows"][name]["weights"] = "0" * 64
    path.write_text(json.dumps(forged))
    assert verify_leaderboard(config, lines.append) == [f"{name}: other weights here than there"]
    forged["rows"][name] |= {"weights": "", "num_weights": 5}
    path.write_text(json.dumps(forged))
    assert verify_leaderboard(config, lines.append) == [f"{name}: other weights here than there"]
    forged["rows"][name] |= {"num_weights": 0, "kind": "learned without solutions"}
    path.write_text(json.dumps(forged))
    assert verify_leaderboard(config, lines.append) == [f"{name}: other kind here than there"]
    forged["rows"][name] |= {"kind": "added", "code": "0" * 64}
    path.write_text(json.dumps(forged))
    assert verify_leaderboard(config, lines.append) == [f"{name}: other code here than there"]
    with pytest.raises(ValueError, match="no row of the file is called 'dlx'"):
        verify_leaderboard(replace(config, only=("dlx",)), lines.append)
    for other in ({"seed": 1}, {"batch_cells": 100}):
        path.write_text(json.dumps(json.loads(before) | other))
        with pytest.raises(ValueError, match=r"board\.json: played with seed .*: other games"):
            verify_leaderboard(config, lines.append)


def test_a_part_of_a_set_is_compared_as_a_part(small, play, own_policies, tmp_path):
    """A row may have the first puzzles alone where the whole set would take too long, also here."""
    name = "third_party:Slow"
    results, _ = play(add=(name,), only=(name,), sets=("4x4",), budget=0.05)
    cell = results.rows[name].cells["4x4"]
    assert cell.played == 128 and cell.orbits
    path, lines = tmp_path / "board.json", []
    config = LeaderboardConfig(out=path, only=(name,), sets=("4x4",), budget=0.05)
    assert verify_leaderboard(config, lines.append) == []
    assert lines[-1].endswith("all 128 outcomes are the same")
    written = path.read_text()
    for changed, said in (
        ({"orbits": [3, 3]}, r"orbits differ: \(3, 3\), not \("),
        ({"illegal": 1}, "illegal differ: 1, not 0"),
    ):
        forged = json.loads(written)
        forged["rows"][name]["cells"]["4x4"] |= changed
        path.write_text(json.dumps(forged))
        (found,) = verify_leaderboard(config, lines.append)
        assert re.search(said, found)
    path.write_text(written)
    own = cell.seconds * 140 / 128
    (found,) = verify_leaderboard(replace(config, budget=own + 1), lines.append)
    assert found.endswith("128 outcomes of 140, though its time has room for all of them")
    forged = json.loads(written)
    forged["rows"][name]["cells"]["4x4"]["seconds"] = 1e6
    path.write_text(json.dumps(forged))
    (found,) = verify_leaderboard(replace(config, budget=1000), lines.append)
    assert found.endswith("128 outcomes, of a set of which 140 are played")


def test_what_can_not_be_compared_is_said(small, play, tmp_path):
    play()
    path, lines = tmp_path / "board.json", []
    forged = json.loads(path.read_text())
    forged["rows"]["theirs"] = {**forged["rows"]["masked-random"], "kind": "solver"}
    forged["sets"]["new"] = forged["sets"]["4x4"]
    del forged["rows"]["naked-singles"]["cells"]["4x4"]
    path.write_text(json.dumps(forged))
    assert verify_leaderboard(LeaderboardConfig(out=path), lines.append) == []
    assert "not compared: theirs, which no installed package lists" in lines
    assert "not compared: new, a set that is not here" in lines
    assert "not compared: naked-singles on 4x4, which the file does not have" in lines


def test_errors_are_compared(small, play, own_policies, tmp_path):
    name = "third_party:BreaksLate"
    results, _ = play(add=(name,), only=(name,), sets=("4x4",))
    cell = results.rows[name].cells["4x4"]
    assert 0 < cell.played < 140 and cell.error.endswith("out of luck")
    path, lines = tmp_path / "board.json", []
    config = LeaderboardConfig(out=path, only=(name,), sets=("4x4",))
    assert verify_leaderboard(config, lines.append) == []
    forged = json.loads(path.read_text())
    forged["rows"][name]["cells"]["4x4"] |= {"error": "", "outcomes": cell.outcomes + "1" * 12}
    path.write_text(json.dumps(forged))
    (found,) = verify_leaderboard(config, lines.append)
    assert found.startswith(f"{name} on 4x4: error 'none', not ") and "out of luck" in found
    more = {"error": cell.error, "outcomes": cell.outcomes + "1" * 12, "orbits": None}
    forged["rows"][name]["cells"]["4x4"] |= more
    path.write_text(json.dumps(forged))
    assert len(verify_leaderboard(config, lines.append)) == 1
    forged["rows"][name]["cells"]["4x4"] |= {"error": "stopped", "outcomes": cell.outcomes[:1]}
    forged["rows"][name]["cells"]["4x4"]["orbits"] = None
    path.write_text(json.dumps(forged))
    (found,) = verify_leaderboard(config, lines.append)
    assert found.startswith(f"{name} on 4x4: error 'stopped', not ")


def test_refusals_are_compared(small, play, own_policies, tmp_path):
    name = "third_party:SmallOnly"
    results, _ = play(add=(name,), only=(name,), sets=("9x9",))
    cell = results.rows[name].cells["9x9"]
    assert cell.error and not cell.played
    path, lines = tmp_path / "board.json", []
    config = LeaderboardConfig(out=path, only=(name,), sets=("9x9",))
    assert verify_leaderboard(config, lines.append) == []
    assert lines[-1].endswith(f"error {cell.error!r} again")
    forged = json.loads(path.read_text())
    forged["rows"][name]["cells"]["9x9"] |= {"error": "", "outcomes": "1111"}
    path.write_text(json.dumps(forged))
    (found,) = verify_leaderboard(config, lines.append)
    assert found == f"{name} on 9x9: error 'none', not {cell.error!r}"


def test_what_the_file_lacks_is_said(small, play, tmp_path):
    play()
    path, lines = tmp_path / "board.json", []
    forged = json.loads(path.read_text())
    del forged["sets"]["9x9"], forged["rows"]["masked-random"]
    row = forged["rows"]["naked-singles"]
    del row["cells"]["9x9"]
    row["package"] = "sudoku-gym 99"
    path.write_text(json.dumps(forged))
    assert verify_leaderboard(LeaderboardConfig(out=path), lines.append) == []
    assert "not compared: 9x9, a set that the file does not have" in lines
    assert "not compared: masked-random, of which the file has no row" in lines
    said = "naked-singles: played with 'sudoku-gym 99', here it is "
    assert any(line.startswith(said) for line in lines)
    row["kind"] = "search"
    path.write_text(json.dumps(forged))
    differing = verify_leaderboard(LeaderboardConfig(out=path), lines.append)
    assert differing == ["naked-singles: other kind here than there"]


def test_lists_are_compared_beside_chosen_sets(small, play, tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text("1..2....2....4..\n...1.2....3.4...\n")
    play(lists=(mine,), only=("naked-singles",))
    path, lines = tmp_path / "board.json", []
    forged = json.loads(path.read_text())
    cell = forged["rows"]["naked-singles"]["cells"]["mine"]
    wrong = cell["outcomes"] = cell["outcomes"].translate(str.maketrans("01", "10"))
    cell["orbits"] = None
    forged["sets"]["mine"]["bank"] = "theirs.txt"
    path.write_text(json.dumps(forged))
    config = LeaderboardConfig(out=path, only=("naked-singles",), sets=("4x4",), lists=(mine,))
    said = f"naked-singles on mine: {len(wrong)} of {len(wrong)} outcomes differ"
    assert verify_leaderboard(config, lines.append) == [said]
    assert any("naked-singles on 4x4" in line for line in lines)
    assert not any("9x9" in line for line in lines)
    assert "mine: called 'theirs.txt' there, here it is 'mine.txt'" in lines
