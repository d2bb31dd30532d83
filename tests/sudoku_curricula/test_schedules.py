"""How each schedule moves, what it refuses, and that a resumed one goes on exactly."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_curricula import SCHEDULES, LevelSchedule, Results, make_schedule
from sudoku_curricula.schedules import Algorithm1Config, LinearConfig, SuccessRateConfig
from sudoku_gym.evaluation.intervals import wilson_interval

SMALL = {  # a schedule that is not here states its laws with its own defaults
    "constant": {"blanks": 3},
    "linear": {"start": 2, "stop": 5, "updates": 10},
    "success-rate": {"start": 2, "stop": 5, "threshold": 0.5, "window": 12, "min_count": 4},
    "algorithm-1": {"start": 2, "stop": 5, "gamma": 0.7, "max_iterations": 3},
}


LEVELS = [name for name in SCHEDULES if isinstance(make_schedule(name), LevelSchedule)]


def small(name):
    return make_schedule(name, **SMALL.get(name, {}))


def feed(schedule, rate, count=100):
    """Report games at the current level."""
    return update(schedule, schedule.level, round(rate * count), count)


def update(schedule, level, successes, count):
    """Report games with so many blanks, if it has such a level."""
    if level not in schedule.levels or not count:
        return False
    return schedule.update(Results.of([(schedule.levels.index(level), successes, count)]))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (LinearConfig(3, 6, updates=10), [3, 3, 3, 4, 4, 5, 5, 5, 6, 6]),
        (LinearConfig(16, 56, updates=6), [16, 24, 32, 40, 48, 56]),
    ],
)
def test_linear_shares_its_updates_evenly(config, expected):
    schedule, levels = config.build(), []
    while not schedule.finished:
        levels.append(schedule.level)
        feed(schedule, 0.0)
    assert levels == expected
    assert {advance.reason for advance in schedule.history} == {"limit"}


def test_success_rate_waits_for_proof():
    schedule = SuccessRateConfig(start=2, stop=3, threshold=0.95).build()
    assert not feed(schedule, 0.97, count=400)  # above the threshold, but not provably
    assert wilson_interval(388, 400)[0] < 0.95 < 0.97
    assert feed(schedule, 0.98, count=800)
    assert schedule.level == 3
    assert schedule.history[0].reason == "success"
    assert schedule.results == []  # nothing is known of the new level


def test_success_rate_forgets_what_left_the_window():
    schedule = SuccessRateConfig(threshold=0.95, window=200, min_count=100).build()
    for _ in range(20):
        assert not feed(schedule, 0.5, count=50)
    moved = [feed(schedule, 1.0, count=50) for _ in range(4)]
    assert moved == [False, False, False, True]


def test_success_rate_rehearses_lower_levels():
    schedule = SuccessRateConfig(start=4, stop=9, step=2, rehearsal=0.3).build()
    assert schedule.blanks() == {4: 1.0}
    feed(schedule, 1.0, count=400)
    feed(schedule, 1.0, count=400)
    assert schedule.blanks() == pytest.approx({4: 0.15, 6: 0.15, 8: 0.7})


def test_algorithm_1_says_which_way_it_advanced():
    schedule = Algorithm1Config(start=2, stop=4, gamma=0.9, max_iterations=3).build()
    assert not feed(schedule, 0.9)  # alpha > gamma is strict
    assert feed(schedule, 0.91)
    assert [feed(schedule, 0.1) for _ in range(3)] == [False, False, True]
    feed(schedule, 1.0)
    assert schedule.finished
    assert [(a.level, a.updates, a.reason) for a in schedule.history] == [
        (2, 2, "success"),
        (3, 3, "limit"),
        (4, 1, "success"),
    ]


@pytest.mark.parametrize("name", LEVELS)
def test_results_of_other_levels_are_ignored(name):
    schedule = small(name)
    before = schedule.state_dict()
    for _ in range(50):
        assert not update(schedule, schedule.level + 1, 100, 100)
        assert not update(schedule, schedule.level - 1, 100, 100)
    assert schedule.state_dict() == before


@pytest.mark.parametrize("name", LEVELS)
@settings(deadline=None, max_examples=60)
@given(
    results=st.lists(st.tuples(st.integers(1, 6), st.integers(0, 9), st.integers(0, 9))),
    cut=st.integers(0, 50),
)
def test_laws_of_every_schedule_and_exact_resume(name, results, cut):
    schedule = small(name)
    resumed = None
    for i, (level, successes, failures) in enumerate(results):
        before = schedule.level
        moved = update(schedule, level, successes, successes + failures)
        assert moved == (schedule.level != before)
        assert schedule.level >= before
        weights = schedule.blanks()
        assert max(weights) == schedule.level
        assert sum(weights.values()) == pytest.approx(1)
        if resumed is not None:
            update(resumed, level, successes, successes + failures)
        if i == cut:
            resumed = small(name)
            resumed.load_state_dict(json.loads(json.dumps(schedule.state_dict())))
    if resumed is not None:
        assert resumed.state_dict() == schedule.state_dict()
        assert resumed.blanks() == schedule.blanks()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("constant", {"blanks": 0}, "levels begin at 1, and start <= stop: not 0 to 0"),
        ("linear", {"start": 5, "stop": 4}, "start <= stop: not 5 to 4"),
        ("linear", {"start": 1, "stop": 4, "updates": 1}, "updates must be at least 2"),
        ("success-rate", {"step": 0}, "step must be at least 1, not 0"),
        ("success-rate", {"threshold": 1.5}, r"threshold must lie in \[0, 1\], not 1.5"),
        ("success-rate", {"rehearsal": 1.0}, "rehearsal must be less than 1"),
        ("success-rate", {"min_count": 500}, "min_count=500 is more than window=400"),
        ("success-rate", {"threshold": 0.999}, "never prove more than 0.9905: widen it, or lower"),
        ("algorithm-1", {"gamma": -1.0}, r"gamma must lie in \[0, 1\], not -1.0"),
        ("algorithm-1", {"max_iterations": 0}, "max_iterations must be at least 1, not 0"),
        ("algorithm-1?depth=3", {}, "'algorithm-1' has no option depth: use start, stop, gamma"),
        ("exponential", {}, "no schedule is called 'exponential': use algorithm-1, bandit"),
    ],
)
def test_bad_configurations_are_refused(name, options, message):
    with pytest.raises(ValueError, match=message):
        make_schedule(name, **options)


def test_impossible_results_are_refused():
    with pytest.raises(ValueError, match="5 successes of 4 games"):
        Results.of([(8, 5, 4)])


def test_a_foreign_state_is_refused():
    state = make_schedule("linear").state_dict()
    with pytest.raises(ValueError, match=r"schedule is Linear, over .* this one SuccessRate"):
        make_schedule("success-rate").load_state_dict(state)
    with pytest.raises(ValueError, match=r"over blanks=2,3.* over blanks=4,5: resume"):
        make_schedule("linear", start=4, stop=5).load_state_dict(state)
