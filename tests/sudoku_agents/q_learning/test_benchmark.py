"""The benchmark's parts run, and say what they should."""

import json

import pytest

import q_learning


def found(rows):
    return {(row["player"], row["puzzles"]): row for row in rows}


def test_tables_know_their_own_puzzles(tmp_path):
    out = tmp_path / "figures.json"
    few = ["--iterations", "8", "--count", "50", "--seeds", "0", "--out", str(out)]
    rows = q_learning.main(["--parts", "tabular", *few])
    assert json.loads(out.read_text())["rows"] == rows
    played = found(rows)
    own = played["q-learning, seed 0", "its own, 8 blanks"]
    assert own["solved"] > 4 and own["states"] > 100 and own["steps"] > 1000
    test = played["q-learning, seed 0", "4x4, minimal"]
    assert test["solved"] < 0.3 * test["count"] and test["orbits"] == "0 of 8"


def test_a_checkpoint_is_played_beside_its_floors(capsys):
    few = ["--count", "12", "--stored", "12", "--blanks", "40", "--untrained", "1"]
    rows = q_learning.main(["--parts", "play", *few, "--untrained-count", "4"])
    played = found(rows)
    assert played["naked + hidden singles", "9x9, 40 blanks"]["solved"] >= 11
    assert played["deep Q", "9x9, 40 blanks"]["solved"] >= 11
    assert played["untrained, seed 0", "9x9, minimal"]["count"] == 4
    assert "| deep Q | 9x9, 40 blanks | 12 |" in " ".join(capsys.readouterr().out.split())


def test_equal_times_for_two_libraries():
    pytest.importorskip("stable_baselines3")
    short = ["--minutes", "0.02", "--seeds", "0", "--stored", "40"]
    rows = q_learning.main(["--parts", "sb3", *short])
    assert {row["player"] for row in rows} == {
        *("SB3, perceptron, seed 0", "SB3, exact cover, seed 0", "ours, seed 0")
    }
    assert all(row["steps"] > 64 for row in rows)


def test_without_rules_nothing_is_solved_in_seconds():
    few = ["--minutes", "0.02", "--seeds", "0", "--blanks", "40", "--count", "20"]
    rows = q_learning.main(["--parts", "no-rules", *few])
    assert found(rows)["no rules, seed 0", "9x9, 40 blanks"]["solved"] == 0
