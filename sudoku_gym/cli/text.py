"""`sudoku-gym text`: read what a language model reads, and answer in its place."""

from __future__ import annotations

from typing import Literal

from sudoku_gym.board import parse
from sudoku_gym.cli.puzzle_arguments import Split, parse_blanks
from sudoku_gym.plugins import import_environment
from sudoku_gym.policies import load_policy
from sudoku_gym.text import ScriptedModel, TextSudoku


def text(
    env: str = "Sudoku9x9-v0",
    /,
    *,
    puzzle: str = "",
    split: Split = "train",
    blanks: str = "",
    seed: int | None = None,
    mode: Literal["turns", "answer"] = "turns",
    style: Literal["grid", "compact", "json"] = "grid",
    policy: str = "",
) -> int:
    """Read what a language model reads of a puzzle, and answer in its place.

    The exit code is 0 if the puzzle was solved, else 1.

    Args:
        env: The id of an environment; one of another package is given with its module, as in
            my_package.envs:My9x9-v0.
        puzzle: Start from this puzzle, row by row, instead of one that is drawn.
        split: Part of the bank to draw from.
        blanks: Reveal cells until this many blanks are left: a number, or a range such as 30-40.
        seed: The same seed draws the same puzzle; a new one each time if not given.
        mode: One move a turn, or the whole board at once, ended by an empty line.
        style: How boards are written.
        policy: A policy that answers in the model's place.
    """
    game = TextSudoku(
        env_id=import_environment(env),
        mode=mode,
        style=style,
        blanks=parse_blanks(blanks),
        split=split,
    )
    given = parse(puzzle, game.geometry) if puzzle else None
    model = ScriptedModel(load_policy(policy), game.geometry) if policy else None
    prompt = message = game.reset(seed, given)
    print(message)
    while not game.done:
        if model is None:
            answer = _read_lines(ends_with_empty_line=mode == "answer")
        elif mode == "answer":
            answer = model.whole_board(prompt)
        else:
            answer = model.next_move(message, first=message is prompt)
        if answer is None:
            break
        if model is not None:
            print(f"> {answer}")
        message = game.step(answer).message
        print(message)
    rewards = ", ".join(f"{name} {value:.3g}" for name, value in game.rewards().items())
    print(f"Rewards: {rewards}")
    return 0 if game.is_solved else 1


def _read_lines(ends_with_empty_line: bool) -> str | None:
    """Read a line, or lines up to an empty one, from standard input; None at its end."""
    lines: list[str] = []
    try:
        while not lines or (ends_with_empty_line and lines[-1].strip()):
            lines.append(input("> " if not lines else ""))
    except EOFError:
        return "\n".join(lines) or None
    return "\n".join(lines)
