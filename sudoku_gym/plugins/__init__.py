"""What other packages offer, found by name, and the options that a name may carry."""

from sudoku_gym.plugins.entry_points import (
    ENVIRONMENT_IDS,
    EXTRA_OF_MODULE,
    POLICIES,
    SCHEDULE_CONFIGS,
    TRAINERS,
    available,
    join_names,
    load,
    load_attribute,
    suggest_extra,
)
from sudoku_gym.plugins.environments import (
    find_env,
    import_environment,
    import_environments,
    sudoku_specs,
)
from sudoku_gym.plugins.options import checked_options, split_options

__all__ = [
    "ENVIRONMENT_IDS",
    "EXTRA_OF_MODULE",
    "POLICIES",
    "SCHEDULE_CONFIGS",
    "TRAINERS",
    "available",
    "checked_options",
    "find_env",
    "import_environment",
    "import_environments",
    "join_names",
    "load",
    "load_attribute",
    "split_options",
    "sudoku_specs",
    "suggest_extra",
]
