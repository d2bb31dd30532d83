"""RLlib's new API stack: masked modules, ready configurations, and modules as policies."""

from sudoku_gym.plugins import install_command

try:
    import ray.rllib  # noqa: F401 - asked for before the modules below fail on half of it
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"sudoku_agents.rllib needs ray: {install_command('rllib')}"
    ) from error

from sudoku_agents.rllib.configs import (
    MaskedSudoku,
    appo_config,
    dqn_config,
    ppo_config,
    sudoku_config,
)
from sudoku_agents.rllib.modules import MaskedActorCritic, MaskedQNetwork
from sudoku_agents.rllib.play import MODULE_PATH, RLlibPolicy, SplitEvaluation, held_out

__all__ = [
    "MODULE_PATH",
    "MaskedActorCritic",
    "MaskedQNetwork",
    "MaskedSudoku",
    "RLlibPolicy",
    "SplitEvaluation",
    "appo_config",
    "dqn_config",
    "held_out",
    "ppo_config",
    "sudoku_config",
]
