"""The masked actor-critic of RLlib's new API stack.

It takes the observations of `MaskedObservation` and a body of `sudoku_learning.networks`. Illegal
placements get `ILLEGAL_LOGIT`, in play and in training; nothing else applies masks.
"""

from __future__ import annotations

from typing import Any

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.utils import make_target_network
from ray.rllib.core.rl_module.apis import (
    TARGET_NETWORK_ACTION_DIST_INPUTS,
    InferenceOnlyAPI,
    TargetNetworkAPI,
    ValueFunctionAPI,
)
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor, nn

from sudoku_gym.board.actions import geometry_of_actions
from sudoku_learning.networks import FactorGraphConfig, Network, PolicyConfig, ValueConfig

Batch = dict[str, Any]


class MaskedActorCritic(TorchRLModule, TargetNetworkAPI, InferenceOnlyAPI, ValueFunctionAPI):
    """Logits and values of one network, for PPO, IMPALA and APPO.

    `model_config["network"]` is the configuration of the body, by default `FactorGraphConfig()`;
    `model_config["value"]` that of the value head, by default `ValueConfig()`;
    `model_config["geometry"]` are the boards' units, by default the standard boxes.
    """

    target: nn.Module

    def setup(self) -> None:
        """Make the network.

        Raises:
            ValueError: if the actions are not the placements of such a board.
        """
        assert isinstance(self.model_config, dict) and self.action_space is not None
        given = self.model_config.get
        self._geometry = geometry_of_actions(self.action_space, given("geometry"))
        heads = {"policy": PolicyConfig(), "value": given("value") or ValueConfig()}
        self.network = Network(given("network") or FactorGraphConfig(), heads, self._geometry)

    def make_target_networks(self) -> None:
        """Copy the network; APPO's learner asks for it."""
        self.target = make_target_network(self.network)

    def get_target_network_pairs(self) -> list[tuple[nn.Module, nn.Module]]:
        """Return the network and its target."""
        return [(self.network, self.target)]

    def get_non_inference_attributes(self) -> list[str]:
        """Leave the target with the learner."""
        return ["target"]

    def compute_values(self, batch: Batch, embeddings: Tensor | None = None) -> Tensor:
        """Return values float32 `[B]`."""
        return self._evaluate(self.network, batch)["value"] if embeddings is None else embeddings

    def forward_target(self, batch: Batch) -> Batch:
        """Return the target's logits `[B, N**3]`, which APPO asks for."""
        return {TARGET_NETWORK_ACTION_DIST_INPUTS: self._evaluate(self.target, batch)["policy"]}

    def _forward(self, batch: Batch, **kwargs: Any) -> Batch:
        return {Columns.ACTION_DIST_INPUTS: self._evaluate(self.network, batch)["policy"]}

    def _forward_train(self, batch: Batch, **kwargs: Any) -> Batch:
        found = self._evaluate(self.network, batch)
        # The learner hands the embeddings to compute_values, so one pass serves both.
        return {Columns.ACTION_DIST_INPUTS: found["policy"], Columns.EMBEDDINGS: found["value"]}

    def _evaluate(self, network: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Return the logits `[B, N**3]` and values `[B]` of a network or its target."""
        observations = batch[Columns.OBS]
        boards, masks = observations["observations"], observations["action_mask"]
        found: dict[str, Tensor] = network(boards.to(torch.int8), masks.bool(), self._geometry)
        return found
