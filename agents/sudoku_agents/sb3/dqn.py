"""DQN that never considers an illegal move: masked exploration and masked targets.

SB3's DQN explores among all placements, and the maximum in its targets runs over illegal ones too.
Here both are masked; masks are computed from observations, since the replay holds nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3 import DQN
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork
from torch import Tensor

from sudoku_agents.sb3.observations import boards_and_legal, check_observations
from sudoku_gym.board.actions import geometry_of_actions, sample_actions
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import ILLEGAL_LOGIT, BodyConfig, FactorGraphConfig, Network, QConfig


class LegalQNetwork(QNetwork):
    """SB3's network, with `ILLEGAL_LOGIT` for the value of what is illegal."""

    def __init__(self, *args: Any, geometry: Geometry, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.geometry = geometry

    def forward(self, obs: Any) -> Tensor:
        """Return the values of the placements, float32 `[B, N**3]`."""
        # The value is finite: a terminal board has no legal move, and 0 * inf would be nan.
        _, legal = boards_and_legal(obs, self.geometry)
        return torch.where(legal, super().forward(obs), ILLEGAL_LOGIT)


class FactorGraphQNetwork(LegalQNetwork):
    """The values of a network on the factor graph, or on another body."""

    def __init__(self, *args: Any, network: BodyConfig, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.q_net
        self.network = Network(network, {"q": QConfig()}, self.geometry)

    def forward(self, obs: Any) -> Tensor:
        """Return the values of the placements, float32 `[B, N**3]`."""
        boards, legal = boards_and_legal(obs, self.geometry)
        values: Tensor = self.network(boards, legal, self.geometry)["q"]
        return values


class MaskedDQNPolicy(DQNPolicy):
    """SB3's multi-layer perceptron with masked values, for the flat forms of the board.

    Args:
        observation_space: that of a `SudokuVecEnv`.
        action_space: the N**3 placements.
        lr_schedule: the learning rate schedule, as in every policy of SB3.
        geometry: the boards' units; None takes the standard boxes.
        **kwargs: as in `DQNPolicy`.

    Raises:
        ValueError: if the spaces are not those of such a board.
    """

    network_class: type[LegalQNetwork] = LegalQNetwork

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Discrete[Any],
        lr_schedule: Schedule,
        geometry: Geometry | None = None,
        **kwargs: Any,
    ) -> None:
        # The constructor above makes the networks, which need these.
        self.geometry = geometry_of_actions(action_space, geometry)
        check_observations(observation_space, self.geometry.size)
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def make_q_net(self) -> LegalQNetwork:
        """Make the network, or its target."""
        options = self._update_features_extractor(self.net_args, features_extractor=None)
        return self.network_class(**options, **self._network_options()).to(self.device)

    def legal_actions(self, observations: NDArray[Any]) -> NDArray[np.bool_]:
        """Return the legal placements bool `[B, N**3]` of a batch of observations."""
        legal = boards_and_legal(torch.as_tensor(observations), self.geometry)[1]
        return np.asarray(legal)

    def _network_options(self) -> dict[str, Any]:
        return {"geometry": self.geometry}

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | self._network_options()


class FactorGraphDQNPolicy(MaskedDQNPolicy):
    """`MaskedDQNPolicy` with a `network`: the body, by default `FactorGraphConfig()`."""

    network_class = FactorGraphQNetwork

    def __init__(self, *args: Any, network: BodyConfig | None = None, **kwargs: Any) -> None:
        self.network_config = network or FactorGraphConfig()
        super().__init__(*args, **kwargs)

    def _network_options(self) -> dict[str, Any]:
        return super()._network_options() | {"network": self.network_config}


class MaskedDQN(DQN):
    """DQN that explores among legal placements only, each board independently.

    It needs `MaskedDQNPolicy` or `FactorGraphDQNPolicy`, whose values mask the targets. All
    arguments are those of `DQN`.
    """

    policy: MaskedDQNPolicy

    def predict(
        self,
        observation: Any,
        state: tuple[NDArray[Any], ...] | None = None,
        episode_start: NDArray[Any] | None = None,
        deterministic: bool = False,
    ) -> tuple[NDArray[Any], tuple[NDArray[Any], ...] | None]:
        """Choose actions; unless deterministic, with the chance `exploration_rate` a random one."""
        actions, state = self.policy.predict(observation, state, episode_start, deterministic)
        if deterministic or self.exploration_rate == 0:
            return actions, state
        batch = np.asarray(observation).reshape(-1, *(self.observation_space.shape or ()))
        explores = self.action_space.np_random.random(len(batch)) < self.exploration_rate
        mixed = np.where(explores, self._random_legal(batch), actions.reshape(-1))
        return mixed.reshape(actions.shape), state

    def _sample_action(
        self, learning_starts: int, action_noise: Any = None, n_envs: int = 1
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        if self.num_timesteps < learning_starts:
            actions: NDArray[Any] = self._random_legal(np.asarray(self._last_obs))
        else:
            actions, _ = self.predict(self._last_obs)
        return actions, actions

    def _random_legal(self, observations: NDArray[Any]) -> NDArray[np.int64]:
        return sample_actions(self.policy.legal_actions(observations), self.action_space.np_random)
