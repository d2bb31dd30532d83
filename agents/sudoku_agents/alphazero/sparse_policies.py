"""Policies that store only the actions with a share, one position after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class SparsePolicies:
    """M policies over the N**3 placements: compressed sparse rows.

    A dense row of a 16x16 board has 4,096 entries, of which a search gives a share to some dozens
    (PUCT) or hundreds (Gumbel).

    Attributes:
        offsets: int64 `[M + 1]`; policy m has the entries from `offsets[m]` to `offsets[m + 1]`.
        actions: uint16 `[K]`, rising within a policy.
        shares: float32 `[K]`, positive; those of a policy sum to 1.
    """

    offsets: NDArray[np.int64]
    actions: NDArray[np.uint16]
    shares: NDArray[np.float32]

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
        """Return the policies of all parts, one after the other; there is at least one part."""
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        return cls(
            np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
            np.concatenate([part.actions for part in parts]),
            np.concatenate([part.shares for part in parts]),
        )
