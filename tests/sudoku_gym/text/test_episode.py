"""The text environment: prompts, turns, and that nothing tells of the solution."""

import re

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_gym import board, puzzles, solver
from sudoku_gym.policies import SolverPolicy
from sudoku_gym.registration import ENVIRONMENTS, register
from sudoku_gym.text import ScriptedModel, TextSudoku, read_answer, score_text

PUZZLE = "1234....21.34..1"
SOLUTION = "1234341221434321"


def started(puzzle=PUZZLE, env_id="Sudoku4x4-v0", **options):
    game = TextSudoku(env_id=env_id, **options)
    game.reset(puzzle=puzzle)
    return game


@pytest.mark.parametrize("mode", ["turns", "answer"])
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_every_id_is_read_and_solved_as_text(env_id, mode):
    game = TextSudoku(env_id=env_id, mode=mode, blanks=8)
    model = ScriptedModel(SolverPolicy(solver), game.geometry)
    message = prompt = game.reset(seed=5)
    assert "Blank cells: 8." in prompt
    while not game.done:
        first = message is prompt
        text = (
            model.whole_board(prompt) if mode == "answer" else model.next_move(message, first=first)
        )
        message = game.step(text).message
    assert game.rewards() == {"solved": 1, "constraints": 1, "format": 1}
    assert message.endswith("The board is solved.")


@pytest.mark.parametrize("style", ["grid", "compact", "json"])
def test_a_prompt_shows_the_board_of_the_environment(style):
    game = TextSudoku(style=style, blanks=30, split="test")
    env = gym.make("Sudoku9x9-v0", blanks=30, split="test")
    expected, _ = env.reset(seed=11)
    for _ in range(3):  # a whole group reads one puzzle
        assert read_answer(game.reset(seed=11), 9) == expected.tobytes()
    assert game.reset(seed=12) != game.reset(seed=11)


def test_blanks_may_be_set_for_one_episode_or_from_now_on():
    game = TextSudoku(blanks=10)
    assert "Blank cells: 4." in game.reset(seed=1, blanks=4)
    assert "Blank cells: 10." in game.reset(seed=1)
    game.set_blanks((20, 20))
    assert "Blank cells: 20." in game.reset(seed=1)


def test_variants_show_their_units():
    assert "Regions, a letter each:" in TextSudoku(env_id="SudokuJigsaw9x9-v0").reset(seed=0)
    diagonals = TextSudoku(env_id="SudokuX9x9-v0").reset(seed=0)
    assert "Further group: r1c1 r2c2 r3c3" in diagonals
    assert "box" not in TextSudoku(env_id="LatinSquare9x9-v0").reset(seed=0)


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("r2c2=4", "4 was placed at row 2, column 2."),
        ("r2c2=3", "3 was placed at row 2, column 2."),  # wrong, and legal
        ("r2c2=2", "2 at row 2, column 2 clashes with the 2 at row 1, column 2."),
        ("r1c1=2", "The 1 at row 1, column 1 is given and stays."),
        ("erase r2c1", "There is no digit at row 2, column 1 to erase."),
        ("undo", "There is no move to undo."),
        ("r5c1=1", "There is no row 5: rows are counted from 1 to 4."),
        ("r1c9=1", "There is no column 9: columns are counted from 1 to 4."),
        ("r2c1=5", "5 is no digit of this board: use 1-4."),
        ("well", "No move was understood"),
    ],
)
def test_each_turn_gets_one_sentence(text, sentence):
    game = started()
    turn = game.step(text)
    assert turn.message.startswith(sentence) and not turn.done
    assert "\n" not in turn.message.partition(" Blank cells:")[0]
    assert f"Turns left: {3 * 7 - 1}." in turn.message  # every one costs a turn


def test_a_digit_is_taken_back():
    game = started()
    game.step("r2c2=4")
    assert "There is a 4 at row 2, column 2 already" in game.step("r2c2=3").message
    game.step("erase r2c2")
    assert game.board[1, 1] == 0
    game.step("undo")  # the erasure
    assert game.board[1, 1] == 4
    game.step("undo")
    assert np.array_equal(game.board, game.puzzle)


def test_an_episode_ends():
    game = started(max_turns=2)
    assert not game.step("r2c1=3").done
    turn = game.step("nothing")
    assert turn.done and turn.message.endswith("No turn is left.")
    assert game.rewards()["format"] == 0.5
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        game.step("r2c1=3")
    game = started()
    assert game.step("give up") == ("You have given up.", True, True)
    assert not game.is_solved


def test_the_hint_names_a_cell_that_every_board_has():
    hint = started().step("hm").message
    move = re.search(r"r\d+c\d+=\d+", hint)[0]
    assert started().step(move).message.startswith("The 2 at row 1, column 2 is given")


def test_still_solvable_is_paid_for_a_filled_cell_and_on_request_only():
    assert "still_solvable" not in started().rewards()
    game = started(reward_still_solvable=True)
    turns = [("r2c2=3", 0), ("erase r2c2", 0), ("r2c2=4", 1), ("r2c2=1", 0), ("r2c1=3", 1)]
    for text, paid in turns:
        game.step(text)
        assert game.rewards()["still_solvable"] == paid, text


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), steps=st.integers(0, 12), choice=st.integers(0, 10_000))
def test_right_and_wrong_legal_moves_are_answered_alike(seed, steps, choice):
    """Two legal digits in one cell: the messages differ in the digit and in nothing else."""
    bank = puzzles.load("9x9", "test")
    index = seed % len(bank)
    games = [TextSudoku(env_id="Sudoku9x9-v0") for _ in range(2)]
    for game in games:
        game.reset(puzzle=bank.puzzles[index])
    solution = bank.solutions[index]
    blank = np.argwhere(bank.puzzles[index] == 0)
    for row, column in blank[:steps]:
        for game in games:
            game.step(f"r{row + 1}c{column + 1}={solution[row, column]}")
    legal = board.candidates(games[0].board[None])[0]
    free = [cell for cell in np.argwhere(legal.sum(-1) > 1)]
    if not free:
        return
    row, column = free[choice % len(free)]
    right = int(solution[row, column])
    wrong = next(int(d) + 1 for d in np.flatnonzero(legal[row, column]) if d + 1 != right)
    messages = []
    for game, digit in zip(games, (right, wrong), strict=True):
        turn = game.step(f"r{row + 1}c{column + 1}={digit}")
        game_board = game.board.copy()
        assert game_board[row, column] == digit and not turn.done
        sentence, _, drawn = turn.message.partition("\n")
        game_board[row, column] = 0
        assert read_answer(drawn, 9) == game.board.tobytes()
        messages.append(re.sub(rf"^{digit} was", "D was", sentence))
        assert game.rewards()["solved"] == 0
    assert messages[0] == messages[1]


@pytest.mark.parametrize(
    "text, sentence, solved",
    [
        (SOLUTION, "The board is solved.", 1),
        ("<answer>1234 3412 2143 4321</answer>", "The board is solved.", 1),
        ("2234341221434321", "The board is not solved.", 0),
        ("1234341221434331", "The board is not solved.", 0),
        (PUZZLE, "The board is not solved.", 0),
        ("1234\n3412", "No board was found: write 4 rows of 4 symbols each.", 0),
    ],
)
def test_a_whole_board_is_judged(text, sentence, solved):
    game = started(mode="answer")
    turn = game.step(text)
    assert turn.done and turn.message.startswith(sentence)
    assert game.rewards() == score_text(game.puzzle, text)
    assert game.rewards()["solved"] == solved


def test_an_id_without_masks_is_read():
    register("Bare-v0", "4x4", with_mask=False)
    assert "Blank cells: 8." in TextSudoku(env_id="Bare-v0", blanks=8).reset(seed=0)
    gym.registry.pop("Bare-v0")


def test_options_are_checked():
    for field, value in [("mode", "x"), ("style", "x"), ("max_turns", 0)]:
        with pytest.raises(ValueError, match=f"{field}="):
            TextSudoku(**{field: value})
    with pytest.raises(ValueError, match="CartPole"):
        TextSudoku(env_id="CartPole-v1")
