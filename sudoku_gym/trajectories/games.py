"""Games of a policy as seeds and actions, and their replay in the environment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_gym.policies import Policy
from sudoku_gym.policies.protocols import actions_of
from sudoku_gym.registration import ANY_BOARD, ENVIRONMENTS

PART_GAMES = 256
"""Games that are played side by side, and kept in one file."""

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
    reward: Literal["terminal", "dense", "sparse"] = "terminal"
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
class PlayedPart:
    """Some games: B seeds, and the actions of all games one after the other."""

    seeds: NDArray[np.int64]
    """`[B]`"""
    lengths: NDArray[np.int32]
    """`[B]`, actions of each game"""
    actions: NDArray[np.int32]
    """`[sum of lengths]`"""

    def __post_init__(self) -> None:
        arrays = self.seeds, self.lengths, self.actions
        if not all(isinstance(array, np.ndarray) for array in arrays) or any(
            array.ndim != 1 or array.dtype.kind != "i" for array in arrays
        ):
            raise ValueError("seeds, lengths and actions must be rows of integers")
        if len(self.seeds) != len(self.lengths) or not len(self.seeds):
            raise ValueError(f"{len(self.seeds)} seeds, but {len(self.lengths)} lengths")
        fit = 1 <= self.lengths.min() <= self.lengths.max() <= len(self.actions)  # or sums wrap
        if not fit or self.lengths.sum(dtype=np.int64) != len(self.actions):
            raise ValueError(f"lengths do not add up to the {len(self.actions)} actions")


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


def play_part(
    games: RecordedGames, policy: Policy, seeds: NDArray[np.int64], rng: np.random.Generator
) -> PlayedPart:
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
    return PlayedPart(seeds, lengths, np.concatenate(in_order))


def pieces(games: RecordedGames, part: PlayedPart) -> Iterator[PlayedPart]:
    """Divide a part into some games at a time, 64 MB or one of them, for `replay`."""
    geometry = games.boards(1).geometry
    bytes_a_step = geometry.num_placements + geometry.num_cells
    ends = np.cumsum(part.lengths, dtype=np.int64)
    first, longest = 0, 0.0
    for i, length in enumerate([*part.lengths.tolist(), np.inf]):
        longest = max(longest, length)
        if i > first and (i + 1 - first) * longest * bytes_a_step > _MOST_BYTES:
            taken = slice(ends[first] - part.lengths[first], ends[i - 1])
            yield PlayedPart(part.seeds[first:i], part.lengths[first:i], part.actions[taken])
            first, longest = i, length


def replay(games: RecordedGames, part: PlayedPart) -> Iterator[Trajectory]:
    """Play the actions of some games again, and yield each game.

    Raises:
        ValueError: if a game does not end with its last action, or is longer than any can be.
    """
    count, steps = len(part.seeds), int(part.lengths.max())
    envs = games.boards(count)
    if steps > envs.max_steps:
        raise ValueError(f"a game of {steps:,} actions: it ends after {envs.max_steps:,}")
    boards, infos = envs.reset(seed=part.seeds.tolist())
    ends = np.cumsum(part.lengths)
    actions = np.zeros((steps, count), np.int64)
    for i, end in enumerate(ends):
        actions[: part.lengths[i], i] = part.actions[end - part.lengths[i] : end]
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
    for i, length in enumerate(part.lengths.tolist()):
        if is_over[: length - 1, i].any() or not is_over[length - 1, i]:
            raise ValueError(
                f"the game of seed {part.seeds[i]} does not end with its last action: it was "
                "recorded with other puzzles or another version"
            )
        yield Trajectory(
            int(part.seeds[i]),
            observations[: length + 1, i],
            masks[: length + 1, i],
            actions[:length, i],
            rewards[:length, i],
            endings[0, :length, i],
            endings[1, :length, i],
            bool(solved[length - 1, i]),
        )
