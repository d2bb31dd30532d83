"""The positions of the latest self-play, and batches drawn from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_learning.training.checkpoint import REPLAY


@dataclass(frozen=True)
class Positions:
    """M positions of self-play: the triples (s, p_s, r) of cAlphaZero, section 4.2.

    Attributes:
        boards: int8 `[M, N, N]`.
        visit_counts: uint16 `[M, N**3]`, of the search at each board; p_s up to their sum.
        returns: float32 `[M]`, the reward r at the end of the game.
    """

    boards: NDArray[np.int8]
    visit_counts: NDArray[np.uint16]
    returns: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.boards)

    def __getitem__(self, index: NDArray[np.integer]) -> Positions:
        """Return some of the positions."""
        return Positions(self.boards[index], self.visit_counts[index], self.returns[index])

    @classmethod
    def concatenate(cls, parts: Sequence[Positions]) -> Positions:
        """Return the positions of all parts, one after the other; there is at least one part."""
        return cls(
            *(
                np.concatenate([getattr(part, column.name) for part in parts])
                for column in fields(cls)
            )
        )


class Replay:
    """Keeps the positions of the latest iterations.

    Args:
        iterations: how many.
    """

    def __init__(self, iterations: int) -> None:
        self._iterations = iterations
        self._parts: list[Positions] = []

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def add(self, positions: Positions) -> None:
        """Add an iteration's positions and forget those that are too old."""
        self._parts = [*self._parts, positions][-self._iterations :]

    def all(self) -> Positions:
        """Return every position kept, oldest first."""
        return Positions.concatenate(self._parts)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return everything that `restore` needs."""
        sizes = np.array([len(part) for part in self._parts], np.int64)
        whole = self.all()
        return {"sizes": sizes, **{c.name: getattr(whole, c.name) for c in fields(Positions)}}

    def restore(self, arrays: Mapping[str, NDArray[Any]], size: int) -> None:
        """Take over the arrays of another replay.

        Args:
            arrays: what `arrays` returned.
            size: N of the boards.

        Raises:
            ValueError: if they are none, or do not fit each other.
        """
        _check(arrays, size, self._iterations)
        ends = np.cumsum(arrays["sizes"])[:-1]
        columns = [np.split(arrays[column.name], ends) for column in fields(Positions)]
        self._parts = [Positions(*part) for part in zip(*columns, strict=True)]


def _check(arrays: Mapping[str, NDArray[Any]], size: int, iterations: int) -> None:
    length, parts = (len(np.atleast_1d(arrays.get(name, ()))) for name in ("boards", "sizes"))
    wanted = {
        "sizes": ((parts,), np.int64),
        "boards": ((length, size, size), np.int8),
        "visit_counts": ((length, size**3), np.uint16),
        "returns": ((length,), np.float32),
    }
    if arrays.keys() != wanted.keys():
        raise ValueError(f"{REPLAY}: it must hold {', '.join(wanted)}")
    for name, (shape, dtype) in wanted.items():
        array = arrays[name]
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(
                f"{REPLAY}: {name} must be {np.dtype(dtype)} {list(shape)}, not {array.dtype} "
                f"{list(array.shape)}"
            )
    sizes, boards = arrays["sizes"], arrays["boards"]
    if not 1 <= parts <= iterations or ((sizes < 0) | (sizes > length)).any():
        raise ValueError(f"{REPLAY}: sizes are not those of 1 to {iterations} iterations")
    if sizes.sum() != length:
        raise ValueError(f"{REPLAY}: sizes add up to {sizes.sum()}, and there are {length} boards")
    if ((boards < 0) | (boards > size)).any():
        raise ValueError(f"{REPLAY}: boards hold something else than digits from 0 to {size}")
    if not arrays["visit_counts"].any(1).all():
        raise ValueError(f"{REPLAY}: visit_counts has a position that was never visited")
    if not np.isfinite(arrays["returns"]).all():
        raise ValueError(f"{REPLAY}: the numbers of returns are not all finite")
