"""A multi-layer perceptron on the one-hot board: one size only, and nothing of the rules."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from torch import Tensor, nn
from torch.nn import functional

from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.configs import registered


@registered("mlp")
@dataclass(frozen=True)
class MLPConfig:
    """A multi-layer perceptron on the one-hot board.

    Source: cAlphaZero (Agarwal et al.), section 4.1, for the use of one.
    """

    hidden: tuple[int, ...] = (256, 256)
    """widths of the hidden layers, which all heads share"""

    def __post_init__(self) -> None:
        """Check the values."""
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"hidden must be widths of at least 1, not {self.hidden}")

    def build(self, geometry: Geometry) -> MLPBody:
        """Make the body for boards of that size."""
        return MLPBody(self, geometry)


@dataclass(frozen=True)
class MLPFeatures:
    """What the body says of B boards; see `Features`.

    Attributes:
        hidden: float32 `[B, W]`, the last hidden layer.
        index: int64 `[P]`, position of each placement in the flattened masks.
        shape: `(B, N**3)`.
    """

    hidden: Tensor
    index: Tensor
    shape: tuple[int, int]


class MLPBody(nn.Module):
    """See `MLPConfig`."""

    def __init__(self, config: MLPConfig, geometry: Geometry) -> None:
        super().__init__()
        self._geometry = geometry
        self._width = config.hidden[-1]
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise((geometry.num_placements, *config.hidden)):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(
        self, boards: Tensor, masks: Tensor, geometry: Geometry, all_rounds: bool = False
    ) -> MLPFeatures:
        """Return the features of boards and masks, see `Body`; there is one round to show.

        Raises:
            ValueError: if the boards are not of the size it was made for.
        """
        check_size(geometry, self._geometry)
        hidden = self.layers(one_hot(boards).flatten(1))
        index = masks.flatten().nonzero().squeeze(1)
        return MLPFeatures(hidden, index, (masks.shape[0], masks.shape[1]))

    def placement_readout(self, width: int) -> nn.Module:
        """Make a linear map of the hidden layer to all placements: `[1, P, width]`."""
        return _PlacementReadout(self._width, width, self._geometry.num_placements)

    def board_readout(self, width: int, extensive: bool = False) -> nn.Module:
        """Make a linear map of the hidden layer: `[1, B, width]`."""
        return _BoardReadout(self._width, width)


class _PlacementReadout(nn.Module):
    def __init__(self, hidden: int, width: int, placements: int) -> None:
        super().__init__()
        self._width = width
        self.linear = nn.Linear(hidden, width * placements)

    def forward(self, features: MLPFeatures) -> Tensor:
        everywhere = self.linear(features.hidden).view(-1, self._width)  # [B * N**3, width]
        return everywhere[features.index][None]


class _BoardReadout(nn.Linear):
    def forward(self, features: MLPFeatures) -> Tensor:  # type: ignore[override]
        return super().forward(features.hidden)[None]


def one_hot(boards: Tensor) -> Tensor:
    """Return int8 boards `[B, N, N]` as float32 `[B, N, N, N]`; blanks are all zero."""
    return functional.one_hot(boards.long(), boards.shape[2] + 1)[..., 1:].float()


def check_size(geometry: Geometry, wanted: Geometry) -> None:
    """See that boards have the size a body was made for.

    Raises:
        ValueError: if not; the message names both sizes.
    """
    if geometry.size != wanted.size:
        raise ValueError(
            f"the network was made for {wanted.size}x{wanted.size} boards, these are "
            f"{geometry.size}x{geometry.size}: use one on the exact-cover graph, which plays all"
        )
