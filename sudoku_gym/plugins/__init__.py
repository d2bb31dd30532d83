"""What other packages offer, found by name, and the options that a name may carry."""

from sudoku_gym.plugins.entry_points import (
    DEFAULT_POLICIES,
    EXTRA_OF_MODULE,
    LEADERBOARD,
    PLOTTERS,
    POLICIES,
    TRAINERS,
    add_import_folder,
    available,
    default_policies,
    install_command,
    join_names,
    load,
    load_attribute,
    suggest_extra,
)
from sudoku_gym.plugins.options import checked_options, split_options, takes_first

__all__ = [
    "DEFAULT_POLICIES",
    "EXTRA_OF_MODULE",
    "LEADERBOARD",
    "PLOTTERS",
    "POLICIES",
    "TRAINERS",
    "add_import_folder",
    "available",
    "checked_options",
    "default_policies",
    "install_command",
    "join_names",
    "load",
    "load_attribute",
    "split_options",
    "suggest_extra",
    "takes_first",
]
