"""The one loop, with a learner that only counts: what is done when, and what survives."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from rich.console import Console

from sudoku_curricula.curves import BLANKS_LEVEL, COMPLETION_RATE, ITERATION, read_curves
from sudoku_curricula.schedules import (
    Algorithm1Config,
    ConstantConfig,
    LearnabilityConfig,
    ReplayConfig,
    SuccessRateConfig,
)
from sudoku_gym import load_policy, puzzles
from sudoku_gym.storage.configs import registered
from sudoku_learning.training import (
    Learner,
    LearnerState,
    Report,
    Training,
    TrainingConfig,
    checkpoint,
)
from sudoku_learning.training.checkpoint import checkpoint_in
from sudoku_learning.training.environments import geometry_of_env
from sudoku_learning.training.loop import train_cli


@registered("test/counting")
@dataclass(frozen=True, kw_only=True)
class CountingConfig(TrainingConfig):
    """A learner that counts."""

    agent: ClassVar[str] = "hidden-singles"
    fixed: ClassVar[tuple[str, ...]] = (*TrainingConfig.fixed, "stride")
    stride: int = 10
    """steps an iteration"""


class Counting(Learner):
    """Draws from both generators, plays hidden singles from its third iteration on."""

    metrics = ("evenness",)

    def __init__(self, config, random):
        self.config = config
        self.drawn = torch.zeros(2)
        self.levels = []

    def learn(self, blanks, random, progress):
        self.levels.append(blanks)
        self.drawn += torch.rand(2, generator=random.torch) + float(random.numpy.random())
        return Report(
            self.config.stride,
            {"losses/mine": float(self.drawn[0])},
            {"mine": f"{self.drawn[0]:.2f}"},
            {"evenness": (len(self.levels) % 2, 1)},
        )

    def policy(self):
        return load_policy("hidden-singles" if len(self.levels) > 2 else "masked-random")

    def state(self):
        return LearnerState({"drawn": self.drawn.clone()}, numbers={"levels": len(self.levels)})

    def restore(self, state):
        self.drawn = state.weights["drawn"]
        self.levels = [{}] * state.numbers["levels"]


def small(run, **changes):
    options = {
        "iterations": 6,
        "checkpoint_every": 2,
        "validation_games": 24,
        "curriculum": SuccessRateConfig(start=2, stop=9, threshold=0.6, window=24, min_count=24),
    }
    return CountingConfig(run=run, **{**options, **changes})


def train(config):
    return Training(config, Counting)


def test_a_loss_that_is_not_finite_ends_the_run_at_a_named_checkpoint(tmp_path, monkeypatch):
    training = train(small(tmp_path / "run", evaluate_every=9))

    def learn(blanks, random, progress):
        if progress.iteration == 3:
            raise ValueError("the loss, or its gradient, is not finite")
        return Report(10)

    monkeypatch.setattr(training.learner, "learn", learn)
    with pytest.raises(ValueError, match=r"iteration 4: the loss.*checkpoints.000002\)"):
        training.run()


def test_a_run_that_was_interrupted_ends_as_one_that_was_not(tmp_path):
    whole = train(small(tmp_path / "whole"))
    whole.run()
    train(small(tmp_path / "parts", iterations=3)).run()
    resumed = train(small(tmp_path / "parts", resume=True))
    assert (resumed.iteration, resumed.steps) == (3, 30)
    resumed.run()
    for run in ("whole", "parts"):
        assert checkpoint_in(tmp_path / run).name == "000006"
    one, other = (
        checkpoint.read_checkpoint(checkpoint_in(tmp_path / run)) for run in ("whole", "parts")
    )
    assert one.progress == other.progress and one.learner.numbers == other.learner.numbers
    assert torch.equal(one.learner.weights["drawn"], other.learner.weights["drawn"])
    assert torch.equal(whole.random.torch.get_state(), resumed.random.torch.get_state())
    found, wanted = read_curves(tmp_path / "parts"), read_curves(tmp_path / "whole")
    for tag in (BLANKS_LEVEL, COMPLETION_RATE, ITERATION, "losses/mine"):
        assert found[tag] == wanted[tag], tag
    assert found[ITERATION] == ([10, 20, 30, 40, 50, 60], [1, 2, 3, 4, 5, 6])


def test_a_metric_feeds_the_schedule_in_every_iteration(tmp_path):
    class Measuring(Counting):
        metrics = ("policy_accuracy",)

        def learn(self, blanks, random, progress):
            report = super().learn(blanks, random, progress)
            return replace(report, metrics={"policy_accuracy": (progress.iteration != 3, 1)})

    curriculum = Algorithm1Config(start=2, stop=9)
    training = Training(small(tmp_path, curriculum=curriculum, evaluate_every=4), Measuring)
    training.run()
    assert training.curriculum.schedule.level == 7  # five of six iterations were right


def test_tasks_are_trained_by_their_weights(tmp_path):
    curriculum = LearnabilityConfig(tasks="grade=hidden singles,search")
    config = small(tmp_path, env="Sudoku9x9-v0", curriculum=curriculum)
    training = train(config)
    training.run()
    solved = training.curriculum.schedule.solved
    assert solved[0] > 20 and solved[0] > 3 * solved[1]  # which guesses seldom solve
    assert len(read_curves(tmp_path)["task_weight/search"][0]) == 6
    with pytest.raises(ValueError, match="single puzzles take training episodes"):
        train(small(tmp_path / "other", curriculum=ReplayConfig(tasks="puzzle=0..9")))


def test_points_after_the_checkpoint_are_dropped(tmp_path):
    class Interruption(Exception):
        pass

    class Interrupted(Counting):
        def learn(self, blanks, random, progress):
            if len(self.levels) == 3:
                raise Interruption
            return super().learn(blanks, random, progress)

    with pytest.raises(Interruption):
        Training(small(tmp_path / "run"), Interrupted).run()
    resumed = train(small(tmp_path / "run", resume=True))
    assert resumed.iteration == 2
    resumed.run()
    assert read_curves(tmp_path / "run")[ITERATION][1] == [1, 2, 3, 4, 5, 6]


def test_two_trainings_do_not_share_a_folder(tmp_path):
    config = small(tmp_path / "run")
    other = train(config)

    class Doing(Counting):
        def learn(self, blanks, random, progress):
            with pytest.raises(ValueError, match="another training is running in"):
                other.run()
            return super().learn(blanks, random, progress)

    Training(config, Doing).run()
    with pytest.raises(ValueError, match="already holds a run"):
        train(config)


def test_the_level_rises_with_greedy_play_and_the_learner_is_told(tmp_path):
    trained = train(small(tmp_path))
    trained.run()
    levels = [max(blanks) for blanks in trained.learner.levels]
    assert levels[0] == 2 and levels[2] < levels[3] == 9  # hidden singles solve all of 4x4
    assert trained.curriculum.schedule.finished
    assert len(trained.learner.levels[-1]) == 8  # lower levels are rehearsed


def test_a_run_ends_with_its_processor_time(tmp_path):
    config = small(tmp_path, iterations=10**6, minutes=0.2 / 60, curriculum=ConstantConfig(3))
    trained = train(config)
    trained.run()
    assert trained.seconds > 0.2 and 0 < trained.iteration < 10**6
    again = train(small(tmp_path, resume=True, minutes=0.2 / 60, curriculum=ConstantConfig(3)))
    assert again.limit_met and again.seconds == trained.seconds


def test_a_schedule_moves_by_a_metric_of_the_learners_or_is_refused(tmp_path):
    class Evenness(Counting):
        metrics = ("policy_accuracy",)

        def learn(self, blanks, random, progress):
            report = super().learn(blanks, random, progress)
            report.metrics["policy_accuracy"] = report.metrics["evenness"]
            return report

    curriculum = Algorithm1Config(start=2, stop=9, gamma=0.9, metric="policy_accuracy")
    config = small(tmp_path, curriculum=curriculum, iterations=5)
    with pytest.raises(ValueError, match="can't supply policy_accuracy"):
        train(config)
    trained = Training(config, Evenness)
    trained.run()
    assert [max(blanks) for blanks in trained.learner.levels] == [2, 3, 3, 4, 4]


def test_another_configuration_can_not_take_over_a_run(tmp_path):
    train(small(tmp_path)).run()
    for change in ({"stride": 5}, {"seed": 1}, {"env": "Sudoku6x6-v0"}):
        (name,) = change
        with pytest.raises(ValueError, match=f"has {name} .*resume with the configuration"):
            train(small(tmp_path, resume=True, **change))
    train(small(tmp_path, resume=True, iterations=7, checkpoint_every=1)).run()


def test_the_console_shows_each_iteration_and_names_as_they_are(tmp_path, capsys):
    train(small(Path(tmp_path, "a[/b]"), iterations=2)).run(Console(width=120))
    heads, first, second, last = capsys.readouterr().out.splitlines()
    assert heads.split()[:3] == ["iteration", "steps", "blanks"] and "mine" in heads
    assert heads.split()[-2:] == ["time", "left"] and second.endswith(" 0 s")
    assert first.split()[:3] == ["1", "10", "2"] and second.split()[:2] == ["2", "20"]
    assert len(heads) == len(first) == len(second) and last == "The run has met --iterations 2"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"iterations": 0}, "iterations must be at least 1"),
        ({"evaluate_every": 0}, "evaluate_every must be at least 1"),
        ({"extra_iterations": -1}, "extra_iterations must be at least 0, not -1"),
        ({"minutes": 0.0}, "minutes must be positive"),
        ({"minutes": float("nan")}, "minutes must be finite"),
    ],
)
def test_unusable_configurations_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        CountingConfig(**wrong)


def test_a_last_level_that_no_puzzle_has_is_refused_at_once(tmp_path):
    with pytest.raises(ValueError, match="serves 1 to 12 blanks"):
        train(small(tmp_path, curriculum=SuccessRateConfig(2, 40)))


def test_environments_that_are_no_sudoku_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"env='Sudoku5x5-v0': .*is not registered"):
        train(small(tmp_path, env="Sudoku5x5-v0"))
    with pytest.raises(ValueError, match=r"env='CartPole-v1' is no Sudoku environment"):
        train(small(tmp_path, env="CartPole-v1"))


def test_the_same_seed_gives_the_same_run(tmp_path):
    one, other = train(small(tmp_path / "1")), train(small(tmp_path / "2"))
    third = train(small(tmp_path / "3", seed=5))
    for each in (one, other, third):
        each.step()
    assert torch.equal(one.learner.drawn, other.learner.drawn)
    assert not torch.equal(one.learner.drawn, third.learner.drawn)
    assert np.isfinite(one.seconds)


def test_a_run_that_is_over_says_which_limit_it_met_and_writes_nothing(tmp_path, capsys):
    options = ["--run", str(tmp_path / "run"), "--validation-games", "4"]
    options += ["curriculum:constant", "--iterations", "1"]  # in any order
    assert train_cli(CountingConfig, Counting, "counting", options) == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    again = ["--run", str(tmp_path / "run"), "--resume", "--validation-games", "8"]
    assert train_cli(CountingConfig, Counting, "counting", again) == 0
    assert "the run has met --iterations 1: raise it" in capsys.readouterr().out
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_a_list_is_trained_on_and_known_by_its_board(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    puzzles.write("mine.csv", puzzles.load("6x6", "train")[:60])
    options = ["--puzzles", "mine.csv", "--validation-games", "4", "--iterations", "1"]
    with pytest.warns(UserWarning, match=r"mine\.csv says no split"):
        assert train_cli(CountingConfig, Counting, "counting", options) == 0
    env = json.loads(Path("runs/run/config.json").read_text())["env"]
    assert env == "Sudoku-v0?source=mine.csv&board=6x6"
    Path("mine.csv").unlink()
    assert geometry_of_env(env).size == 6
    assert geometry_of_env("Sudoku-v0?source=C:\\mine.csv&board=6x6").size == 6
    with pytest.raises(ValueError, match="give a file of puzzles and the name of a board"):
        geometry_of_env("Sudoku-v0?source=os:system")


def test_a_resumed_run_joins_no_cluster_that_its_folder_alone_names(tmp_path):
    """Who answers there may be anyone, and could run code in the process that joins."""
    run = tmp_path / "run"
    options = ["--run", str(run), "--validation-games", "4", "--env", "Sudoku4x4-v0"]
    assert train_cli(CountingConfig, Counting, "counting", [*options, "--iterations", "1"]) == 0
    config = json.loads((run / "config.json").read_text())
    config["ray"] |= {"actors": 1, "address": "ray://elsewhere:10001"}
    (run / "config.json").write_text(json.dumps(config))
    again = ["--run", str(run), "--resume", "--iterations", "2"]
    assert train_cli(CountingConfig, Counting, "counting", again) == 0
    assert json.loads((run / "config.json").read_text())["ray"]["address"] is None
