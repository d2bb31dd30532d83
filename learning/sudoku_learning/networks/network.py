"""A network: one body and the heads that read it, by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from sudoku_gym.geometry import Geometry
from sudoku_learning.networks.attention import AttentionConfig
from sudoku_learning.networks.bodies import BodyConfig, RecurrentBody
from sudoku_learning.networks.factor_graph import FactorGraphConfig, RecurrentState
from sudoku_learning.networks.heads import HeadConfig, PolicyConfig, ValueConfig
from sudoku_learning.networks.mlp import MLPConfig
from sudoku_learning.networks.pooled import PooledConfig

BODIES: dict[str, type[BodyConfig]] = {
    "factor-graph": FactorGraphConfig,
    "pooled": PooledConfig,
    "mlp": MLPConfig,
    "attention": AttentionConfig,
}
"""The bodies, by their name on a command line and in a file. A new one is added here."""

POLICY_AND_VALUE: dict[str, HeadConfig] = {"policy": PolicyConfig(), "value": ValueConfig()}
"""The heads of an actor-critic whose returns lie in [0, 1]."""

CONVERGENCE_HEADS = ("policy", "q")
"""The heads whose numbers show convergence; the first that a network has is taken."""


class Network(nn.Module):
    """A body and its heads, by name, for boards of a geometry (the factor graph plays any)."""

    def __init__(
        self, body: BodyConfig, heads: Mapping[str, HeadConfig], geometry: Geometry
    ) -> None:
        super().__init__()
        self.body = body.build(geometry)
        self.heads = nn.ModuleDict({name: head.build(self.body) for name, head in heads.items()})

    def forward(self, boards: Tensor, masks: Tensor, geometry: Geometry) -> dict[str, Tensor]:
        """Evaluate boards int8 `[B, N, N]`, 0 = blank, with the legal placements bool `[B, N**3]`.

        Returns the output of each head, by its name; e.g. logits float32 `[B, N**3]` with
        `ILLEGAL_LOGIT` where the mask is False, and values float32 `[B]`.
        """
        features = self.body(boards, masks, geometry)
        return {name: head(features)[-1] for name, head in self.heads.items()}

    def forward_until_converged(
        self,
        boards: Tensor,
        masks: Tensor,
        geometry: Geometry,
        heads: Collection[str] | None = None,
        rounds: int | None = None,
    ) -> dict[str, Tensor]:
        """Evaluate boards as `forward` does, with no more rounds than each of them needs.

        If the network `can_converge`, the body runs one segment of rounds at a time, and a board
        has converged when no number that the head `policy`, or else `q`, gives to a legal
        placement is closer to 0 than the body's convergence margin. Other networks answer as
        `forward`.

        With `heads` the others are left out; `rounds` is a limit for a network that can converge.
        """
        chosen = {name: head for name, head in self.heads.items() if heads is None or name in heads}
        if not self.can_converge:
            features = self.body(boards, masks, geometry)
            return {name: head(features)[-1] for name, head in chosen.items()}
        return self._run_segments(boards, masks, geometry, chosen, rounds)[0]

    @property
    def can_converge(self) -> bool:
        """Whether `forward_until_converged` stops boards early."""
        body = self.body
        has_margin = isinstance(body, RecurrentBody) and body.convergence_margin is not None
        return has_margin and not self.heads.keys().isdisjoint(CONVERGENCE_HEADS)

    def recurrent_states(
        self, boards: Tensor, masks: Tensor, geometry: Geometry
    ) -> list[RecurrentState] | None:
        """Run the rounds of `forward_until_converged`, in evaluation mode and without gradients.

        Returns the recurrent state of each board after them; None unless it `can_converge`.
        """
        if not self.can_converge:
            return None
        was_training = self.training
        self.eval()
        with torch.no_grad():
            _, states = self._run_segments(boards, masks, geometry, {})
        self.train(was_training)
        return states

    def _run_segments(
        self,
        boards: Tensor,
        masks: Tensor,
        geometry: Geometry,
        heads: Mapping[str, nn.Module],
        rounds: int | None = None,
    ) -> tuple[dict[str, Tensor], list[RecurrentState]]:
        """Return the outputs of the heads and the recurrent states once boards have converged."""
        body = self.body
        deciding = next(self.heads[name] for name in CONVERGENCE_HEADS if name in self.heads)
        outputs: dict[str, Tensor] = {}
        states: list[Any] = [None] * len(boards)
        rows, graph = torch.arange(len(boards)), None
        for segment in body.segments(rounds):
            open_rows = rows.tolist()
            before = [states[row] for row in open_rows]
            given = boards[rows], masks[rows], geometry
            features = body(*given, recurrent_states=before, rounds=segment, graph=graph)
            for row, state in zip(open_rows, features.recurrent_states, strict=True):
                states[row] = state
            for name, head in heads.items():
                output = head(features)[-1]
                if name not in outputs:
                    outputs[name] = output.new_empty(len(boards), *output.shape[1:])
                outputs[name][rows] = output
            distances = deciding(features)[-1].abs()
            is_open = ((distances < body.convergence_margin) & given[1]).any(1)
            if not is_open.any():
                break
            graph = features.graph if is_open.all() else None  # its boards must be those of rows
            rows = rows[is_open]
        return outputs, states

    def forward_all_rounds(
        self, boards: Tensor, masks: Tensor, geometry: Geometry
    ) -> dict[str, Tensor]:
        """Evaluate boards after each of the body's R rounds: as `forward`, each `[R, B, ...]`.

        A loss at every round is what makes a recurrent body learn; a body without rounds has R = 1.
        """
        features = self.body(boards, masks, geometry, all_rounds=True)
        return {name: head(features) for name, head in self.heads.items()}


def seeded(seed: int, make: Any) -> Any:
    """Return `make()`, whose random weights come from the seed and nothing else.

    Modules draw their first weights from torch's global generator; it is left as it was.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()
