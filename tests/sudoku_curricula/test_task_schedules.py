"""Schedules over tasks, on players whose success on each task is known."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_curricula import SCHEDULES, LevelSchedule, Results, make_schedule
from sudoku_gym import solver

TEN = "blanks=1..10"
OVER_TASKS = [
    name
    for name in SCHEDULES
    if name != "edit" and not isinstance(make_schedule(name), LevelSchedule)
]


def small(name):
    return make_schedule(name, tasks=TEN)


def play(schedule, success, games=1000, advantages=np.nan):
    """Update with as many games of each task as its weight asks for, `success [T]` of them won."""
    counts = np.round(games * schedule.weights()).astype(int)
    tasks = np.flatnonzero(counts)
    won = np.round(success[tasks] * counts[tasks]).astype(int)
    advantages = np.broadcast_to(advantages, counts.shape)[tasks]
    schedule.update(Results(tasks, won, counts[tasks], advantages))


@pytest.mark.parametrize("name", OVER_TASKS)
@settings(deadline=None, max_examples=30)
@given(
    st.lists(
        st.dictionaries(
            st.integers(0, 9), st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1
        ),
        min_size=1,
        max_size=20,
    ),
    st.integers(0, 19),
)
def test_weights_sum_to_one_and_a_resumed_schedule_goes_on_exactly(name, updates, cut):
    schedule, resumed = small(name), None
    for i, games in enumerate(updates):
        if i == cut:
            resumed = small(name)
            resumed.load_state_dict(json.loads(json.dumps(schedule.state_dict())))
        played = [(task, won, won + lost) for task, (won, lost) in games.items() if won + lost]
        if not played:
            continue
        for each in filter(None, (schedule, resumed)):
            each.update(Results.of(played, advantages=0.5))
        weights = schedule.weights()
        assert weights.sum() == pytest.approx(1)
        assert (weights >= 0).all()
    if resumed is not None:
        assert resumed.state_dict() == schedule.state_dict()
        assert (resumed.weights() == schedule.weights()).all()


def test_uniform_never_moves():
    schedule = small("uniform")
    play(schedule, np.linspace(1, 0, 10))
    assert (schedule.weights() == 0.1).all()


def test_target_rises_to_where_success_is_as_wanted_and_comes_back_after_forgetting():
    schedule = make_schedule("target", tasks=TEN, success_target=0.5)
    success = 1 / (1 + np.exp(np.arange(10) - 6.0))  # one half at the seventh task
    for _ in range(60):
        play(schedule, success)
    assert schedule.difficulty == pytest.approx(6, abs=0.3)
    assert schedule.weights()[6] > 0.6
    for _ in range(60):
        play(schedule, 1 / (1 + np.exp(np.arange(10) - 2.0)))
    assert schedule.difficulty == pytest.approx(2, abs=0.3)


def test_learning_progress_leaves_mastered_and_hopeless_tasks():
    schedule = make_schedule("learning-progress", tasks=TEN, uniform=0.1)
    success = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0.0])
    for share in np.linspace(0, 0.8, 40):
        success[4:6] = share, 0.5 * share
        play(schedule, success)
    assert schedule.weights()[4:6].sum() > 0.7
    for _ in range(200):  # nothing changes any more, and then something is forgotten
        play(schedule, success)
    success[1] = 0.5
    for _ in range(5):
        play(schedule, success)
    assert schedule.weights().argmax() == 1


def test_learnability_draws_what_is_solved_sometimes():
    schedule = make_schedule("learnability", tasks=TEN, uniform=0.1)
    success = np.array([1, 1, 1, 1, 0.5, 0.1, 0, 0, 0, 0])
    for _ in range(40):
        play(schedule, success)
    weights = schedule.weights()
    assert weights[4] > 0.5
    assert weights[4] > weights[5] > 4 * weights[[0, 9]].max()
    for _ in range(40):  # the learner masters both
        play(schedule, np.where(success > 0, 1.0, 0.0))
    assert schedule.weights().max() < 0.2


@pytest.mark.parametrize("options", [{"rule": "exp3.s", "rate": 0.05}, {"rule": "softmax"}])
def test_bandit_follows_the_task_that_teaches_most(options):
    schedule = make_schedule("bandit", tasks=TEN, **options)
    for best in (3, 7):
        advantages = np.full(10, 0.05)
        advantages[best] = 0.4
        for _ in range(150):
            play(schedule, np.full(10, 0.5), advantages=advantages)
        assert schedule.weights().argmax() == best
        assert schedule.weights()[best] > 0.5


def test_bandit_without_advantages_goes_by_success():
    schedule = make_schedule("bandit", tasks=TEN)
    for _ in range(50):
        play(schedule, np.array([1, 1, 1, 0.5, 0, 0, 0, 0, 0, 0]))
    assert schedule.weights().argmax() == 3


def test_replay_finds_the_puzzles_that_are_still_failed():
    schedule = make_schedule("replay", tasks="puzzle=0..199")
    failed = np.arange(5, 200, 20)
    success = np.ones(200)
    success[failed] = 0
    rng = np.random.default_rng(0)
    for _ in range(60):
        drawn = np.unique(rng.choice(200, 20, p=schedule.weights()))
        won = success[drawn].astype(int)
        schedule.update(Results.of(zip(drawn, won, np.ones(len(drawn), int), strict=True)))
    assert (schedule.played >= 0).all()
    weights = schedule.weights()
    assert weights[failed].sum() > 0.85
    forgotten = schedule.played == schedule.played.min()
    assert (weights[forgotten] > 0).all()  # what was not played for long comes again


def test_replay_draws_new_puzzles_and_a_robust_one_does_not_train_on_them():
    schedule = make_schedule("replay", tasks=TEN, replayed=0.5, robust=True)
    assert not schedule.trains().any()
    schedule.update(Results.of([(2, 0, 4), (3, 4, 4)]))
    assert np.flatnonzero(schedule.trains()).tolist() == [2, 3]
    weights = schedule.weights()
    assert weights[[2, 3]].sum() == pytest.approx(0.5)
    assert weights[2] > weights[3] > 0
    assert make_schedule("replay", tasks=TEN).trains().all()


def test_self_paced_moves_as_fast_as_success_allows():
    schedule = make_schedule("self-paced", tasks=TEN, success=0.6, divergence=0.2, games=20)
    seen = []
    for skill in (*np.linspace(0, 12, 40), *[12] * 20):
        before = schedule.weights()
        play(schedule, 1 / (1 + np.exp(np.arange(10) - skill)))
        after = schedule.weights()
        assert (after * np.log(after / before)).sum() < 0.2 + 1e-6
        seen.append(after @ np.arange(10))
    assert seen[0] < 1 < seen[20] < seen[-1]
    assert schedule.weights()[-1] > 0.9  # the target
    for _ in range(30):
        play(schedule, 1 / (1 + np.exp(np.arange(10) - 3.0)))
    assert schedule.weights() @ schedule.success > 0.59  # it has come back


def test_edit_grows_puzzles_until_the_player_fails_them():
    schedule = make_schedule("edit", source="9x9", size=64, start=10)
    rng = np.random.default_rng(0)
    for _ in range(500):
        drawn = np.unique(rng.choice(128, 16, p=schedule.weights()))
        blanks = (schedule.puzzles[drawn] == 0).sum((1, 2))
        won = rng.random(len(drawn)) < 1 / (1 + np.exp((blanks - 25) / 2))
        games = zip(drawn.tolist(), won.tolist(), [1] * len(drawn), strict=True)
        schedule.update(Results.of(games))
    blanks = (schedule.puzzles[schedule.current] == 0).sum((1, 2))
    assert 20 < blanks.mean() < 35
    assert (solver.count_solutions(schedule.puzzles, 2) == 1).all()
    assert len(np.unique(schedule.solutions, axis=0)) > 20


def test_a_game_that_began_before_an_edit_is_the_parents():
    schedule = make_schedule("edit", source="4x4", size=4, edits=1, start=3)
    parents = schedule.current.copy()
    while (schedule.current == parents).all():  # an edit may fail
        schedule.update(Results.of([(task, 0, 1) for task in parents.tolist()]))
    (place,) = np.flatnonzero(schedule.current != parents)
    parent, child = parents[place], schedule.current[place]
    weights = schedule.weights()
    assert weights[parent] == 0 < weights[child]
    schedule.update(Results.of([(parent, 1, 1)]))  # a late game
    assert schedule.is_child[place] and schedule.current[place] == child
    assert schedule.scores[parent] == 0 and schedule.weights()[parent] == 0
    schedule.update(Results.of([(parent, 0, 1)]))
    schedule.update(Results.of([(child, 1, 1)]))  # easier than the parent, which comes back
    assert schedule.scores[child] < schedule.scores[parent]
    assert schedule.played[parent] == schedule.updates - 1
    assert (schedule.current[place] == parent) != schedule.is_child[place]


def test_a_resumed_edit_goes_on_exactly():
    whole, resumed = (make_schedule("edit", source="4x4", size=8, start=3) for _ in range(2))
    for update in range(60):
        if update == 30:
            resumed.load_state_dict(json.loads(json.dumps(whole.state_dict())))
        for schedule in (whole, resumed)[: 1 + (update >= 30)]:
            schedule.update(Results.of([(i, (i + update) % 2, 1) for i in range(8)]))
    assert resumed.state_dict() == whole.state_dict()
    assert (resumed.blanks().weights == whole.blanks().weights).all()
