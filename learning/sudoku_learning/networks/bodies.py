"""Protocols of bodies: the part of a network that reads boards, whatever heads stand on it.

A body turns boards and the masks of their legal placements into features, and makes the readouts
by which heads read them: some numbers for each legal placement, or for each board.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from torch import Tensor, nn

from sudoku_gym.geometry import Geometry

CHUNK_SIZE = 256


class Features(Protocol):
    """Features of B boards after R rounds; only the body's own readouts use more than this."""

    @property
    def index(self) -> Tensor:
        """int64 `[P]`, the position of each legal placement in the flattened masks `[B * N**3]`."""

    @property
    def shape(self) -> tuple[int, int]:
        """`(B, N**3)`, the shape of the masks."""


class Body(Protocol):
    """A module that reads boards."""

    def __call__(
        self, boards: Tensor, masks: Tensor, geometry: Geometry, all_rounds: bool = False
    ) -> Any:
        """Return the `Features` of boards int8 `[B, N, N]`, 0 = blank, of one geometry.

        The masks bool `[B, N**3]` are the legal placements. With `all_rounds` the features after
        each round are kept, R of them, where the body has rounds; else only the last, R = 1.
        """

    def placement_readout(self, width: int) -> nn.Module:
        """Make a module that maps features to float32 `[R, P, width]`, of legal placements."""

    def board_readout(self, width: int, extensive: bool = False) -> nn.Module:
        """Make a module that maps features to float32 `[R, B, width]`.

        Extensive numbers add up over the parts of a board, as the log of a count does: the
        factor-graph body then sums over its parts; other bodies read them as any numbers.
        """


class BodyConfig(Protocol):
    """Settings that make a body; a frozen dataclass registered in `sudoku_gym.storage.configs`."""

    def build(self, geometry: Geometry) -> Any:
        """Make the body for boards of that geometry; factor-graph bodies play any other too.

        Raises ValueError if the body can't play such boards.
        """


def chunks(count: int, size: int = CHUNK_SIZE) -> Iterator[slice]:
    """Divide `count` boards into slices of at most `size`, to be evaluated one after the other."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))
