"""Evaluation of policies: games under equal rules, their results and tables."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sudoku_gym.evaluation.games import Evaluation, compare, evaluate, percent
    from sudoku_gym.evaluation.tables import tabulate, to_markdown

__all__ = ["Evaluation", "compare", "evaluate", "percent", "tabulate", "to_markdown"]


def __getattr__(name: str) -> Any:  # so that the intervals are imported without the games
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "tables" if name in ("tabulate", "to_markdown") else "games"
    return getattr(import_module(f"{__name__}.{module}"), name)
