"""The programs in `benchmarks/` run, and the shares on pages are those of the files of results."""

import json
import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import tyro

import floors
import results
from results import write_json
from sudoku_gym import load_policy, puzzles
from sudoku_gym.evaluation.intervals import wilson_interval

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))]
NUMBER = r"(\d+(?:\.\d+)?)"
SHARE = re.compile(rf"{NUMBER} %\**(?: \(| \| ){NUMBER}(?: to |-){NUMBER}(?: %)?(?:\)|;| \|)")


def test_floors_are_written_and_not_played_twice(tmp_path, monkeypatch):
    figures = tmp_path / "floors.json"
    arguments = ["--smoke", "--ids", "Sudoku4x4-v0", "--out", str(figures)]
    floors.main(arguments)
    text = figures.read_text()
    singles = [row for row in json.loads(text)["rows"] if row["policy"] == "naked singles"]
    assert len(singles) == 10 and all(row["solved"] == row["count"] for row in singles)
    monkeypatch.setattr(floors, "evaluate", None)
    floors.main(arguments)
    assert figures.read_text() == text


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("program", "arguments", "printed"),
    [
        ("belief_propagation", "--smoke --parts contradictions --out {out}", "one wrong given"),
        ("build_extreme_like", "--smoke --hardest-steps 1 --hard-steps 1", "| hardest "),
        ("calphazero", "--sets 4x4 --count 4 --out {out}", "| 4x4 "),
        ("classical", "--smoke --parts named --out {out}", "| easy (36)"),
        ("curricula", "--settings ppo-4x4 --schedules uniform --seeds 0 --steps 4096 --workers 1 "
         "--out {out}", "better than uniform"),
        ("env_throughput", "--smoke --num-envs 8", "with choosing"),
        ("first_step", "--smoke --env Sudoku4x4-v0", "on a new machine"),
        ("gflownet", "--seconds 0.5 --seeds 1 --bodies perceptron", "constrained"),
        ("neural_4x4", "multiverse --models M5 --distinct 32 --epochs 1 --count 20 "
         "--out {out} --runs {runs}", "orbits"),
        ("neural_9x9", "nine --models cnn --minutes 0.005 --count 9 --distinct 9 "
         "--out {out} --runs {runs}", "| cnn"),
        ("reproduce_calphazero", "--parts mlp --runs {runs} --out {out} --count 6 --games 4 "
         "--simulations 3 --play-with 2 --level-iterations 1 --checks 1 --minutes 0.002 "
         "--plot {out}.png", "3 simulations"),
        ("text_environments", "--peers sudoku-gym --games 1 --asked 30", "| sudoku-gym"),
        ("solvers", "--smoke --banks 9x9 --peers Norvig", "Norvig-style Python"),
        ("text", "--smoke --policy hidden-singles", "solved in text"),
    ],
)  # fmt: skip
def test_a_program_runs(program, arguments, printed, tmp_path, capsys):
    words = arguments.format(out=tmp_path / "figures.json", runs=tmp_path / "runs").split()
    module = pytest.importorskip(program, exc_type=ModuleNotFoundError)
    module.main(words)
    assert printed in " ".join(capsys.readouterr().out.split())


def test_make_plays_every_paper_without_an_option():
    made = re.findall(r"^reproduce-(\w+): PAPER := (\w+)\.py ?(\w*)$", MAKEFILE, re.MULTILINE)
    options = dict(re.findall(r"^reproduce-(\w+): PAPER_ARGS \?= (.*)$", MAKEFILE, re.MULTILINE))
    assert len(made) == 5 and options.keys() < {paper for paper, *_ in made}
    for paper, program, part in made:
        module = pytest.importorskip(program, exc_type=ModuleNotFoundError)
        kind = module.PARTS[part] if part else module.Config
        assert tyro.cli(kind, args=[]) == kind()
        assert tyro.cli(kind, args=options.get(paper, "").split())


def test_a_row_of_results_is_one_line(tmp_path):
    content = {"command": "python x.py", "rows": [{"a": 1, "b": [1, 2]}, {"a": "x\ny"}], "none": []}
    write_json(tmp_path / "rows.json", content)
    text = (tmp_path / "rows.json").read_text("utf-8")
    assert json.loads(text) == content
    assert ' {"a": 1, "b": [1, 2]},\n' in text and len(text.splitlines()) == 8


def test_a_set_that_was_stopped_is_played_anew(tmp_path, monkeypatch):
    runs = pytest.importorskip("supervised_runs", exc_type=ModuleNotFoundError)
    path, played = tmp_path / "rows.json", puzzles.load("9x9", "test")[:200]

    def write_two_rows(path, content):
        write_json(path, content)
        if len(content["rows"]) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(results, "write_json", write_two_rows)
    for _ in range(2):
        with suppress(KeyboardInterrupt):
            rows = results.Results(path, "x")
            runs.play(rows, {"set": "9x9"}, load_policy("hidden-singles"), played, grades=True)
    grades = [row.get("grade") for row in results.read(path)["rows"]]
    assert len(grades) == len(set(grades)) > 2 and grades[-1] is None


def figures(content):
    """Yield share, low and high in percent of all that was played, wherever it stands."""
    if isinstance(content, dict):
        count = content.get("count")
        if content.get("outcomes"):  # of the leaderboard, a letter a puzzle
            solved, count = content["outcomes"].count("1"), len(content["outcomes"])
            low, high = wilson_interval(solved, count)
            yield 100 * solved / count, 100 * low, 100 * high
        elif "solved" in content and count and ("low" in content or "interval" in content):
            low, high = content.get("interval") or (content["low"], content["high"])
            yield 100 * content["solved"] / count, low, high
        content = list(content.values())
    if isinstance(content, list):
        for value in content:
            yield from figures(value)


def test_shares_with_intervals_were_measured():
    files = [json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob("*.json")]
    measured = np.array(sorted(set(figures(files))))
    untraced = set()
    for page in PAGES:
        for said in SHARE.finditer(page.read_text(encoding="utf-8")):
            share = np.array([float(number) for number in said.groups()])
            digits = max(len(number.partition(".")[2]) for number in said.groups())
            if not (abs(measured - share) < 0.5 * 10.0**-digits + 0.011).all(1).any():
                untraced.add((page.relative_to(ROOT).as_posix(), said.group()))
    assert untraced == set()
