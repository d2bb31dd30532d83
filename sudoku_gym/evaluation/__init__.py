"""How well policies play: games under equal rules, their figures, and tables of these."""

from sudoku_gym.evaluation.games import Evaluation, compare, evaluate, percent
from sudoku_gym.evaluation.tables import tabulate, to_markdown

__all__ = ["Evaluation", "compare", "evaluate", "percent", "tabulate", "to_markdown"]
