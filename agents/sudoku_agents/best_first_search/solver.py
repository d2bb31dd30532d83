"""The best-first search with a network's policy, as a solver."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.best_first_search.search import (
    BestFirstConfig,
    BestFirstResult,
    LogitsFunction,
    best_first_search,
)
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import ModelCard
from sudoku_learning.networks import NO_RESTARTS, Network, Restarts, evaluate_boards


class BestFirstSolver:
    """Solves boards by the best-first search with a network's head `policy`: a `sudoku_gym.Solver`.

    Args:
        network: put in evaluation mode.
        config: the settings of the search.
        restarts: further starts of boards that have not converged, in evaluations with all rounds.

    Raises:
        ValueError: if there are restarts, but the network can't converge.
    """

    def __init__(
        self, network: Network, config: BestFirstConfig, restarts: Restarts = NO_RESTARTS
    ) -> None:
        network.check_restarts(restarts)
        self.network = network.eval()
        self.config = config
        self.restarts = restarts

    @property
    def model_card(self) -> ModelCard:
        """What stands beside its figures."""
        return self.network.model_card("search", restarts=self.restarts)

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Return completed boards, int8 `[B, N, N]`, all zeros where it found none."""
        return self.search(puzzles, geometry).solutions

    def search(
        self, puzzles: NDArray[np.int8], geometry: Geometry, limit: int = 1
    ) -> BestFirstResult:
        """Search for up to `limit` solutions, see `best_first_search`."""
        network, fast = self.network, None
        if network.can_converge:
            fast = logits_function(network, geometry, network.body.segments()[0])
        evaluate = logits_function(network, geometry, restarts=self.restarts)
        return best_first_search(puzzles, geometry, evaluate, self.config, limit, fast)


def logits_function(
    network: Network,
    geometry: Geometry,
    rounds: int | None = None,
    restarts: Restarts = NO_RESTARTS,
) -> LogitsFunction:
    """Return a network's head `policy` as a best-first search calls it.

    `rounds` of a start of a network that can converge, at most, are by default those it is set to.
    """

    def evaluate(boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        reading = evaluate_boards(network, boards, masks, geometry, ["policy"], rounds, restarts)
        return reading.outputs["policy"]

    return evaluate
