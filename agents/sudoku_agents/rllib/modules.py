"""Masked modules of RLlib's new API stack: an actor-critic, and a Q-network.

Both take the observations of `MaskedObservation` and a body of `sudoku_learning.networks`.
Illegal placements get `ILLEGAL_LOGIT`, in play and in training; nothing else applies masks.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from ray.rllib.algorithms.dqn.dqn_learner import QF_NEXT_PREDS, QF_PREDS, QF_TARGET_NEXT_PREDS
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.utils import make_target_network
from ray.rllib.core.rl_module.apis import (
    TARGET_NETWORK_ACTION_DIST_INPUTS,
    InferenceOnlyAPI,
    QNetAPI,
    TargetNetworkAPI,
    ValueFunctionAPI,
)
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.utils.schedules.scheduler import Scheduler
from torch import Tensor, nn

from sudoku_gym.board.actions import geometry_of_actions
from sudoku_learning.networks import (
    FactorGraphConfig,
    HeadConfig,
    Network,
    PolicyConfig,
    QConfig,
    ValueConfig,
)

Batch = dict[str, Any]


class _Masked(TorchRLModule, TargetNetworkAPI, InferenceOnlyAPI):
    """The network and its target."""

    network: Network
    target: nn.Module

    def setup(self) -> None:
        """Make the network.

        Raises:
            ValueError: if the actions are not the placements of such a board.
        """
        assert isinstance(self.model_config, dict) and self.action_space is not None
        geometry = geometry_of_actions(self.action_space, self.model_config.get("geometry"))
        body = self.model_config.get("network") or FactorGraphConfig()
        self.network = Network(body, self.heads(self.model_config), geometry)
        self._geometry = geometry

    @abstractmethod
    def heads(self, model_config: dict[str, Any]) -> dict[str, HeadConfig]:
        """Return the heads that the algorithm asks for."""

    def evaluate(self, network: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Evaluate a batch with the network or its target."""
        found: dict[str, Tensor] = network(*boards_and_masks(batch), self._geometry)
        return found

    def make_target_networks(self) -> None:
        """Copy the network; learners that need a target ask for it."""
        self.target = make_target_network(self.network)

    def get_target_network_pairs(self) -> list[tuple[nn.Module, nn.Module]]:
        """Return the network and its target."""
        return [(self.network, self.target)]

    def get_non_inference_attributes(self) -> list[str]:
        """Leave the target with the learner."""
        return ["target"]


class MaskedActorCritic(_Masked, ValueFunctionAPI):
    """Logits and values of one network, for PPO, IMPALA and APPO.

    `model_config["network"]` is the configuration of the body, by default `FactorGraphConfig()`;
    `model_config["value"]` that of the value head, by default `ValueConfig()`;
    `model_config["geometry"]` are the boards' units, by default the standard boxes.
    """

    def heads(self, model_config: dict[str, Any]) -> dict[str, HeadConfig]:
        """Return a policy and a value."""
        return {"policy": PolicyConfig(), "value": model_config.get("value") or ValueConfig()}

    def _forward(self, batch: Batch, **kwargs: Any) -> Batch:
        return {Columns.ACTION_DIST_INPUTS: self.evaluate(self.network, batch)["policy"]}

    def _forward_train(self, batch: Batch, **kwargs: Any) -> Batch:
        found = self.evaluate(self.network, batch)
        # The learner hands the embeddings to compute_values, so one pass serves both.
        return {Columns.ACTION_DIST_INPUTS: found["policy"], Columns.EMBEDDINGS: found["value"]}

    def compute_values(self, batch: Batch, embeddings: Tensor | None = None) -> Tensor:
        """Return values float32 `[B]`."""
        if embeddings is not None:
            return embeddings
        return self.evaluate(self.network, batch)["value"]

    def forward_target(self, batch: Batch) -> Batch:
        """Return the target's logits `[B, N**3]`, which APPO asks for."""
        return {TARGET_NETWORK_ACTION_DIST_INPUTS: self.evaluate(self.target, batch)["policy"]}


class MaskedQNetwork(_Masked, QNetAPI):
    """Action values for DQN: masked targets and masked exploration.

    RLlib's own module explores wherever a value is not 0 or minus infinity, that is anywhere.
    `model_config` is that of `MaskedActorCritic`.
    """

    def setup(self) -> None:
        """Make the network and the schedule of epsilon.

        Raises:
            ValueError: as for every module, or if `num_atoms` is above 1.
        """
        super().setup()
        assert isinstance(self.model_config, dict)
        if self.model_config.get("num_atoms", 1) > 1:
            raise ValueError("MaskedQNetwork learns expected values: use num_atoms=1")
        self.epsilon = Scheduler(
            fixed_value_or_schedule=self.model_config["epsilon"], framework="torch"
        )

    def heads(self, model_config: dict[str, Any]) -> dict[str, HeadConfig]:
        """Return action values without limits."""
        return {"q": QConfig()}

    def compute_q_values(self, batch: Batch) -> Batch:
        """Return the action values float32 `[B, N**3]`."""
        return {QF_PREDS: self.evaluate(self.network, batch)["q"]}

    def forward_target(self, batch: Batch) -> Batch:
        """Return the target's action values float32 `[B, N**3]`."""
        return {QF_PREDS: self.evaluate(self.target, batch)["q"]}

    def _forward_inference(self, batch: Batch, **kwargs: Any) -> Batch:
        with torch.no_grad():
            values = self.compute_q_values(batch)[QF_PREDS]
        return {Columns.ACTION_DIST_INPUTS: values, Columns.ACTIONS: values.argmax(1)}

    def _forward_exploration(self, batch: Batch, **kwargs: Any) -> Batch:
        """Play greedily; each board with the chance epsilon a random legal placement."""
        self.epsilon.update(kwargs["t"])
        epsilon = float(self.epsilon.get_current_value())
        greedy = self._forward_inference(batch)[Columns.ACTIONS]
        _, masks = boards_and_masks(batch)
        # A board whose episode is over has no legal placement, and its action is ignored.
        allowed = masks | ~masks.any(1, keepdim=True)
        random = torch.multinomial(allowed.float(), 1).squeeze(1)
        explores = torch.rand(len(greedy), device=greedy.device) < epsilon
        return {Columns.ACTIONS: torch.where(explores, random, greedy)}

    def _forward_train(self, batch: Batch, **kwargs: Any) -> Batch:
        following = {Columns.OBS: batch[Columns.NEXT_OBS]}
        with torch.no_grad():
            # Double Q-learning lets the network choose the action that the target values.
            online = self.compute_q_values(following)[QF_PREDS]
            target = self.forward_target(following)[QF_PREDS]
        return {
            **self.compute_q_values(batch),
            QF_NEXT_PREDS: online,
            QF_TARGET_NEXT_PREDS: target,
        }


def boards_and_masks(batch: Batch) -> tuple[Tensor, Tensor]:
    """Return a batch's boards int8 `[B, N, N]` and masks bool `[B, N**3]`."""
    observations = batch[Columns.OBS]
    return observations["observations"].to(torch.int8), observations["action_mask"].bool()
