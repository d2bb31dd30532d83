"""RLlib's new API stack: masked modules, ready configurations, and modules as policies."""

from sudoku_gym.plugins import suggest_extra

with suggest_extra("sudoku_agents.rllib"):
    import ray.rllib  # noqa: F401 - asked for before the modules below fail on half of it

from sudoku_agents.rllib.configs import MaskedSudoku, appo_config, ppo_config, sudoku_config
from sudoku_agents.rllib.modules import MaskedActorCritic
from sudoku_agents.rllib.play import MODULE_PATH, RLlibPolicy, held_out

__all__ = [
    "MODULE_PATH",
    "MaskedActorCritic",
    "MaskedSudoku",
    "RLlibPolicy",
    "appo_config",
    "held_out",
    "ppo_config",
    "sudoku_config",
]
