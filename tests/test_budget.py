"""No room of the house grows: the lines of Python in each stay within `budget.toml`."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = (
    "sudoku_gym",
    "curricula/sudoku_curricula",
    "learning/sudoku_learning",
    "agents/sudoku_agents",
    "baselines/sudoku_baselines",
)
TABLE = tomllib.loads((ROOT / "tests/budget.toml").read_text("utf-8"))
BUDGET = TABLE["lines"]


def lines_of(room):
    """Count the lines of the Python files below a folder; `/*` at its end: those right in it."""
    folder, direct = ROOT / room.removesuffix("/*"), room.endswith("/*")
    files = folder.glob("*.py") if direct else folder.rglob("*.py")
    return sum(len(file.read_text("utf-8").splitlines()) for file in files)


@pytest.mark.parametrize("room", BUDGET)
def test_room_stays_within_its_budget(room):
    assert 0 < lines_of(room) <= BUDGET[room]


def test_every_package_and_every_room_of_sudoku_gym_has_a_budget():
    rooms = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("sudoku_gym/*/*.py")}
    assert {*rooms, "sudoku_gym/*", *PACKAGES[1:]} <= set(BUDGET)


def test_packages_together_stay_within_their_budget():
    assert sum(map(lines_of, PACKAGES)) <= TABLE["packages"]
