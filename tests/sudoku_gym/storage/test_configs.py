"""Configurations survive JSON, old versions are read, and what is no configuration is refused."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudoku_agents.alphazero.config import AlphaZeroConfig
from sudoku_agents.calphazero.loading import read_config
from sudoku_agents.expert_iteration.config import ExpertIterationConfig
from sudoku_curricula.schedules import SCHEDULES, PaperAlgorithm1Config
from sudoku_gym.storage.configs import from_json, registered, to_json
from sudoku_learning.networks import BODIES, MLPConfig, PooledConfig, QConfig, ValueConfig


def through_a_file(config):
    return from_json(json.loads(json.dumps(to_json(config))))


@pytest.mark.parametrize("kind", [*BODIES.values(), *SCHEDULES.values(), ValueConfig, QConfig])
def test_whatever_is_configured_survives_a_file(kind):
    config = kind()
    assert through_a_file(config) == config and type(through_a_file(config)) is kind


@pytest.mark.parametrize("weights", [None, Path("runs/other")])
def test_a_path_survives_a_file(weights):
    config = ExpertIterationConfig(weights=weights)
    assert through_a_file(config) == config


@given(st.lists(st.integers(1, 999), min_size=1, max_size=4), st.floats(-9, 0), st.floats(1, 9))
def test_tuples_and_numbers_survive_a_file(hidden, low, high):
    assert through_a_file(MLPConfig(tuple(hidden))) == MLPConfig(tuple(hidden))
    assert through_a_file(ValueConfig(low, high)) == ValueConfig(low, high)


def test_a_whole_run_survives_a_file():
    config = AlphaZeroConfig(
        run=Path("runs/a b"),
        network=MLPConfig((8,)),
        curriculum=PaperAlgorithm1Config(start=3),
        minutes=2.5,
    )
    data = json.loads(json.dumps(config.to_json()))
    assert data["agent"] == "calphazero" and data["network"]["type"] == "mlp"
    assert read_config(data) == config


@pytest.fixture
def renamed():
    def upgrade(fields):
        fields["width"] = fields.pop("channels") * 2
        return fields

    @registered("test/renamed", version=3, upgrades={1: upgrade, 2: lambda fields: fields})
    @dataclass(frozen=True)
    class Renamed:
        width: int = 8
        depth: int = 1

    return Renamed


def test_a_renamed_field_breaks_no_file(renamed):
    assert from_json({"type": "test/renamed", "version": 1, "channels": 4}) == renamed(8)
    assert from_json({"type": "test/renamed", "version": 2, "width": 4}) == renamed(4)
    assert from_json({"type": "test/renamed", "version": 3, "width": 4, "depth": 2}).depth == 2
    assert to_json(renamed())["version"] == 3


def test_an_upgrade_may_not_be_missing():
    with pytest.raises(ValueError, match="needs an upgrade from each version before 3"):
        registered("test/gap", version=3, upgrades={2: dict})
    with pytest.raises(ValueError, match="the tag 'mlp' belongs to MLPConfig"):
        registered("mlp")(PooledConfig)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "no configuration: it has no type, but is None"),
        ({"channels": 3}, "it has no type"),
        ({"type": "nobody"}, "type 'nobody' is unknown: use .*mlp"),
        ({"type": "pooled", "version": 2}, "'pooled' has version 2, and this release reads 1 to 1"),
        ({"type": "pooled", "version": "1"}, "has version '1'"),
        ({"type": "pooled", "chanels": 3}, "'pooled' has no field chanels"),
        ({"type": "pooled", "channels": "3"}, "pooled.channels must be of type int, not '3'"),
        ({"type": "pooled", "channels": True}, "pooled.channels must be of type int, not True"),
        ({"type": "pooled", "channels": 0}, "channels and layers must be at least 1"),
        ({"type": "mlp", "hidden": ["a"]}, "mlp"),
        ({"type": "mlp", "hidden": 5}, "mlp.hidden must be of type tuple, not 5"),
        ({"type": "expert-iteration", "run": 5}, "expert-iteration.run must be a path, not 5"),
        ({"type": "expert-iteration", "run": None}, "expert-iteration.run must be a path"),
        ({"type": "expert-iteration", "weights": 5}, "expert-iteration.weights must be a path"),
        ({"type": "calphazero", "network": 3}, "is no configuration of version 1"),
        (
            {"type": "calphazero", "network": {"type": "value"}},
            "calphazero.network: value has no place here",
        ),
        (
            {"type": "calphazero", "version": 2, "network": 3},
            "calphazero.network: 3 has no place here",
        ),
    ],
)
def test_what_is_no_configuration_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        from_json(data)


def test_the_caller_says_what_it_can_use():
    with pytest.raises(ValueError, match="type 'mlp' has no place here"):
        from_json(to_json(MLPConfig()), PooledConfig)
