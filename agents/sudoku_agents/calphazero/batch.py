"""The positions of self-play as a batch under training, and the loss: equation 5 of cAlphaZero."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sudoku_agents.calphazero.config import CAlphaZeroConfig
from sudoku_agents.calphazero.self_play import Positions
from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry, symmetry
from sudoku_learning.networks import Network
from sudoku_learning.networks.factor_graph import FactorGraphBody
from sudoku_learning.recurrent import RecurrentBatch, Segment

STAY_PROBABILITY = 0.5  # of a position whose solution the network reads, for another segment
MOST_REVEALED = 0.6  # largest share of the blanks


class SelfPlayBatch(RecurrentBatch):
    """Positions drawn with replacement; `rng` draws them, symmetries, and what is revealed.

    Where the search has met a solved board, the policy to learn is the network's own among the
    placements of that board, as `SearchOutput.action_weights` says it; else those weights.
    """

    def __init__(
        self,
        network: Network,
        positions: Positions,
        geometry: Geometry,
        config: CAlphaZeroConfig,
        rng: np.random.Generator,
    ) -> None:
        count, actions = config.optimizer.batch_size, geometry.num_placements
        super().__init__(count, config.segments, STAY_PROBABILITY, rng)
        self._network, self._positions = network, positions
        self._geometry, self._config = geometry, config
        self._boards = np.zeros((count, geometry.size, geometry.size), np.int8)
        self._masks = np.zeros((count, actions), np.bool_)
        self._policies = np.zeros((count, actions), np.float32)  # zeros where it is ruled out
        self._wins = np.zeros((count, actions), np.bool_)  # placements of the solved board
        self._returns = np.zeros(count, np.float32)
        self._draw(np.arange(count))

    def run_segment(self) -> Segment:
        """Run the network; the metrics are the terms of the loss, and the policy's accuracy.

        `accuracy` is the share of first choices that are (among) the search's, Algorithm 1's alpha.
        """
        network, weights = self._network, self._config.loss
        boards, masks, wins = map(torch.from_numpy, (self._boards, self._masks, self._wins))
        states: list[object] = list(self.states)
        if isinstance(network.body, FactorGraphBody):
            features = network.body(
                boards, masks, self._geometry, all_rounds=True, recurrent_states=self.states
            )
            found = {name: head(features) for name, head in network.heads.items()}
            states = features.recurrent_states
        else:
            found = network(boards, masks, self._geometry, all_rounds=True)
        logits, is_won = found["policy"], wins.any(1, keepdim=True)
        among = torch.softmax(logits.detach().masked_fill(~(wins | ~is_won), -torch.inf), -1)
        policies = torch.where(is_won, among, torch.from_numpy(self._policies))
        returns = torch.from_numpy(self._returns)
        value, policy, entropy = losses(logits, found["value"], policies, returns)
        loss = weights.value_weight * value + policy - weights.entropy_weight * entropy
        if weights.placement_weight:
            single = functional.binary_cross_entropy_with_logits(
                logits, wins.to(logits.dtype).expand_as(logits), reduction="none"
            )
            single = (single * (masks & is_won)).sum(-1).mean() / 100
            loss = loss + weights.placement_weight * single
        last, best = logits[-1].detach().numpy(), policies.reshape(-1, *masks.shape)[-1].numpy()
        rows, taught = np.arange(len(self)), best.any(1)
        agrees = (best[rows, last.argmax(1)] == best.max(1)) | self._wins[rows, last.argmax(1)]
        metrics = {
            "policy": policy.item(),
            "value": value.item(),
            "entropy": entropy.item(),
            "accuracy": float(agrees[taught].mean()) if taught.any() else 0.0,
        }
        is_read = ((last > 0) == self._wins).all(1, where=self._masks) | ~self._wins.any(1)
        return Segment(loss, last, is_read, states, metrics)

    def replace(
        self, rows: NDArray[np.int64], outputs: NDArray[np.float32], is_solved: NDArray[np.bool_]
    ) -> None:
        """Draw other positions."""
        self._draw(rows)

    def _draw(self, rows: NDArray[np.int64]) -> None:
        config, rng, geometry = self._config, self._rng, self._geometry
        part = self._positions[rng.integers(len(self._positions), size=len(rows))]
        boards, solutions = part.boards, part.solutions
        policies = part.policies
        if config.augment:
            moved_by = symmetry.sample(geometry, len(rows), rng)
            boards, solutions = moved_by.apply(boards), moved_by.apply(solutions)
            policies = moved_by.apply_to_policy(policies)
        is_won = np.asarray(solutions.any((1, 2)))
        if config.revealed:
            share = (
                MOST_REVEALED * rng.random(len(rows)) * (rng.random(len(rows)) < config.revealed)
            )
            shown = rng.random(boards.shape) < share[:, None, None]
            played = np.where(shown & is_won[:, None, None], solutions, boards)
            boards = np.where((played == 0).any((1, 2), keepdims=True), played, boards)
        masks = legal_placements(boards, geometry, config.search.actions)
        digits = np.arange(1, geometry.size + 1, dtype=np.int8)
        wins = (solutions[..., None] == digits).reshape(masks.shape) & masks
        wrong = masks & ~wins
        lost = is_won & wrong.any(1) & (rng.random(len(rows)) < config.ruled_out)
        if lost.any():
            cells, digits = np.divmod((rng.random(masks.shape) * wrong).argmax(1), geometry.size)
            boards = boards.copy()
            boards.reshape(len(rows), -1)[lost, cells[lost]] = digits[lost] + 1
            masks[lost] = legal_placements(boards[lost], geometry, config.search.actions)
            wins[lost], policies[lost] = False, 0
        self._boards[rows], self._masks[rows] = boards, masks | config.loss.every_action
        self._policies[rows], self._wins[rows] = policies, wins
        self._returns[rows] = np.where(lost, 0, part.returns)


def losses(
    logits: Tensor, values: Tensor, search_policy: Tensor, returns: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    r"""Return the three terms of the loss: squared error, cross entropy, and entropy of pi_s.

    $$\ell = \lambda (r - v_s)^2 - p_s^\top \log \pi_s + \xi\, \pi_s^\top \log \pi_s$$

    All are averaged over the batch and over any axes before it, such as rounds; the caller weights
    and adds them. Source: cAlphaZero (Agarwal et al.), equation 5.

    Args:
        logits: float32 `[..., B, A]`, of pi_s; far below the others where illegal.
        values: float32 `[..., B]`, v_s.
        search_policy: float32 `[..., B, A]` or `[B, A]`, p_s.
        returns: float32 `[B]`, r.
    """
    log_policy = torch.log_softmax(logits, -1)
    value_loss = (returns - values).square().mean()
    policy_loss = -(search_policy * log_policy).sum(-1).mean()
    entropy = -(log_policy.exp() * log_policy).sum(-1).mean()
    return value_loss, policy_loss, entropy
