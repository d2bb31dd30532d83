"""reasoning-gym: the data set `sudoku_gym`, with a curriculum of blanks.

Importing this module registers it, so that `reasoning_gym.create_dataset("sudoku_gym")` finds it.

Source: https://github.com/open-thought/reasoning-gym, `ProceduralDataset` and `BaseCurriculum`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reasoning_gym.coaching import BaseCurriculum, RangeAttributeDefinition
from reasoning_gym.factory import DATASETS, ProceduralDataset, register_dataset

from sudoku_gym import board, solver
from sudoku_gym.text.boards import BoardStyle
from sudoku_gym.text.episode import TextSudoku
from sudoku_gym.text.rewards import score_text

DATASET_NAME = "sudoku_gym"
"""The name under which the data set is registered."""


@dataclass
class SudokuGymConfig:
    """The configuration of `SudokuGymDataset`."""

    env_id: str = "Sudoku9x9-v0"
    """Which environment's boards and puzzles."""
    min_blanks: int = 10
    """Fewest blanks of a puzzle."""
    max_blanks: int = 40
    """Most blanks of a puzzle."""
    style: BoardStyle = "grid"
    """How boards are written: `"grid"`, `"compact"` or `"json"`."""
    split: str = "train"
    """Part of the bank to draw from."""
    seed: int | None = None
    """Decides the puzzles; None draws one."""
    size: int = 500
    """Number of items."""

    def validate(self) -> None:
        """Raise an AssertionError if a number is out of range, as the other data sets do."""
        assert 1 <= self.min_blanks <= self.max_blanks, "use 1 <= min_blanks <= max_blanks"
        assert self.size > 0, "size must be positive"


class SudokuGymDataset(ProceduralDataset):
    """Puzzles with exactly one solution and exactly as many blanks as drawn.

    An answer scores 1 for a valid completion, else its `filled_constraint_fraction`: givens earn
    nothing.
    """

    def __init__(self, config: SudokuGymConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)
        self._game = TextSudoku(
            env_id=config.env_id,
            mode="answer",
            style=config.style,
            split=config.split,
            blanks=(config.min_blanks, config.max_blanks),
        )

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Return item `idx`: `question`, `answer` and `metadata`."""
        question = self._game.reset((self.seed + idx) % 2**63)
        puzzle = self._game.puzzle
        answer = board.to_line(solver.solve(puzzle[None], self._game.geometry)[0])
        return {
            "question": question,
            "answer": answer,
            "metadata": {
                "source_dataset": DATASET_NAME,
                "source_index": idx,
                "puzzle": board.to_line(puzzle),
                "blanks": int((puzzle == 0).sum()),
                "difficulty": {"blanks": (self.config.min_blanks, self.config.max_blanks)},
            },
        }

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """Score an answer to an item in [0, 1]; any valid completion scores 1."""
        if not isinstance(answer, str):
            return 0.0
        geometry = self._game.geometry
        puzzle = board.parse(entry["metadata"]["puzzle"], geometry)
        return score_text(puzzle, answer, geometry)["constraints"]


class SudokuGymCurriculum(BaseCurriculum):
    """More blanks level by level."""

    def __init__(self) -> None:
        super().__init__(SudokuGymCurriculum.__name__, SudokuGymConfig)
        self._define_attributes(
            RangeAttributeDefinition(
                name="blanks",
                levels=[5, 10, 20, 30, 40, 50],
                description="Number of blank cells",
                lower_field_name="min_blanks",
                upper_field_name="max_blanks",
                ensure_interval=True,
            )
        )


if DATASET_NAME not in DATASETS:
    register_dataset(DATASET_NAME, SudokuGymDataset, SudokuGymConfig, SudokuGymCurriculum)
