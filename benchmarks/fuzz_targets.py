"""What `fuzz.py` feeds: public readers and constructors, each a function of `Inputs`.

A target checks what it has got where that is cheap: boards are boards, whatever came in.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from fuzz_inputs import Inputs
from sudoku_gym import evaluate, load_policy, plugins, puzzles, solver, wrappers
from sudoku_gym.app.choices import OfferedPolicies
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource
from sudoku_gym.text import (
    score_text,
)
from sudoku_gym.trajectories import PlayedPart, RecordedGames, play_part, replay

TARGETS: dict[str, Callable[[Inputs], None]] = {}
TURNS: list[str] = []  # the names of the targets, often or seldom
PUZZLE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
FOUR = Geometry.standard(4)
LEADERBOARD = Path(__file__).parent.parent / "docs" / "results" / "leaderboard.json"
WRAPPERS = [getattr(wrappers, name) for name in wrappers.__all__]
POLICY_NAMES = ["hidden-singles", "dlx?node_limit=1000&item_rule=fewest", "masked-random"]


def target(function: Callable[[Inputs], None]) -> Callable[[Inputs], None]:
    """Enter a target."""
    TARGETS[function.__name__] = function
    TURNS.extend([function.__name__] * 8)
    return function


def slow_target(function: Callable[[Inputs], None]) -> Callable[[Inputs], None]:
    """Enter a target that takes some milliseconds, and so comes less often."""
    TARGETS[function.__name__] = function
    TURNS.append(function.__name__)
    return function


@cache
def few() -> PuzzleSet:
    """Return a few 4x4 puzzles."""
    return puzzles.load("4x4")[::9_000]


@cache
def source() -> BankSource:
    """Return a source of a few 4x4 puzzles."""
    return BankSource(few())


@cache
def npz_file() -> bytes:
    """Return a file of puzzles as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "few.npz"
        puzzles.write(path, few())
        return path.read_bytes()


@cache
def leaderboard() -> Any:
    """Return a leaderboard of two rows as JSON."""
    whole = json.loads(LEADERBOARD.read_text())
    whole["rows"] = dict(list(whole["rows"].items())[:2])
    return whole


@cache
def checkpoint() -> dict[str, bytes]:
    """Return the files of a small checkpoint, empty without torch."""
    try:
        from sudoku_agents.alphazero.config import AlphaZeroConfig
        from sudoku_agents.alphazero.learner import AlphaZeroLearner
        from sudoku_agents.alphazero.search import SearchConfig
        from sudoku_learning.networks import FactorGraphConfig
        from sudoku_learning.training import Training
    except ModuleNotFoundError:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        config = AlphaZeroConfig(
            run=Path(folder) / "run",
            iterations=1,
            games=2,
            validation_games=2,
            search=SearchConfig(simulations=2),
            network=FactorGraphConfig(channels=8, rounds=1),
        )
        Training(config, AlphaZeroLearner).run()
        saved = config.run / "checkpoints" / "000001"
        return {path.name: path.read_bytes() for path in saved.iterdir()}


@contextmanager
def prepared() -> Iterator[None]:
    """Make what the targets share, and let entry points be read once."""
    prepare()
    installed = cache(plugins.available)
    with ExitStack() as patches:
        for module in (plugins, plugins.entry_points, plugins.environments):
            patches.enter_context(patch.object(module, "available", installed))
        yield


def prepare() -> None:
    """Make and compile what the targets share, so that no input pays for it."""
    for make in (few, source, npz_file, leaderboard, checkpoint, offers):
        make()
    for wrap in WRAPPERS:
        is_vector = wrap.__name__.startswith("Vector")
        wrap(SudokuVectorEnv(2, source()) if is_vector else SudokuEnv(source())).reset(seed=0)
    for size in (4, 9):
        solver.count_solutions(np.zeros((1, size, size), np.int8), 2)
    evaluate(load_policy("hidden-singles"), few())
    puzzles.generate(1, FOUR, np.random.default_rng(0))
    score_text(few().puzzles[0], "1234")
    list(replay(*recorded()))


def check_boards(boards: Any, geometry: Geometry) -> None:
    """Raise an AssertionError unless all values are digits of the boards."""
    assert ((boards >= 0) & (boards <= geometry.size)).all(), "values out of range"


@cache
def recorded() -> tuple[RecordedGames, PlayedPart]:
    """Return two games that were recorded."""
    games = RecordedGames("masked-random", "4x4", blanks=6)
    rng = np.random.default_rng(0)
    return games, play_part(games, load_policy(games.policy), np.arange(2), rng)


@cache
def offers() -> OfferedPolicies:
    """Return the policies that a page offers."""
    return OfferedPolicies((), False)
