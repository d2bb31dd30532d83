"""A policy and value network as a policy: greedy, or with a tree search before each move."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from sudoku_agents.calphazero.config import CAlphaZeroConfig
from sudoku_agents.calphazero.retry import RetrySolver
from sudoku_agents.calphazero.search import Evaluator, SearchConfig, tree_search
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import ModelCard
from sudoku_learning.networks import (
    NO_RESTARTS,
    POLICY_AND_VALUE,
    Network,
    NetworkPolicy,
    Restarts,
    evaluate_boards,
)
from sudoku_learning.networks.policy import PLAY_THRESHOLD
from sudoku_learning.training import TrainingConfig
from sudoku_learning.training.config import config_from_json
from sudoku_learning.training.environments import geometry_of_env
from sudoku_learning.training.weights import load_network

_Config = TypeVar("_Config", bound=TrainingConfig)

PRETRAINED = Path(__file__).parent / "pretrained"
SEARCH_ROUNDS = 256  # of a tree search's evaluations, at most
DEFAULT_RESTARTS = 127
"""Further starts of boards that have not converged, in play without a tree search."""
START_ROUNDS = 256
"""Rounds of each start where boards start again: what converges at all mostly does so early, so
many short starts solve more than a few long ones, in fewer rounds."""
PLAY_SEARCH = SearchConfig(root="gumbel", reward="sparse", rollouts=True, branching="constraint")
"""The tree search of play, whatever the network was trained with."""


class CAlphaZeroPolicy(NetworkPolicy):
    """Plays with a policy and value network.

    Args:
        network: a network with the heads `policy` and `value`; it is put in evaluation mode.
        search_config: the tree search before each move, or None to play the highest logit.
        threshold: without a search, see `NetworkPolicy`.
        restarts: without a search, see `NetworkPolicy`.
        most_visited: play the action that the search of each move visited most often, as the
            cAlphaZero paper does, and not what a solved board or the halving says.
    """

    def __init__(
        self,
        network: Network,
        search_config: SearchConfig | None = None,
        threshold: float | None = None,
        most_visited: bool = False,
        restarts: Restarts = NO_RESTARTS,
    ) -> None:
        super().__init__(network, threshold=threshold, restarts=restarts)
        self.search_config = search_config
        self.most_visited = most_visited

    @property
    def model_card(self) -> ModelCard:
        """What stands beside its figures."""
        if self.search_config is None:
            return super().model_card
        return self.network.model_card("search")

    def choose(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], games: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the placement with the highest logit, or the search's.

        Where a search meets a solved board, the next moves are queued from that board, and take
        neither an evaluation nor another search.
        """
        if self.search_config is None:
            return super().choose(boards, masks, games)
        evaluate = evaluator(self.network, self.geometry)
        found = tree_search(boards, masks, self.geometry, evaluate, self.search_config)
        if self.most_visited:
            return found.visit_counts.argmax(1)
        digits = np.arange(1, boards.shape[1] + 1, dtype=np.int8)
        wins = found.solutions[..., None] == digits  # all zeros where none was met
        scores = np.where(wins, 0, -np.inf).reshape(len(boards), -1).astype(np.float32)
        self.queue(games, scores)
        return found.best_actions()


def evaluator(network: Network, geometry: Geometry, rounds: int | None = None) -> Evaluator:
    """Return a network as a search calls it, see `Evaluator` and `forward_until_converged`."""

    def evaluate(
        boards: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        found = evaluate_boards(network, boards, masks, geometry, rounds=rounds).outputs
        return torch.softmax(torch.from_numpy(found["policy"]), 1).numpy(), found["value"]

    return evaluate


def load(
    folder: str | os.PathLike[str] = PRETRAINED,
    simulations: int = 0,
    rounds: int | None = None,
    threshold: float | None = None,
    restarts: int | None = None,
    noise: float | None = None,
    search: Literal["retry-paper"] | None = None,
    runs: int = 100,
) -> CAlphaZeroPolicy | RetrySolver:
    """Make a policy of a checkpoint, or of the latest checkpoint of a run.

    Args:
        folder: folder of the checkpoint or run; by default the network of this package.
        simulations: simulations per move of a tree search, see `PLAY_SEARCH`; 0 plays greedily.
        rounds: most rounds of a recurrent body per evaluation, or of each of its starts; None takes
            `START_ROUNDS` where boards start again, else those of the checkpoint, with a tree
            search at most 256 of them: it meets many lost boards, at which logits never converge.
        threshold: without a search, all placements with a higher logit are played, the best first,
            before the next evaluation. None takes 1, of a network that can converge; otherwise, and
            with 1e9, each move has its own evaluation.
        restarts: further starts of boards that have not converged, each of as many rounds, without
            a tree search; None: `DEFAULT_RESTARTS`, of a network that can converge.
        noise: how far from the first a further start begins, see `Restarts`.
        search: `"retry-paper"` makes a solver that plays again where it failed, see `RetrySolver`.
        runs: most runs of that.

    Raises:
        ValueError: if there is no sound checkpoint in the folder, or the options exclude each
            other or do not suit the network.
    """
    if search not in (None, "retry-paper") or (search and simulations):
        raise ValueError(f"search={search!r}: use 'retry-paper', without simulations")
    _, network = load_policy_and_value(folder, CAlphaZeroConfig, rounds)
    tree = replace(PLAY_SEARCH, simulations=simulations or 1) if simulations or search else None
    policy = make_policy(network, tree, rounds, threshold, restarts, noise)
    return RetrySolver(network, runs) if search else policy


def load_policy_and_value(
    folder: str | os.PathLike[str], kind: type[_Config], rounds: int | None
) -> tuple[_Config, Network]:
    """Make a policy and value network of a checkpoint with a configuration of that kind."""

    def make(config: Any) -> Network:
        return Network(config.network, POLICY_AND_VALUE, geometry_of_env(config.env))

    return load_network(folder, partial(config_from_json, kind=kind), make, rounds)


def make_policy(
    network: Network,
    search: SearchConfig | None,
    rounds: int | None,
    threshold: float | None,
    restarts: int | None,
    noise: float | None,
) -> CAlphaZeroPolicy:
    """Make a policy of a network, with a tree search if there is one; for the rest see `load`."""
    if search is None:
        starts = choose_starts(network, rounds, restarts, noise)
        if threshold is None and network.can_converge:
            threshold = PLAY_THRESHOLD
        return CAlphaZeroPolicy(network, threshold=threshold, restarts=starts)
    if threshold is not None:
        raise ValueError(f"threshold={threshold}: a search does not play by the logit alone")
    if restarts or noise is not None:
        raise ValueError("restarts and noise: a tree search goes on from what has not converged")
    if rounds is None and network.can_converge:
        network.body.rounds = min(network.eval().body.rounds, SEARCH_ROUNDS)
    return CAlphaZeroPolicy(network, search)


def choose_starts(
    network: Network,
    rounds: int | None,
    restarts: int | None,
    noise: float | None,
    default: int = DEFAULT_RESTARTS,
) -> Restarts:
    """Return the further starts of play without a tree search, and set the rounds of each."""
    if restarts is None:
        restarts = default if network.can_converge else 0
    if rounds is None and network.can_converge and restarts:
        network.body.rounds = min(network.eval().body.rounds, START_ROUNDS)
    return Restarts.of_options(restarts, noise)
