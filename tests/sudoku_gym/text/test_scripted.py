"""Policies in a language model's place, and what faulty ones lead to."""

from types import SimpleNamespace

import pytest

from sudoku_gym import Geometry, board, load_policy
from sudoku_gym.text import ScriptedModel

PUZZLE = board.parse("1234....21.34..1")
PROMPT = board.to_text(PUZZLE, Geometry.standard(4))


def scripted(act):
    policy = SimpleNamespace(reset=lambda *_: None, act=act)
    return ScriptedModel(policy, Geometry.standard(4))


def answer_of(model):
    return board.parse(model.whole_board(PROMPT).replace("<answer>", "").replace("</answer>", ""))


def test_a_policy_answers_with_the_whole_board():
    model = ScriptedModel(load_policy("backtracking"), Geometry.standard(4))
    assert board.is_solved(answer_of(model)[None], Geometry.standard(4)).all()


@pytest.mark.parametrize("illegal", [0, 4 * 4, 4 * 4 + 1])
def test_an_illegal_move_ends_an_answer_and_writes_over_nothing(illegal):
    model = scripted(lambda boards, masks: [illegal])
    assert (answer_of(model) == PUZZLE).all()


@pytest.mark.parametrize("ask", [ScriptedModel.next_move, ScriptedModel.whole_board])
def test_an_answer_that_is_no_placement_is_an_error(ask):
    for action in (-1, 64, 10**6):
        with pytest.raises(ValueError, match=f"act answered {action}: placements are 0 to 63"):
            ask(scripted(lambda boards, masks, action=action: [action]), PROMPT)
