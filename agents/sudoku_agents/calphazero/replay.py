"""The positions of the latest self-play, and batches drawn from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_learning.training.sampling import Batch


@dataclass(frozen=True)
class SparsePolicies:
    """M policies over the N**3 placements: compressed sparse rows.

    A dense row of a 16x16 board has 4,096 entries, of which a search gives a share to some dozens
    (PUCT) or hundreds (Gumbel).
    """

    offsets: NDArray[np.int64]  # int64 `[M + 1]`; policy m is `offsets[m]:offsets[m + 1]`
    actions: NDArray[np.uint16]  # uint16 `[K]`, rising within a policy
    shares: NDArray[np.float32]  # float32 `[K]`, positive; those of a policy sum to 1

    @classmethod
    def of(cls, policies: NDArray[np.float32]) -> SparsePolicies:
        """Take what is above 0 of dense policies float32 `[M, N**3]`."""
        rows, actions = np.nonzero(policies)
        offsets = np.zeros(len(policies) + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=len(policies)), out=offsets[1:])
        return cls(offsets, actions.astype(np.uint16), policies[rows, actions])

    def dense(self, num_actions: int) -> NDArray[np.float32]:
        """Return them as float32 `[M, num_actions]`."""
        policies = np.zeros((len(self), num_actions), np.float32)
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        policies[rows, self.actions] = self.shares
        return policies

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: NDArray[np.integer] | slice) -> SparsePolicies:
        """Return some of the policies."""
        starts, lengths = self.offsets[:-1][index], np.diff(self.offsets)[index]
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        entries = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        return SparsePolicies(offsets, self.actions[entries], self.shares[entries])

    @classmethod
    def concatenate(cls, parts: Sequence[SparsePolicies]) -> SparsePolicies:
        """Return the policies of all parts, at least one, as one."""
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        return cls(
            np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
            np.concatenate([part.actions for part in parts]),
            np.concatenate([part.shares for part in parts]),
        )


@dataclass(frozen=True)
class Positions(Batch):
    """M positions of self-play: the triples (s, p_s, r) of cAlphaZero, section 4.2."""

    boards: NDArray[np.int8]  # int8 `[M, N, N]`
    policies: SparsePolicies  # the search's improved policy p_s at each board
    returns: NDArray[np.float32]  # float32 `[M]`, the reward r at the end of the game
    solutions: NDArray[np.int8]  # int8 `[M, N, N]`, which proved the game won; else zeros


class PositionReplay:
    """Keeps the positions of the latest `iterations`."""

    def __init__(self, iterations: int) -> None:
        self._iterations = iterations
        self._parts: list[Positions] = []

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def add(self, positions: Positions) -> None:
        """Add an iteration's positions and forget those that are too old."""
        self._parts = [*self._parts, positions][-self._iterations :]

    def all(self) -> Positions:
        """Return every position kept, oldest first."""
        return Positions.concatenate(self._parts)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return everything that `restore` needs."""
        whole = self.all()
        return {
            "sizes": np.array([len(part) for part in self._parts], np.int64),
            "boards": whole.boards,
            "offsets": whole.policies.offsets,
            "actions": whole.policies.actions,
            "shares": whole.policies.shares,
            "returns": whole.returns,
            "solutions": whole.solutions,
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the arrays of another replay."""
        policies = SparsePolicies(arrays["offsets"], arrays["actions"], arrays["shares"])
        whole = Positions(arrays["boards"], policies, arrays["returns"], arrays["solutions"])
        ends = np.cumsum(arrays["sizes"])
        self._parts = [
            whole[end - length : end] for length, end in zip(arrays["sizes"], ends, strict=True)
        ]
