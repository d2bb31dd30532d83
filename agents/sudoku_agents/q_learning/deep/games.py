"""Games to learn from: many in lock step, the best placement or sometimes a random one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.q_learning.deep.agent import HEAD, make_q_network
from sudoku_agents.q_learning.deep.config import DQNConfig
from sudoku_agents.q_learning.deep.replay import Moves
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_learning.networks import NetworkPolicy, RecurrentBody
from sudoku_learning.training.environments import held_out_source, training_envs
from sudoku_learning.training.records import Concatenable
from sudoku_learning.training.sampling import SamplingTask


@dataclass(frozen=True)
class DQNGames(Concatenable):
    """G games."""

    moves: Moves  # of all games
    solved: NDArray[np.bool_]  # bool `[G]`
    returns: NDArray[np.float32]  # float32 `[G]`, the sums of rewards
    lengths: NDArray[np.int64]  # int64 `[G]`, moves


class DQNPlayer:
    """Plays tasks with a network of its own; a `sudoku_learning.training.sampling.Worker`."""

    def __init__(self, config: DQNConfig) -> None:
        self._config = config
        geometry = held_out_source(config.env).geometry
        self._policy = NetworkPolicy(make_q_network(config, geometry), HEAD)
        body = self._policy.network.body
        if isinstance(body, RecurrentBody) and config.sampling_rounds is not None:
            body.rounds = min(config.sampling_rounds, body.rounds)

    def sample(self, weights: Mapping[str, Tensor], task: SamplingTask) -> DQNGames:
        """Play a task's games in lock step with these weights."""
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
    """Play one new game on each of G boards, with a policy's best and random placements.

    `rng` seeds the puzzles and draws the random moves.
    """
    count = envs.num_envs
    boards, info = envs.reset(seed=int(rng.integers(2**32)))
    policy.reset(boards, envs.geometry, rng)
    epsilon = np.minimum(1.0, config.random_moves / info["blanks"])
    running, solved = info["action_mask"].any(1), np.zeros(count, np.bool_)
    history, played, paid = [boards], [], []
    while running.any():
        masks = info["action_mask"].astype(np.bool_) & running[:, None]
        explores = rng.random(count) < epsilon
        actions = sample_actions(masks, rng)
        greedy = policy.act(boards, masks & ~explores[:, None])
        actions = np.where(explores | ~running, actions, greedy)
        boards, rewards, terminated, truncated, info = envs.step(actions)
        history.append(boards)
        played.append(np.where(running, actions, -1))
        paid.append(np.where(running, rewards, 0))
        solved[running] = info["is_success"][running]
        running = running & ~(terminated | truncated)
    paid_in_all = np.array(paid, np.float32)  # [T, G]
    lengths = (np.array(played) >= 0).sum(0)
    moves = moves_of(np.array(history), np.array(played), paid_in_all, lengths, solved, config)
    return DQNGames(moves, solved, paid_in_all.sum(0), lengths)


def moves_of(
    boards: NDArray[np.int8],
    actions: NDArray[np.int64],
    rewards: NDArray[np.float32],
    lengths: NDArray[np.int64],
    solved: NDArray[np.bool_],
    config: DQNConfig,
) -> Moves:
    """Return the moves of G games in the order in which they were made, with n-step returns.

    Args:
        boards: int8 `[T + 1, G, N, N]`, before each move and after the last; what follows the end
            of a game is ignored.
        actions: int64 `[T, G]`, -1 after the end.
        rewards: float32 `[T, G]`, 0 after the end.
        lengths: int64 `[G]`, moves.
        solved: bool `[G]`.
        config: `targets.n_step` and `targets.discount`.
    """
    steps, discount = config.targets.n_step, config.targets.discount
    returns, ahead = np.zeros_like(rewards), np.zeros_like(rewards)
    for _ in range(steps):  # the return of k + 1 steps from that of k, one move later
        ahead[:-1] = returns[1:]
        returns = (rewards + discount * ahead).astype(np.float32)
    time, game = np.nonzero(actions >= 0)
    after = np.minimum(time + steps, lengths[game])
    is_over = after == lengths[game]
    ends = np.where(solved[:, None, None], boards[lengths, np.arange(len(lengths))], np.int8(0))
    return Moves(
        boards[time, game],
        actions[time, game],
        returns[time, game],
        boards[after, game],
        np.where(is_over, 0, discount ** (after - time)).astype(np.float32),
        ends[game],
    )
