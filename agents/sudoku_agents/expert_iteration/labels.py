"""Labels: puzzles that a worker's search has solved.

A full board without conflicts proves itself, and a puzzle has one solution, so it labels every
position on the way to it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.best_first_search import best_first_search
from sudoku_agents.best_first_search.solver import logits_function
from sudoku_agents.expert_iteration.config import ExpertIterationConfig
from sudoku_learning.networks import POLICY_AND_VALUE, Network
from sudoku_learning.training.environments import training_source
from sudoku_learning.training.sampling import Batch, SamplingTask


@dataclass(frozen=True)
class Labels(Batch):
    """Results of the search on puzzles of one environment."""

    puzzles: NDArray[np.int8]  # int8 `[M, N, N]`, those that were solved
    solutions: NDArray[np.int8]  # int8 `[M, N, N]`
    tried: int  # number of puzzles searched
    evaluations: int  # of the network, over all of these

    @property
    def solved(self) -> int:
        """Number of solved puzzles."""
        return len(self.puzzles)


NO_LABELS = Labels(np.zeros((0, 0, 0), np.int8), np.zeros((0, 0, 0), np.int8), 0, 0)


class SearchWorker:
    """Searches with a network of its own; a `sudoku_learning.training.sampling.Worker`."""

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
        found = best_first_search(puzzles, source.geometry, evaluate, self._config.search)
        solved = found.found > 0
        return Labels(
            puzzles[solved], found.solutions[solved], task.games, int(found.evaluations.sum())
        )
