"""Training of recurrent networks by truncated backpropagation through time.

`batch` has the one update of all trainers, `labelled` the batches of puzzles with solutions.
"""

from sudoku_learning.recurrent.batch import RecurrentBatch, Segment, run_updates
from sudoku_learning.recurrent.labelled import (
    PLACEMENT_LOSS,
    LabelledBatch,
    LabelledPuzzles,
    LabelPool,
    RecurrentConfig,
    draw_batches,
)

__all__ = [
    "PLACEMENT_LOSS",
    "LabelPool",
    "LabelledBatch",
    "LabelledPuzzles",
    "RecurrentBatch",
    "RecurrentConfig",
    "Segment",
    "draw_batches",
    "run_updates",
]
