"""Updates of the network: batches of transitions from the replay, and the loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sudoku_agents.dqn.agent import HEAD
from sudoku_agents.dqn.config import DQNConfig
from sudoku_agents.dqn.replay import TransitionReplay, Transitions
from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.exact_cover import constraint_members
from sudoku_learning.networks import Network
from sudoku_learning.recurrent import RecurrentBatch, Segment


@dataclass(frozen=True)
class Targets:
    """Targets of the action values of B boards."""

    values: NDArray[np.float32]  # float32 `[B, N**3]`
    known: NDArray[np.bool_]  # bool `[B, N**3]`: the action played, or every legal placement
    all_known: NDArray[np.bool_]  # bool `[B]`: hindsight gave a target to every placement


def compute_targets(
    transitions: Transitions,
    network: Network,
    target_network: Network,
    geometry: Geometry,
    config: DQNConfig,
) -> Targets:
    """Return the targets of a batch of transitions.

    The network under training chooses the placements of later boards, and the target network gives
    their values (double Q-learning).
    """
    count, size = len(transitions), geometry.size
    known = np.zeros((count, size**3), np.bool_)
    known[np.arange(count), transitions.actions] = True
    backed_up = transitions.returns.copy()
    is_solved = transitions.solutions.reshape(count, -1)[:, 0] > 0
    all_known = is_solved & config.targets.hindsight
    bootstrapped = np.flatnonzero(~all_known & (transitions.discounts > 0))
    if len(bootstrapped):
        values = board_values(
            transitions.next_boards[bootstrapped], network, target_network, geometry, config
        )
        backed_up[bootstrapped] += transitions.discounts[bootstrapped] * values
    targets = np.where(known, backed_up[:, None], np.float32(0))
    if all_known.any():
        digits = np.arange(1, size + 1, dtype=np.int8)
        is_right = transitions.solutions[all_known][..., None] == digits
        targets[all_known] = is_right.reshape(-1, size**3)
        known[all_known] = legal_placements(transitions.boards[all_known], geometry, config.actions)
    return Targets(targets, known, all_known)


def board_values(
    boards: NDArray[np.int8],
    network: Network,
    target_network: Network,
    geometry: Geometry,
    config: DQNConfig,
) -> NDArray[np.float32]:
    """Return the values of boards int8 `[B, N, N]`, float32 `[B]`; 0 where none can be solved."""
    masks = legal_placements(boards, geometry, config.actions)
    inputs = torch.from_numpy(boards), torch.from_numpy(masks), geometry
    with torch.no_grad():
        values = as_values(target_network(*inputs)[HEAD], config).numpy()
        chosen_by = as_values(network(*inputs)[HEAD], config).numpy()
    if config.targets.backup == "max":
        choice = np.where(masks, chosen_by, -np.inf).argmax(1)
        can_go_on = masks.any(1)
    else:
        choice, can_go_on = hardest_choice(boards, chosen_by, masks, geometry)
    chosen_values = values[np.arange(len(boards)), choice]
    return np.where(can_go_on, chosen_values, np.float32(0))


def hardest_choice(
    boards: NDArray[np.int8],
    values: NDArray[np.float32],
    masks: NDArray[np.bool_],
    geometry: Geometry,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Find the open constraint whose best placement has the lowest value.

    Args:
        boards: int8 `[B, N, N]`.
        values: float32 `[B, N**3]`.
        masks: bool `[B, N**3]`, the legal placements.
        geometry: the boards' geometry.

    Returns:
        The best placement of that constraint, int64 `[B]`, and whether every open constraint has
        one, bool `[B]`.
    """
    members = constraint_members(geometry)
    digits = np.arange(1, geometry.size + 1, dtype=np.int8)
    is_placed = (boards[..., None] == digits).reshape(len(boards), -1)
    is_open = ~is_placed[:, members].any(2)  # [B, C]
    of_members = np.where(masks, values, -np.inf)[:, members]  # [B, C, N]
    best = np.where(is_open, of_members.max(2), np.inf)
    rows, hardest = np.arange(len(boards)), best.argmin(1)
    choice = members[hardest, of_members[rows, hardest].argmax(1)]
    return choice, best[rows, hardest] > -np.inf


def as_values(numbers: Tensor, config: DQNConfig) -> Tensor:
    """Turn the network's outputs into action values."""
    return torch.sigmoid(numbers) if config.values == "solvable" else numbers


LOSS_WEIGHT = 0.01  # of a placement with a target; the losses of a board's are summed
STAY_PROBABILITY = 0.5  # of a board whose values are right, for another segment
SOLVED_ERROR = 0.5  # a board is solved if every value with a target is nearer to it than this


class ReplayBatch(RecurrentBatch):
    """Boards of transitions drawn from the replay, under training.

    With `segments=1` every update draws a fresh batch; otherwise boards and recurrent states carry
    over. `boards` are int8 `[B, N, N]`, `masks` bool `[B, N**3]`.
    """

    def __init__(
        self,
        network: Network,
        target_network: Network,
        replay: TransitionReplay,
        geometry: Geometry,
        config: DQNConfig,
        rng: np.random.Generator,
    ) -> None:
        count, size = config.optimizer.batch_size, geometry.size
        super().__init__(count, config.updates.segments, STAY_PROBABILITY, rng)
        self._network = network
        self._target_network = target_network
        self._replay = replay
        self._geometry = geometry
        self._config = config
        self.boards = np.zeros((count, size, size), np.int8)
        self.masks = np.zeros((count, size**3), np.bool_)
        self.targets = Targets(
            np.zeros((count, size**3), np.float32),
            np.zeros((count, size**3), np.bool_),
            np.zeros(count, np.bool_),
        )
        self._actions = np.zeros(count, np.int64)
        self._replay_index = np.zeros(count, np.int64)
        self._free_rows = np.arange(count)

    def run_segment(self) -> Segment:
        """Fill free rows and run the network.

        The metrics are the loss, the mean absolute error, the mean value of the actions, and the
        share of boards with a target for every placement.
        """
        if len(self._free_rows):
            self._fill(self._free_rows)
        outputs, states = self._forward()
        losses = q_loss(outputs, self.targets, self._config)
        values = as_values(outputs[-1].detach(), self._config).numpy()
        known = self.targets.known
        errors = np.where(known, np.abs(values - self.targets.values), np.float32(0))
        self._replay.set_priorities(self._replay_index, losses[-1].detach().numpy())
        loss = losses.mean()
        metrics = {
            "loss": loss.item(),
            "error": float(errors.sum() / known.sum()),
            "value": float(values[np.arange(len(values)), self._actions].mean()),
            "hindsight": float(self.targets.all_known.mean()),
        }
        return Segment(loss, values, errors.max(1) < SOLVED_ERROR, states, metrics)

    def replace(
        self, rows: NDArray[np.int64], outputs: NDArray[np.float32], is_solved: NDArray[np.bool_]
    ) -> None:
        """Free the rows; the next update fills them, by priorities that are up to date then."""
        self._free_rows = rows

    def _fill(self, rows: NDArray[np.int64]) -> None:
        """Put sampled transitions and their targets into some rows."""
        config, geometry = self._config, self._geometry
        drawn = self._replay.sample(len(rows), self._rng)
        transitions = self._replay[drawn]
        targets = compute_targets(
            transitions, self._network, self._target_network, geometry, config
        )
        self.boards[rows] = transitions.boards
        self.masks[rows] = legal_placements(transitions.boards, geometry, config.actions)
        self._actions[rows] = transitions.actions
        self._replay_index[rows] = drawn
        for name, column in vars(targets).items():
            getattr(self.targets, name)[rows] = column
        self._free_rows = rows[:0]

    def _forward(self) -> tuple[Tensor, list[object]]:
        """Return the outputs after each round, `[R, B, N**3]`, and the states."""
        boards, masks = torch.from_numpy(self.boards), torch.from_numpy(self.masks)
        if self._config.updates.segments == 1:  # no recurrent state: any body works
            outputs_by_head = self._network(boards, masks, self._geometry, all_rounds=True)
            return outputs_by_head[HEAD], [None] * len(self)
        features = self._network.body(
            boards, masks, self._geometry, all_rounds=True, recurrent_states=self.states
        )
        return self._network.heads[HEAD](features), features.recurrent_states


def q_loss(outputs: Tensor, targets: Targets, config: DQNConfig) -> Tensor:
    """Return the weighted loss of the placements with a target, of each round and board.

    Args:
        outputs: float32 `[R, B, N**3]`, the network's outputs after each round.
        targets: targets of the B boards.
        config: `values` decides between cross entropy (`solvable`) and Huber loss (`plain`).

    Returns:
        float32 `[R, B]`: `LOSS_WEIGHT` times the sum over the placements that have a target.
    """
    known = torch.from_numpy(targets.known)
    values = torch.where(known, outputs, 0.0)  # without the -1e9 of illegal placements
    target_values = torch.from_numpy(targets.values).expand_as(outputs)
    if config.values == "solvable":
        loss = functional.binary_cross_entropy_with_logits(values, target_values, reduction="none")
    else:
        loss = functional.smooth_l1_loss(values, target_values, reduction="none")
    return LOSS_WEIGHT * (loss * known).sum(-1)
