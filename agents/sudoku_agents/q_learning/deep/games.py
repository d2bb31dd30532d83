"""Epsilon-greedy games to learn from, many in parallel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.q_learning.deep.agent import HEAD, make_q_network
from sudoku_agents.q_learning.deep.config import DQNConfig
from sudoku_agents.q_learning.deep.replay import Transitions
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_learning.networks import NetworkPolicy, RecurrentBody
from sudoku_learning.training.environments import geometry_of_env, training_envs
from sudoku_learning.training.sampling import Batch, SamplingTask


@dataclass(frozen=True)
class DQNGames(Batch):
    """G games."""

    transitions: Transitions  # of all games
    solved: NDArray[np.bool_]  # bool `[G]`
    returns: NDArray[np.float32]  # float32 `[G]`, the sums of rewards
    lengths: NDArray[np.int64]  # int64 `[G]`, moves


class DQNPlayer:
    """Plays tasks with a network of its own; a `sudoku_learning.training.sampling.Worker`."""

    def __init__(self, config: DQNConfig) -> None:
        self._config = config
        geometry = geometry_of_env(config.env)
        self._policy = NetworkPolicy(make_q_network(config, geometry), HEAD)
        body = self._policy.network.body
        if isinstance(body, RecurrentBody) and config.sampling_rounds is not None:
            body.rounds = min(config.sampling_rounds, body.rounds)

    def sample(self, weights: Mapping[str, Tensor], task: SamplingTask) -> DQNGames:
        """Play a task's games in parallel with these weights."""
        config = self._config
        self._policy.network.load_state_dict(dict(weights))
        envs = training_envs(
            config.env,
            task.games,
            reward=config.reward,
            end_at_dead_end=config.end_at_dead_end,
            actions=config.actions,
        )
        envs.set_blanks(task.blanks)
        return play_games(self._policy, envs, config, np.random.default_rng(task.seed))


def play_games(
    policy: NetworkPolicy, envs: SudokuVectorEnv, config: DQNConfig, rng: np.random.Generator
) -> DQNGames:
    """Play one new game on each of G boards, epsilon-greedily.

    `rng` seeds the puzzles and draws the random moves.
    """
    count = envs.num_envs
    boards, info = envs.reset(seed=int(rng.integers(2**32)))
    policy.reset(boards, envs.geometry, rng)
    epsilon = np.minimum(1.0, config.random_moves / info["blanks"])
    running, solved = info["action_mask"].any(1), np.zeros(count, np.bool_)
    board_history, action_history, reward_history = [boards], [], []
    while running.any():
        masks = info["action_mask"].astype(np.bool_) & running[:, None]
        explores = rng.random(count) < epsilon
        actions = sample_actions(masks, rng)
        greedy = policy.act(boards, masks & ~explores[:, None])
        actions = np.where(explores | ~running, actions, greedy)
        boards, rewards, terminated, truncated, info = envs.step(actions)
        board_history.append(boards)
        action_history.append(np.where(running, actions, -1))
        reward_history.append(np.where(running, rewards, 0))
        solved[running] = info["is_success"][running]
        running = running & ~(terminated | truncated)
    all_rewards = np.array(reward_history, np.float32)  # [T, G]
    lengths = (np.array(action_history) >= 0).sum(0)
    transitions = n_step_transitions(
        np.array(board_history), np.array(action_history), all_rewards, lengths, solved, config
    )
    return DQNGames(transitions, solved, all_rewards.sum(0), lengths)


def n_step_transitions(
    boards: NDArray[np.int8],
    actions: NDArray[np.int64],
    rewards: NDArray[np.float32],
    lengths: NDArray[np.int64],
    solved: NDArray[np.bool_],
    config: DQNConfig,
) -> Transitions:
    """Return the transitions of G games, move by move, with n-step returns.

    Args:
        boards: int8 `[T + 1, G, N, N]`, before each move and after the last; boards after the
            end of a game are ignored.
        actions: int64 `[T, G]`, -1 after the end.
        rewards: float32 `[T, G]`, 0 after the end.
        lengths: int64 `[G]`, numbers of moves.
        solved: bool `[G]`, games that ended solved.
        config: `targets.n_step` and `targets.discount` are used.
    """
    steps, discount = config.targets.n_step, config.targets.discount
    returns, next_returns = np.zeros_like(rewards), np.zeros_like(rewards)
    for _ in range(steps):  # the return of k + 1 steps from that of k, one move later
        next_returns[:-1] = returns[1:]
        returns = (rewards + discount * next_returns).astype(np.float32)
    time, game = np.nonzero(actions >= 0)
    after = np.minimum(time + steps, lengths[game])
    is_over = after == lengths[game]
    ends = np.where(solved[:, None, None], boards[lengths, np.arange(len(lengths))], np.int8(0))
    return Transitions(
        boards[time, game],
        actions[time, game],
        returns[time, game],
        boards[after, game],
        np.where(is_over, 0, discount ** (after - time)).astype(np.float32),
        ends[game],
    )
