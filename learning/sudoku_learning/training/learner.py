"""What a family of learners supplies: the one thing that differs between training runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sudoku_gym.policies import Policy
from sudoku_gym.puzzles.sources import Blanks

_GENERATOR = "torch_generator"


class Random:
    """The random numbers of a run: one generator of numpy's and one of torch's.

    Args:
        seed: decides all they will ever yield.

    Attributes:
        numpy: for whatever is drawn in numpy.
        torch: for whatever is drawn in torch, on the CPU.
    """

    def __init__(self, seed: int) -> None:
        self.numpy = np.random.default_rng(seed)
        self.torch = torch.Generator().manual_seed(int(self.numpy.integers(2**63)))

    def numbers(self) -> dict[str, Any]:
        """Return the state of numpy's generator, fit for JSON."""
        return dict(self.numpy.bit_generator.state)

    def tensors(self) -> dict[str, Tensor]:
        """Return the state of torch's generator."""
        return {_GENERATOR: self.torch.get_state()}

    def restore_numbers(self, numbers: Mapping[str, Any]) -> None:
        """Continue from what `numbers` returned.

        Raises:
            ValueError: if it is another generator's, or none's.
        """
        self.numpy.bit_generator.state = dict(numbers)
        if self.numbers() != numbers:  # numpy cuts what is too large
            raise ValueError("it holds no state of numpy's generator")

    def restore_tensors(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Continue from what `tensors` returned; return the others that it was kept with.

        Raises:
            KeyError: if it is not among them.
            RuntimeError, TypeError: if it is no generator's.
        """
        others = dict(tensors)
        self.torch.set_state(others.pop(_GENERATOR))
        return others


@dataclass(frozen=True)
class Progress:
    """How far a run is when an iteration starts.

    Attributes:
        iteration: iterations done so far.
        share: of the configured iterations, in [0, 1].
        steps: environment steps done so far.
    """

    iteration: int = 0
    share: float = 0.0
    steps: int = 0


@dataclass(frozen=True)
class Report:
    """What one iteration of a learner did.

    Attributes:
        steps: environment steps (supervised learners: positions seen); all curves run over their
            sum.
        curves: `{tag: value}`, tags as in `sudoku_curricula.curves`; a family adds its own.
        columns: `{head: text}`, what the console shows beside the common columns.
        metrics: successes and trials that a schedule may ask for beside `completion`, e.g.
            `{"policy_accuracy": (240, 256)}`.
    """

    steps: int
    curves: dict[str, float] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class LearnerState:
    """Everything a learner needs to continue, sorted by where it is kept.

    Attributes:
        weights: what playing needs: a network's `state_dict`, or tables.
        tensors: what only learning needs: optimisers, target networks.
        arrays: in numpy, a replay for example.
        numbers: whatever fits in JSON.
    """

    weights: dict[str, Tensor]
    tensors: dict[str, Tensor] = field(default_factory=dict)
    arrays: dict[str, NDArray[np.generic]] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)


class Learner(Protocol):
    """Learns; `Training` does all the rest."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics its reports hold beside `completion`, which held-out games measure."""
        ...

    def start(self) -> object:
        """Get ready, e.g. start actors; called once before the first `learn`."""

    def close(self) -> None:
        """Give back what `start` took."""

    def learn(self, blanks: Blanks, random: Random, progress: Progress) -> Report:
        """Do one iteration on puzzles with so many blanks; all chance comes from `random`."""
        ...

    def policy(self) -> Policy:
        """Return the greedy policy as it is now, for held-out games."""
        ...

    def state(self) -> LearnerState:
        """Return everything that `restore` needs to continue to the bit."""
        ...

    def restore(self, state: LearnerState) -> None:
        """Continue from a state of an equal learner.

        Raises:
            ValueError: if it is another learner's.
        """
