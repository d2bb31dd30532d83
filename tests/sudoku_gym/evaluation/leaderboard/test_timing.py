"""The first puzzles of a set are timed one by one, by a policy that is as good there."""

import re
from dataclasses import replace

import pytest

from sudoku_gym.evaluation.leaderboard import cells
from sudoku_gym.evaluation.leaderboard.fixed_sets import fixed_sets
from sudoku_gym.evaluation.leaderboard.results import LeaderboardCell, Timing


def test_times_are_means_of_laps(in_this_process):
    fixed = replace(fixed_sets()[0], count=3, sha256="")
    for limit, count in ((100.0, 3), (0.0, 0)):
        played = LeaderboardCell(100.0, "a run", "000", timing=Timing((), "a run"))
        task = cells.CellTask("naked-singles", fixed, fixed.load(), played, limit)
        ((_, cell),) = in_this_process([task], 1)
        assert len(cell.timing.seconds) == count and cell.outcomes == "000"
        assert count == 0 or min(cell.timing.seconds) >= 0


@pytest.mark.parametrize("outcomes, is_timed", [("1" * 10, False), ("0" * 10, True)])
def test_a_policy_that_is_worse_one_by_one_is_not_timed(in_this_process, outcomes, is_timed):
    fixed = replace(fixed_sets()[0], bank="9x9-hard", count=10, sha256="")
    played = LeaderboardCell(100.0, "a run", outcomes, timing=Timing((), "a run"))
    task = cells.CellTask("naked-singles", fixed, fixed.load(), played, 100.0)  # it solves none
    ((_, cell),) = in_this_process([task], 1)
    if is_timed:
        assert len(cell.timing.seconds) == 10
    else:
        said = (
            r"it solves 0 of \d+ boards one by one, by .*, and 10 of the same 10 puzzles in batches"
        )
        assert re.fullmatch(f"not timed: {said}", str(cell)) and cell.timing.seconds == ()
        assert cell.puzzle_seconds == played.seconds / 10


@pytest.mark.parametrize("policy", ["Remembers", "RemembersGames", "RemembersAllDigits"])
def test_no_policy_gains_by_remembering_boards(in_this_process, own_policies, policy):
    fixed = replace(fixed_sets()[0], bank="9x9", count=12, sha256="")
    played = LeaderboardCell(100.0, "a run", "0" * 12, timing=Timing((), "a run"))
    task = cells.CellTask(f"third_party:{policy}", fixed, fixed.load(), played, 100.0)
    ((_, cell),) = in_this_process([task], 1)
    assert min(cell.timing.seconds) > 0.045  # as long as a new board takes


@pytest.mark.parametrize("timing", [None, Timing((), "a run")])
def test_the_first_board_that_a_policy_sees_is_of_the_set(in_this_process, own_policies, timing):
    fixed = replace(fixed_sets()[0], bank="9x9", count=12, sha256="")
    cell = LeaderboardCell(100.0, "a run", "0" * 12 if timing else "", timing=timing)
    task = cells.CellTask("third_party:ForOneSize", fixed, fixed.load(), cell, 100.0)
    ((_, cell),) = in_this_process([task], 1)
    assert not cell.error and len(cell.timing.seconds if timing else cell.outcomes) >= 10


@pytest.mark.parametrize("subset", [10, 30])  # one batch, and several
@pytest.mark.parametrize("budget, is_whole", [(3.0, True), (0.001, False)])
def test_what_is_compiled_is_no_pace(in_this_process, own_policies, budget, is_whole, subset):
    """The first games take 1 s, and the whole set would take 4 s at their pace."""
    fixed = replace(fixed_sets()[0], bank="9x9", count=120, subset=subset, sha256="")
    cell = LeaderboardCell(budget, "a run")
    task = cells.CellTask("third_party:Compiles", fixed, fixed.load(), cell, 100.0)
    ((_, cell),) = in_this_process([task], 1)
    assert len(cell.outcomes) == (120 if is_whole else subset) and cell.seconds < 1.0


@pytest.mark.parametrize("policy", ["FailsLater", "TakesLongLater"])
def test_a_slow_one_keeps_its_subset_whatever_comes_next(in_this_process, own_policies, policy):
    fixed = replace(fixed_sets()[0], bank="9x9", count=40, subset=10, sha256="")
    cell = LeaderboardCell(0.001, "a run")
    task = cells.CellTask(f"third_party:{policy}", fixed, fixed.load(), cell, 1.0)
    ((_, cell),) = in_this_process([task], 1)
    assert len(cell.outcomes) == 10 and not cell.error


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("FailsLater", "not timed: no more"),
        ("NeedsMoreLater", "not timed: ModuleNotFoundError: no such library"),
        ("TakesLongLater", r"not timed: it takes more than \d s of \w+ time"),  # or of wall time
    ],
)
def test_one_that_fails_while_it_is_timed_is_said_to(in_this_process, own_policies, policy, said):
    fixed = replace(fixed_sets()[0], bank="9x9", count=12, sha256="")
    played = LeaderboardCell(100.0, "a run", "0" * 12, timing=Timing((), "a run"))
    task = cells.CellTask(f"third_party:{policy}", fixed, fixed.load(), played, 1.0)
    ((_, cell),) = in_this_process([task], 1)
    assert re.fullmatch(said, str(cell)) and not cell.error and cell.outcomes == "0" * 12
