"""Trajectories: from a puzzle, placement by placement, to a full board or a dead end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.gflownet.orders import ForwardMasks, Order, forward_masks
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.geometry import Geometry
from sudoku_learning.training.sampling import Batch

ChooseActions: TypeAlias = Callable[
    [NDArray[np.int64], NDArray[np.int8], ForwardMasks], NDArray[np.int64]
]
"""Chooses placements int64 `[B]`, given the indices int64 `[B]` of the running trajectories, their
boards int8 `[B, N, N]` and masks."""


@dataclass(frozen=True)
class Trajectories(Batch):
    """G trajectories of at most T steps."""

    puzzles: NDArray[np.int8]  # int8 `[G, N, N]`, where they begin
    actions: NDArray[np.int16]  # int16 `[G, T]`, the placements; -1 after the end

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The number of steps of each, int64 `[G]`."""
        return (self.actions >= 0).sum(1, dtype=np.int64)

    @cached_property
    def blanks(self) -> NDArray[np.int64]:
        """The number of blanks of each puzzle, int64 `[G]`."""
        return (self.puzzles == 0).sum((1, 2), dtype=np.int64)

    @cached_property
    def solved(self) -> NDArray[np.bool_]:
        """Whether each one ends at a full board, bool `[G]`; each placement was legal."""
        return self.lengths == self.blanks

    @cached_property
    def terminal_boards(self) -> NDArray[np.int8]:
        """The boards at which they end, int8 `[G, N, N]`."""
        return self._final_boards()[0].reshape(self.puzzles.shape)

    def states(self) -> tuple[NDArray[np.int8], NDArray[np.int64], NDArray[np.int64]]:
        """Return every board at which a placement was made, trajectory by trajectory.

        Returns:
            Boards int8 `[S, N, N]`, the trajectory int64 `[S]` and the step int64 `[S]` of each.
        """
        ends, step_of_cell = self._final_boards()
        owners, steps = np.nonzero(self.actions >= 0)
        is_filled = step_of_cell[owners] < steps[:, None]
        boards = np.where(is_filled, ends[owners], np.int8(0))
        return boards.reshape(-1, *self.puzzles.shape[1:]), owners, steps

    def _final_boards(self) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """Return the last boards, and the step that filled each cell: -1 for givens, else T."""
        size = self.puzzles.shape[1]
        ends = self.puzzles.reshape(len(self), size * size).copy()
        step_of_cell = np.where(ends > 0, -1, self.actions.shape[1])
        owners, steps = np.nonzero(self.actions >= 0)
        cells, digits = np.divmod(self.actions[owners, steps], size)
        ends[owners, cells] = digits + 1
        step_of_cell[owners, cells] = steps
        return ends, step_of_cell

    @classmethod
    def concatenate(cls, parts: Sequence[Trajectories]) -> Trajectories:
        """Return the trajectories of all parts, padded to the longest."""
        longest = max(part.actions.shape[1] for part in parts)
        actions = [
            np.pad(part.actions, ((0, 0), (0, longest - part.actions.shape[1])), constant_values=-1)
            for part in parts
        ]
        return cls(np.concatenate([part.puzzles for part in parts]), np.concatenate(actions))


def rollout(
    puzzles: NDArray[np.int8], geometry: Geometry, order: Order, choose: ChooseActions
) -> Trajectories:
    """Play from puzzles int8 `[G, N, N]` until all trajectories have ended, in parallel."""
    boards = puzzles.copy()
    cells = boards.reshape(len(boards), geometry.num_cells)
    longest = int((cells == 0).sum(1).max(initial=0))
    actions = np.full((len(boards), longest), -1, np.int16)
    running = np.arange(len(boards))
    for step in range(longest):
        masks = forward_masks(boards[running], geometry, order)
        goes_on = np.flatnonzero(masks.num_allowed)
        running = running[goes_on]
        if not len(running):
            break
        chosen = choose(running, boards[running], masks.take(goes_on))
        actions[running, step] = chosen
        cell, digit = np.divmod(chosen, geometry.size)
        cells[running, cell] = digit + 1
    return Trajectories(puzzles, actions)


def sample_backward_trajectories(
    puzzles: NDArray[np.int8],
    solutions: NDArray[np.int8],
    geometry: Geometry,
    order: Order,
    rng: np.random.Generator,
) -> Trajectories:
    """Draw trajectories that lead from puzzles to solutions, from the backward policy.

    Without an order each order of the placements is as likely as the others; in a tree there is
    one. Both `puzzles` and `solutions` are int8 `[G, N, N]`.
    """
    digits = np.arange(1, geometry.size + 1, dtype=np.int8)
    right = (solutions[..., None] == digits).reshape(len(solutions), -1)

    def choose(
        rows: NDArray[np.int64], boards: NDArray[np.int8], masks: ForwardMasks
    ) -> NDArray[np.int64]:
        return sample_actions(masks.allowed & right[rows], rng)

    return rollout(puzzles, geometry, order, choose)
