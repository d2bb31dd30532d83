"""The puzzles of a training run: boards to train on, and held-out games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

import gymnasium as gym
import numpy as np
from tyro.conf import arg
from tyro.constructors import PrimitiveConstructorSpec

from sudoku_gym.board.actions import Actions
from sudoku_gym.envs.options import EnvOptions
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_gym.evaluation import Evaluation, evaluate
from sudoku_gym.geometry import Geometry
from sudoku_gym.plugins import find_env, import_environment, split_options
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles import banks, files
from sudoku_gym.puzzles.sources import Blanks, PuzzleSource
from sudoku_gym.puzzles.splitting import Parts, training_and_held_out
from sudoku_gym.puzzles.tasks import TaskWeights
from sudoku_gym.registration import ANY_BOARD, ENVIRONMENTS


def _named_env(texts: list[str]) -> str:
    """Return the id of an environment as it is named in the shell, or that of a list's."""
    name, options = split_options(texts[0])
    ids = [each for each, bank in ENVIRONMENTS.items() if bank == name]
    if ids or not name.endswith(files.SUFFIXES):
        return import_environment(ids[0] if ids else texts[0])
    board = options.get("board")
    if board is None:  # a checkpoint plays without the file
        parts = files.stream_boards(name, chunk=1)
        board = next((geometry.name for geometry, *_ in parts), None)
    return f"{ANY_BOARD}?source={name}" + (f"&board={board}" if board else "")


EnvId: TypeAlias = Annotated[
    str,
    PrimitiveConstructorSpec(
        nargs=1,
        metavar="STR",
        instance_from_str=_named_env,
        is_instance=lambda value: isinstance(value, str),
        str_from_instance=lambda value: [value],
    ),
    arg(aliases=("--puzzles",)),
]
"""The id of an environment, whose module is imported where it is given in the shell; there it may
be the name of a bank or a file of puzzles too."""


class HeldOut:
    """Evaluates a policy on `games` held-out puzzles a call; the callback of a curriculum.

    `rng` draws them from a source such as `resolve_source("4x4", "validation")`, or from that of
    `others` whose board a task names; `actions` as in `SudokuEnv`. `latest` is the result of the
    last call, None before the first.
    """

    def __init__(
        self,
        policy: Policy,
        source: PuzzleSource,
        games: int,
        rng: np.random.Generator,
        actions: Actions = "legal",
        others: Sequence[PuzzleSource] = (),
    ) -> None:
        self.latest: Evaluation | None = None
        self.games = games
        self._policy = policy
        self._source = source
        self._boards = {each.geometry.name: each for each in (*others, source)}
        self._rng = rng
        self._actions = actions

    def __call__(self, blanks: Blanks, games: int | None = None) -> tuple[int, int]:
        """Play puzzles with `blanks` (None: as stored); return the numbers of solved and of all."""
        source = self._source
        if isinstance(blanks, TaskWeights):  # of one task
            source = self._boards.get(blanks.tasks.each[blanks.weights.argmax()].board, source)
        puzzles, _ = source.sample(games or self.games, blanks, self._rng)
        self.latest = evaluate(
            self._policy, puzzles, geometry=source.geometry, actions=self._actions
        )
        return int(self.latest.solved.sum()), len(self.latest.solved)


def training_envs(env: str, num_envs: int, **options: Any) -> SudokuVectorEnv:
    """Make boards of an environment that draw from `training_source`, with all infos.

    Raises:
        ValueError: as `training_source`, or if digits can be erased: learners place them only.
    """
    options = {**options, "with_mask": True, "with_info": True}
    if find_env(env).kwargs.get("erase"):
        raise ValueError(f"env={env!r} can't be trained in, for it has erasures (erase=True)")
    if is_bank(find_env(env).kwargs["source"]):
        options["split"] = "train"
    else:
        options |= {"source": training_source(env), "split": "all"}
    envs = gym.make_vec(find_env(env), num_envs=num_envs, **options)
    if not isinstance(envs, SudokuVectorEnv):
        raise ValueError(
            f"env={env!r} has no vector environment of this suite: register it with "
            "sudoku_gym.register"
        )
    return envs


def training_source(env: str) -> PuzzleSource:
    """Return the training puzzles of an environment; raises as `training_and_held_out`."""
    return divided_source(find_env(env).kwargs)[0]


def held_out_source(env: str) -> PuzzleSource:
    """Return the validation puzzles of an environment; raises as `training_and_held_out`."""
    return divided_source(find_env(env).kwargs)[1]


def geometry_of_env(env: str) -> Geometry:
    """Return the shape of an environment's boards; raises as `sudoku_gym.plugins.find_env`."""
    kwargs = find_env(env).kwargs
    board = kwargs.get("board")
    if isinstance(board, str):  # no puzzle need be read
        return banks.named_geometry(board)
    return EnvOptions(kwargs["source"], "all", board).resolve_source().geometry


def divided_source(options: Mapping[str, Any]) -> Parts:
    """Return the puzzles to train on, and those held out, of an environment with these options.

    Their `source` and `board` count; raises as `training_and_held_out`.
    """
    if is_bank(options["source"]):
        return training_and_held_out(options["source"])
    whole = EnvOptions(options["source"], "all", options.get("board")).resolve_source()
    return training_and_held_out(whole)


def is_bank(source: object) -> bool:
    """Whether a source is the name of a bank, which has splits of its own."""
    return isinstance(source, str) and source in banks.NAMES
