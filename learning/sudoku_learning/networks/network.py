"""A network: one body and the heads that read it, by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from sudoku_gym.geometry import Geometry
from sudoku_learning.networks.attention import AttentionConfig
from sudoku_learning.networks.bodies import BodyConfig
from sudoku_learning.networks.factor_graph import ExactCoverBody, ExactCoverConfig, Memory
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

JUDGES = ("policy", "q")  # the head that says whether a board is settled, the first there is


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

    def think(
        self,
        boards: Tensor,
        masks: Tensor,
        geometry: Geometry,
        heads: Collection[str] | None = None,
        rounds: int | None = None,
    ) -> dict[str, Tensor]:
        """Evaluate boards as `forward` does, but no longer than each of them needs.

        With `ExactCoverConfig.settled` the body runs `rounds` of its rounds at a time, and a board
        is done when no number that the head `policy`, or else `q`, gives to a legal placement lies
        closer to 0 than that. Other networks answer as `forward`. With `heads` the others are left
        out; with `rounds` a network that settles thinks for at most so many.
        """
        chosen = {name: head for name, head in self.heads.items() if heads is None or name in heads}
        if not self.settles:
            features = self.body(boards, masks, geometry)
            return {name: head(features)[-1] for name, head in chosen.items()}
        return self._think(boards, masks, geometry, chosen, rounds)[0]

    @property
    def settles(self) -> bool:
        """Whether `think` runs a board for as long as it needs."""
        body = self.body
        can_settle = isinstance(body, ExactCoverBody) and body.config.settled is not None
        return can_settle and not self.heads.keys().isdisjoint(JUDGES)

    def remember(self, boards: Tensor, masks: Tensor, geometry: Geometry) -> list[Memory] | None:
        """Think about boards without gradients, as in evaluation.

        Returns:
            Where the body stands on each board, to go on from; None unless the network `settles`.
        """
        if not self.settles:
            return None
        was_training = self.training
        self.eval()
        with torch.no_grad():
            _, memories = self._think(boards, masks, geometry, {})
        self.train(was_training)
        return memories

    def _think(
        self,
        boards: Tensor,
        masks: Tensor,
        geometry: Geometry,
        heads: Mapping[str, nn.Module],
        rounds: int | None = None,
    ) -> tuple[dict[str, Tensor], list[Memory]]:
        """Return what the heads say once each board has settled, and where the body stands."""
        body = self.body
        judge = next(self.heads[name] for name in JUDGES if name in self.heads)
        found: dict[str, Tensor] = {}
        rows = torch.arange(len(boards))
        memories: list[Any] = [None] * len(boards)
        for segment in body.segments(rounds):
            open_rows = rows.tolist()
            before = [memories[row] for row in open_rows]
            features = body(boards[rows], masks[rows], geometry, memories=before, rounds=segment)
            for row, memory in zip(open_rows, features.memories, strict=True):
                memories[row] = memory
            for name, head in heads.items():
                numbers = head(features)[-1]
                if name not in found:
                    found[name] = numbers.new_empty(len(boards), *numbers.shape[1:])
                found[name][rows] = numbers
            judged = judge(features)[-1].abs()
            rows = rows[((judged < body.config.settled) & masks[rows]).any(1)]
            if not len(rows):
                break
        return found, memories

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
