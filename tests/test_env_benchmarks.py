"""The measurements of the environments run, and the page about them is up to date."""

import json
from pathlib import Path

import pytest

import beside_envpool
import env_agreement
import env_throughput
import first_step
import floors
from environments_table import spaces_table

ROOT = Path(__file__).parent.parent


def test_random_games_agree_under_all_options_and_wrappers(capsys):
    env_agreement.main(["--steps", "20000", "--steps-a-game", "25"])
    assert "are identical" in capsys.readouterr().out


def test_a_difference_is_found(monkeypatch):
    draws = iter([{"augment": True}, {"augment": False}])
    plain = env_agreement.SudokuEnv
    monkeypatch.setattr(
        env_agreement, "SudokuEnv", lambda bank, **options: plain(bank, **next(draws))
    )
    monkeypatch.setattr(env_agreement, "COUNT", 2)
    with pytest.raises(SystemExit, match="they differ after 0 steps"):
        env_agreement.main(["--smoke"])


def test_throughput_is_measured(capsys, tmp_path):
    out = tmp_path / "figures.json"
    options = ["--smoke", "--no-jumanji", "--num-envs", "8", "--out", str(out)]
    env_throughput.main(options)
    told = capsys.readouterr().out
    assert "with choosing" in told and "Sudoku25x25-v0" in told
    figures = json.loads(out.read_text())
    assert figures.keys() == {"8 boards in a vector environment", "one board through gym.make"}
    part = figures["8 boards in a vector environment"]
    assert part["rows"][0]["bytes a board"] == 124
    assert part["command"].startswith("python benchmarks/env_throughput.py --smoke")


@pytest.mark.slow
def test_the_first_step_is_measured(capsys):
    first_step.main(["--smoke", "--env", "Sudoku4x4-v0"])
    out = capsys.readouterr().out
    assert "on a new machine" in out and "later" in out


def test_a_library_that_cannot_be_installed_is_left_out(monkeypatch, capsys):

    def fail(package, arguments):
        raise OSError("no such index")

    monkeypatch.setattr(env_throughput, "run_peer", fail)
    config = env_throughput.Config(smoke=True)
    assert env_throughput.rows_beside_jumanji(1e6, config) == []
    assert "Jumanji is left out: no such index" in capsys.readouterr().out
    monkeypatch.setattr(env_throughput, "run_peer", lambda *_: {"a loop": 2e4, "a scan": 5e4})
    rows = env_throughput.rows_beside_jumanji(1e6, config)
    assert [row["times as fast, `Sudoku9x9-v0`"] for row in rows] == [50, 20]


def test_both_sides_are_timed_alike_beside_envpool(monkeypatch, tmp_path):
    rounds = iter([[[[4e-3] * 2, [1e-3] * 2]], [[[2e-3] * 2, [9e-3] * 2]]])
    monkeypatch.setattr(beside_envpool, "run_peer", lambda package, arguments: next(rounds))
    out = tmp_path / "figures.json"
    options = ["--boards", "8", "--steps", "2", "--repeats", "1", "--rounds", "2"]
    beside_envpool.main([*options, "--out", str(out)])
    step, with_choosing = json.loads(out.read_text())["beside EnvPool's Sudoku-v0"]["rows"]
    assert (step["timed"], step["EnvPool, thousand/s"]) == ("step", 4)
    assert with_choosing["EnvPool, thousand/s"] == round(8 / 3, 1)  # the fastest of each


def test_floors_are_written_and_not_played_twice(tmp_path, monkeypatch):
    figures, page = tmp_path / "floors.json", tmp_path / "floors.md"
    arguments = ["--smoke", "--ids", "Sudoku4x4-v0", "--out", str(figures), "--page", str(page)]
    floors.main(arguments)
    text = page.read_text()
    lines = [line for line in text.splitlines() if line.startswith("| `Sudoku4x4-v0`")]
    assert len(lines) == 10 and all("100.0 %" in line for line in lines)
    monkeypatch.setattr(floors, "evaluate", None)
    floors.main(arguments)
    assert page.read_text() == text


def test_the_table_of_spaces_is_up_to_date():
    text = (ROOT / "docs" / "environments.md").read_text()
    assert spaces_table() in text, "paste what python benchmarks/environments_table.py prints"


def test_every_wrapper_is_described():
    text = (ROOT / "docs" / "wrappers.md").read_text()
    assert [name for name in env_agreement.WRAPPERS if f"`{name}`" not in text] == []
