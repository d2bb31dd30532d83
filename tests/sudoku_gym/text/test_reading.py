"""Moves and boards as people and models write them, and texts that are neither."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_gym.board import conflicts
from sudoku_gym.text import Command, TextSudoku, read_answer, read_command

SEVEN = Command("place", 38, 7)


@pytest.mark.parametrize(
    "text",
    [
        "5 3 7",
        "537",
        "5,3,7",
        "r5c3=7",
        "R5C3: 7",
        "r5c3 -> 7",
        "r5c3->7",
        "5-3-7",
        "r5c3 - 7",
        "(5, 3)-7",
        "- 5 3 7",
        "(5, 3) = 7",
        "[5, 3, 7]",
        "place 5 3 7",
        "put 7 in row 5, column 3",
        "Place 7 at (5, 3).",
        "7 in r5c3",
        "set (5,3) to 7",
        "row 5 column 3: 7",
        "digit 7 at row 5, col 3",
        "In row 5, column 3 we put 7.",
        '{"row": 5, "column": 3, "digit": 7}',
        'r1c1=2? {"row": 5.0, "column": 3.0, "digit": 7.0}',
        '{"action": "place", "r": "5", "c": "3", "value": "7"}',
        '{"action": "Fill_cell", "row": 5, "column": 3, "digit": 7}',
        '{"move": 12, "row": 5, "column": 3, "digit": 7}',
        '{"action": "move", "row": 5, "column": 3, "digit": 7}',
        "I think r5c3=7 is best here.",
        "r1c1=2\nNo: r5c3=7",
        "r1c1=2, but then r5c3=7",
        "put 2 in r1c1 and 7 in r5c3",
        "r5c3=7\nRow 1: 1 2 3 4 5 6 7 8 9",
        "1. Column 3, row 5: 7",
        "<think>r1c1=2 or r1c1=3?</think>r5c3=7",
        "```\nr5c3=7\n```\nwhich is better than r1c1=2",
        "Not r1c1=2. <answer>r5c3=7</answer>",
        "<move>5 3 7",
        '{"row": 1, "column": 1, "digit": 2} was my first idea; now r5c3=7',
        '<answer>r1c1=2 {"row": 5, "column": 3, "digit": 7}</answer>',
        '{"move": {"row": 5, "column": 3, "digit": 7}, "reason": "r1c1=2 is wrong"}',
        'r1c1=2?\n{\n"row": 5,\n"column": 3,\n"digit": 7,\n"reason": "only {7} is left"\n}',
        'r1c1=2?\n{\n"row": 5,\n"column": 3,\n"digit": 7,\n"before": {"1": [2]}\n}',
        '{"row": 5,\n"column": 3,\n"digit": 7}\n{"confidence": 0.9}\nas the set {7} is left',
        '{"row": 5, "column": 3, "digit": 7, "rejected": {"row": 1, "column": 1, "digit": 2}}',
        'r1c1 has {2 left, so {"row": 1, "column": 1, "digit": 2}\nNo, wait: r5c3=7',
        "Don't quit: r5c3=7",
        "undo? No, r5c3=7",
        "r5c3=7\nquit? No.",
        "r5c3=7, not r5c3=8",
        "r5c3=7, a naked single",
        '{"row":5,"col":3,"num":7}',
        '{"move": "quit guessing: r5c3=7"}',
    ],
)
def test_forms_of_a_move(text):
    assert read_command(text, 9) == SEVEN


@pytest.mark.parametrize(
    ("size", "text", "found"),
    [
        (9, "erase r5c3", Command("erase", 38)),
        (9, "remove 7 from row 5 column 3", Command("erase", 38)),
        (9, "r5c3=0", Command("erase", 38)),
        (9, "undo", Command("undo")),
        (9, "Give up.", Command("give up")),
        (9, '{"action": "undo"}', Command("undo")),
        (9, '{"action": "give-up"}', Command("give up")),
        (16, "r10c12=11", Command("place", 9 * 16 + 11, 11)),
        (16, "place 10 12 B", Command("place", 9 * 16 + 11, 11)),
        (16, "B at row 10, column 12", Command("place", 9 * 16 + 11, 11)),
        (9, "Undo. The 7 was wrong.", "No move was understood"),
        (9, "I give up!", Command("give up")),
        (9, "quit, 5 3 7", "No move was understood"),
        (9, "Do not put 7 in r5c3.", "No move was understood"),
        (9, "put 7 or 8 in r5c3", "It is not clear"),
        (9, "r1c1=2, r5c3=7.5", "It is not clear"),
        (16, "r5c3=A or B", "It is not clear"),
        (9, '{"row": 5, "column": 3, "digit": 7, "value": 8}', "It is not clear"),
        (9, '{"row": 5, "row": 4, "column": 3, "digit": 7}', "It is not clear"),
        (9, '{"action": "erase", "row": 5, "column": 3, "digit": "?"}', "It is not clear"),
        (9, "row -5 column 3: 7", "There is no row -5"),
        (9, "place 5 -3 7", "There is no column -3"),
        (9, "(-5, 3) = 7", "There is no row -5"),
        (9, "r5c3=-7", "-7 is no digit"),
        (9, '{"row": 5, "column": -3, "digit": 7}', "There is no column -3"),
        (9, '{"action": "reject", "row": 5, "column": 3}', "There is no action 'reject'"),
        (9, '{"action": ["erase"], "row": 5, "column": 3}', "There is no action ['erase']"),
        *(
            (9, text, "No move was understood")
            for text in (
                *("", "r5c3", "the 3 4 5 of it", "I could undo that", "{}", '{"row": 5}'),
                *("<think>r5c3=7", "5 3", "r5c3 != 7", "r5c3≠7", "r5c3<7", "r5c3 >= 7"),
            )
        ),
    ],
)
def test_other_commands_and_texts_that_are_none(size, text, found):
    command = read_command(text, size)
    assert command == found if isinstance(found, Command) else command.startswith(found)


BOARD = bytes([1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 4, 3, 4, 3, 2, 1])


@pytest.mark.parametrize(
    "text",
    [
        "1234341221434321",
        "1234\n3412\n2143\n4321",
        " 1 2 | 3 4\n 3 4 | 1 2\n-----+-----\n 2 1 | 4 3\n 4 3 | 2 1",
        "| 1 | 2 | 3 | 4 |\n|---|---|---|---|\n|3|4|1|2|\n|2|1|4|3|\n|4|3|2|1|",
        "[[1,2,3,4],[3,4,1,2],[2,1,4,3],[4,3,2,1]]",
        '{"board": [[1, 2, 3, 4],\n [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 1]]}',
        "Row 1: 1 2 3 4\nRow 2: 3 4 1 2\nRow 3: 2 1 4 3\nRow 4: 4 3 2 1",
        "4321\n1234\n2143\n3412\nNo:\n1 2 3 4\n\n3 4 1 2\n\n2 1 4 3\n\n4 3 2 1\nThat is it.",
        "```text\n1234\n3412\n2143\n4321\n```\nas 4321 says",
        "<think>1111 1111 1111 1111</think><answer>1234341221434321</answer> 4444444444444444",
    ],
)
def test_forms_of_a_board(text):
    assert read_answer(text, 4) == BOARD


LISTED, DRAWN = "[[0,2,3,4],[3,4,0,2],[2,1,4,3],[4,3,2,0]]", "1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1"


@pytest.mark.parametrize(
    "text, first",
    [
        (f"The puzzle is {LISTED}. The answer:\n{DRAWN}", 1),
        (f"<answer>{LISTED}\nsolved\n{DRAWN}\n</answer>", 1),
        (f"{DRAWN}\n\n{LISTED}\n{DRAWN[:24]}", 0),
        (f"{LISTED}, [{LISTED.replace('0', '1')}]", 1),
    ],
)
def test_the_last_board_counts_in_whatever_form(text, first):
    assert read_answer(text, 4)[0] == first


LEADS = ("", "", "Don't quit: ", "I won't undo this, so ", "Not r1c1=1. ", "No resigning!\n")
TRAILS = ("", "", ".", " because no other is left.", "\nI won't give up.", "; undo is no use")
MOVES = (
    "r{}c{}={}", "R{}C{} -> {}", "row {}, column {}: {}", "place {} {} {}", "place({}, {}, {})",
    '{{"row": {}, "col": {}, "num": {}}}', "({}, {}) = {}", "{} {} {}",
)  # fmt: skip
CHOICES = ("", " or {}", "/{}", ", {}", ".{}")
SEPARATORS = (" ", ", ", " | ", " & ", " \u2502 ")
LABELS = ("", "{}. ", "{}) ", "- ", "**Row {}:** ", "row {} = ", "R{} ", "| ", "> ")
ENDS = ("", " |", r" \\", ",")
BREAKS = ("\n", "<br>", "\n\n", "\n-----\n", "\n\\hline\n", "<br />\n", "\n|---|---|\n")
INTRODUCTIONS = ("", "Answer:\n", "**The final answer is:**\n", "```\n", "<answer>", "5 3 7\n")


def write_move(choose, row, column, digit, other):
    """Return a move in some form, and whether another is possible too."""
    choice, form = choose(CHOICES), choose(MOVES)
    if form.startswith("{{") and choice:
        form, choice = form.replace('"num"', f'"digit": {other}, "num"'), " "
    text = form.format(row, column, digit) + choice.format(other)
    return choose(LEADS) + text + choose(TRAILS), bool(choice) and other != digit


def write_board(choose, cells, size, numbers):
    """Return a board in some form, whose rows have these numbers."""
    blank, between = choose(("0", ".", "_")), choose(SEPARATORS)
    words = [str(digit) if digit else blank for digit in cells]
    label, end, line_break = choose(LABELS), choose(ENDS), choose(BREAKS)
    rows = [
        label.format(number) + between.join(words[i * size : i * size + size]) + end
        for i, number in enumerate(numbers)
    ]
    text = choose(INTRODUCTIONS) + line_break.join(rows) + choose(("", "\nThat is it."))
    return text, "{}" in label


@settings(deadline=None)
@given(data=st.data(), size=st.sampled_from([4, 9, 16]))
def test_a_move_has_one_meaning_or_none(data, size):
    row, column, digit, other = (data.draw(st.integers(1, size)) for _ in range(4))
    text, is_unclear = write_move(
        lambda of: data.draw(st.sampled_from(of)), row, column, digit, other
    )
    command = Command("place", (row - 1) * size + column - 1, digit)
    found = read_command(text, size)
    assert isinstance(found, str) if is_unclear else found == command or isinstance(found, str)


@settings(deadline=None)
@given(data=st.data(), size=st.sampled_from([4, 9, 16]), swap=st.booleans())
def test_a_board_has_one_meaning(data, size, swap):
    cells = data.draw(st.lists(st.integers(0, size), min_size=size**2, max_size=size**2))
    numbers = [2, 1, *range(3, size + 1)] if swap else range(1, size + 1)
    choose = lambda of: data.draw(st.sampled_from(of))  # noqa: E731
    text, is_numbered = write_board(choose, cells, size, numbers)
    found = read_answer(text, size)
    assert isinstance(found, str) if swap and is_numbered else found == bytes(cells)


def test_boards_of_letters_and_of_large_numbers():
    digits = bytes((row + column) % 16 + 1 for row in range(16) for column in range(16))
    numbers = "\n".join(" ".join(map(str, digits[i : i + 16])) for i in range(0, 256, 16))
    symbols = "".join("123456789ABCDEFG"[digit - 1] for digit in digits)
    assert read_answer(numbers, 16) == digits == read_answer(symbols.lower(), 16)


PIECES = (
    *"r5c3=7 place row column in undo erase candidates give up 123456789".split(),
    *'. 0 _ [ ] { } : " \' <think> </think> <answer> </answer> ``` [[ ]] {"row": ٣ ² -1'.split(),
    *("\n", "99999999999999", "\x00", "\ud800", "1 2 3 4\n", "12345678 9\n" * 9, "[" * 60),
    *("\u017fet r1c1=3", "place 1 2 \u212a", "1 2 \u0130"),
)
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join),
    st.text(max_size=300),
)
GAMES = {
    (env, mode): TextSudoku(env_id=env, mode=mode, reward_still_solvable=True)
    for env in ("Sudoku4x4-v0", "Sudoku9x9-v0", "Sudoku16x16-v0")
    for mode in ("turns", "answer")
}


@pytest.mark.parametrize("env_and_mode", GAMES, ids="-".join)
@settings(max_examples=150, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4), seed=st.integers(0, 2**32))
def test_any_text_is_a_turn(env_and_mode, texts, seed):
    """Whatever a model writes is answered, changes no given, and breaks no rule in turns."""
    game = GAMES[env_and_mode]
    size = game.geometry.size
    game.reset(seed=seed)
    for text in texts:
        found, command = read_answer(text, size), read_command(text, size)
        assert isinstance(found, str) or (len(found) == size**2 and max(found) <= size)
        assert isinstance(command, str) or -1 <= command.cell < size**2
        if game.done:
            break
        turn = game.step(text)
        assert turn.message and all(0 <= value <= 1 for value in game.rewards().values())
        if game.options.mode == "turns":
            assert ((game.puzzle == 0) | (game.puzzle == game.board)).all()
            assert not conflicts(game.board[None], game.geometry).any()
            assert turn.understood == isinstance(command, Command)


def test_what_is_no_text_is_told():
    for read in (read_command, read_answer):
        with pytest.raises(TypeError, match="a model's turn is a text, not"):
            read(None, 9)


OPENED = ["[", "{", "(", "1 ", "[ ", "[[1,", '{"a":', "<answer>", "```\n", "row ", "r5c", "[1],"]
OPENED += ["value ", "place ", "place to ", "5 in ", "the ", "r1c1=", "column 5 "]


@pytest.mark.parametrize("piece", OPENED)
def test_long_texts_are_read_in_time(piece):
    """Nothing here is quadratic: 200,000 characters would take minutes if it were."""
    text = piece * (200_000 // len(piece))
    read_answer(text, 9)
    read_command(text, 9)
