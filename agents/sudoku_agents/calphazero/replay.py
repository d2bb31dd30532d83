"""The positions of the latest self-play, and batches drawn from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_learning.training.sampling import Batch


@dataclass(frozen=True)
class Positions(Batch):
    """M positions of self-play: the triples (s, p_s, r) of cAlphaZero, section 4.2."""

    boards: NDArray[np.int8]  # int8 `[M, N, N]`
    policies: NDArray[np.float32]  # float32 `[M, N**3]`, the search's improved policy p_s
    returns: NDArray[np.float32]  # float32 `[M]`, the reward r at the end of the game
    solutions: NDArray[np.int8]  # int8 `[M, N, N]`, which proved the game won; else zeros


class PositionReplay:
    """Keeps the positions of the latest `iterations`."""

    def __init__(self, iterations: int) -> None:
        self._iterations = iterations
        self._parts: list[Positions] = []

    def add(self, positions: Positions) -> None:
        """Add an iteration's positions and forget those that are too old."""
        self._parts = [*self._parts, positions][-self._iterations :]

    def all(self) -> Positions:
        """Return every position kept, oldest first."""
        return Positions.concatenate(self._parts)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return everything that `restore` needs."""
        sizes = np.array([len(part) for part in self._parts], np.int64)
        return {"sizes": sizes, **vars(self.all())}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the arrays of another replay."""
        whole = Positions(*(arrays[field.name] for field in fields(Positions)))
        ends = np.cumsum(arrays["sizes"])
        self._parts = [
            whole[end - length : end] for length, end in zip(arrays["sizes"], ends, strict=True)
        ]
