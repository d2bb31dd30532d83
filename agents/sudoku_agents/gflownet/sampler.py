"""Sampling of trajectories by the forward policy, many in parallel."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.gflownet.config import GFlowNetConfig
from sudoku_agents.gflownet.flows import FlowNetwork
from sudoku_agents.gflownet.orders import ForwardMasks, Order
from sudoku_agents.gflownet.trajectories import Trajectories, rollout
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry, symmetry
from sudoku_gym.puzzles.sources import PuzzleSource
from sudoku_learning.networks import FactorGraphConfig
from sudoku_learning.training.sampling import SamplingTask

# mypy: disable-error-code="no-untyped-def"


class TrajectoryWorker:
    """Plays tasks with a network of its own; a `sudoku_learning.training.sampling.Worker`."""

    def __init__(self, config: GFlowNetConfig, source: PuzzleSource) -> None:
        self._config = config
        self._source = source
        self._network = FlowNetwork(config.network, source.geometry).eval()
        self._moves = config.augment and not isinstance(config.network, FactorGraphConfig)

    def sample(self, weights: Mapping[str, Tensor], task: SamplingTask) -> Trajectories:
        """Play from a task's puzzles, `repeats` times from each, with these weights."""
        self._network.load_state_dict(dict(weights))
        rng = np.random.default_rng(task.seed)
        geometry = self._source.geometry
        puzzles, _ = self._source.sample(task.games, task.blanks, rng)
        if self._moves:
            puzzles = symmetry.sample(geometry, len(puzzles), rng).apply(puzzles)
        puzzles = puzzles.repeat(self._config.repeats, axis=0)
        order, epsilon = self._config.order, self._config.epsilon
        return sample_trajectories(self._network, puzzles, geometry, order, rng, epsilon)


def sample_trajectories(
    network: FlowNetwork,
    puzzles: NDArray[np.int8],
    geometry: Geometry,
    order: Order,
    rng: np.random.Generator,
    epsilon: float = 0.0,
) -> Trajectories:
    """Draw a trajectory from each of the puzzles int8 `[G, N, N]`.

    With a chance of `epsilon` a placement is drawn uniformly.
    """

    def choose(
        rows: NDArray[np.int64], boards: NDArray[np.int8], masks: ForwardMasks
    ) -> NDArray[np.int64]:
        log_pf = network.log_policy(boards, masks, geometry)
        return sample_from_logits(log_pf, masks.allowed, rng, epsilon)

    return rollout(puzzles, geometry, order, choose)


def sample_from_logits(
    logits: NDArray[np.float32],
    masks: NDArray[np.bool_],
    rng: np.random.Generator,
    epsilon: float = 0.0,
) -> NDArray[np.int64]:
    """Draw from the softmax of logits float32 `[B, A]` where masks bool `[B, A]` are True.

    Each row has such a place. With a chance of `epsilon` all of them are equally likely.
    """
    return _draw(logits, masks, rng.random(len(logits)), epsilon)


@njit(cache=True)
def _draw(logits, masks, chances, epsilon):
    drawn = np.zeros(len(logits), np.int64)
    weights = np.empty(logits.shape[1], np.float64)
    for b in range(len(logits)):
        most = -np.inf
        for a in range(logits.shape[1]):
            if masks[b, a]:
                most = max(most, logits[b, a])
        chance = chances[b]
        is_uniform = chance < epsilon
        chance = chance / epsilon if is_uniform else (chance - epsilon) / (1 - epsilon)
        total = 0.0
        for a in range(logits.shape[1]):
            weights[a] = 0.0
            if masks[b, a]:
                weights[a] = 1.0 if is_uniform else np.exp(np.float64(logits[b, a]) - most)
                total += weights[a]
        left = chance * total
        for a in range(logits.shape[1]):
            if weights[a] > 0:
                drawn[b] = a
                left -= weights[a]
                if left < 0:
                    break
    return drawn
