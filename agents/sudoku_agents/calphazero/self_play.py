"""Self-play: many games in parallel, every move chosen by a tree search; what is kept of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.calphazero.config import CAlphaZeroConfig
from sudoku_agents.calphazero.policy import evaluator
from sudoku_agents.calphazero.search import BatchedSearch, Evaluator, SearchOutput
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_learning.networks import POLICY_AND_VALUE, Network
from sudoku_learning.training.environments import geometry_of_env, training_envs
from sudoku_learning.training.sampling import Batch, SamplingTask


@dataclass(frozen=True)
class Positions(Batch):
    """M positions of self-play: the triples (s, p_s, r) of cAlphaZero, section 4.2."""

    boards: NDArray[np.int8]  # int8 `[M, N, N]`
    policies: NDArray[np.float32]  # float32 `[M, N**3]`, the search's improved policy p_s
    returns: NDArray[np.float32]  # float32 `[M]`, the reward r at the end of the game
    solutions: NDArray[np.int8]  # int8 `[M, N, N]`, which proved the game won; else zeros


@dataclass(frozen=True)
class SelfPlayGames(Batch):
    """G games of self-play."""

    positions: Positions  # every board that was searched, in the order of moves
    solved: NDArray[np.bool_]  # bool `[G]`
    returns: NDArray[np.float32]  # float32 `[G]`
    lengths: NDArray[np.int64]  # int64 `[G]`, moves


class SelfPlayer:
    """Plays tasks with a network of its own; a `sudoku_learning.training.sampling.Worker`."""

    def __init__(self, config: CAlphaZeroConfig) -> None:
        self._config = config
        self._network = Network(
            config.network, POLICY_AND_VALUE, geometry_of_env(config.env)
        ).eval()

    def sample(self, weights: Mapping[str, Tensor], task: SamplingTask) -> SelfPlayGames:
        """Play a task's games in parallel with these weights."""
        config = self._config
        self._network.load_state_dict(dict(weights))
        envs = training_envs(
            config.env,
            task.games,
            reward=config.search.reward,
            end_at_dead_end=config.search.end_at_dead_end,
            actions=config.search.actions,
        )
        envs.set_blanks(task.blanks)
        evaluate = evaluator(self._network, envs.geometry, config.search_rounds)
        return self_play(envs, evaluate, config, np.random.default_rng(task.seed))


def self_play(
    envs: SudokuVectorEnv, evaluate: Evaluator, config: CAlphaZeroConfig, rng: np.random.Generator
) -> SelfPlayGames:
    """Play one new game on each of G boards, whose reward is the search's.

    `evaluate` returns priors and values, see `Evaluator`; `rng` seeds the puzzles and draws moves
    and noise. With Gumbel at the root the moves are those of the search, whose own noise explores.
    Once a search has met a solved board its game is won: the moves that are left need no search.
    """
    count = envs.num_envs
    boards, info = envs.reset(seed=int(rng.integers(2**32)))
    running = info["action_mask"].any(1)
    returns = np.zeros(count, np.float32)
    solved = np.zeros(count, np.bool_)
    lengths = np.zeros(count, np.int64)
    solutions = np.zeros_like(boards)
    moves: list[tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.float32]]] = []
    temperature = 0.0 if config.search.root == "gumbel" else config.temperature
    trees = BatchedSearch(boards, envs.geometry, config.search)
    while running.any():
        games = np.flatnonzero(running)
        masks = info["action_mask"].astype(np.bool_)
        found = trees.search(games, boards[games], masks[games], evaluate, rng)
        moves.append((games, boards[games], found.action_weights))
        actions = masks.argmax(1)  # finished boards go on with other puzzles, unwatched
        actions[games] = choose_moves(found, temperature, rng)
        won = found.solutions.any((1, 2))
        done, games = games[won], games[~won]
        solutions[done], solved[done], returns[done] = found.solutions[won], True, 1
        lengths[done] += (boards[done] == 0).sum((1, 2))
        running[done] = False
        boards, rewards, terminated, truncated, info = envs.step(actions)
        returns[games] += rewards[games]
        lengths[games] += 1
        solved[games] = info["is_success"][games]
        running &= ~(terminated | truncated)
    positions = Positions(
        np.concatenate([board for _, board, _ in moves]),
        np.concatenate([policies for _, _, policies in moves]),
        np.concatenate([returns[games] for games, _, _ in moves]),
        np.concatenate([solutions[games] for games, _, _ in moves]),
    )
    return SelfPlayGames(positions, solved, returns, lengths)


def choose_moves(
    found: SearchOutput, temperature: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw moves from the policies to the power of 1 / temperature; 0 plays the best."""
    if temperature == 0:
        return found.best_actions()
    shares = found.action_weights / found.action_weights.max(1, keepdims=True)
    sums = (shares.astype(np.float64) ** (1 / temperature)).cumsum(1)
    return (sums > rng.random((len(sums), 1)) * sums[:, -1:]).argmax(1)


class PositionReplay:
    """Keeps the positions of the latest `iterations`."""

    def __init__(self, iterations: int) -> None:
        self._iterations = iterations
        self._parts: list[Positions] = []

    def add(self, positions: Positions) -> None:
        """Add an iteration's positions and forget those that are too old."""
        self._parts = [*self._parts, positions][-self._iterations :]

    def all(self) -> Positions:
        """Return every position kept, oldest first."""
        return Positions.concatenate(self._parts)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return everything that `restore` needs."""
        sizes = np.array([len(part) for part in self._parts], np.int64)
        return {"sizes": sizes, **vars(self.all())}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the arrays of another replay."""
        whole = Positions(*(arrays[field.name] for field in fields(Positions)))
        ends = np.cumsum(arrays["sizes"])
        self._parts = [
            whole[end - length : end] for length, end in zip(arrays["sizes"], ends, strict=True)
        ]
