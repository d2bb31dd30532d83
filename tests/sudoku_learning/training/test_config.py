"""The configuration of a run: schedules that come later than the trainers."""

from dataclasses import dataclass

import pytest
import tyro

from sudoku_curricula import SCHEDULES, configure_schedule, register_schedule
from sudoku_curricula.schedules import ConstantConfig
from sudoku_gym.storage import configs
from sudoku_gym.storage.configs import registered
from sudoku_learning.training import TrainingConfig, config_from_json


@registered("test/late")
@dataclass(frozen=True, kw_only=True)
class Late(TrainingConfig):
    """A trainer's."""

    agent = "hidden-singles"


@dataclass(frozen=True)
class StepConfig:
    """A schedule that is registered when the trainers have been imported."""

    width: int = 3

    def build(self):
        return ConstantConfig(self.width).build()


@pytest.fixture
def step():
    register_schedule("test-step")(StepConfig)
    yield
    SCHEDULES.pop("test-step")
    configs._CLASSES.pop("schedule/test-step")


@pytest.mark.usefixtures("step")
def test_a_schedule_registered_late_is_an_option_and_saved():
    config = tyro.cli(Late, args=["--seed", "3", "curriculum:test-step", "--curriculum.width", "5"])
    assert config.curriculum == StepConfig(5) and config.seed == 3
    assert config_from_json(config.to_json(), Late) == config
    assert configure_schedule("test-step?width=4") == StepConfig(4)


def test_what_is_no_schedule_has_no_place():
    content = Late().to_json()
    content["curriculum"] = {"type": "optimizer"}
    with pytest.raises(ValueError, match=r"curriculum: .*'optimizer' has no place here"):
        config_from_json(content, Late)
    content["curriculum"] = {"type": "schedule/test-step"}
    with pytest.raises(ValueError, match="of type 'schedule/test-step' is unknown"):
        config_from_json(content, Late)


@pytest.mark.parametrize("wrong", [3, ConstantConfig, "constant"])
def test_what_is_no_configuration_is_refused(wrong):
    class NoDataclass:
        def build(self):
            pass

    with pytest.raises(TypeError, match=r"'mine': .* is no dataclass with a method build"):
        register_schedule("mine")(NoDataclass if wrong is ConstantConfig else wrong)
