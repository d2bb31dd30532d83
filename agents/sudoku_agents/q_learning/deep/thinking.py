"""Boards under training, with what the network remembers of each.

A recurrent network learns to think for longer than it is trained at once if an update may go on
where the last one on the same board stopped. So a board stays until its values are right, or it has
had its segments; see `sudoku_learning.recurrent`, where this comes from.
With one segment every batch is a new one, as in any deep Q-learning.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.q_learning.deep.config import DQNConfig
from sudoku_agents.q_learning.deep.replay import Batch
from sudoku_agents.q_learning.deep.targets import Targets
from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks.factor_graph import RecurrentState


class Thinking:
    """B boards from the replay, each replaced when it is done.

    Args:
        config: how many boards, how many segments, and the weights of the losses.
        geometry: the boards' units.

    Attributes:
        boards: int8 `[B, N, N]`.
        masks: bool `[B, N**3]`, the legal placements.
        actions: int64 `[B]`, the moves.
        index: int64 `[B]`, where the replay keeps them.
        weights: float32 `[B]`, of the losses.
        targets: what the values should be.
        recurrent_states: of the network on each board; None where it begins.
    """

    def __init__(self, config: DQNConfig, geometry: Geometry) -> None:
        self._config = config
        self._geometry = geometry
        count, size = config.updates.batch_size, geometry.size
        self.boards = np.zeros((count, size, size), np.int8)
        self.masks = np.zeros((count, size**3), np.bool_)
        self.actions = np.zeros(count, np.int64)
        self.index = np.zeros(count, np.int64)
        self.weights = np.zeros(count, np.float32)
        self.targets = Targets(
            np.zeros((count, size**3), np.float32),
            np.zeros((count, size**3), np.bool_),
            np.zeros(count, np.bool_),
        )
        self.recurrent_states: list[RecurrentState | None] = [None] * count
        self._age = np.zeros(count, np.int64)
        self._is_done = np.ones(count, np.bool_)

    @property
    def goes_on(self) -> bool:
        """Whether a board may have more than one segment."""
        return self._config.updates.segments > 1

    @property
    def vacant(self) -> NDArray[np.int64]:
        """The rows whose boards are done: int64."""
        return np.flatnonzero(self._is_done)

    def begin(self, rows: NDArray[np.int64], batch: Batch, targets: Targets) -> None:
        """Put new moves with their targets into some rows."""
        moves = batch.moves
        self.boards[rows] = moves.boards
        self.masks[rows] = legal_placements(moves.boards, self._geometry, self._config.actions)
        self.actions[rows] = moves.actions
        self.index[rows] = batch.index
        scale = np.where(targets.is_told, 0.01, self._config.updates.move_weight)
        self.weights[rows] = scale * batch.weights
        self.targets.values[rows] = targets.values
        self.targets.known[rows] = targets.known
        self.targets.is_told[rows] = targets.is_told
        self._age[rows] = 0

    def advance(
        self, values: NDArray[np.float32], states: list[RecurrentState], rng: np.random.Generator
    ) -> NDArray[np.float32]:
        """Take in what the network said last, and see which boards are done.

        Args:
            values: float32 `[B, N**3]`.
            states: its recurrent state on each board; empty if nothing goes on.
            rng: decides which boards linger.

        Returns:
            The differences between values and targets, absolute, float32 `[B, N**3]`; 0 where there
            is no target.
        """
        updates = self._config.updates
        self._age += 1
        known = self.targets.known
        errors = np.where(known, np.abs(values - self.targets.values), np.float32(0))
        is_right = (errors < 0.5).all(1)
        leaves = is_right & (rng.random(len(values)) >= updates.linger)
        self._is_done = leaves | (self._age >= updates.segments)
        if self.goes_on:
            pairs = zip(self._is_done, states, strict=True)
            self.recurrent_states = [None if done else state for done, state in pairs]
        return errors
