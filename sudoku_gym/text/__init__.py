"""Sudoku as text, for language models: prompts, moves and answers, rewards.

It needs no framework; the adapters `openenv`, `trl` and `verifiers` are modules.
"""

from sudoku_gym.text.boards import STYLES, describe_rules, format_board
from sudoku_gym.text.episode import TextOptions, TextSudoku, Turn
from sudoku_gym.text.parsing import Command, read_answer, read_command
from sudoku_gym.text.rewards import filled_constraint_fraction, score_text, verify
from sudoku_gym.text.scripted import ScriptedModel

__all__ = [
    "STYLES",
    "Command",
    "ScriptedModel",
    "TextOptions",
    "TextSudoku",
    "Turn",
    "describe_rules",
    "filled_constraint_fraction",
    "format_board",
    "read_answer",
    "read_command",
    "score_text",
    "verify",
]
