"""What a body is: the part of a network that reads boards, whatever the heads then ask of it.

A body turns boards and the masks of their legal placements into features, and makes the readouts
by which heads see them: some numbers for each legal placement, or for each board. So a head works
on any body, and a body with any heads.
"""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor, nn

from sudoku_gym.geometry import Geometry


class Features(Protocol):
    """What a body says of B boards, after R rounds; only its own readouts see more than this."""

    @property
    def index(self) -> Tensor:
        """int64 `[P]`, the position of each legal placement in the flattened masks `[B * N**3]`."""

    @property
    def shape(self) -> tuple[int, int]:
        """`(B, N**3)`, the shape of the masks."""


class Body(Protocol):
    """A module that reads boards."""

    def __call__(
        self, boards: Tensor, masks: Tensor, geometry: Geometry, every_round: bool = False
    ) -> Any:
        """Return the `Features` of boards of one geometry.

        Args:
            boards: int8 `[B, N, N]`, 0 = blank.
            masks: bool `[B, N**3]`, the legal placements.
            geometry: the boards' units.
            every_round: keep the features after each round, R of them, where the body has
                rounds; else only the last, R = 1.
        """

    def placement_readout(self, width: int) -> nn.Module:
        """Make a module that maps features to float32 `[R, P, width]`, of legal placements."""

    def board_readout(self, width: int, extensive: bool = False) -> nn.Module:
        """Make a module that maps features to float32 `[R, B, width]`.

        Args:
            width: numbers a board.
            extensive: they add up over the parts of a board, as the log of a count does. The
                exact-cover body then sums over its parts; other bodies read them as any numbers.
        """


class BodyConfig(Protocol):
    """Settings that make a body; a frozen dataclass registered in `sudoku_gym.storage.configs`."""

    def build(self, geometry: Geometry) -> Any:
        """Make the body for boards of that geometry; exact-cover bodies play any other too.

        Raises:
            ValueError: if the body can't play such boards.
        """
