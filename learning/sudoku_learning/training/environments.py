"""The boards of a training run: the environment it names, on its training puzzles."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_gym.puzzles.sources import PuzzleSource, resolve_source


def training_envs(env: str, num_envs: int, **options: Any) -> SudokuVectorEnv:
    """Make boards that draw from the training split.

    Args:
        env: id of the environment, e.g. `"Sudoku9x9-v0"`.
        num_envs: how many boards.
        **options: of the environment.

    Raises:
        ValueError: if there is no such environment, or it is no Sudoku.
    """
    check_env(env)
    envs = gym.make_vec(env, num_envs=num_envs, split="train", **options)
    assert isinstance(envs, SudokuVectorEnv)
    return envs


def training_source(env: str) -> PuzzleSource:
    """Return the training puzzles of an environment.

    Raises:
        ValueError: if there is no such environment, or it is no Sudoku.
    """
    return resolve_source(check_env(env).kwargs["source"], "train")


def held_out_source(env: str) -> PuzzleSource:
    """Return the validation puzzles of an environment.

    Raises:
        ValueError: if there is no such environment, or it is no Sudoku.
    """
    return resolve_source(check_env(env).kwargs["source"], "validation")


def check_env(env: str) -> gym.envs.registration.EnvSpec:
    """Return the specification of an environment of ours.

    Raises:
        ValueError: if there is no such environment, or it is no Sudoku.
    """
    try:
        spec = gym.spec(env)
    except gym.error.Error as error:
        raise ValueError(f"env={env!r}: {error}") from None
    if "source" not in spec.kwargs:
        raise ValueError(f"env={env!r} is no Sudoku environment: use e.g. Sudoku9x9-v0")
    return spec
