"""Rows that packages list: read in a process of their own, which reaches no figure."""

import os

import pytest

from sudoku_gym import plugins
from sudoku_gym.evaluation.leaderboard import listing, players
from sudoku_gym.evaluation.leaderboard.play import describe
from sudoku_gym.evaluation.leaderboard.workers import listed_rows

PATCHES = """
from sudoku_gym.evaluation.leaderboard import listing, workers
listing.own_rows = listing.rows_of = workers.perform = lambda *_: {}
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that installs a package which lists the rows `ROWS` of its source."""
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path.rstrip(os.pathsep))
    monkeypatch.syspath_prepend(tmp_path)

    def call(
        source,
        name="others",
        package="others-rows",
        group="leaderboard",
        stands_for="others_rows:ROWS",
    ):
        (tmp_path / "others_rows.py").write_text(source)
        metadata = tmp_path / "others_rows-1.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
        entry = f"[sudoku_gym.{group}]\n{name} = {stands_for}\n"
        (metadata / "entry_points.txt").write_text(entry)

    return call


@pytest.mark.parametrize("package", ["others-rows", "sudoku-gym"])
def test_a_package_can_t_reach_the_process_that_counts(install, tmp_path, package):
    """Whatever name its metadata give it."""
    mark = tmp_path / "imported-by"
    note = f"open({str(mark)!r}, 'a').write(f'{{__import__(\"os\").getpid()}}')"
    rows = {"others_rows:Mine": "agent", "naked-singles": "agent"}
    install(f"{PATCHES}\n{note}\nROWS = {rows}\n", package=package)
    found, own = listed_rows(), listing.own_rows()
    assert found == {**own, "others_rows:Mine": "agent"} and own["naked-singles"] != "agent"
    assert mark.read_text() not in ("", str(os.getpid()))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ROWS = {'naked-singles': 5}", "5 is no text"),
        ("ROWS = {3: 'solver'}", "3 is no text"),
        ("ROWS = ['naked-singles']", "it is a list"),
        ("ROWS = {'mine:P': 'k' * 101}", "a kind of 101 letters, more than 100"),
        ("ROWS = {'mine:P': 'on\\ttop'}", "'on\\\\ttop' has letters that can't be shown"),
        ("raise RuntimeError('boom')", "RuntimeError: boom"),
        ("import os; os._exit(0)", "its process ended when it was imported"),
        ("ROWS = {str(n): 'x' * 99 for n in range(2_000)}", "its process answers"),
    ],
)
def test_a_package_that_lists_no_rows_is_named(install, source, said):
    install(source)
    with pytest.raises(ValueError, match=f"others = others_rows:ROWS: it is no .*{said}"):
        listed_rows()


def test_a_list_that_is_never_read_is_named(install, monkeypatch):
    install("import time\ntime.sleep(60)")
    monkeypatch.setattr(players, "_START_SECONDS", 0.5)
    with pytest.raises(ValueError, match=r"its process took more than .* to load"):
        listed_rows()


def test_a_list_of_another_s_takes_the_place_of_none_of_ours(install):
    """An entry point may be called like one of ours."""
    names = [entry.name for entry in plugins.all_entries(plugins.LEADERBOARD)]
    own = listing.own_rows()
    install("ROWS = {'others_rows:Mine': 'agent'}", name=names[0])
    assert listing.own_rows() == own
    assert listed_rows() == {**own, "others_rows:Mine": "agent"}


FORGES = """
from sudoku_gym import load_policy
from sudoku_gym.evaluation.leaderboard import players
forged = {"package": "forged 1", "code": "", "weights": "", "config": "", "num_weights": 0}
ROWS = {"others_rows:Mine": "agent"}
def Mine():
    players.load_described = lambda name: (None, forged)
    return load_policy("masked-random")
"""


def test_a_listed_policy_of_another_s_changes_no_description_of_ours(install):
    install(FORGES)
    assert "others_rows:Mine" in listed_rows()
    found, lost = describe(["others_rows:Mine", "naked-singles"], 60, [])
    assert found["naked-singles"]["package"].startswith("sudoku-gym ") and not lost


@pytest.mark.parametrize(
    "fails", ["raise ValueError('set A_KEY')", "raise KeyError('A_KEY')", "import A_KEY"]
)
def test_a_listed_policy_that_can_t_be_made_is_lost_unless_it_is_named(install, fails):
    install(f"ROWS = {{'others_rows:Mine': 'agent'}}\ndef Mine():\n    {fails}\n")
    found, lost = describe(["others_rows:Mine", "naked-singles"], 60, [])
    assert [*found] == ["naked-singles"] and "A_KEY" in lost["others_rows:Mine"]
    try:
        found, lost = describe(["others_rows:Mine"], 60, ["others_rows:Mine"])
    except ValueError as error:
        assert "A_KEY" in str(error)
    else:
        assert isinstance(found["others_rows:Mine"], ModuleNotFoundError) and not lost


@pytest.mark.parametrize(
    ("package", "stands_for"),
    [
        ("others-rows", "others_rows:ROWS"),
        ("others-rows", "sudoku_baselines.classical.solvers:SuiteSolver"),
        ("sudoku-gym", "others_rows:ROWS"),
    ],
)
def test_no_policy_of_another_s_takes_the_name_of_one_of_ours(install, package, stands_for):
    ours = plugins.available(plugins.POLICIES)
    install("ROWS = None", "naked-singles", package, "policies", stands_for)
    assert len(plugins.all_entries(plugins.POLICIES)) == len(ours) + 1
    assert plugins.available(plugins.POLICIES) == ours
