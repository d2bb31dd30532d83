"""The puzzles of a training run: boards to train on, and held-out games."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from sudoku_gym.envs.options import EnvOptions
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_gym.evaluation import Evaluation, evaluate
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles import banks
from sudoku_gym.puzzles.sources import PuzzleSource
from sudoku_gym.puzzles.splitting import Parts, training_and_held_out


class HeldOut:
    """Evaluates a policy on `games` held-out puzzles a call; the callback of a curriculum.

    `rng` draws them from a source such as `resolve_source("4x4", "validation")`; `latest` is the
    result of the last call, None before the first.
    """

    def __init__(
        self, policy: Policy, source: PuzzleSource, games: int, rng: np.random.Generator
    ) -> None:
        self.latest: Evaluation | None = None
        self._policy = policy
        self._source = source
        self._games = games
        self._rng = rng

    def __call__(self, blanks: int | None) -> tuple[int, int]:
        """Play puzzles with `blanks` (None: as stored); return the numbers of solved and of all."""
        puzzles, _ = self._source.sample(self._games, blanks, self._rng)
        self.latest = evaluate(self._policy, puzzles, geometry=self._source.geometry)
        return int(self.latest.solved.sum()), len(self.latest.solved)


def training_envs(env: str, num_envs: int, **options: Any) -> SudokuVectorEnv:
    """Make boards of an environment that draw from `training_source`; raises as that."""
    if _is_bank(check_env(env).kwargs["source"]):
        options["split"] = "train"
    else:
        options |= {"source": training_source(env), "split": "all"}
    envs = gym.make_vec(env, num_envs=num_envs, **options)
    assert isinstance(envs, SudokuVectorEnv)
    return envs


def training_source(env: str) -> PuzzleSource:
    """Return the training puzzles of an environment; raises as `training_and_held_out`."""
    return _parts(env)[0]


def held_out_source(env: str) -> PuzzleSource:
    """Return the validation puzzles of an environment; raises as `training_and_held_out`."""
    return _parts(env)[1]


def geometry_of_env(env: str) -> Geometry:
    """Return the shape of an environment's boards; raises as `check_env`."""
    kwargs = check_env(env).kwargs
    return EnvOptions(kwargs["source"], "all", kwargs.get("board")).resolve_source().geometry


def _parts(env: str) -> Parts:
    kwargs = check_env(env).kwargs
    if _is_bank(kwargs["source"]):
        return training_and_held_out(kwargs["source"])
    whole = EnvOptions(kwargs["source"], "all", kwargs.get("board")).resolve_source()
    return training_and_held_out(whole)


def _is_bank(source: object) -> bool:
    return isinstance(source, str) and source in banks.NAMES


def check_env(env: str) -> gym.envs.registration.EnvSpec:
    """Return an environment's specification; ValueError if there is none, or it is no Sudoku."""
    try:
        spec = gym.spec(env)
    except gym.error.Error as error:
        raise ValueError(f"env={env!r}: {error}") from None
    if "source" not in spec.kwargs:
        raise ValueError(f"env={env!r} is no Sudoku environment: use e.g. Sudoku9x9-v0")
    return spec
