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
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"hidden must be widths of at least 1, not {self.hidden}")

    def build(self, geometry: Geometry) -> MLPBody:
        """Make the body for boards of that size."""
        return MLPBody(self, geometry)


@dataclass(frozen=True)
class TokenFeatures:
    """Features of B boards as T tokens each, see `Features`: all in one, or one for each cell."""

    tokens: Tensor  # float32 [B, T, W]
    index: Tensor  # int64 [P], position of each placement in the flattened masks
    shape: tuple[int, int]  # (B, N**3)


class TokenBody(nn.Module):
    """A body that gives each board T tokens of width W; its readouts are linear maps of them.

    T is 1 or the number of cells; boards of another size than the geometry's can't be played.
    """

    def __init__(self, geometry: Geometry, num_tokens: int, width: int) -> None:
        super().__init__()
        self._geometry = geometry
        self._width = width
        self._placements_per_token = geometry.num_placements // num_tokens

    def forward(
        self, boards: Tensor, masks: Tensor, geometry: Geometry, all_rounds: bool = False
    ) -> TokenFeatures:
        """Return the features of boards, see `Body`; one round; ValueError if of another size."""
        check_size(geometry, self._geometry)
        index = masks.flatten().nonzero().squeeze(1)
        return TokenFeatures(self.tokens(boards), index, (masks.shape[0], masks.shape[1]))

    def tokens(self, boards: Tensor) -> Tensor:
        """Return the tokens float32 `[B, T, W]` of boards int8 `[B, N, N]`."""
        raise NotImplementedError

    def placement_readout(self, width: int) -> nn.Module:
        """Make a linear map of each token to its placements: `[1, P, width]`."""
        return _PlacementReadout(self._width, width, self._placements_per_token)

    def board_readout(self, width: int, extensive: bool = False) -> nn.Module:
        """Make a linear map of the mean token: `[1, B, width]`."""
        return _BoardReadout(self._width, width)


class MLPBody(TokenBody):
    """See `MLPConfig`; the last hidden layer is the only token."""

    def __init__(self, config: MLPConfig, geometry: Geometry) -> None:
        super().__init__(geometry, 1, config.hidden[-1])
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise((geometry.num_placements, *config.hidden)):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def tokens(self, boards: Tensor) -> Tensor:
        """Return the last hidden layer, `[B, 1, W]`."""
        return self.layers(one_hot(boards).flatten(1))[:, None]


class _PlacementReadout(nn.Module):
    def __init__(self, inputs: int, width: int, placements: int) -> None:
        super().__init__()
        self._width = width
        self.linear = nn.Linear(inputs, width * placements)

    def forward(self, features: TokenFeatures) -> Tensor:
        everywhere = self.linear(features.tokens).view(-1, self._width)  # [B * N**3, width]
        return everywhere[features.index][None]


class _BoardReadout(nn.Linear):
    def forward(self, features: TokenFeatures) -> Tensor:  # type: ignore[override]
        return super().forward(features.tokens.mean(1))[None]


def one_hot(boards: Tensor) -> Tensor:
    """Return int8 boards `[B, N, N]` as float32 `[B, N, N, N]`; blanks are all zero."""
    return functional.one_hot(boards.long(), boards.shape[2] + 1)[..., 1:].float()


def check_size(geometry: Geometry, wanted: Geometry) -> None:
    """Raise a ValueError that names both sizes unless boards have the size a body was made for."""
    if geometry.size != wanted.size:
        raise ValueError(
            f"the network was made for {wanted.size}x{wanted.size} boards, these are "
            f"{geometry.size}x{geometry.size}: use one on the exact-cover graph, which plays all"
        )
