"""The environments' ids: one table, one loop."""

from __future__ import annotations

import gymnasium as gym

ENVIRONMENTS = {
    "Sudoku4x4-v0": "4x4",
    "Sudoku6x6-v0": "6x6",
    "Sudoku9x9-v0": "9x9",
    "SudokuHard9x9-v0": "9x9-hard",
    "SudokuHardest9x9-v0": "9x9-hardest",
    "Sudoku16x16-v0": "16x16",
    "Sudoku25x25-v0": "25x25",
    "SudokuX9x9-v0": "x9x9",
    "SudokuWindows9x9-v0": "windows9x9",
    "SudokuJigsaw9x9-v0": "jigsaw9x9",
    "LatinSquare9x9-v0": "latin9x9",
}
"""The ids, each with the bank whose boards it plays on and, by default, draws from."""

ANY_BOARD = "Sudoku-v0"
"""The id that plays on whatever boards its source holds."""


def register_all() -> None:
    """Register every environment that is not registered yet.

    The environments count their steps themselves, since the reward may be paid at the last one;
    hence no `max_episode_steps` here.
    """
    boards: dict[str, str | None] = {**ENVIRONMENTS, ANY_BOARD: None}
    for name, bank in boards.items():
        if name not in gym.registry:
            gym.register(
                id=name,
                entry_point="sudoku_gym.envs.sudoku:SudokuEnv",
                vector_entry_point="sudoku_gym.envs.vector:SudokuVectorEnv",
                kwargs={"source": bank or "9x9", "board": bank},
            )
