"""Evaluation of policies: games under equal rules, their results and tables."""

from sudoku_gym.evaluation.games import Evaluation, compare, evaluate, percent
from sudoku_gym.evaluation.tables import tabulate, to_markdown

__all__ = ["Evaluation", "compare", "evaluate", "percent", "tabulate", "to_markdown"]
