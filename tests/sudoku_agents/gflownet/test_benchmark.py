"""The benchmarks of GFlowNets run, and their figures are what they say."""

import json

import numpy as np
import pytest

import gflownet
import gflownet_draws
import gflownet_play
import gflownet_several
from sudoku_gym import puzzles, solver
from sudoku_gym.geometry import symmetry


def test_it_trains_and_writes_what_it_found(tmp_path):
    out = tmp_path / "figures.json"
    short = ["--seconds", "0.5", "--seeds", "1", "--losses", "trajectory-balance"]
    short += ["--bodies", "perceptron", "--out", str(out)]
    rows = gflownet.main(["empty", "any", "rows", "--draws", "300", *short])
    rows += gflownet_several.main(["--count", "4", *short])
    found = json.loads(out.read_text())
    assert found.keys() == {"empty", "any", "rows", "several"}
    assert [row for part in found.values() for row in part["rows"]] == rows
    constrained = [row for row in found["empty"]["rows"] if row["order"] == "constrained"]
    assert constrained[0]["total variation"] == pytest.approx(1 / 6, abs=1e-4)
    assert all(row["dead"] == 0 for row in constrained)
    by_chance = found["any"]["rows"][0]
    assert by_chance["order"] == "any" and by_chance["solved"] < 30
    assert by_chance["distinct"] <= by_chance["solved"]
    dead = 1 - by_chance["solved"] / by_chance["count"]
    assert dead - 0.05 < by_chance["exact variation"] < 1
    assert {row["boards"] for row in found["several"]["rows"]} == {4}


def test_boards_with_several_solutions_are_held_out_by_orbit():
    train, test = gflownet_several.several_boards()
    assert len(test) == 100 and len(train) > 500
    for boards in (train[:200], test):
        counts = solver.count_solutions(boards, 60)
        assert counts.min() >= 2 and counts.max() <= 50
    forms = [symmetry.canonical_form(boards, gflownet.FOUR) for boards in (train, test)]
    known = {form.tobytes() for form in forms[0]}
    assert not any(form.tobytes() in known for form in forms[1])
    assert len(np.unique(forms[1].reshape(100, 16), axis=0)) == 100


def test_the_policy_draws_what_the_exact_sum_says_in_its_order_only(tmp_path):
    out = tmp_path / "figures.json"
    short = ["constrained", "--seconds", "1", "--seeds", "2", "--count", "3", "--draws", "300"]
    rows = gflownet_draws.main([*short, "--empty-draws", "3000", "--out", str(out)])
    assert json.loads(out.read_text())["draws, constrained"]["rows"] == rows
    in_order = [row for row in rows if row["player"] == "in the order of training"]
    anywhere = [row for row in rows if row["player"] == "anywhere"]
    for row, other in zip(in_order, anywhere, strict=True):
        assert row["solved"] == row["count"] and other["solved"] < 0.5 * other["count"]
        excess = row["sampled variation"] - row["ideal draws"]
        assert -0.05 < excess < row["exact variation"] + 0.05
        assert other["sampled variation"] > row["sampled variation"] + 0.3


def test_the_shipped_network_plays_beside_the_floors(tmp_path):
    out = tmp_path / "figures.json"
    short = ["shipped", "--seeds", "--count", "4", "--no-drawn", "--out", str(out)]
    rows = gflownet_play.main(short)
    assert json.loads(out.read_text())["shipped"]["rows"] == rows
    assert {row["count"] for row in rows} == {4}
    solved = {(row["blanks"], row["player"]): row["solved"] for row in rows}
    assert solved[40, "greedy"] == 4 and solved["minimal", "masked-random"] == 0


def test_revealed_puzzles_have_so_many_blanks():
    test = gflownet_play.some(puzzles.load("9x9", "test"), 20)
    revealed = gflownet_play.revealed(test, 30)
    assert ((revealed.puzzles == 0).sum((1, 2)) == 30).all()
    assert ((revealed.puzzles == 0) | (revealed.puzzles == test.solutions)).all()
    assert (revealed.puzzles[test.puzzles > 0] == test.puzzles[test.puzzles > 0]).all()
    assert gflownet_play.revealed(test, None) is test
