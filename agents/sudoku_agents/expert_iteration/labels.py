"""Labels: puzzles that the search has solved, by a worker that searches, in a pool that grows.

A full board without conflicts is its own proof, so nobody has to be asked whether it is right. A
puzzle has one solution; hence it labels every position on the way to it too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.expert_iteration.config import ExpertIterationConfig
from sudoku_agents.retry_search import retry_search
from sudoku_agents.retry_search.solver import logits_function
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import POLICY_AND_VALUE, Network
from sudoku_learning.training.checkpoint import REPLAY
from sudoku_learning.training.environments import training_source
from sudoku_learning.training.sampling import SamplingTask


@dataclass(frozen=True)
class Labels:
    """What the search found out about M puzzles of one environment.

    Attributes:
        puzzles: int8 `[M, N, N]`, those that it solved.
        solutions: int8 `[M, N, N]`.
        tried: how many it was given.
        evaluations: of the network, over all that were tried.
    """

    puzzles: NDArray[np.int8]
    solutions: NDArray[np.int8]
    tried: int
    evaluations: int

    @property
    def solved(self) -> int:
        """How many it solved."""
        return len(self.puzzles)

    @classmethod
    def concatenate(cls, parts: Sequence[Labels]) -> Labels:
        """Return the labels of all parts, one after the other; there is at least one part."""
        return cls(
            np.concatenate([part.puzzles for part in parts]),
            np.concatenate([part.solutions for part in parts]),
            sum(part.tried for part in parts),
            sum(part.evaluations for part in parts),
        )


NO_LABELS = Labels(np.zeros((0, 0, 0), np.int8), np.zeros((0, 0, 0), np.int8), 0, 0)


class SearchWorker:
    """Searches with a network of its own; a `sudoku_learning.training.sampling.Worker`.

    Args:
        config: the environments and the search.
    """

    def __init__(self, config: ExpertIterationConfig) -> None:
        self._config = config
        self._sources = {env: training_source(env) for env in config.envs}
        self._network = Network(
            config.network, POLICY_AND_VALUE, self._sources[config.env].geometry
        ).eval()
        self._network.body.rounds = config.search_rounds

    def sample(self, weights: Mapping[str, Tensor], task: SamplingTask) -> Labels:
        """Search a task's puzzles with these weights."""
        self._network.load_state_dict(dict(weights))
        source = self._sources[task.env or self._config.env]
        rng = np.random.default_rng(task.seed)
        puzzles, _ = source.sample(task.games, task.blanks, rng)  # the solutions are not looked at
        evaluate = logits_function(self._network, source.geometry)
        found = retry_search(puzzles, source.geometry, evaluate, self._config.search)
        solved = found.found > 0
        return Labels(
            puzzles[solved], found.solutions[solved], task.games, int(found.evaluations.sum())
        )


class LabelPool:
    """The labelled puzzles of one environment.

    Args:
        geometry: of their boards.
    """

    KINDS = ("puzzles", "solutions")

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        size = geometry.size
        self.puzzles = np.zeros((0, size, size), np.int8)
        self.solutions = np.zeros((0, size, size), np.int8)

    def __len__(self) -> int:
        return len(self.puzzles)

    def add(self, labels: Labels) -> None:
        """Add what the search solved."""
        self.puzzles = np.concatenate([self.puzzles, labels.puzzles])
        self.solutions = np.concatenate([self.solutions, labels.solutions])

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return everything that `restore` needs."""
        return {"puzzles": self.puzzles, "solutions": self.solutions}

    def restore(self, arrays: Mapping[str, NDArray[Any]], name: str) -> None:
        """Take over the arrays of another pool.

        Args:
            arrays: what `arrays` returned.
            name: of the environment, for error messages.

        Raises:
            ValueError: if they are none, or do not fit the boards.
        """
        size = self.geometry.size
        length = len(np.atleast_1d(arrays["puzzles"]))
        for kind in self.KINDS:
            array = arrays[kind]
            if array.dtype != np.int8 or array.shape != (length, size, size):
                raise ValueError(
                    f"{REPLAY}: {kind} of {name} must be int8 {[length, size, size]}, not "
                    f"{array.dtype} {list(array.shape)}"
                )
        puzzles, solutions = arrays["puzzles"], arrays["solutions"]
        if length and not (0 <= puzzles.min() and 1 <= solutions.min() <= solutions.max() <= size):
            raise ValueError(f"{REPLAY}: boards of {name} hold other digits than 1 to {size}")
        if ((puzzles != 0) & (puzzles != solutions)).any():
            raise ValueError(f"{REPLAY}: a solution of {name} contradicts its puzzle")
        self.puzzles, self.solutions = puzzles, solutions
