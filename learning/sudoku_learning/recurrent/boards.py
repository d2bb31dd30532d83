"""Boards under training, with what the network remembers of each.

A recurrent network learns to think for longer than it is trained at once: each update runs a
segment of rounds on every board, from where the last one stopped, and no gradient goes further
back (truncated backpropagation through time; deep supervision, since every round has its loss).
A board whose whole solution the network reads soon moves on, and so does one that has had all its
segments; hard boards stay, and are trained at every stage of thinking about them.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks.factor_graph.recurrent_state import RecurrentState

SURE = 3.0  # the logit from which a board that moves on has its placements made
MOST_REVEALED = 30 / 81  # of the cells


class Labelled(Protocol):
    """Puzzles of one geometry with their solutions, e.g. a `PuzzleSet`."""

    @property
    def geometry(self) -> Geometry:
        """The units of the boards."""

    @property
    def puzzles(self) -> NDArray[np.int8]:
        """The puzzles, int8 `[M, N, N]`, 0 for a blank."""

    @property
    def solutions(self) -> NDArray[np.int8]:
        """Their solutions, int8 `[M, N, N]`."""


class Thinking:
    """A fixed number of boards from a pool of labelled ones, each replaced when it is done.

    Args:
        pool: the labelled puzzles, at least one.
        count: how many boards.
        segments: how often a board may be thought about.
        linger: chance that a board that is read right stays for another segment.
        revealed: share of the boards that get some more cells of the solution at first.
        rng: draws them.

    Attributes:
        boards: int8 `[B, N, N]`.
        masks: bool `[B, N**3]`, the legal placements.
        right: bool `[B, N**3]`, those of the solution.
        recurrent_states: of the network on each board; None where it begins.
    """

    def __init__(
        self,
        pool: Labelled,
        count: int,
        segments: int,
        linger: float,
        revealed: float,
        rng: np.random.Generator,
    ) -> None:
        self._pool = pool
        self._segments = segments
        self._linger = linger
        self._revealed = revealed
        self._rng = rng
        size = pool.geometry.size
        self.boards = np.zeros((count, size, size), np.int8)
        self.masks = np.zeros((count, size**3), np.bool_)
        self.right = np.zeros((count, size**3), np.bool_)
        self.recurrent_states: list[RecurrentState | None] = [None] * count
        self._age = np.zeros(count, np.int64)
        self._solutions = np.zeros_like(self.boards)
        self._start(np.arange(count))

    def advance(self, logits: NDArray[np.float32], states: list[RecurrentState]) -> float:
        """Take in a segment: let boards move on that are read right, or have had their time.

        Args:
            logits: float32 `[B, N**3]`, of the last round.
            states: the network's recurrent state on each board.

        Returns:
            The share of the boards that are read right.
        """
        self._age += 1
        is_read = ((logits > 0) == self.right).all(1, where=self.masks)
        is_done = is_read & (self._rng.random(len(is_read)) >= self._linger)
        moves_on = is_done | (self._age >= self._segments)
        self.recurrent_states = [
            None if moves else state for moves, state in zip(moves_on, states, strict=True)
        ]
        rows = np.flatnonzero(moves_on)
        size = self.boards.shape[1]
        right = np.where(self.right[rows], logits[rows], -np.inf)
        least = np.where(is_read[rows], 0, np.minimum(SURE, right.max(1)))  # the best, at least
        row, placement = np.nonzero(right >= least[:, None])
        cells = self.boards.reshape(len(self.boards), -1)
        cells[rows[row], placement // size] = placement % size + 1
        is_full = (cells[rows] > 0).all(1)
        self._start(rows[is_full])
        self._look(rows[~is_full])
        return float(is_read.mean())

    def _start(self, rows: NDArray[np.int64]) -> None:
        """Put new puzzles into some rows."""
        size, num_cells = self.boards.shape[1], self.boards.shape[1] ** 2
        drawn = self._rng.integers(len(self._pool.puzzles), size=len(rows))
        self._solutions[rows] = self._pool.solutions[drawn]
        for row, puzzle in zip(rows, self._pool.puzzles[drawn], strict=True):
            cells = puzzle.ravel().copy()
            blank = np.flatnonzero(cells == 0)
            if self._rng.random() < self._revealed:
                most = min(len(blank) - 1, int(MOST_REVEALED * num_cells))
                count = int(self._rng.integers(most + 1))
                shown = self._rng.choice(blank, count, replace=False)
                cells[shown] = self._solutions[row].ravel()[shown]
            self.boards[row] = cells.reshape(size, size)
        self._look(rows)

    def _look(self, rows: NDArray[np.int64]) -> None:
        """See what is legal on boards that have changed, and what of it is right."""
        if len(rows):
            geometry = self._pool.geometry
            self._age[rows] = 0
            self.masks[rows] = board.candidates(self.boards[rows], geometry).reshape(len(rows), -1)
            digits = np.arange(1, geometry.size + 1, dtype=np.int8)
            is_digit = self._solutions[rows][..., None] == digits
            self.right[rows] = is_digit.reshape(len(rows), -1) & self.masks[rows]
