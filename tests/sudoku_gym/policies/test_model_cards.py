import numpy as np
import pytest

from sudoku_baselines.classical.floors import MaskedRandom
from sudoku_gym import evaluate, load_policy
from sudoku_gym.policies import (
    Convergence,
    ModelCard,
    PredictorPolicy,
    SolverPolicy,
    model_card_of,
)
from sudoku_gym.puzzles import load


class Described:
    model_card = ModelCard("grid", weights=12, solutions=3, play="one shot")


def test_adapters_pass_the_card_on():
    assert model_card_of(SolverPolicy(Described())) == Described.model_card
    assert model_card_of(PredictorPolicy(Described(), "one-shot")) == Described.model_card
    assert model_card_of(PredictorPolicy(Described())).play == "sequential"


def test_others_have_none():
    assert model_card_of(load_policy("hidden-singles")) is None
    assert model_card_of(load_policy("solver")) is None
    wrong = Described()
    wrong.model_card = "27 million weights"
    assert model_card_of(wrong) is None
    for weights in (-1, 2**63, 10**4000):
        with pytest.raises(ValueError, match="must be from 0 to"):
            ModelCard("grid", weights, solutions=0, play="search")


@pytest.mark.parametrize(
    ("name", "card"),
    [
        ("calphazero", ModelCard("constraints", 16_738, 0, "sequential", 127)),
        ("calphazero?restarts=0", ModelCard("constraints", 16_738, 0, "sequential")),
        ("calphazero?simulations=4", ModelCard("constraints", 16_738, 0, "search")),
        ("calphazero?search=retry", ModelCard("constraints", 16_738, 0, "search", 127)),
        ("exact-cover-supervised", ModelCard("constraints", 9_721, 1000, "sequential")),
        (
            "exact-cover-supervised?mode=one-shot&restarts=2",
            ModelCard("constraints", 9_721, 1000, "one shot", 2),
        ),
        ("guissart", ModelCard("constraints", 3 * 498, 2 * 1280, "search")),
        ("mlp", ModelCard("grid", 164_672, 54_528, "sequential")),
        ("recurrent-transformer", ModelCard("grid", 201_728, 54_528, "one shot")),
        ("dqn", ModelCard("constraints", 3_473, 0, "sequential")),
    ],
)
def test_trained_policies_describe_themselves(name, card):
    pytest.importorskip("torch")
    assert model_card_of(load_policy(name)) == card


@pytest.mark.parametrize(
    "changes", [{"sees": "all"}, {"play": "fast"}, {"weights": 1.5}, {"solutions": np.int64(3)}]
)
def test_a_card_holds_what_a_file_can_hold(changes):
    card = {"sees": "grid", "weights": 1, "solutions": 0, "play": "one shot"}
    with pytest.raises(ValueError, match=r"see ModelCard for the words|must be of type int"):
        ModelCard(**{**card, **changes})


@pytest.mark.parametrize("rounds", [[1.5, 2.5], [-1, 2], [1, 10**12], [1], [[1, 2]]])
def test_rounds_of_a_policy_are_counts(rounds):
    class Told(MaskedRandom):
        convergence = Convergence(np.array(rounds), np.ones(2, np.bool_))

    with pytest.raises(ValueError, match="convergence must have rounds"):
        evaluate(Told(), load("4x4", "test")[:2])
