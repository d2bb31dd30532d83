"""A network: one body and the heads that read it, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from sudoku_gym.geometry import Geometry
from sudoku_learning.networks.attention import AttentionConfig
from sudoku_learning.networks.bodies import BodyConfig
from sudoku_learning.networks.exact_cover import ExactCoverConfig
from sudoku_learning.networks.heads import HeadConfig, PolicyConfig, ValueConfig
from sudoku_learning.networks.mlp import MLPConfig
from sudoku_learning.networks.pooled import PooledConfig

BODIES: dict[str, type[BodyConfig]] = {
    "exact-cover": ExactCoverConfig,
    "pooled": PooledConfig,
    "mlp": MLPConfig,
    "attention": AttentionConfig,
}
"""The bodies by the name that a command line and a file call them. A new one is added here."""

POLICY_AND_VALUE: dict[str, HeadConfig] = {"policy": PolicyConfig(), "value": ValueConfig()}
"""The heads of an actor-critic whose returns lie in [0, 1]."""


class Network(nn.Module):
    """A body and its heads.

    Args:
        body: makes the body.
        heads: make the heads, by name.
        geometry: of the boards it will play; a body on the exact-cover graph plays any other too.
    """

    def __init__(
        self, body: BodyConfig, heads: Mapping[str, HeadConfig], geometry: Geometry
    ) -> None:
        super().__init__()
        self.body = body.build(geometry)
        self.heads = nn.ModuleDict({name: head.build(self.body) for name, head in heads.items()})

    def forward(self, boards: Tensor, masks: Tensor, geometry: Geometry) -> dict[str, Tensor]:
        """Evaluate boards of one geometry.

        Args:
            boards: int8 `[B, N, N]`, 0 = blank.
            masks: bool `[B, N**3]`, the legal placements.
            geometry: the boards' units.

        Returns:
            What each head says of each board, by the head's name; e.g. logits float32 `[B, N**3]`
            with `ILLEGAL_LOGIT` where the mask is False, and values float32 `[B]`.
        """
        features = self.body(boards, masks, geometry)
        return {name: head(features)[-1] for name, head in self.heads.items()}

    def every_round(self, boards: Tensor, masks: Tensor, geometry: Geometry) -> dict[str, Tensor]:
        """Evaluate boards after each of the body's R rounds: as `forward`, each `[R, B, ...]`.

        A loss at every round is what makes a recurrent body learn; a body without rounds has R = 1.
        """
        features = self.body(boards, masks, geometry, every_round=True)
        return {name: head(features) for name, head in self.heads.items()}


def seeded(seed: int, make: Any) -> Any:
    """Return `make()`, whose random weights come from the seed and nothing else.

    Modules draw their first weights from torch's global generator; it is left as it was.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()
