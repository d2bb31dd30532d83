"""The trained network as a policy: greedy, or with a tree search before each move."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.alphazero.config import AlphaZeroConfig, read_config
from sudoku_agents.alphazero.expert_iteration.config import ExpertIterationConfig
from sudoku_agents.alphazero.retry import Ratings, RetryConfig, RetryResult, retry_search
from sudoku_agents.alphazero.search import Evaluator, SearchConfig, SearchResult, search
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import (
    POLICY_AND_VALUE,
    Network,
    NetworkPolicy,
    evaluate_boards,
)
from sudoku_learning.networks.policy import BOARDS_AT_ONCE
from sudoku_learning.training.environments import held_out_source
from sudoku_learning.training.playing import load_network

SEARCH_ROUNDS = 256  # of a tree search's evaluations, at most
PRETRAINED = Path(__file__).parent / "pretrained"
GENERAL = Path(__file__).parent / "pretrained-general"


class AlphaZeroPolicy(NetworkPolicy):
    """Plays with a policy and value network.

    Args:
        network: with the heads `policy` and `value`; put in evaluation mode.
        search_config: the tree search before each move, or None to play the network's first choice.
        sure: without a search, see `NetworkPolicy`.

    Attributes:
        searched: what the search before the last move found, of the boards that it was asked about;
            None if that move took no search.
    """

    def __init__(
        self,
        network: Network,
        search_config: SearchConfig | None = None,
        sure: float | None = None,
    ) -> None:
        super().__init__(network, sure=sure)
        self.search_config = search_config
        self.searched: SearchResult | None = None

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose a placement for each board: what is planned, else what `choose` says."""
        self.searched = None
        return super().act(boards, action_masks)

    def choose(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose the network's first choice, or the search's.

        Where a search meets a solved board, the moves after it follow that board and ask neither
        the network nor another search.
        """
        if self.search_config is None:
            return super().choose(boards, masks)
        evaluate = evaluator(self.network, self.geometry)
        found = search(boards, masks, self.geometry, evaluate, self.search_config)
        self.searched = found
        digits = np.arange(1, boards.shape[1] + 1, dtype=np.int8)
        wins = found.solutions[..., None] == digits  # all zeros where none was met
        self.plan(np.where(wins, 0, -np.inf).reshape(len(boards), -1).astype(np.float32))
        return found.best_actions()


class RetrySolver:
    """Solves boards by the retry search with a network's policy: a `sudoku_gym.Solver`.

    Args:
        network: with the head `policy`; put in evaluation mode.
        config: the settings of the search.
    """

    def __init__(self, network: Network, config: RetryConfig) -> None:
        self.network = network.eval()
        self.config = config

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Return completed boards, int8 `[B, N, N]`, all zeros where it found none."""
        return self.search(puzzles, geometry).solutions

    def search(self, puzzles: NDArray[np.int8], geometry: Geometry, limit: int = 1) -> RetryResult:
        """Search for up to `limit` solutions, see `retry_search`."""
        network, quick = self.network, None
        if network.settles:
            quick = ratings(network, geometry, network.body.segments()[0])
        rate = ratings(network, geometry)
        return retry_search(puzzles, geometry, rate, self.config, limit, quick)


def evaluator(network: Network, geometry: Geometry) -> Evaluator:
    """Return what a search asks: boards and masks in numpy in, priors and values out."""

    def evaluate(
        boards: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        found = evaluate_boards(network, boards, masks, geometry)
        return torch.softmax(torch.from_numpy(found["policy"]), 1).numpy(), found["value"]

    return evaluate


def ratings(network: Network, geometry: Geometry, rounds: int | None = None) -> Ratings:
    """Return what a retry search asks: boards and masks in numpy in, logits out.

    Args:
        network: with the head `policy`.
        geometry: of the boards.
        rounds: of a body that settles, at most; None takes what it is set to.
    """

    def rate(boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        parts = [
            evaluate_boards(network, boards[part], masks[part], geometry, ["policy"], rounds)
            for part in (
                slice(start, start + BOARDS_AT_ONCE)
                for start in range(0, len(boards), BOARDS_AT_ONCE)
            )
        ]
        return np.concatenate([part["policy"] for part in parts])

    return rate


def make_network(config: AlphaZeroConfig | ExpertIterationConfig, geometry: Geometry) -> Network:
    """Make the network of a configuration, with random weights."""
    return Network(config.network, POLICY_AND_VALUE, geometry)


def load(
    folder: str | os.PathLike[str] = PRETRAINED,
    simulations: int = 0,
    root: Literal["puct", "gumbel"] | None = None,
    backup: Literal["mean", "max"] | None = None,
    proofs: bool | None = None,
    search: Literal["retry"] | None = None,
    evaluations: int = RetryConfig.evaluations,
    rounds: int | None = None,
    sure: float | None = None,
) -> AlphaZeroPolicy | RetrySolver:
    """Make a policy of a checkpoint, or of the latest checkpoint of a run.

    Args:
        folder: of the checkpoint or the run; by default the network that comes with the package.
        simulations: of the tree search before each move; 0 plays greedily without one.
        root: see `SearchConfig`, as for what follows; None takes what the network was trained with.
        backup: likewise.
        proofs: likewise.
        search: `"retry"` makes a solver: it searches until the puzzle is solved.
        evaluations: that the retry search may spend on a puzzle.
        rounds: of a recurrent body, in each evaluation; None takes those of the checkpoint, with
            a tree search at most 256 of them: lost boards never settle, and it meets many. (The
            retry search soon thinks quickly, see `RetryConfig.thorough`.)
        sure: without a search, all placements with a higher logit are played before the network is
            asked again; a number that no logit reaches, as 1e9, asks it before every move. None
            takes what the network was trained with.

    Raises:
        ValueError: if there is no sound checkpoint in the folder, or the options exclude each
            other or suit no such network.
    """
    if search not in (None, "retry"):
        raise ValueError(f"search must be 'retry', not {search!r}")
    if search and simulations:
        raise ValueError("give simulations, for the tree search, or search='retry', not both")
    if sure is not None and (search or simulations):
        raise ValueError(f"sure={sure}: a search does not play what the network is sure of")
    config, network = load_network(folder, read_config, _make, _renamed, rounds)
    if rounds is None and simulations and network.settles:
        network.body.rounds = min(network.eval().body.rounds, SEARCH_ROUNDS)
    if search == "retry":
        return RetrySolver(network, RetryConfig(evaluations))
    if not simulations:
        if sure is None and isinstance(config, ExpertIterationConfig):
            sure = config.sure
        return AlphaZeroPolicy(network, sure=sure)
    trained_with = SearchConfig(reward="sparse")
    if isinstance(config, AlphaZeroConfig):
        trained_with = config.search
    options: dict[str, Any] = {"root": root, "backup": backup, "proofs": proofs}
    chosen = {name: option for name, option in options.items() if option is not None}
    return AlphaZeroPolicy(network, replace(trained_with, simulations=simulations, **chosen))


def load_general(
    folder: str | os.PathLike[str] = GENERAL,
    search: Literal["retry"] | None = None,
    evaluations: int = RetryConfig.evaluations,
    rounds: int | None = None,
    sure: float | None = None,
) -> AlphaZeroPolicy | RetrySolver:
    """Make a policy of the network that was trained on 16x16 boards and on the variants too.

    It plays them better than the other, and standard 9x9 boards worse.

    Args:
        folder: see `load`, as for what follows.
        search: likewise.
        evaluations: likewise.
        rounds: likewise.
        sure: likewise.

    Raises:
        ValueError: as `load` does.
    """
    return load(folder, search=search, evaluations=evaluations, rounds=rounds, sure=sure)


def _make(config: AlphaZeroConfig | ExpertIterationConfig) -> Network:
    return make_network(config, held_out_source(config.env).geometry)


_OLD_NAMES = {  # of the first release, whose body and heads were one module
    "start": "body.start",
    "layers.": "body.layers.",
    "policy_head.": "heads.policy.readout.",
    "value_head.": "heads.value.readout.perceptron.",
}


def _renamed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    renamed = {}
    for name, tensor in weights.items():
        for old, new in _OLD_NAMES.items():
            if name.startswith(old):
                name = new + name.removeprefix(old)
                break
        renamed[name] = tensor
    return renamed
