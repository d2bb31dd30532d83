"""A trained GFlowNet as a policy: the best placement, or one drawn from its flow."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.gflownet.config import GFlowNetConfig
from sudoku_agents.gflownet.flows import FlowNetwork
from sudoku_agents.gflownet.orders import ForwardMasks
from sudoku_agents.gflownet.sampler import sample_from_logits
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import NO_RESTARTS, NetworkPolicy, Restarts
from sudoku_learning.networks.policy import PLAY_THRESHOLD
from sudoku_learning.training.config import config_from_json
from sudoku_learning.training.environments import geometry_of_env
from sudoku_learning.training.weights import load_network

_PRETRAINED = Path(__file__).parent / "pretrained"


class GFlowNetPolicy(NetworkPolicy):
    """Plays with the forward policy, over all legal placements, whatever order it was trained in.

    Args:
        network: put in evaluation mode.
        sample: draw each placement from the forward policy instead of taking the likeliest.
        threshold: without drawing, see `NetworkPolicy`; a number only for networks whose logits
            say how likely each placement is to be right, as maximum likelihood makes them.
        restarts: without drawing, see `NetworkPolicy`.
    """

    def __init__(
        self,
        network: FlowNetwork,
        sample: bool = False,
        threshold: float | None = None,
        restarts: Restarts = NO_RESTARTS,
    ) -> None:
        super().__init__(network, threshold=threshold, restarts=restarts)
        self._flows = network
        self._sample = sample
        self._rng = np.random.default_rng(0)

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games; `rng` draws the placements, if any are drawn."""
        super().reset(puzzles, geometry, rng)
        self._rng = rng

    def choose(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], games: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Choose or draw a placement."""
        if not self._sample:
            return super().choose(boards, masks, games)
        log_pf = self._flows.log_policy(boards, ForwardMasks(masks, masks), self.geometry)
        return sample_from_logits(log_pf, masks, self._rng)


def load(
    folder: str | os.PathLike[str] = _PRETRAINED,
    sample: bool = False,
    rounds: int | None = None,
    threshold: float | None = None,
    restarts: int = 0,
    noise: float | None = None,
) -> GFlowNetPolicy:
    """Make a policy of a checkpoint, or of the latest checkpoint of a run.

    Args:
        folder: folder of the checkpoint or run; by default the network of this package.
        sample: draw each placement instead of taking the likeliest.
        rounds: rounds of a recurrent body per evaluation; None: as in the checkpoint.
        threshold: without `sample`, all placements with a higher logit are played, the best first,
            before the next evaluation. None takes 5 after maximum likelihood; otherwise, and with
            1e9, each move has its own evaluation.
        restarts: without `sample`, further starts of boards that have not converged, each of as
            many rounds.
        noise: how far from the first a further start begins, see `Restarts`.

    Raises:
        ValueError: if there is no sound checkpoint in the folder, the network has no rounds or
            can't converge, or `threshold` or `restarts` are given together with `sample`.
    """
    if sample and threshold is not None:
        raise ValueError(f"threshold={threshold}: placements that are drawn are drawn one by one")
    if sample and restarts:
        raise ValueError(f"restarts={restarts}: placements are drawn from the first start alone")
    read = partial(config_from_json, kind=GFlowNetConfig)
    config, network = load_network(folder, read, _make, rounds=rounds)
    if threshold is None and not sample and config.loss.kind == "maximum-likelihood":
        threshold = PLAY_THRESHOLD
    return GFlowNetPolicy(network, sample, threshold, Restarts.of_options(restarts, noise))


def _make(config: GFlowNetConfig) -> FlowNetwork:
    return FlowNetwork(config.network, geometry_of_env(config.env))
