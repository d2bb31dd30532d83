"""Protocols of bodies: the part of a network that reads boards, whatever heads stand on it.

A body turns boards and the masks of their legal placements into features, and makes the readouts
by which heads read them: some numbers for each legal placement, or for each board.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

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


@runtime_checkable
class RecurrentBody(Protocol):
    """A body that applies one layer for many rounds and can go on from where it stopped."""

    @property
    def rounds(self) -> int:
        """Rounds of the next call."""

    @rounds.setter
    def rounds(self, rounds: int | None) -> None:
        """Set the rounds of all later calls; None takes those of the configuration."""

    @property
    def convergence_margin(self) -> float | None:
        """A board has converged once no logit is closer to 0; None: all rounds are always run."""

    def segments(self, rounds: int | None = None) -> list[int]:
        """Divide rounds, by default those of the next call, into segments as in training."""

    def __call__(
        self,
        boards: Tensor,
        masks: Tensor,
        geometry: Geometry,
        all_rounds: bool = False,
        recurrent_states: Sequence[Any] | None = None,
        rounds: int | None = None,
        graph: Any = None,
    ) -> Any:
        """Return the `Features` of boards, see `Body` for the first arguments.

        The `recurrent_states` are for each board that in which an earlier call left it (no gradient
        goes back there), or None for the first; if given, the features hold those after the last
        round. `rounds` are by default `self.rounds`. `graph` is that of the features of an earlier
        call on the same boards and masks, to save computing it again.
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
