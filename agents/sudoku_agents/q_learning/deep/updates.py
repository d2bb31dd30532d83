"""The updates of the network: a batch of moves from the replay, and the loss that they lower."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sudoku_agents.q_learning.deep.agent import HEAD
from sudoku_agents.q_learning.deep.config import DQNConfig
from sudoku_agents.q_learning.deep.replay import MoveReplay
from sudoku_agents.q_learning.deep.targets import Targets, as_values, targets_of
from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import Network
from sudoku_learning.recurrent import RecurrentBatch, Segment
from sudoku_learning.training import Optimiser

HINDSIGHT_WEIGHT = 0.01  # of a board whose placements all have a target: their losses are summed


class ReplayBatch(RecurrentBatch):
    """Boards of moves drawn from the replay; with one segment each update has a new batch.

    The target network gets the network's weights by soft updates. `importance` is beta of
    `MoveReplay.sample`. `boards` are int8 `[B, N, N]`, `masks` bool `[B, N**3]`.
    """

    def __init__(
        self,
        network: Network,
        target_network: Network,
        replay: MoveReplay,
        geometry: Geometry,
        config: DQNConfig,
        importance: float,
        rng: np.random.Generator,
    ) -> None:
        count, size = config.optimiser.batch_size, geometry.size
        super().__init__(count, config.updates.segments, config.updates.stay_probability, rng)
        self._network = network
        self._target_network = target_network
        self._replay = replay
        self._geometry = geometry
        self._config = config
        self._importance = importance
        self.boards = np.zeros((count, size, size), np.int8)
        self.masks = np.zeros((count, size**3), np.bool_)
        self.targets = Targets(
            np.zeros((count, size**3), np.float32),
            np.zeros((count, size**3), np.bool_),
            np.zeros(count, np.bool_),
        )
        self._actions = np.zeros(count, np.int64)
        self._index = np.zeros(count, np.int64)  # where the replay keeps them
        self._weights = np.zeros(count, np.float32)
        self._vacant = np.arange(count)

    def update(self, optimiser: Optimiser) -> dict[str, float]:
        """Do one update of the network, and a soft one of the target network."""
        figures = super().update(optimiser)
        soft_update(self._target_network, self._network, self._config.targets.polyak)
        return figures

    def run_segment(self) -> Segment:
        """Fill vacant rows and run the network.

        The figures are the loss, the mean absolute error and the mean value of the moves, and the
        share of boards with a target for every placement.
        """
        if len(self._vacant):
            self._fill(self._vacant)
        outputs, states = self._forward()
        loss = q_loss(outputs, self.targets, self._weights, self._config)
        values = as_values(outputs[-1].detach(), self._config).numpy()
        known = self.targets.known
        errors = np.where(known, np.abs(values - self.targets.values), np.float32(0))
        worst = errors.max(1)
        self._replay.set_errors(self._index, worst)
        figures = {
            "loss": loss.item(),
            "error": float(errors.sum() / known.sum()),
            "value": float(values[np.arange(len(values)), self._actions].mean()),
            "hindsight": float(self.targets.all_known.mean()),
        }
        return Segment(loss, values, worst < 0.5, states, figures)

    def replace(
        self, rows: NDArray[np.int64], outputs: NDArray[np.float32], is_solved: NDArray[np.bool_]
    ) -> None:
        """Leave the rows to the next update, which draws by the latest priorities."""
        self._vacant = rows

    def _fill(self, rows: NDArray[np.int64]) -> None:
        """Draw moves with their targets into some rows."""
        config, geometry = self._config, self._geometry
        drawn = self._replay.sample(len(rows), self._importance, self._rng)
        moves = drawn.moves
        targets = targets_of(moves, self._network, self._target_network, geometry, config)
        self.boards[rows] = moves.boards
        self.masks[rows] = legal_placements(moves.boards, geometry, config.actions)
        self._actions[rows] = moves.actions
        self._index[rows] = drawn.index
        scale = np.where(targets.all_known, HINDSIGHT_WEIGHT, config.updates.move_weight)
        self._weights[rows] = scale * drawn.weights
        for name, column in vars(targets).items():
            getattr(self.targets, name)[rows] = column
        self._vacant = rows[:0]

    def _forward(self) -> tuple[Tensor, list[object]]:
        """Return the outputs after each round, `[R, B, N**3]`, and the states."""
        boards, masks = torch.from_numpy(self.boards), torch.from_numpy(self.masks)
        if self._config.updates.segments == 1:  # any body will do
            found = self._network.forward_all_rounds(boards, masks, self._geometry)
            return found[HEAD], [None] * len(self)
        features = self._network.body(
            boards, masks, self._geometry, all_rounds=True, recurrent_states=self.states
        )
        return self._network.heads[HEAD](features), features.recurrent_states


def q_loss(
    outputs: Tensor, wanted: Targets, weights: NDArray[np.float32], config: DQNConfig
) -> Tensor:
    """Return the weighted loss of the placements with a target, averaged over rounds and boards.

    Args:
        outputs: float32 `[R, B, N**3]`, of the network after each round.
        wanted: the targets.
        weights: float32 `[B]`.
        config: `values` decides between cross entropy (`solvable`) and Huber's loss (`plain`).
    """
    known, targets = torch.from_numpy(wanted.known), torch.from_numpy(wanted.values)
    # The -1e9 of illegal placements is left out.
    given = torch.where(known, outputs, 0.0), targets.expand_as(outputs)
    if config.values == "solvable":
        each = functional.binary_cross_entropy_with_logits(*given, reduction="none")
    else:
        each = functional.smooth_l1_loss(*given, reduction="none")
    return ((each * known).sum(-1) * torch.from_numpy(weights)).mean()


def soft_update(target_network: Network, network: Network, share: float) -> None:
    """Move the weights of the target network towards the network's by a share of the way."""
    with torch.no_grad():
        for behind, ahead in zip(target_network.parameters(), network.parameters(), strict=True):
            behind.lerp_(ahead, share)
