"""Rewards of boards that a model has filled: functions of puzzle and answer, each in [0, 1]."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym import board
from sudoku_gym.geometry import Geometry, geometry_for
from sudoku_gym.text.parsing import read_answer


def verify(
    puzzle: ArrayLike | str, answer: ArrayLike | str, geometry: Geometry | None = None
) -> bool | NDArray[np.bool_]:
    """Return whether an answer is a valid completion of a puzzle; no solution is looked up.

    Where a puzzle has several completions each of them is accepted.

    Args:
        puzzle: a board as text (`board.parse`), int `[N, N]`, or a batch int `[B, N, N]`.
        answer: the same, in the same form.
        geometry: None means the standard board of that size.

    Returns:
        A bool for one board, bool `[B]` for a batch.

    Raises:
        ValueError: if a text is no board, a value is no digit, or the shapes differ.
        TypeError: if the values are not integers.
    """
    puzzles = board.parse(puzzle, geometry) if isinstance(puzzle, str) else np.asarray(puzzle)
    answers = board.parse(answer, geometry) if isinstance(answer, str) else np.asarray(answer)
    if puzzles.shape != answers.shape:
        raise ValueError(f"shapes {puzzles.shape} and {answers.shape}: give boards of one shape")
    is_one = puzzles.ndim == 2
    if is_one:
        puzzles, answers = puzzles[None], answers[None]
    puzzles = board.as_boards(puzzles, geometry)
    kept = ((puzzles == 0) | (puzzles == answers)).all((1, 2))
    accepted: NDArray[np.bool_] = kept & board.is_solved(answers, geometry)
    return bool(accepted[0]) if is_one else accepted


def filled_constraint_fraction(
    puzzle: ArrayLike, answer: ArrayLike, geometry: Geometry | None = None
) -> float:
    """Return the share of units that the answer has completed, in [0, 1].

    Only the units with a blank in the puzzle count, so copying the givens earns nothing; 1 exactly
    for a valid completion, 0 if a given was changed. A puzzle without blanks has 1.

    Boards are int `[N, N]`, 0 for a blank; a ValueError says if a value is no digit. `geometry`
    None means the standard board of that size.
    """
    given = board.as_boards(np.asarray(puzzle)[None], geometry)
    filled = board.as_boards(np.asarray(answer)[None], geometry)
    if ((given > 0) & (given != filled)).any():
        return 0.0
    units = geometry_for(given.shape[1], geometry).units
    is_open = (given.reshape(-1)[units] == 0).any(1)
    return float(board.satisfied_units(filled, geometry)[0, is_open].mean()) if is_open.any() else 1


def score_text(puzzle: ArrayLike, text: str, geometry: Geometry | None = None) -> dict[str, float]:
    """Score a model's answer to a whole board by every reward.

    The last board in the text counts; `puzzle` and `geometry` are as in `verify`.

    Returns:
        `solved` (1 for a valid completion, else 0), `constraints`
        (`filled_constraint_fraction`), and `format` (1 if there is a board without blanks, else 0).
    """
    cells = board.parse(puzzle, geometry) if isinstance(puzzle, str) else np.asarray(puzzle)
    size = len(cells)
    found = read_answer(text, size)
    if isinstance(found, str):
        return {"solved": 0.0, "constraints": 0.0, "format": 0.0}
    answer = np.frombuffer(found, np.int8).reshape(size, size)
    return {
        "solved": float(bool(verify(cells, answer, geometry))),
        "constraints": filled_constraint_fraction(cells, answer, geometry),
        "format": float(0 not in found),
    }
