"""Sudoku Gym: Gymnasium environments, curricula, agents and baselines for learning Sudoku.

Importing the package registers the environments and nothing more; the public names below are
loaded when they are first used.
"""

from __future__ import annotations

import importlib
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from sudoku_gym.registration import register, register_all

if TYPE_CHECKING:
    from sudoku_gym import board, puzzles, solver
    from sudoku_gym.board.actions import sample_actions
    from sudoku_gym.envs.sudoku import SudokuEnv
    from sudoku_gym.envs.vector import SudokuVectorEnv
    from sudoku_gym.evaluation import Evaluation, compare, evaluate
    from sudoku_gym.geometry import Geometry
    from sudoku_gym.policies import Policy, Solver, load_policy

__all__ = [
    "Evaluation",
    "Geometry",
    "Policy",
    "Solver",
    "SudokuEnv",
    "SudokuVectorEnv",
    "board",
    "compare",
    "evaluate",
    "load_policy",
    "puzzles",
    "register",
    "sample_actions",
    "solver",
]

_MODULES = {"board", "puzzles", "solver"}
_HOMES = {
    "Evaluation": "evaluation",
    "Geometry": "geometry",
    "Policy": "policies",
    "Solver": "policies",
    "SudokuEnv": "envs.sudoku",
    "SudokuVectorEnv": "envs.vector",
    "compare": "evaluation",
    "evaluate": "evaluation",
    "load_policy": "policies",
    "sample_actions": "board.actions",
}

register_all()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("sudoku-gym")
    if name in _MODULES:
        return importlib.import_module(f"sudoku_gym.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"sudoku_gym.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'sudoku_gym' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
