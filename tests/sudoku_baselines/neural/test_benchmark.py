"""The benchmark: what it compares is the same, what it writes it does not measure again."""

import json

import pytest
import torch

import neural_4x4
import neural_9x9
from sudoku_baselines.neural.exact_cover import ExactCoverTraining
from sudoku_baselines.neural.multiverse import MultiverseConfig
from sudoku_gym import puzzles
from sudoku_learning.networks import FactorGraphConfig, seeded
from sudoku_learning.recurrent import RecurrentConfig
from sudoku_learning.training import OptimizerConfig, Training


@pytest.mark.parametrize("verses", [1, 5])
def test_all_verses_at_once_are_the_verses_one_by_one(verses):
    chosen = puzzles.load("4x4", "train")[:9]
    boards = torch.from_numpy(chosen.puzzles)
    batched = seeded(0, lambda: MultiverseConfig(verses).build(chosen.geometry))
    loop = neural_4x4.LoopOfVerses(batched)
    one, other = (model(boards).log_probabilities for model in (batched, loop))
    torch.testing.assert_close(one, other)
    for found in (one, other):
        found.square().sum().backward()
    for number, lstms in enumerate(loop.verses):  # and so do their gradients
        wanted = batched.lstms[0].recurrent.grad[0, number].reshape(20, 5)
        torch.testing.assert_close(lstms[0].weight_hh_l0.grad, wanted)


def run(benchmark, tmp_path, *arguments):
    common = ("--out", str(tmp_path / "rows.json"), "--runs", str(tmp_path / "runs"))
    return benchmark.main([arguments[0], *common, *arguments[1:]])


def test_tables_are_written_once(tmp_path, monkeypatch):
    part = ("multiverse", "--models", "M5", "--divisions", "orbits", "--distinct", "32")
    few = (*part, "--count", "20")
    first = run(neural_4x4, tmp_path, *few, "--epochs", "1")
    assert [row["epochs"] for row in first] == [1] and first[0]["count"] == 20
    again = run(neural_4x4, tmp_path, *few, "--epochs", "2")
    assert [row["epochs"] for row in again] == [1, 2]
    written = json.loads((tmp_path / "rows.json").read_text())
    assert written["rows"] == again and len(written["commands"]) == 2
    monkeypatch.setattr(Training, "step", None)  # nothing is trained again
    assert run(neural_4x4, tmp_path, *few, "--epochs", "2") == again
    picture = tmp_path / "figure.png"
    run(neural_4x4, tmp_path, "figure", "--picture", str(picture))
    assert picture.stat().st_size > 1000


def small(name, run, seed, parts):
    """A training of the factor-graph body that takes a moment."""
    return ExactCoverTraining(
        env="Sudoku6x6-v0",
        run=run,
        seed=seed,
        puzzles=parts,
        validation_games=4,
        optimizer=OptimizerConfig(4e-3, 4, constant_share=0.4),
        recurrent=RecurrentConfig(updates=2, segments=2),
        network=FactorGraphConfig(8, 2),
    )


def test_equal_time(tmp_path, monkeypatch):
    monkeypatch.setattr(neural_9x9, "nine", small)
    part = ("nine", "--models", "exact-cover", "--minutes", "0.005", "--sets", "6x6")
    rows = run(neural_9x9, tmp_path, *part, "--count", "30", "--distinct", "10")
    plan, trained, *played = rows
    assert plan["iterations"] >= 1 and trained["weights"] > 0
    modes = {(row["mode"], row.get("grade")) for row in played}
    assert {("one-shot", None), ("surest", None)} < modes
    counts = [row["count"] for row in played if row["mode"] == "surest" and row.get("grade")]
    assert sum(counts) == 30
    assert run(neural_9x9, tmp_path, *part, "--count", "30", "--distinct", "10") == rows


def test_segments(tmp_path, monkeypatch):
    monkeypatch.setattr(neural_9x9, "nine", small)
    part = ("segments", "--minutes", "0.005", "--sets", "6x6", "--rounds", "2", "4")
    rows = run(neural_9x9, tmp_path, *part, "--channels", "8", "--count", "30", "--distinct", "10")
    played = [(row["model"], row["rounds"]) for row in rows if "rounds" in row]
    assert played == [(name, rounds) for name in neural_9x9.SEGMENTS for rounds in (2, 4)]
    runs = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("**/[ou]*/config.json"))]
    assert len(runs) == 3
    assert sorted(
        (run["recurrent"]["segments"], run["recurrent"]["stay_probability"]) for run in runs
    ) == [
        (1, 0.0),
        (8, 0.0),
        (8, 0.5),
    ]


def test_guissart_plays_banks_and_lists(tmp_path):
    listed = tmp_path / "some.txt"
    test = puzzles.load("4x4", "test")[:6]
    listed.write_text("\n".join("".join(map(str, each.ravel())) for each in test.puzzles) + "\n")
    config = ("--config.env", "Sudoku4x4-v0", "--config.grids", "24", "--config.epochs", "1")
    config += ("--config.iterations", "3", "--config.grids", "8", "--config.validation-games", "4")
    part = ("guissart", *config, "--sets", "4x4", "--lists", str(listed), "--count", "10")
    rows = run(neural_9x9, tmp_path, *part)
    assert [row["set"] for row in rows] == ["4x4"] * 4 + ["some"] * 4
    assert [row["count"] for row in rows] == [10] * 4 + [6] * 4
    for row in rows:
        if row["model"] == "trial and error, backtracking":
            assert 0 < row["solved"] == row["filled"] + row["tried"] + row["searched"]
            assert row["most"] >= row["suppositions, mean"] and row["weights"] == 498
    assert run(neural_9x9, tmp_path, *part) == rows
