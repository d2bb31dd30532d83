"""What other packages offer, found by name, and the options that a name may carry."""

from sudoku_gym.plugins.entry_points import (
    DEFAULT_POLICIES,
    EXTRA_OF_MODULE,
    LEADERBOARD,
    PLOTTERS,
    POLICIES,
    SCHEDULE_CONFIGS,
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
from sudoku_gym.plugins.environments import (
    ENVIRONMENT_IDS,
    find_env,
    import_environment,
    import_environments,
    sudoku_specs,
)
from sudoku_gym.plugins.options import checked_options, split_options, takes_first

__all__ = [
    "DEFAULT_POLICIES",
    "ENVIRONMENT_IDS",
    "EXTRA_OF_MODULE",
    "LEADERBOARD",
    "PLOTTERS",
    "POLICIES",
    "SCHEDULE_CONFIGS",
    "TRAINERS",
    "add_import_folder",
    "available",
    "checked_options",
    "default_policies",
    "find_env",
    "import_environment",
    "import_environments",
    "install_command",
    "join_names",
    "load",
    "load_attribute",
    "split_options",
    "sudoku_specs",
    "suggest_extra",
    "takes_first",
]
