"""The environments' ids: one table, one loop."""

from __future__ import annotations

from typing import Any

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


def register(env_id: str, source: object, **options: Any) -> None:
    """Register an environment, for `gym.make`, `gym.make_vec` and all trainers.

    The environments count their steps themselves, since the reward may be paid at the last one;
    hence Gymnasium's `max_episode_steps` is not set.

    Args:
        env_id: as Gymnasium writes it, `My9x9-v0` or `namespace/My9x9-v0`.
        source: where its puzzles come from, anything that `SudokuEnv` takes. As text
            (`"my_package.puzzles:source"`) it is made when it is first used.
        **options: further arguments of `SudokuEnv`, such as `board` and `reward`.
    """
    gym.register(
        id=env_id,
        entry_point="sudoku_gym.envs.sudoku:SudokuEnv",
        vector_entry_point="sudoku_gym.envs.vector:SudokuVectorEnv",
        kwargs={"source": source, **options},
    )


def register_all() -> None:
    """Register every environment of the suite that is not registered yet."""
    boards: dict[str, str | None] = {**ENVIRONMENTS, ANY_BOARD: None}
    for name, bank in boards.items():
        if name not in gym.registry:
            register(name, bank or "9x9", board=bank)
