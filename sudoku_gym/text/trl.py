"""TRL: environments and rewards for `GRPOTrainer`.

Source: https://huggingface.co/docs/trl, `environment_factory` and `reward_funcs`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.text.episode import TextOptions, TextSudoku
from sudoku_gym.text.parsing import as_number
from sudoku_gym.text.rewards import score_text

if TYPE_CHECKING:
    from datasets import Dataset


def environment_factory(
    options: TextOptions | None = None, reward: str = "solved", **fields: Any
) -> type[SudokuTools]:
    """Return a class of environments with these options, for `GRPOTrainer`.

    Its `reset` takes the columns `seed`, so that a group plays one puzzle, and `blanks`, if any.
    One run plays several sizes: give the trainer `{"4x4": one class, "9x9": another}`, and the data
    a column `environment` with these names.

    Args:
        options: a `TextOptions`.
        reward: which of `TextSudoku.rewards` is paid at the end.
        **fields: of `TextOptions`, where `options` is None.

    Raises:
        ValueError: if an option or `reward` has no such value, or `mode` is not `"turns"`.
    """
    chosen = options or TextOptions(**fields)
    if chosen.mode != "turns":
        raise ValueError("tools take one move a turn: use mode='turns', or answer_dataset")
    if reward not in (known := TextSudoku(chosen).rewards()):
        raise ValueError(f"reward={reward!r}: use one of {', '.join(known)}")
    return type("SudokuTools", (SudokuTools,), {"_options": chosen, "_reward": reward})


class SudokuTools:
    """One game, whose moves are the tools of a model."""

    _options, _reward = TextOptions(), "solved"

    def __init__(self) -> None:
        self._game = TextSudoku(self._options)

    def reset(self, seed: int | None = None, blanks: int | None = None, **row: Any) -> str:
        """Start the puzzle of a seed, with so many blanks if given, and return the prompt."""
        return self._game.reset(None if seed is None else int(seed), blanks=blanks)

    def get_reward(self) -> float:
        """Return the chosen reward; 0 before the first `reset`."""
        return self._game.rewards()[self._reward] if self._game.puzzle.any() else 0.0

    def place(self, row: int, column: int, digit: int) -> str:
        """Place a digit in a blank cell.

        Args:
            row: The row, counted from 1.
            column: The column, counted from 1.
            digit: The digit.

        Returns:
            What happened, and the board.
        """
        return self._say("place", row, column, digit)

    def erase(self, row: int, column: int) -> str:
        """Erase a digit that you have placed.

        Args:
            row: The row, counted from 1.
            column: The column, counted from 1.

        Returns:
            What happened, and the board.
        """
        return self._say("erase", row, column)

    def undo(self) -> str:
        """Take the last move back.

        Returns:
            What happened, and the board.
        """
        return self._say("undo")

    def _say(self, verb: str, *numbers: object) -> str:
        """Take a turn; what a model gives for a number may be anything."""
        if self._game.done:
            return "The episode is over."
        given = [as_number(number) for number in numbers]
        text = "" if None in given else " ".join(map(str, [verb, *given]))
        return self._game.step(text).message


def seed_dataset(count: int, first_seed: int = 0) -> Dataset:
    """Return a data set of seeds for `environment_factory`, a puzzle each.

    Args:
        count: rows.
        first_seed: the seed of the first row.
    """
    from datasets import Dataset

    user = [{"role": "user", "content": "Solve this Sudoku with the tools.\n"}]
    return Dataset.from_list([{"prompt": user, "seed": first_seed + i} for i in range(count)])


def answer_dataset(count: int, first_seed: int = 0, **fields: Any) -> Dataset:
    """Return a data set of prompts that ask for a whole board, with the column `puzzle`.

    Args:
        count: rows.
        first_seed: the seed of the first row.
        **fields: of `TextOptions`, but `mode`.
    """
    from datasets import Dataset

    game = TextSudoku(mode="answer", **fields)
    rows = []
    for seed in range(first_seed, first_seed + count):
        user = [{"role": "user", "content": game.reset(seed)}]
        rows.append({"prompt": user, "puzzle": board.to_line(game.puzzle)})
    return Dataset.from_list(rows)


def reward_functions(geometry: Geometry | None = None) -> list[Callable[..., list[float]]]:
    """Return `solved_reward`, `constraints_reward` and `format_reward`, for `answer_dataset`.

    Each takes completions and the column `puzzle` and returns numbers in [0, 1]; see `score_text`.

    Args:
        geometry: the board; None means the standard one of the puzzles' size.
    """

    def named(reward: str) -> Callable[..., list[float]]:
        def function(completions: list[Any], puzzle: list[str], **columns: Any) -> list[float]:
            return [
                score_text(line, _text_of(completion), geometry)[reward]
                for completion, line in zip(completions, puzzle, strict=True)
            ]

        function.__name__ = f"{reward}_reward"
        return function

    return [named(reward) for reward in ("solved", "constraints", "format")]


def _text_of(completion: Any) -> str:
    """Return a completion's text: a text, or the last message, whose content may be in parts."""
    content = completion if isinstance(completion, str) else completion[-1].get("content") or ""
    return content if isinstance(content, str) else "".join(p.get("text") or "" for p in content)
