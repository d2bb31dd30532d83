"""What other packages offer, found by name, and the options that a name may carry."""

from sudoku_gym.plugins.entry_points import (
    MODULES_OF_EXTRA,
    available,
    join_names,
    load,
    load_attribute,
    suggest_extra,
)
from sudoku_gym.plugins.environments import find_env, import_environment, sudoku_specs
from sudoku_gym.plugins.options import checked_options, split_options

__all__ = [
    "MODULES_OF_EXTRA",
    "available",
    "checked_options",
    "find_env",
    "import_environment",
    "join_names",
    "load",
    "load_attribute",
    "split_options",
    "sudoku_specs",
    "suggest_extra",
]
