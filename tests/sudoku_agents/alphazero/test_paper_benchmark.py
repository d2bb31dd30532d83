"""The reproduction of the cAlphaZero paper runs, goes on where it stopped, and is the paper's."""

import json

import reproduce_calphazero as paper
from sudoku_gym import board, puzzles, solver
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import POLICY_AND_VALUE, MLPConfig, Network


def test_it_trains_plays_and_goes_on(tmp_path, monkeypatch, capsys):
    for networks in (paper.NETWORKS, vars(paper)):
        monkeypatch.setitem(
            networks, "mlp" if networks is paper.NETWORKS else "MLP", MLPConfig((8,))
        )
    out = tmp_path / "figures.json"
    settings = [
        *("--runs", str(tmp_path), "--out", str(out), "--count", "6", "--games", "4"),
        *("--simulations", "3", "--play-with", "2", "--level-iterations", "1", "--checks", "2"),
        *("--minutes", "0.002", "--control-minutes", "0.001"),
    ]
    first = paper.main(["--parts", "control", "mlp", "simulations", *settings])
    rows = first["mlp"]["rows"]
    assert len(rows) == 2 * 3 * 3 and {row["puzzles"] for row in rows} == {
        "train",
        "test",
        "random",
    }
    assert rows[-1]["level"] > 2 and rows[-1]["updates"] >= rows[0]["updates"] > 0
    assert {row["level"] for row in first["control"]["rows"]} == {8}
    assert [row["player"] for row in first["simulations"]["rows"][:3]] == [
        "no search",
        "no search, legal moves only",
        "2 simulations",
    ]
    assert "| mlp | test | 2 simulations |" in " ".join(capsys.readouterr().out.split())

    again = paper.main(["--parts", "mlp", *settings])
    assert again["mlp"]["rows"] == rows  # nothing is trained or played twice
    longer = paper.main(["--parts", "mlp", *settings, "--minutes", "0.006", "--checks", "1"])
    assert longer["mlp"]["rows"][-1]["updates"] > rows[-1]["updates"]
    saved = json.loads(out.read_text())
    assert saved == longer and saved["control"] == first["control"]
    assert len(saved["mlp"]["commands"]) == 2  # of those that found something


def test_floors_stand_beside_it(monkeypatch):
    monkeypatch.setattr(paper, "MLP", MLPConfig((8,)))
    config = paper.Config(count=10, simulations=2)
    found = {
        (row["blanks"], row["puzzles"], row["player"]): row["solved"]
        for row in paper.floors(config)
    }
    assert found[12, "test", "naked singles"] == 10
    assert found[12, "test", "masked-random, any digit"] == 0
    assert (8, "random", "untrained mlp, 100 simulations") in found


def test_the_puzzles_are_what_they_are_called():
    drawn = paper.sets(12, paper.Config(count=300))
    test = {board.to_line(puzzle) for puzzle in puzzles.load("4x4", "test").puzzles}
    counts = {name: solver.count_solutions(boards, limit=2) for name, boards in drawn.items()}
    assert all(((boards == 0).sum((1, 2)) == 12).all() for boards in drawn.values())
    assert (counts["train"] == 1).all() and (counts["test"] == 1).all()
    assert (counts["random"] >= 1).all() and (counts["random"] == 2).mean() > 0.5
    assert all(board.to_line(puzzle) in test for puzzle in drawn["test"])
    assert not any(board.to_line(puzzle) in test for puzzle in drawn["train"])


def test_the_settings_are_the_papers():
    geometry = Geometry.standard(4)
    weights = {
        name: sum(each.numel() for each in Network(body, POLICY_AND_VALUE, geometry).parameters())
        for name, body in paper.NETWORKS.items()
    }
    assert weights["mlp"] == 2_511_169
    assert round(weights["attention-256"] / weights["mlp"], 2) == 0.20
    assert round(weights["attention-512"] / weights["mlp"], 2) == 0.79
    config = paper.run_config("mlp", paper.Config(simulations=200))
    assert config.loss.value_weight == 100 and config.loss.every_action
    assert not config.search.proofs and not config.search.reuse
    assert config.curriculum.start == 2 and config.curriculum.stop == 12
    assert paper.run_config("control", paper.Config()).curriculum.blanks == 8
    assert paper.run_config("control-0.2", paper.Config()).optimizer.learning_rate == 0.2
