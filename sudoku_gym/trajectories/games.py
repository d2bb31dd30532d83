"""Games of a policy as seeds and actions, and their replay in the environment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_gym.kernels.endings import RewardName
from sudoku_gym.policies import Policy
from sudoku_gym.policies.protocols import actions_of
from sudoku_gym.registration import ANY_BOARD, ENVIRONMENTS

_MOST_BYTES = 64 * 2**20  # of games that are replayed at a time


@dataclass(frozen=True)
class RecordedGames:
    """Which games: with the policy they say everything that is in the data set."""

    policy: str
    """Name of the policy, as `load_policy` takes it."""
    puzzles: str = "9x9"
    """The environment's `source`: a bank or a file of puzzles."""
    split: str = "train"
    """Part of the bank; puzzles of two parts share no orbit."""
    blanks: int | list[int] | None = None
    """The environment's `blanks`: a number, or the lowest and the highest; None takes puzzles as
    they are."""
    reward: RewardName = "terminal"
    """The environment's `reward`."""
    seed: int = 0
    """Game i is that of `reset(seed=seed + i)`."""

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**62:
            raise ValueError(f"seed={self.seed}: use a number from 0, below 2**62")

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of the environment; a bank of an id has them by itself."""
        given = {key: asdict(self)[key] for key in ("split", "blanks", "reward")}
        if isinstance(given["blanks"], list):
            given["blanks"] = tuple(given["blanks"])
        return given if self.env_id != ANY_BOARD else {"source": self.puzzles, **given}

    @property
    def env_id(self) -> str:
        """The id of the environment."""
        return {bank: name for name, bank in ENVIRONMENTS.items()}.get(self.puzzles, ANY_BOARD)

    def env_spec(self) -> EnvSpec:
        """Return the specification with which `gym.make` makes the environment."""
        env = gym.make(self.env_id, **self.options())
        assert env.spec is not None
        return env.spec

    def boards(self, count: int) -> SudokuVectorEnv:
        """Make an environment of so many boards, that are renewed at the step after their end."""
        return SudokuVectorEnv(count, **{"source": self.puzzles, **self.options()})


@dataclass(frozen=True, eq=False)
class ActionLog:
    """Some games: B seeds, and the actions of all games one after the other."""

    seeds: NDArray[np.int64]
    """`[B]`"""
    lengths: NDArray[np.int32]
    """`[B]`, actions of each game"""
    actions: NDArray[np.int32]
    """`[sum of lengths]`"""

    def games(self, start: int, stop: int) -> ActionLog:
        """Return the games from `start` to `stop`."""
        ends = np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])
        actions = self.actions[ends[start] : ends[min(stop, len(self.seeds))]]
        return ActionLog(self.seeds[start:stop], self.lengths[start:stop], actions)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One game of T actions, as the single environment gives it."""

    seed: int
    observations: NDArray[np.int8]
    """`[T + 1, N, N]`"""
    action_masks: NDArray[np.int8]
    """`[T + 1, A]`, of the observations"""
    actions: NDArray[np.int64]
    """`[T]`"""
    rewards: NDArray[np.float64]
    """`[T]`"""
    terminations: NDArray[np.bool_]
    """`[T]`"""
    truncations: NDArray[np.bool_]
    """`[T]`"""
    is_solved: bool


def play(
    games: RecordedGames, policy: Policy, seeds: NDArray[np.int64], rng: np.random.Generator
) -> ActionLog:
    """Let a policy play the games of some seeds, int64 `[B]`; it draws from `rng` alone.

    Raises:
        ValueError: if the options suit no environment.
        ValueError: if the policy's answer is no action.
    """
    envs = games.boards(len(seeds))
    boards, infos = envs.reset(seed=seeds.tolist())
    policy.reset(boards.copy(), envs.geometry, rng)
    masks = infos["action_mask"].view(np.bool_)
    running = np.ones(len(seeds), np.bool_)
    lengths = np.zeros(len(seeds), np.int32)
    taken = []
    while running.any():
        masks[~running] = False
        chosen = actions_of(policy.act(boards.copy(), masks.copy()), len(seeds))
        after, _, terminated, truncated, infos = envs.step(np.where(running, chosen, 0))
        taken.append(chosen.astype(np.int32))
        lengths += running
        boards[running] = after[running]
        running &= ~(terminated | truncated)
        masks = infos["action_mask"].view(np.bool_)
    envs.close()
    in_order = [column[:length] for column, length in zip(np.stack(taken, 1), lengths, strict=True)]
    return ActionLog(seeds, lengths, np.concatenate(in_order))


def replay(games: RecordedGames, log: ActionLog) -> Iterator[Trajectory]:
    """Play the actions of some games again, and yield each game.

    Raises:
        ValueError: if a game does not end with its last action.
    """
    longest, geometry = int(log.lengths.max()), games.boards(1).geometry
    bytes_a_game = longest * (geometry.num_placements + geometry.num_cells)
    size = max(1, _MOST_BYTES // bytes_a_game)
    for start in range(0, len(log.seeds), size):
        yield from _replay_at_once(games, log.games(start, start + size))


def _replay_at_once(games: RecordedGames, log: ActionLog) -> Iterator[Trajectory]:
    count, steps = len(log.seeds), int(log.lengths.max())
    envs = games.boards(count)
    boards, infos = envs.reset(seed=log.seeds.tolist())
    actions = np.zeros((steps, count), np.int64)
    for i, length in enumerate(log.lengths):
        actions[:length, i] = log.games(i, i + 1).actions
    observations = np.empty((steps + 1, *boards.shape), np.int8)
    masks = np.empty((steps + 1, *infos["action_mask"].shape), np.int8)
    rewards, solved = np.empty((steps, count)), np.empty((steps, count), np.bool_)
    endings = np.empty((2, steps, count), np.bool_)
    observations[0], masks[0] = boards, infos["action_mask"]
    for t in range(steps):
        boards, rewards[t], endings[0, t], endings[1, t], infos = envs.step(actions[t])
        observations[t + 1], masks[t + 1] = boards, infos["action_mask"]
        solved[t] = infos["is_success"]
    envs.close()
    is_over: NDArray[np.bool_] = endings[0] | endings[1]
    for i, length in enumerate(log.lengths.tolist()):
        if is_over[: length - 1, i].any() or not is_over[length - 1, i]:
            raise ValueError(
                f"the game of seed {log.seeds[i]} does not end with its last action: it was "
                "recorded with other puzzles or another version"
            )
        yield Trajectory(
            int(log.seeds[i]),
            observations[: length + 1, i],
            masks[: length + 1, i],
            actions[:length, i],
            rewards[:length, i],
            endings[0, :length, i],
            endings[1, :length, i],
            bool(solved[length - 1, i]),
        )
