"""What other packages offer, found by name, and the options that a name may carry."""

from sudoku_gym.plugins.entry_points import (
    EXTRA_OF_MODULE,
    LEADERBOARD,
    PLOTTERS,
    POLICIES,
    TRAINERS,
    available,
    default_policies,
    import_from,
    listing,
    load,
    load_attribute,
    naming_the_extra,
)
from sudoku_gym.plugins.options import checked_options, split_options, takes_first

__all__ = [
    "EXTRA_OF_MODULE",
    "LEADERBOARD",
    "PLOTTERS",
    "POLICIES",
    "TRAINERS",
    "available",
    "checked_options",
    "default_policies",
    "import_from",
    "listing",
    "load",
    "load_attribute",
    "naming_the_extra",
    "split_options",
    "takes_first",
]
