"""A policy that can't be loaded here loses its row alone, unless it is asked for."""

import pytest

from sudoku_gym.evaluation.leaderboard import LeaderboardConfig, play_leaderboard, runs
from sudoku_gym.evaluation.leaderboard import play as play_module


def test_a_policy_that_can_not_be_loaded_in_time_loses_its_row_alone(small, play, monkeypatch):
    def describe(policies, limit):
        lost = {each: f"its process took {limit:g} s" for each in policies if "random" in each}
        return {each: runs.load_described(each)[1] for each in policies if each not in lost}, lost

    monkeypatch.setattr(play_module, "describe_policies", describe)
    config = LeaderboardConfig(out=small.parent / "board.json", sets=("9x9",), limit=70.0)
    results, failures = play_leaderboard(config, lambda line: None)
    assert failures == ["masked-random: its process took 70 s"]
    assert [*results.rows] == ["naked-singles"]


def test_what_is_missing_for_a_row_matters_to_who_asks_for_it(small, play, monkeypatch):
    def describe(policies, limit):
        missing = ModuleNotFoundError("masked-random needs dice")
        return {
            each: missing if each == "masked-random" else runs.load_described(each)[1]
            for each in policies
        }, {}

    monkeypatch.setattr(play_module, "describe_policies", describe)
    results, _ = play(only=("naked-singles",))
    assert [*results.rows] == ["naked-singles"]
    for only in (), ("masked-random",):
        with pytest.raises(ModuleNotFoundError, match="needs dice"):
            play(only=only)


def test_a_library_that_is_broken_loses_the_rows_that_need_it(small, play, monkeypatch):
    """Unless they are asked for; its error is none of a missing module, but any."""
    broken = ValueError("OSError: pysolvers.so: wrong ELF class")

    def describe(policies, limit):
        return {
            each: broken if each == "masked-random" else runs.load_described(each)[1]
            for each in policies
        }, {}

    monkeypatch.setattr(play_module, "describe_policies", describe)
    config = LeaderboardConfig(out=small.parent / "board.json", sets=("9x9",))
    results, failures = play_leaderboard(config, lambda line: None)
    assert failures == [f"masked-random: {broken}"] and [*results.rows] == ["naked-singles"]
    results, _ = play(only=("naked-singles",))
    assert [*results.rows] == ["naked-singles"]
    with pytest.raises(ValueError, match="wrong ELF class"):
        play(only=("masked-random",))
