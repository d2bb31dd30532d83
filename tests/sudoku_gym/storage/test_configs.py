"""Configurations survive JSON, and what is no configuration is refused."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from sudoku_agents.calphazero.config import CAlphaZeroConfig
from sudoku_agents.expert_iteration.config import ExpertIterationConfig
from sudoku_curricula import SCHEDULES
from sudoku_curricula.schedules import Algorithm1Config
from sudoku_gym.storage.configs import decode_json, from_json, registered, to_json
from sudoku_learning.networks import BODIES, FactorGraphConfig, MLPConfig, ValueConfig
from sudoku_learning.training.config import config_from_json


def through_a_file(config):
    return from_json(json.loads(json.dumps(to_json(config))))


@pytest.mark.parametrize("kind", [*BODIES.values(), *SCHEDULES.values(), ValueConfig])
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
    config = CAlphaZeroConfig(
        run=Path("runs/a b"),
        network=MLPConfig((8,)),
        curriculum=Algorithm1Config(start=3),
        minutes=2.5,
    )
    data = json.loads(json.dumps(config.to_json()))
    assert data["agent"] == "calphazero" and data["network"]["type"] == "mlp"
    assert config_from_json(data, CAlphaZeroConfig) == config


def test_a_tag_belongs_to_one_class():
    with pytest.raises(ValueError, match=r"the tag 'mlp' belongs to .*MLPConfig"):
        registered("mlp")(FactorGraphConfig)


@pytest.mark.parametrize(
    ("hint", "data", "decoded"),
    [
        (tuple[int], [1], (1,)),
        (tuple[int, str], [1, "a"], (1, "a")),
        (tuple[int, ...], [1, 2, 3], (1, 2, 3)),
    ],
)
def test_tuples_are_decoded(hint, data, decoded):
    assert decode_json(hint, data, "file") == decoded


@pytest.mark.parametrize("hint", [tuple[int], tuple[int, int, int]])
def test_a_tuple_of_another_length_is_refused(hint):
    with pytest.raises(ValueError, match="file: "):
        decode_json(hint, [1, 2], "file")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "no configuration: it has no type, but is None"),
        ({"channels": 3}, "it has no type"),
        ({"type": "nobody"}, "type 'nobody' is unknown: use .*mlp"),
        (
            {"type": "factor-graph", "version": 2},
            "'factor-graph': .*unexpected keyword .*'version'",
        ),
        (
            {"type": "factor-graph", "chanels": 3},
            "'factor-graph': .*unexpected keyword .*'chanels'",
        ),
        ({"type": "factor-graph", "channels": "3"}, "'factor-graph', channels: '3' is no int"),
        ({"type": "factor-graph", "channels": True}, "'factor-graph', channels: True is no int"),
        ({"type": "factor-graph", "channels": 0}, "channels must be at least 1"),
        ({"type": "mlp", "hidden": ["a"]}, "'mlp', hidden: 'a' is no int"),
        ({"type": "mlp", "hidden": 5}, r"'mlp', hidden: 5 is no tuple\[int, \.\.\.\]"),
        ({"type": "value", "low": float("nan")}, "'value', low: nan is no float"),
        ({"type": "expert-iteration", "run": 5}, "'expert-iteration', run: 5 is no Path"),
        ({"type": "expert-iteration", "run": None}, "'expert-iteration', run: None is no Path"),
        ({"type": "expert-iteration", "weights": 5}, "'expert-iteration', weights: 5 is no Path"),
        ({"type": "calphazero/search", "root": "x"}, "search', root: 'x' is no Literal"),
        ({"type": "calphazero", "network": 3}, "'calphazero', network: no configuration"),
        (
            {"type": "calphazero", "network": {"type": "value"}},
            "'calphazero', network: a configuration of type 'value' has no place here",
        ),
    ],
)
def test_what_is_no_configuration_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        from_json(data)


def test_the_caller_says_what_it_can_use():
    with pytest.raises(ValueError, match="type 'mlp' has no place here"):
        from_json(to_json(MLPConfig()), FactorGraphConfig)
