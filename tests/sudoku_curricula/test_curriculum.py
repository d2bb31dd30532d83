"""The one promotion rule: what feeds a schedule, what is refused, what is drawn."""

import json
from dataclasses import dataclass

import pytest
from small_game import HeldOut

from sudoku_curricula import SCHEDULES, Curriculum, LevelSchedule, Results, make_schedule

LEVELS = {"start": 2, "stop": 5, "gamma": 0.9, "max_iterations": 99}


class Curves(dict):
    """A writer that remembers the points of each curve."""

    def add_scalar(self, tag, value, step):
        self.setdefault(tag, []).append((step, value))


@dataclass(frozen=True)
class StreakConfig:
    """A schedule of somebody else's: three updates in a row without a lost game."""

    start: int = 2
    stop: int = 4
    metric: str = "completion"

    def build(self):
        return Streak(self)


class Streak(LevelSchedule):
    answer, kept = "success", ("streak",)

    def __init__(self, config):
        super().__init__(config.start, config.stop, metric=config.metric)
        self.start_level()

    def record(self, successes, count):
        self.streak = self.streak + 1 if successes == count else 0
        return self.answer if self.streak == 3 else None

    def start_level(self):
        self.streak = 0


@pytest.fixture
def streak(monkeypatch):
    monkeypatch.setitem(SCHEDULES, "streak", StreakConfig)


def started(metric="completion", writer=None, **options):
    """Return a curriculum on Algorithm 1 that measures both metrics, and the levels it pushed."""
    pushed = []
    curriculum = Curriculum(
        make_schedule("algorithm-1", metric=metric, **LEVELS | options),
        lambda blanks: pushed.append(max(blanks)),
        writer=writer,
        metrics=("completion", "policy_accuracy"),
    )
    return curriculum, pushed


def test_held_out_games_decide_again_for_each_level_they_reach():
    curves, held_out = Curves(), HeldOut(skill=3)
    curriculum, pushed = started(writer=curves)
    curriculum.steps = 7
    assert curriculum.report_held_out(held_out) == (0.1, 0.5)
    assert held_out.asked == [2, 3, 4, None]
    assert pushed == [5, 2, 3, 4]
    assert [advance.updates for advance in curriculum.schedule.history] == [1, 1]
    assert curves["curriculum/blanks"] == [(0, 2), (7, 4)]
    assert curves["curriculum/success_rate"] == [(7, 0.1)]
    assert curves["evaluation/completion_rate"] == [(7, 0.5)]


def test_a_finished_schedule_plays_its_last_level_once():
    held_out = HeldOut(skill=9)
    curriculum, _ = started()
    assert curriculum.report_held_out(held_out) == (1.0, 0.5)
    assert held_out.asked == [2, 3, 4, 5, None] and curriculum.schedule.finished
    held_out.asked.clear()
    curriculum.report_held_out(held_out)
    assert held_out.asked == [5, None]


def test_another_metric_is_fed_once_and_games_draw_the_level():
    curves, held_out = Curves(), HeldOut(skill=9)
    curriculum, pushed = started("policy_accuracy", curves)
    for right, level in ((80, 2), (95, 3)):
        at_level, _ = curriculum.report_held_out(held_out)
        curriculum.report({"policy_accuracy": (right, 100)})
        assert at_level == 1.0 and curriculum.schedule.level == level
    assert held_out.asked == [2, None, 2, None]  # the level that was trained, and no climb
    assert pushed == [5, 2, 3]
    assert curriculum.schedule.history[0].rate == 0.95
    assert [value for _, value in curves["curriculum/policy_accuracy"]] == [0.8, 0.95]


def test_levels_rise():
    with pytest.raises(ValueError, match="not 2 to 12, step=-1"):
        LevelSchedule.__init__(Streak(StreakConfig()), 2, 12, step=-1)


def test_the_state_is_that_of_a_run_that_was_never_interrupted():
    (whole, _), (first, _), (second, pushed) = started(), started(), started()
    for curriculum in (whole, first):
        curriculum.report_held_out(HeldOut(skill=2))
        curriculum.end(curriculum.begin(1), [{"level": 3, "is_success": True}])
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert pushed == [5, 2, 3]
    for curriculum in (whole, second):
        curriculum.report_held_out(HeldOut(skill=3))
    assert second.state_dict() == whole.state_dict()


def test_a_schedule_is_refused_where_its_metric_is_not_measured():
    schedule = make_schedule("algorithm-1")  # by the paper's policy accuracy
    expected = (
        "can't supply policy_accuracy, by which Algorithm1 moves: configure it with "
        "metric='completion'"
    )
    with pytest.raises(ValueError, match=f"^completion: what is measured here {expected}"):
        Curriculum(schedule, print)


def test_a_schedule_of_ones_own_plugs_in(streak):
    schedule = make_schedule("streak?stop=3")
    moved = [schedule.update(Results.of([(0, won, 4)])) for won in (4, 4, 3, 4, 4, 4)]
    assert moved == [False] * 5 + [True] and schedule.streak == 0
    with pytest.raises(ValueError, match="'streak' has no option gamma: use start, stop, metric"):
        make_schedule("streak?gamma=3")
    with pytest.raises(ValueError, match="can't supply patience, by which Streak moves"):
        Curriculum(make_schedule("streak", metric="patience"), print)


def test_a_last_level_that_can_not_be_served_is_noticed_at_once():
    def set_blanks(blanks):
        if max(blanks) > 12:
            raise ValueError(f"no puzzle with {max(blanks)} blanks")

    with pytest.raises(ValueError, match="no puzzle with 40 blanks"):
        Curriculum(make_schedule("linear", start=11, stop=40, updates=30), set_blanks)
