"""A trained GFlowNet as a policy: the best placement, or one drawn from its flow."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.gflownet.config import GFlowNetConfig
from sudoku_agents.gflownet.flows import FlowNetwork
from sudoku_agents.gflownet.orders import ForwardMasks, Order, forward_masks
from sudoku_agents.gflownet.trajectories import sample_from_logits
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import NO_RESTARTS, NetworkPolicy, Restarts
from sudoku_learning.networks.policy import PLAY_THRESHOLD
from sudoku_learning.training.config import config_from_json
from sudoku_learning.training.environments import geometry_of_env
from sudoku_learning.training.weights import load_network

_PRETRAINED = Path(__file__).parent / "pretrained"


class GFlowNetPolicy(NetworkPolicy):
    """Plays with the forward policy, in the order that the network was trained in.

    In a tree each move fills the cell that is next, with the likeliest digit or a drawn one, so
    that games are the trajectories of training, see `orders`. At a board where the order allows
    nothing that the mask does, as after a dead end, it plays over the whole mask.

    Args:
        network: put in evaluation mode.
        sample: draw each placement from the forward policy instead of taking the likeliest.
        threshold: without drawing, see `NetworkPolicy`; a number only for networks whose logits
            say how likely each placement is to be right, as maximum likelihood makes them.
        restarts: without drawing, see `NetworkPolicy`.
        order: in which the network was trained, see `orders`; "any" plays over the whole mask.
    """

    def __init__(
        self,
        network: FlowNetwork,
        sample: bool = False,
        threshold: float | None = None,
        restarts: Restarts = NO_RESTARTS,
        order: Order = "any",
    ) -> None:
        super().__init__(network, threshold=threshold, restarts=restarts)
        self._flows = network
        self._sample = sample
        self._order: Order = order
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
        found = self._in_order(boards, masks)
        log_pf = self._flows.log_policy(boards, found, self.geometry)
        return sample_from_logits(log_pf, found.allowed, self._rng)

    def placement_probabilities(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """Return P_F of each placement, float32 `[B, N**3]`."""
        found = self._in_order(boards, masks)
        return np.exp(self._flows.log_policy(boards, found, self.geometry))

    def _read_games(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], games: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        scores, is_trusted = super()._read_games(boards, masks, games)
        allowed = self._in_order(boards, masks).allowed
        return np.where(allowed, scores, np.float32(-np.inf)), is_trusted

    def _in_order(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> ForwardMasks:
        """Return which of the legal placements bool `[B, N**3]` the order allows."""
        if self._order == "any":
            return ForwardMasks(masks, masks)
        allowed = masks & forward_masks(boards, self.geometry, self._order).allowed
        return ForwardMasks(masks, np.where(allowed.any(1, keepdims=True), allowed, masks))


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
    starts = Restarts.of_options(restarts, noise)
    return GFlowNetPolicy(network, sample, threshold, starts, config.order)


def _make(config: GFlowNetConfig) -> FlowNetwork:
    return FlowNetwork(config.network, geometry_of_env(config.env))
