"""Every share with an interval in README and docs is one of a committed file of figures."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import belief_propagation
import classical
import dancing_links
import example_runs
import floors
import solvers
from results import table
from sudoku_gym import compare, load_policy, puzzles
from sudoku_gym.evaluation.intervals import wilson_interval

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))]
NUMBER = r"(\d+(?:\.\d+)?)"
SHARE = re.compile(rf"{NUMBER} %\**(?: \(| \| ){NUMBER}(?: to |-){NUMBER}(?: %)?(?:\)|;| \|)")
OF_A_LESSER_FIGURE = {("docs/leaderboard.md", "88.0 % (76.2 to 94.4)")}  # explains what a cell says


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
        for value in content.values():
            yield from figures(value)
    elif isinstance(content, list):
        for value in content:
            yield from figures(value)


@pytest.fixture(scope="module")
def measured():
    files = [json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob("*.json")]
    return np.array(sorted(set(figures(files))))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_shares_with_intervals_were_measured(page, measured):
    name = str(page.relative_to(ROOT))
    untraced = []
    for said in SHARE.finditer(page.read_text(encoding="utf-8")):
        share = np.array([float(number) for number in said.groups()])
        digits = max(len(number.partition(".")[2]) for number in said.groups())
        is_close = (abs(measured - share) < 0.5 * 10.0**-digits + 0.011).all(1)
        if not is_close.any() and (name, said.group()) not in OF_A_LESSER_FIGURE:
            untraced.append(said.group())
    assert untraced == []


@pytest.mark.parametrize(
    ("benchmark", "figures", "page"),
    [
        (classical, "classical.json", "classical.md"),
        (dancing_links, "dancing-links.json", "classical.md"),
        (belief_propagation, "belief-propagation.json", "belief-propagation.md"),
    ],
)
def test_the_pages_hold_the_tables_of_the_figures(benchmark, figures, page):
    rows = json.loads((RESULTS / figures).read_text(encoding="utf-8"))["rows"]
    page = (RESULTS / page).read_text(encoding="utf-8")
    tables = benchmark.tables(rows)
    assert tables
    assert [title for title, table in tables.items() if table not in page] == []


@pytest.mark.parametrize("name", ["speed.json", "checks.json", "text.json"])
def test_what_is_said_of_speed_and_of_checks_was_measured(name):
    parts = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    wanted = {
        part: table(content["rows"])
        for part, content in parts.items()
        if not part.startswith(solvers.PART)
    }
    wanted |= solvers.tables(parts) if name == "speed.json" else {}
    pages = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
    assert [part for part, rows in wanted.items() if rows not in pages] == []


def test_the_page_of_floors_is_made_from_the_figures():
    content = json.loads((RESULTS / "floors.json").read_text(encoding="utf-8"))
    (command,) = content["commands"]
    text = (RESULTS / "floors.md").read_text(encoding="utf-8")
    assert "--seed" in command and floors.page(content["rows"], command) == text


def test_what_is_measured_already_is_not_measured_again(tmp_path, monkeypatch, capsys):
    out = str(tmp_path / "figures.json")
    classical.main(["--smoke", "--parts", "named", "--out", out, "--plot", str(tmp_path / "1.png")])
    belief_propagation.main(["--smoke", "--parts", "contradictions", "--out", out])
    first = Path(out).read_text()
    monkeypatch.setattr(classical, "measure", None)
    monkeypatch.setattr(belief_propagation, "BeliefPropagation", None)
    capsys.readouterr()
    classical.main(["--smoke", "--parts", "named", "--out", out])
    belief_propagation.main(["--smoke", "--parts", "contradictions", "--out", out])
    assert json.loads(Path(out).read_text())["rows"] == json.loads(first)["rows"]
    assert capsys.readouterr().out.count("| Steering Wheel") >= 3


def test_the_players_of_an_example_are_written_down(tmp_path, monkeypatch):
    monkeypatch.setattr(example_runs, "EXAMPLES", tmp_path)
    (tmp_path / "an_example.py").write_text("def main(argv):\n    return play(argv)\n")

    def play(argv):
        assert argv[2:] == ["--seed", "7", "--smoke"]
        return compare({"floor": load_policy("naked-singles")}, puzzles.load("4x4", "test")[::4000])

    monkeypatch.setattr("builtins.play", play, raising=False)
    out = tmp_path / "figures.json"
    example_runs.main(["an_example", "--seeds", "7", "--out", str(out), "--options", "--smoke"])
    (row,) = json.loads(out.read_text())["rows"]
    assert (row["player"], row["seed"], row["count"], row["solved"]) == ("floor", 7, 4, 4)
