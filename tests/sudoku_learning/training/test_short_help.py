"""What `--help` and `--help-all` of a trainer show."""

import pytest

from sudoku_agents.expert_iteration.config import ExpertIterationConfig
from sudoku_gym import plugins
from sudoku_learning.training.short_help import attribute_texts


@pytest.fixture
def help_of(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def call(trainer, *words):
        try:
            plugins.load(plugins.TRAINERS, trainer)(list(words))
        except SystemExit as end:
            assert not end.code
        return capsys.readouterr().out

    return call


@pytest.mark.parametrize("trainer", plugins.available(plugins.TRAINERS))
def test_the_help_of_a_trainer_fits_on_a_screen(help_of, trainer):
    lines = help_of(trainer, "--help").splitlines()
    assert len(lines) <= 40 and max(map(len, lines[4:])) <= 80
    assert f"usage: sudoku-gym train {trainer}" in lines[0]
    options = {line.split()[0]: line.split()[1] for line in lines if line.startswith("  --")}
    assert options["--seed"] == "0" and options["--[no-]resume"] == "no"
    assert any(line.startswith("  curriculum  ") for line in lines)


def test_all_options_are_shown_on_request(help_of):
    short, full = (help_of("calphazero", word) for word in ("-h", "--help-all"))
    assert "--search.simulations" not in short and "--help-all" in short
    assert "--search.simulations" in full and "network:mlp" in full


def test_a_field_is_told_by_its_class_or_by_a_base():
    texts = attribute_texts(ExpertIterationConfig)
    assert texts["seed"] == "seed of everything random"
    assert texts["env"] == "id of the environment that held-out games are played in"
