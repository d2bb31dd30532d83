"""Environments that other packages register, found by their ids."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from sudoku_gym.plugins.entry_points import available, load, suggest_extra
from sudoku_gym.plugins.options import split_options


def import_environment(env_id: str) -> str:
    """Import the module that stands in an id such as `my_package.envs:My9x9-v0`; return the id.

    Only what a person writes comes here, never what stands in a file: a module runs.

    Raises:
        ValueError: if the module registers no such environment.
        ModuleNotFoundError: if there is no such module, or it needs a package that is not
            installed.
    """
    module, _, name = env_id.rpartition(":")
    if module:
        with suggest_extra(env_id):
            import_module(module)
        if name not in gym.registry:
            raise ValueError(f"env={env_id!r}: the module {module} registers no {name!r}")
    return env_id


def find_env(env_id: str) -> EnvSpec:
    """Return the specification of an environment of this suite or of another package.

    Args:
        env_id: an id; also in the form `module:id` if the module was imported. An id that is not
            registered may be an entry point of the group `sudoku_gym.environments`, which is
            imported then. A list may stand behind it, `Sudoku-v0?source=mine.csv&board=9x9`.

    Raises:
        ValueError: if there is none, or it draws no puzzles; the message says how to register it.
            Or if the source or the board of a list is a `module:attribute`, which is code.
    """
    named, options = split_options(env_id)
    if any(":" in str(value) for value in options.values()):
        raise ValueError(f"env={env_id!r}: give a file of puzzles and the name of a board")
    module, _, name = named.rpartition(":")
    if name not in gym.registry and name in available("environments"):
        load("environments", name)
    if name not in gym.registry:
        raise ValueError(
            f"env={env_id!r}: {name} is not registered. One of another package is given with its "
            f"module, as --env {module or 'my_package.envs'}:{name}, or is an entry point of "
            "sudoku_gym.environments; what a file names is imported with trust=True (--trust) alone"
        )
    spec = replace(gym.registry[name], kwargs=gym.registry[name].kwargs | options)
    if "source" not in spec.kwargs:
        raise ValueError(
            f"env={env_id!r} is no Sudoku environment: register yours with sudoku_gym.register"
        )
    return spec


def sudoku_specs() -> dict[str, EnvSpec]:
    """Return the specification of each environment with puzzles that is registered now, by id."""
    return {name: spec for name, spec in gym.registry.items() if "source" in spec.kwargs}
