"""Checkpoints of expert iteration as a policy: greedy, with a tree search, or best-first search."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from sudoku_agents.best_first_search import BestFirstConfig
from sudoku_agents.best_first_search.search import BestFirstSolver
from sudoku_agents.calphazero.policy import (
    CAlphaZeroPolicy,
    choose_starts,
    load_policy_and_value,
    make_policy,
)
from sudoku_agents.calphazero.search import SearchConfig
from sudoku_agents.expert_iteration.config import ExpertIterationConfig

PRETRAINED = Path(__file__).parent / "pretrained"
SEARCH_RESTARTS = 7
"""Further starts of the best-first search's first evaluation: boards that need more are mostly
those without a solution, which it refutes in less time than the starts take."""


def load(
    folder: str | os.PathLike[str] = PRETRAINED,
    search: Literal["best-first"] | None = None,
    evaluations: int = BestFirstConfig.evaluations,
    propagate: bool = BestFirstConfig.propagate,
    simulations: int = 0,
    rounds: int | None = None,
    threshold: float | None = None,
    restarts: int | None = None,
    noise: float | None = None,
) -> CAlphaZeroPolicy | BestFirstSolver:
    """Make a policy of a checkpoint, or of the latest checkpoint of a run.

    Args:
        folder: folder of the checkpoint or run; by default the network of this package.
        search: `"best-first"` makes a solver: the search goes on until the puzzle is solved. Its
            first evaluation of a board has the further starts, the later ones take one segment
            of the rounds.
        evaluations: limit of the best-first search for a puzzle, in network evaluations.
        propagate: whether the best-first search fills in naked and hidden singles before each
            evaluation. Proofs take a tenth of the evaluations or fewer with it; without it the
            network and the rules do all the work.
        simulations: simulations per move of a tree search (PUCT); 0 plays greedily without one.
        rounds: most rounds of each start of an evaluation, as for `calphazero`.
        threshold: without a search, all placements with a higher logit are played before the
            network is evaluated again; None takes that of the checkpoint's configuration.
        restarts: further starts of boards that have not converged; None takes 127, with a
            best-first search 7, with a tree search none.
        noise: how far from the first a further start begins, see `Restarts`.

    Raises:
        ValueError: if there is no sound checkpoint in the folder, or the options exclude each
            other or do not suit the network.
    """
    if search not in (None, "best-first"):
        raise ValueError(f"search must be 'best-first', not {search!r}")
    if search and simulations:
        raise ValueError("give simulations, for the tree search, or search='best-first', not both")
    if search and threshold is not None:
        raise ValueError(f"threshold={threshold}: a search does not play by the logit alone")
    if not search and (propagate, evaluations) != (False, BestFirstConfig.evaluations):
        raise ValueError("evaluations and propagate need the best-first search: search=best-first")
    config, network = load_policy_and_value(folder, ExpertIterationConfig, rounds)
    if search:
        starts = choose_starts(network, rounds, restarts, noise, SEARCH_RESTARTS)
        full = 1 if starts.count else BestFirstConfig.full_evaluations
        settings = BestFirstConfig(evaluations, full_evaluations=full, propagate=propagate)
        return BestFirstSolver(network, settings, starts)
    if threshold is None and not simulations:
        threshold = config.threshold
    tree = SearchConfig(simulations, reward="sparse") if simulations else None
    return make_policy(network, tree, rounds, threshold, restarts, noise)
