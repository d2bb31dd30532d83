import pytest

from sudoku_gym import load_policy
from sudoku_gym.policies import ModelCard, PredictorPolicy, SolverPolicy, model_card_of


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
    with pytest.raises(ValueError, match="none may be negative"):
        ModelCard("grid", weights=-1, solutions=0, play="search")


@pytest.mark.parametrize(
    ("name", "card"),
    [
        ("calphazero", ModelCard("constraints", 16_738, 0, "sequential", 8)),
        ("calphazero?restarts=0", ModelCard("constraints", 16_738, 0, "sequential")),
        ("calphazero?simulations=4", ModelCard("constraints", 16_738, 0, "search")),
        ("calphazero?search=retry", ModelCard("constraints", 16_738, 0, "search")),
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
