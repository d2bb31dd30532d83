"""The data set of reasoning-gym, through its own factory."""

import warnings

import pytest

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import load_policy
from sudoku_gym.text import ScriptedModel

pytest.importorskip("reasoning_gym", reason="the extra reasoning-gym is not installed")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # from the library's other data sets
    import reasoning_gym

    from sudoku_gym.text.reasoning_gym import DATASET_NAME


def made(**config):
    return reasoning_gym.create_dataset(DATASET_NAME, **{"seed": 42, "size": 20, **config})


def test_items_are_those_of_their_seed():
    """What reasoning-gym's tests ask of each of its data sets."""
    first, second = made(), made()
    assert [dict(item) for item in first] == [dict(item) for item in second]
    assert len(first) == len(list(first)) == 20
    for item in first:
        assert item["metadata"]["source_dataset"] == DATASET_NAME
        assert 10 <= item["metadata"]["blanks"] <= 40
        assert item["metadata"]["blanks"] == item["metadata"]["puzzle"].count(".")
        assert first.score_answer(item["answer"], item) == 1
        for answer in (None, "", "wrong", item["metadata"]["puzzle"]):
            assert first.score_answer(answer, item) == 0
    assert first[0] != first[1]
    assert made(seed=7)[0] != first[0]


def test_a_bad_configuration_is_refused():
    with pytest.raises(AssertionError, match="min_blanks"):
        made(min_blanks=9, max_blanks=5)


def test_the_curriculum_asks_for_more_blanks():
    curriculum = reasoning_gym.factory.create_curriculum(DATASET_NAME)
    easy = curriculum.generate_configuration({"seed": 1, "size": 5})
    assert (easy.min_blanks, easy.max_blanks) == (5, 10)
    curriculum.increment_attr_level("blanks")
    harder = curriculum.generate_configuration({"seed": 1, "size": 5})
    assert harder.max_blanks == 20
    dataset = reasoning_gym.create_dataset(DATASET_NAME, **vars(harder))
    assert all(5 <= item["metadata"]["blanks"] <= 20 for item in dataset)


@pytest.mark.slow
def test_a_scripted_model_solves_them_all():
    pytest.importorskip("torch")
    dataset = made(size=100)
    model = ScriptedModel(load_policy("expert-iteration"), Geometry.standard(9))
    scores = [dataset.score_answer(model.whole_board(item["question"]), item) for item in dataset]
    assert scores == [1] * 100
    assert all(board.parse(item["answer"]).all() for item in dataset)
