"""A trained GFlowNet as a policy: the best placement, or one drawn from its flow."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from sudoku_agents.calphazero.policy import choose_starts
from sudoku_agents.gflownet.config import GFlowNetConfig
from sudoku_agents.gflownet.flows import FlowNetwork, log_pf_of
from sudoku_agents.gflownet.orders import Order, forward_masks
from sudoku_agents.gflownet.trajectories import sample_from_logits
from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.checks import check_not_negative
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
        temperature: 0 takes the likeliest placement; T > 0 draws from P_F ** (1 / T), normalized.
        threshold: without drawing, see `NetworkPolicy`; a number only for networks whose logits
            say how likely each placement is to be right, as maximum likelihood makes them.
        restarts: see `NetworkPolicy`; for boards with one solution, since further starts end at
            one of several.
        order: in which the network was trained, see `orders`; "any" plays over the whole mask.
    """

    def __init__(
        self,
        network: FlowNetwork,
        temperature: float = 0.0,
        threshold: float | None = None,
        restarts: Restarts = NO_RESTARTS,
        order: Order = "any",
    ) -> None:
        super().__init__(network, threshold=threshold, restarts=restarts)
        self.temperature = temperature
        check_not_negative(self, "temperature")
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
        if not self.temperature:
            return super().choose(boards, masks, games)
        log_pf = self._log_policy(boards, masks, super()._read_games(boards, masks, games)[0])
        return sample_from_logits(log_pf / self.temperature, log_pf > -np.inf, self._rng)

    def placement_probabilities(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """Return P_F of each placement, float32 `[B, N**3]`."""
        logits = self._read(boards, masks, self.restarts).outputs[self.head]
        return np.exp(self._log_policy(boards, masks, logits))

    def _read_games(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], games: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        scores, is_trusted = super()._read_games(boards, masks, games)
        allowed = self._in_order(boards, masks)
        return np.where(allowed, scores, np.float32(-np.inf)), is_trusted

    def _log_policy(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], logits: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return log P_F float32 `[B, N**3]` of logits, -inf where the order allows nothing."""
        allowed = torch.from_numpy(self._in_order(boards, masks))
        log_pf: NDArray[np.float32] = log_pf_of(torch.from_numpy(logits), allowed).numpy()
        return log_pf

    def _in_order(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which of the legal placements the order allows; all if none of them."""
        if self._order == "any":
            return masks
        allowed = masks & forward_masks(boards, self.geometry, self._order).allowed
        return np.where(allowed.any(1, keepdims=True), allowed, masks)


def load(
    folder: str | os.PathLike[str] = _PRETRAINED,
    temperature: float = 0.0,
    rounds: int | None = None,
    threshold: float | None = None,
    restarts: int | None = None,
    noise: float | None = None,
) -> GFlowNetPolicy:
    """Make a policy of a checkpoint, or of the latest checkpoint of a run.

    Args:
        folder: folder of the checkpoint or run; by default the network of this package.
        temperature: see `GFlowNetPolicy`.
        rounds: most rounds of a recurrent body per evaluation, or of each of its starts; None: as
            in the checkpoint, with restarts at most 256.
        threshold: without drawing, all placements with a higher logit are played, the best first,
            before the next evaluation. None takes 1 after maximum likelihood, else none: each move
            has its own evaluation, as with 1e9.
        restarts: further starts of boards that have not converged, each of as many rounds. None
            takes 127 after maximum likelihood, else none: a start favours one of several solutions.
        noise: how far from the first a further start begins, see `Restarts`.

    Raises:
        ValueError: if there is no sound checkpoint in the folder, the network has no rounds or
            can't converge, or `threshold` is given together with a temperature.
    """
    if temperature and threshold is not None:
        raise ValueError(f"threshold={threshold}: placements that are drawn are drawn one by one")
    read = partial(config_from_json, kind=GFlowNetConfig)
    config, network = load_network(folder, read, _make, rounds=rounds)
    is_likelihood = config.loss.kind == "maximum-likelihood"
    if threshold is None and not temperature and is_likelihood:
        threshold = PLAY_THRESHOLD
    if restarts is None and not is_likelihood:
        restarts = 0
    starts = choose_starts(network, rounds, restarts, noise)
    return GFlowNetPolicy(network, temperature, threshold, starts, config.order)


def _make(config: GFlowNetConfig) -> FlowNetwork:
    return FlowNetwork(config.network, geometry_of_env(config.env))
