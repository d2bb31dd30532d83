"""The set of tasks that verifiers finds by this module's name, `sudoku-text`."""

from sudoku_gym.text.verifiers import *  # noqa: F403
from sudoku_gym.text.verifiers import __all__  # noqa: F401
