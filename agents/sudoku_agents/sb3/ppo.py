"""A network of `sudoku_learning` as a policy of MaskablePPO."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor

from sudoku_agents.sb3.play import boards_and_legal, check_observations
from sudoku_gym.board.actions import geometry_of_actions
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import (
    BodyConfig,
    FactorGraphConfig,
    HeadConfig,
    Network,
    PolicyConfig,
    ValueConfig,
)

Masks = NDArray[np.bool_] | Tensor | None


class FactorGraphPolicy(MaskableActorCriticPolicy):
    """Logits and values of one network on the factor graph, or on another body.

    Args:
        observation_space: that of a `SudokuVecEnv`.
        action_space: the N**3 placements.
        lr_schedule: the learning rate schedule, as in every policy of SB3.
        geometry: the boards' units; None takes the standard boxes.
        network: the body; None takes `FactorGraphConfig()`, for any size and form of the board.
        value: the value head; None keeps values in (0, 1), which suits the rewards `"terminal"`
            and `"sparse"` with gamma = 1.
        **kwargs: as in every policy of SB3.

    Raises:
        ValueError: if the spaces are not those of such a board.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        geometry: Geometry | None = None,
        network: BodyConfig | None = None,
        value: ValueConfig | None = None,
        **kwargs: Any,
    ) -> None:
        # The constructor above calls _build, which needs these.
        self.geometry = geometry_of_actions(action_space, geometry)
        self.network_config = network or FactorGraphConfig()
        self.value_config = value or ValueConfig()
        check_observations(observation_space, self.geometry.size)
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Choose actions `[B]`; return them with values `[B, 1]` and log probabilities `[B]`."""
        distribution, values = self._evaluate(obs, action_masks)
        actions = distribution.get_actions(deterministic=deterministic)
        return actions, values, distribution.log_prob(actions)

    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return values `[B, 1]`, log probabilities of the actions `[B]` and entropies `[B]`."""
        distribution, values = self._evaluate(obs, action_masks)
        return values, distribution.log_prob(actions), distribution.entropy()

    def get_distribution(self, obs: Any, action_masks: Masks = None) -> MaskableDistribution:
        """Return the distribution over the placements."""
        return self._evaluate(obs, action_masks)[0]

    def predict_values(self, obs: Any) -> Tensor:
        """Return values `[B, 1]`."""
        return self._evaluate(obs, None)[1]

    def _evaluate(self, obs: Tensor, action_masks: Masks) -> tuple[MaskableDistribution, Tensor]:
        boards, legal = boards_and_legal(obs, self.geometry)
        found = self.network(boards, legal, self.geometry)
        distribution = self.action_dist.proba_distribution(action_logits=found["policy"])
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution, found["value"][:, None]

    def _build(self, lr_schedule: Schedule) -> None:
        """Make the network and its optimizer, in place of the usual extractor and two heads."""
        heads: dict[str, HeadConfig] = {"policy": PolicyConfig(), "value": self.value_config}
        self.network = Network(self.network_config, heads, self.geometry)
        self.optimizer = self.optimizer_class(
            self.parameters(),
            lr=lr_schedule(1),  # type: ignore[call-arg]
            **self.optimizer_kwargs,
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | {
            "geometry": self.geometry,
            "network": self.network_config,
            "value": self.value_config,
        }
