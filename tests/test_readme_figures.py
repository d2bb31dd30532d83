"""Every figure in the README and among the findings is one of a committed file of figures."""

import json
import re
from hashlib import sha256
from itertools import product
from pathlib import Path

import pytest

from leaderboard_page import by_kind, fill_in
from sudoku_agents.calphazero.loading import PRETRAINED_CALPHAZERO
from sudoku_gym.evaluation.leaderboard import read_leaderboard
from sudoku_learning.training.checkpoint import WEIGHTS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FINDINGS = (ROOT / "docs" / "results" / "index.md").read_text(encoding="utf-8")
RESTARTED = "exact-cover-supervised?mode=one-shot&rounds=2048&restarts=15"
SHARE = re.compile(r"\d[\d,.]* %")
SHIPPED = sha256((PRETRAINED_CALPHAZERO / WEIGHTS).read_bytes()).hexdigest()[:12]


def results(name):
    return json.loads((ROOT / "docs" / "results" / name).read_text(encoding="utf-8"))


def share(solved, count, low, high):
    """Write a share of puzzles as the pages do: '97.3 % (94.5 to 98.7)'."""

    def number(value):
        return "100" if value == 100 else f"{value:.1f}"

    return f"{number(100 * solved / count)} % ({number(low)} to {number(high)})"


def row(rows, **wanted):
    (found,) = [one for one in rows if wanted.items() <= one.items()]
    return found


def calphazero(puzzles, player="greedy"):
    """Return what the shipped network has solved of a whole set."""
    rows = results("calphazero-boards.json")["rows"]
    found = row(rows, puzzles=puzzles, player=player, most=100_000, weights=SHIPPED)
    return share(found["solved"], found["count"], found["low"], found["high"])


def calphazero_of_seed(seed, puzzles):
    """Return what one of the three trainings on standard boards has solved."""
    found = results("calphazero-standard-seeds.json")
    weights = row(found["trainings"], seed=seed)["weights"]
    solved = row(found["rows"], puzzles=puzzles, player="greedy", weights=weights)
    return share(solved["solved"], solved["count"], solved["low"], solved["high"])


def hardest_known():
    (run,) = [run for run in results("calphazero.json") if "lists" in run]
    return [share(one["solved"], one["count"], one["low"], one["high"]) for one in run["rows"]]


def gflownet(player):
    every_move = "shipped, asked before every move, 128 rounds"
    part = results("gflownet.json")["shipped" if player == "greedy" else every_move]
    found = row(part["rows"], blanks="minimal", player=player)
    return share(found["solved"], found["count"], found["low"], found["high"])


def deep_q():
    rows = results("q-learning-9x9.json")["rows"]
    found = row(rows, player="deep Q", puzzles="9x9, minimal")
    return share(found["solved"], found["count"], found["low"], found["high"])


def read_at_once(puzzles, rounds):
    """Return what 9,721 weights have read after a thousand solved puzzles."""
    rows = results("neural-distinct.json")["rows"]
    wanted = {"channels": 27, "distinct": 1000, "seed": 0, "set": puzzles, "rounds": rounds}
    found = row(rows, **wanted)
    return share(found["solved"], found["count"], found["low"], found["high"])


def demo(player):
    found = results("demo.json")["minimal 9x9"][player]
    return share(found["solved"], found["count"], *found["interval"])


def claims():
    """Yield what the findings say, as the files have it."""
    yield f"{results('demo.json')['processor seconds']['training']} processor seconds"
    players = ("trained, greedy", "trained, retry search", "before training")
    for player in (*players, "untrained, luckiest of ten", "hidden-singles"):
        yield demo(player)
    for other in results("demo.json")["two other seeds, played by an independent check"]:
        yield f"{100 * other['solved'] / other['count']:.1f} %"
    for puzzles in ("9x9", "9x9-hard", "9x9-hardest", "9x9-17-givens-1000", "9x9-top95"):
        yield calphazero(puzzles)
    for puzzles in ("16x16", "x9x9", "windows9x9", "jigsaw9x9", "latin9x9"):
        yield calphazero(puzzles)
    for seed, puzzles in product(range(3), ("9x9", "9x9-hard")):
        yield calphazero_of_seed(seed, puzzles)
    yield from hardest_known()
    for puzzles in ("x9x9", "jigsaw9x9", "forum_hardest_1106"):
        yield calphazero(puzzles, "greedy, restarts=511")
    yield calphazero("forum_hardest_1106")
    yield calphazero("forum_hardest_1106", "retry search, singles")
    yield calphazero("16x16", "retry search, singles")
    yield gflownet("greedy")
    yield gflownet("drawn")
    yield deep_q()
    yield read_at_once("9x9", 1024)
    yield read_at_once("9x9-hard", 1024)
    yield read_at_once("9x9-hard", 4096)
    restarted = row(results("neural-restarts.json")["rows"], policy=RESTARTED)["all"]
    yield share(*(restarted[name] for name in ("solved", "count", "low", "high")))


@pytest.mark.parametrize("claim", list(claims()))
def test_the_findings_are_what_was_measured(claim):
    assert claim in " ".join(FINDINGS.replace("**", "").split())


def cells_of(line):
    return [cell.strip() for cell in line.strip("| ").split("|")]


def test_the_table_has_the_best_of_each_group_of_the_leaderboard():
    board = read_leaderboard(ROOT / "docs" / "results" / "leaderboard.json")
    page = fill_in("<!-- leaderboard: all -->", board)
    wanted = {}
    for policies in by_kind(board).values():
        (row,) = (cells_of(line) for line in page.splitlines() if f"`{policies[0]}`" in line)
        wanted[row[0]] = row[1:4]
    shown = [cells_of(line) for line in README.splitlines() if SHARE.search(line)]
    shown = {cells[1]: cells[2:] for cells in shown if len(cells) > 3}
    assert shown == wanted


def test_no_other_share_stands_in_the_findings():
    prose = " ".join(FINDINGS.replace("**", "").split())
    for claim in (*claims(), "95 % intervals"):
        prose = prose.replace(claim, "")
    assert not SHARE.findall(prose)


def test_the_demo_takes_as_long_as_measured():
    demo_row = next(line for line in README.splitlines() if line.startswith("| `make demo`"))
    assert f"{results('demo.json')['processor seconds']['all']} s" in demo_row


def test_the_readme_fits_on_a_screen():
    assert len(README.splitlines()) <= 80


def test_the_first_lines_print_what_the_readme_says(capsys):
    code, printed = re.search(
        r"^```python\n(.*?)^```$.*?^```text\n(.*?)^```$", README, re.DOTALL | re.MULTILINE
    ).groups()
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == printed
    assert len([line for line in code.splitlines() if line]) <= 12
