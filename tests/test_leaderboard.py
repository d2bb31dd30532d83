"""The leaderboard: the program that plays it, the file of its results, its page and its plots."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

import leaderboard
import leaderboard_page
from leaderboard import Config, play, play_one_by_one
from leaderboard_sets import SETS, FixedSet, checksum, puzzles_of
from sudoku_gym import load_policy, puzzles
from sudoku_gym.policies import weights_sha256

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8")
FOUR = next(each for each in SETS if each.name == "4x4")
RESULTS = leaderboard.read(ROOT / "docs/results/leaderboard.json")
CELLS = [
    (policy, name, cell)
    for policy, row in RESULTS["rows"].items()
    for name, cell in row["cells"].items()
]


class Refuses:
    """Plays 4x4 until its third batch."""

    def __init__(self, computes=False):
        self._inner, self._batches, self._computes = load_policy("hidden-singles"), 0, computes

    def reset(self, boards, geometry, rng):
        self._batches += 1
        if self._batches > 2:
            while self._computes:
                np.linalg.inv(np.eye(50))
            raise ValueError("no more")
        self._inner.reset(boards, geometry, rng)

    def act(self, boards, masks):
        return self._inner.act(boards, masks)


@pytest.mark.parametrize("fixed", SETS, ids=lambda each: each.name)
def test_a_set_has_the_checksum_that_the_results_have(fixed):
    described = fixed.describe()
    assert described["sha256"] == fixed.sha256
    assert described == RESULTS["sets"][fixed.name]


def test_a_set_depends_on_no_order_of_a_file(tmp_path):
    bank = puzzles.load("4x4", "test")[::300]
    for name, order in (("a", slice(None)), ("b", slice(None, None, -1))):
        puzzles.write(tmp_path / f"{name}.csv", bank[order])
    sums = {
        checksum(puzzles_of(FixedSet(name=n, title=n, bank=tmp_path / f"{n}.csv", count=5)))
        for n in "ab"
    }
    assert len(sums) == 1
    wrong = FixedSet(name="w", title="w", bank=tmp_path / "a.csv", sha256="00")
    with pytest.raises(ValueError, match="checksum"):
        puzzles_of(wrong)


@pytest.mark.parametrize("policy", ["masked-random", "hidden-singles"])
def test_playing_again_gives_the_outcomes_of_the_file(policy):
    for fixed in (FOUR, next(each for each in SETS if each.name == "9x9-naked-singles")):
        cell = play(policy, fixed, Config())
        before = RESULTS["rows"][policy]["cells"][fixed.name]
        assert cell["outcomes"] == before["outcomes"]
        assert cell.get("orbits") == before.get("orbits")


def test_a_slow_policy_plays_the_subset_alone():
    cell = play("naked-singles", FOUR, Config(budget=-1.0))
    assert len(cell["outcomes"]) == FOUR.subset < FOUR.count


@pytest.mark.parametrize(
    ("computes", "limit", "error"), [(False, 60, "no more"), (True, 1, "more than 1 s")]
)
def test_an_error_and_the_limit_end_a_cell_and_stand_in_it(monkeypatch, computes, limit, error):
    monkeypatch.setattr(leaderboard, "load_policy", lambda name: Refuses(computes))
    cell = play("refuses", FOUR, Config(limit=limit))
    assert error in cell["error"] and 0 < len(cell["outcomes"]) < FOUR.count
    timing = play_one_by_one("refuses", FOUR, Config(limit=limit))
    assert error in timing["error"] and not timing["seconds"]


@pytest.mark.slow
def test_what_was_played_is_not_played_again(tmp_path, capsys):
    out, mine = tmp_path / "board.json", tmp_path / "mine.csv"
    puzzles.write(mine, puzzles.load("4x4", "test")[:5])
    added = "sudoku_baselines.classical.trivial:naked_singles"
    options = ["--only", "hidden-singles", "--sets", "4x4", "--out", str(out)]
    leaderboard.main(["--add", added, *options, "--lists", str(mine)])
    results = leaderboard.read(out)
    cells = results["rows"]["hidden-singles"]["cells"]
    assert cells["4x4"]["outcomes"] == RESULTS["rows"]["hidden-singles"]["cells"]["4x4"]["outcomes"]
    row = results["rows"][added]
    assert row["kind"] == "added" and len(results["rows"]) == 2
    for each in (row["cells"], cells):
        played = {name: len(cell["outcomes"]) for name, cell in each.items()}
        assert played == {"4x4": FOUR.count, "mine": 5}
        assert len(each["4x4"]["timing"]["seconds"]) == 10
    text = out.read_text()
    capsys.readouterr()
    leaderboard.main([*options[2:], "--only", "hidden-singles", added])
    assert out.read_text() == text and capsys.readouterr().out == ""


def test_a_row_is_begun_anew_with_another_version(monkeypatch):
    before = RESULTS["rows"]["dqn"]
    assert leaderboard._resumed("dqn", before["kind"], before)["cells"]
    assert not leaderboard._resumed("dqn", "", before | {"package": "sudoku-gym 0"})["cells"]
    assert not leaderboard._resumed("dqn", "", before | {"weights": "00"})["cells"]


@pytest.mark.parametrize("arguments", [["--only", "me"], ["--sets", "5x5"], ["--add", "me"]])
def test_a_wrong_name_is_said(tmp_path, arguments):
    with pytest.raises(ValueError, match=arguments[1]):
        leaderboard.main([*arguments, "--out", str(tmp_path / "board.json")])
    (tmp_path / "fen.json").write_text('{"format": "fen"}')
    with pytest.raises(ValueError, match=r"fen\.json is no leaderboard"):
        leaderboard.read(tmp_path / "fen.json")


def test_the_file_has_a_line_a_cell(tmp_path):
    path = ROOT / "docs/results/leaderboard.json"
    leaderboard.write(tmp_path / "again.json", RESULTS)
    assert (tmp_path / "again.json").read_text() == path.read_text()
    assert len(path.read_text().splitlines()) < 2 * len(CELLS)


def test_the_results_are_of_the_weights_and_rows_that_there_are():
    for policy, kind in leaderboard.ROWS.items():
        row = RESULTS["rows"][policy]
        assert row["kind"] == kind and kind in leaderboard_page.KINDS
        assert row["weights"] == (weights_sha256(policy) or ""), f"{policy}: run the program"


def test_every_policy_that_comes_with_the_package_has_a_row_or_a_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    policies = set(project["entry-points"]["sudoku_gym.policies"])
    rows = {name.partition("?")[0] for name in leaderboard.ROWS}
    assert {name for name in policies if f"`{name}` has no row: " in PAGE} == policies - rows
    assert rows <= policies


def test_a_cell_was_played_by_the_rule():
    for policy, name, cell in CELLS:
        info, played = RESULTS["sets"][name], len(cell["outcomes"])
        assert cell["illegal"] <= cell["outcomes"].count("0"), (policy, name)
        if "error" not in cell and cell["budget"] == Config().budget:
            assert played in (info["subset"], info["count"])


def test_the_page_gets_every_part():
    page = leaderboard_page.fill_in(PAGE, RESULTS)
    tables = [*leaderboard_page.TABLES.values(), (leaderboard_page.SORTED_BY, "9x9")]
    for policy, row in RESULTS["rows"].items():  # wherever it plays
        played = {name for name, cell in row["cells"].items() if leaderboard_page.is_shown(cell)}
        assert page.count(f"| `{policy}`") == sum(bool(played & {*sets}) for sets in tables) > 0
    assert {name for sets in tables for name in sets} <= {*RESULTS["sets"]}


def test_rows_stand_in_one_stated_order_within_their_kind():
    kinds = leaderboard_page.by_kind(RESULTS)
    assert list(kinds) == list(leaderboard_page.KINDS)
    for policies in kinds.values():
        cells = [RESULTS["rows"][name]["cells"].get("9x9-hard") for name in policies]
        is_shown, share_of = leaderboard_page.is_shown, leaderboard_page.share_of
        shares = [share_of(cell)[0] if is_shown(cell) else 0.0 for cell in cells]
        assert shares == sorted(shares, reverse=True)


def test_the_plot_holds_every_row_and_names_the_frontier():
    plots = pytest.importorskip("leaderboard_plots")
    points = {"slow": (9.0, 0.9), "fast": (1.0, 0.5), "worse": (2.0, 0.4), "twin": (1.0, 0.4)}
    assert plots.frontier(points) == ["fast", "slow"] and plots.frontier({}) == []
    (axes,) = plots.plot(RESULTS).axes
    hard = {policy: cell for policy, name, cell in CELLS if name == leaderboard_page.SORTED_BY}
    hard = {policy: cell for policy, cell in hard.items() if leaderboard_page.is_shown(cell)}
    named = {text.get_text() for text in axes.texts}
    assert min(hard, key=lambda name: leaderboard_page.seconds_of(hard[name])) in named
    assert max(hard, key=lambda name: leaderboard_page.share_of(hard[name])) in named
    assert sum(len(part[0].get_xdata()) for part in axes.containers) == len(hard)
