"""Trajectories: from a puzzle, placement by placement, to a full board or a dead end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.gflownet.config import GFlowNetConfig
from sudoku_agents.gflownet.flows import FlowNetwork
from sudoku_agents.gflownet.orders import ForwardMasks, Order, forward_masks
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry, symmetry
from sudoku_gym.puzzles.sources import PuzzleSource
from sudoku_learning.networks import NO_RESTARTS, FactorGraphConfig, Restarts
from sudoku_learning.training.sampling import Batch, SamplingTask

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


# mypy: disable-error-code="no-untyped-def"


class TrajectoryWorker:
    """Plays tasks with a network of its own; a `sudoku_learning.training.sampling.Worker`."""

    def __init__(self, config: GFlowNetConfig, source: PuzzleSource) -> None:
        self._config = config
        self._source = source
        self._network = FlowNetwork(config.network, source.geometry).eval()
        # A body on the factor graph plays what a symmetry has moved in the same way.
        self._moves = not isinstance(config.network, FactorGraphConfig)

    def sample(self, weights: Mapping[str, Tensor], task: SamplingTask) -> Trajectories:
        """Play from a task's puzzles, `repeats` times from each, with these weights."""
        self._network.load_state_dict(dict(weights))
        rng = np.random.default_rng(task.seed)
        geometry = self._source.geometry
        puzzles, _ = self._source.sample(task.games, task.blanks, rng)
        if self._moves:
            puzzles = symmetry.sample(geometry, len(puzzles), rng).apply(puzzles)
        puzzles = puzzles.repeat(self._config.repeats, axis=0)
        config, network = self._config, self._network
        restarts = Restarts(config.restarts, seed=task.seed[0])
        given = network, puzzles, geometry, config.order, rng, config.epsilon
        return sample_trajectories(*given, restarts)


def sample_trajectories(
    network: FlowNetwork,
    puzzles: NDArray[np.int8],
    geometry: Geometry,
    order: Order,
    rng: np.random.Generator,
    epsilon: float = 0.0,
    restarts: Restarts = NO_RESTARTS,
) -> Trajectories:
    """Draw a trajectory from each of the puzzles int8 `[G, N, N]`.

    With a chance of `epsilon` a placement is drawn uniformly. Once a board of a trajectory has
    converged, the network is not asked again: the rest is drawn from what it said there. Puzzles
    have further starts, the boards after them have not.
    """
    logits = np.zeros((len(puzzles), geometry.num_placements), np.float32)
    converged = np.zeros(len(puzzles), np.bool_)

    def choose(
        rows: NDArray[np.int64], boards: NDArray[np.int8], masks: ForwardMasks
    ) -> NDArray[np.int64]:
        asked = np.flatnonzero(~converged[rows])
        starts = restarts if np.array_equal(boards, puzzles) else NO_RESTARTS
        found = network.read(boards[asked], masks.take(asked), geometry, starts)
        logits[rows[asked]], converged[rows[asked]] = found
        log_marginals = -np.logaddexp(np.float32(0), -logits[rows])
        return sample_from_logits(log_marginals, masks.allowed, rng, epsilon)

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
