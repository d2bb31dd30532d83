"""Checkpoints of AlphaZero and of expert iteration as a policy: greedy, or with a search."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from sudoku_agents.alphazero.config import AlphaZeroConfig
from sudoku_agents.alphazero.policy import AlphaZeroPolicy
from sudoku_agents.alphazero.search import SearchConfig
from sudoku_agents.expert_iteration.config import ExpertIterationConfig
from sudoku_agents.retry_search import RetryConfig
from sudoku_agents.retry_search.solver import RetrySolver
from sudoku_gym.plugins import find_env
from sudoku_gym.storage.configs import from_json
from sudoku_learning.networks import POLICY_AND_VALUE, Network, Restarts
from sudoku_learning.training.environments import geometry_of_env
from sudoku_learning.training.weights import load_network

SEARCH_ROUNDS = 256  # of a tree search's evaluations, at most
DEFAULT_RESTARTS = 127
"""Further starts of boards that have not converged, in play without a search, and in the first
evaluation of a board by the retry search."""
START_ROUNDS = 256
"""Rounds of each start where boards start again: what converges at all mostly does so early, so
many short starts solve more than a few long ones, in fewer rounds."""
PRETRAINED_CALPHAZERO = Path(__file__).parent / "pretrained"


def load(
    folder: str | os.PathLike[str] = PRETRAINED_CALPHAZERO,
    simulations: int = 0,
    root: Literal["puct", "gumbel"] | None = None,
    backup: Literal["mean", "max"] | None = None,
    proofs: bool | None = None,
    most_visited: bool = False,
    search: Literal["retry"] | None = None,
    evaluations: int = RetryConfig.evaluations,
    propagate: bool = RetryConfig.propagate,
    rounds: int | None = None,
    threshold: float | None = None,
    restarts: int | None = None,
    noise: float | None = None,
) -> AlphaZeroPolicy | RetrySolver:
    """Make a policy of a checkpoint, or of the latest checkpoint of a run.

    Args:
        folder: folder of the checkpoint or run; by default the network of this package.
        simulations: simulations of the tree search per move; 0 plays greedily without one.
        root: selection rule at the root, see `SearchConfig`; None takes what the
            network was trained with.
        backup: backup rule of the tree search; None takes the one of training.
        proofs: whether the tree search proves moves; None takes what it was trained with.
        most_visited: play the move that the tree search visited most often, as the cAlphaZero paper
            does, also where the search has met a solved board.
        search: `"retry"` makes a solver: the retry search goes on until the puzzle is solved.
        evaluations: limit of the retry search for a puzzle, in network evaluations.
        propagate: whether the retry search fills in naked and hidden singles before each
            evaluation. Proofs take a tenth of the evaluations or fewer with it; without it the
            network and the rules do all the work.
        rounds: most rounds of a recurrent body per evaluation, or of each of its starts; None takes
            `START_ROUNDS` where boards start again, else those of the checkpoint, with a tree
            search at most 256 of them: it meets many lost boards, at which logits never converge.
            (The retry search takes one segment of them after the first evaluation of a board.)
        threshold: without a search, all placements with a higher logit are played before the
            network is evaluated again; a number that no logit reaches, as 1e9, evaluates it before
            every move. None takes what the network was trained with.
        restarts: further starts of boards that have not converged, each of as many rounds, without
            a search, or of the first evaluation of a board by the retry search; None:
            `DEFAULT_RESTARTS`, of a network that can converge.
        noise: how far from the first a further start begins, see `Restarts`.

    Raises:
        ValueError: if there is no sound checkpoint in the folder, or the options exclude each
            other or do not suit the network.
    """
    if search not in (None, "retry"):
        raise ValueError(f"search must be 'retry', not {search!r}")
    if search and simulations:
        raise ValueError("give simulations, for the tree search, or search='retry', not both")
    if most_visited and not simulations:
        raise ValueError("most_visited=true is for the tree search: give simulations too")
    if threshold is not None and (search or simulations):
        problem = "a search does not play placements by their logit alone"
        raise ValueError(f"threshold={threshold}: {problem}")
    if propagate and not search:
        raise ValueError("propagate=true is for the retry search: give search=retry too")
    if restarts and simulations:
        raise ValueError(f"restarts={restarts}: a tree search goes on from what has not converged")
    config, network = load_network(folder, read_config, _make_network, rounds=rounds)
    if restarts is None:
        restarts = DEFAULT_RESTARTS if network.can_converge and not simulations else 0
    starts = Restarts.of_options(restarts, noise)
    if rounds is None and network.can_converge and (simulations or restarts):
        most = SEARCH_ROUNDS if simulations else START_ROUNDS
        network.body.rounds = min(network.eval().body.rounds, most)
    if search == "retry":
        full = 1 if restarts else RetryConfig.full_evaluations
        retry = RetryConfig(evaluations, full_evaluations=full, propagate=propagate)
        return RetrySolver(network, retry, starts)
    if not simulations:
        if threshold is None and isinstance(config, ExpertIterationConfig):
            threshold = config.threshold
        return AlphaZeroPolicy(network, threshold=threshold, restarts=starts)
    trained_with = SearchConfig(reward="sparse")
    if isinstance(config, AlphaZeroConfig):
        trained_with = config.search
    options: dict[str, Any] = {"root": root, "backup": backup, "proofs": proofs}
    chosen = {name: option for name, option in options.items() if option is not None}
    search_config = replace(trained_with, simulations=simulations, **chosen)
    return AlphaZeroPolicy(network, search_config, most_visited=most_visited)


def _make_network(config: AlphaZeroConfig | ExpertIterationConfig) -> Network:
    return Network(config.network, POLICY_AND_VALUE, geometry_of_env(config.env))


def read_config(data: dict[str, Any]) -> AlphaZeroConfig | ExpertIterationConfig:
    """Read the configuration of a checkpoint of either trainer; ValueError if it is another's."""
    fields = {name: data[name] for name in data if name != "agent"}
    config: AlphaZeroConfig | ExpertIterationConfig
    config = from_json(fields, (AlphaZeroConfig, ExpertIterationConfig))
    find_env(config.env)
    return config
