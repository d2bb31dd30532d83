"""The interface between learners and the training loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sudoku_gym.board.actions import Actions
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles.sources import Blanks

_GENERATOR = "torch_generator"
_Sample = TypeVar("_Sample")
_Sample_co = TypeVar("_Sample_co", covariant=True)


class RunGenerators:
    """The random generators of a run: `numpy`, and `torch` on the CPU."""

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
        """Continue from what `numbers` returned."""
        self.numpy.bit_generator.state = dict(numbers)

    def restore_tensors(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Continue from what `tensors` returned; return the others that it was kept with."""
        others = dict(tensors)
        self.torch.set_state(others.pop(_GENERATOR))
        return others


@dataclass(frozen=True)
class Progress:
    """Progress of a run at the start of an iteration."""

    iteration: int = 0
    """iterations done so far"""
    share: float = 0.0
    """share of the configured iterations done, in [0, 1]"""
    steps: int = 0
    """environment steps done so far"""


@dataclass(frozen=True)
class Report:
    """Results of one iteration of a learner."""

    steps: int
    """environment steps (supervised learners: positions seen); all curves run over their sum"""
    curves: dict[str, float] = field(default_factory=dict)
    """`{tag: value}`, tags as in `sudoku_curricula.curves`; a family adds its own"""
    columns: dict[str, str] = field(default_factory=dict)
    """`{head: text}`, what the console shows beside the common columns"""
    metrics: dict[str, tuple[int, int]] = field(default_factory=dict)
    """successes and trials that a schedule may ask for beside `completion`, e.g.
    `{"policy_accuracy": (240, 256)}`"""


@dataclass(frozen=True)
class LearnerState:
    """Everything a learner needs to continue, by the file that keeps it."""

    weights: dict[str, Tensor]
    """what playing needs: a network's `state_dict`, or tables"""
    tensors: dict[str, Tensor] = field(default_factory=dict)
    """what only learning needs: optimizers, target networks"""
    arrays: dict[str, NDArray[np.generic]] = field(default_factory=dict)
    """in numpy, a replay for example"""
    numbers: dict[str, Any] = field(default_factory=dict)
    """whatever fits in JSON"""


class Learner(Protocol):
    """Interface of a learner."""

    metrics: tuple[str, ...] = ()
    """those its reports hold beside `completion`, which held-out games measure"""
    actions: Actions = "legal"
    """the placements that its games allow, and held-out games too"""

    def learn(self, blanks: Blanks, random: RunGenerators, progress: Progress) -> Report:
        """Do one iteration on puzzles with `blanks`; all random numbers come from `random`."""
        ...

    def policy(self) -> Policy:
        """Return the greedy policy as it is now, for held-out games."""
        ...

    def state(self) -> LearnerState:
        """Return everything that `restore` needs to continue to the bit."""
        ...

    def restore(self, state: LearnerState) -> None:
        """Restore the state of a learner with the same configuration; ValueError if it differs."""


@dataclass(frozen=True)
class SamplingTask:
    """A share of an iteration's sampling."""

    games: int
    blanks: Blanks  # numbers of blanks of the puzzles
    seed: tuple[int, int]  # of everything random in the task
    env: str | None = None  # another than the run's, for learners that draw from several


class Worker(Protocol[_Sample_co]):
    """Runs tasks with given weights; on Ray each worker has its own process."""

    def sample(self, weights: Mapping[str, Tensor], task: SamplingTask) -> _Sample_co:
        """Run a task with these weights; all random numbers come from the seed of the task."""
        ...


class Sampler(Generic[_Sample]):
    """Runs tasks one by one in this process, with the worker that `make_worker` makes."""

    def __init__(self, make_worker: Callable[[], Worker[_Sample]]) -> None:
        self._worker = make_worker()

    def sample(self, weights: Mapping[str, Tensor], tasks: Sequence[SamplingTask]) -> list[_Sample]:
        """Run the tasks; return their samples in the order of the tasks."""
        return [self._worker.sample(weights, task) for task in tasks]
