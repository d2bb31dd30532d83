"""Environments that other packages register, found by their ids."""

from __future__ import annotations

import re
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from sudoku_gym.plugins.entry_points import ENVIRONMENT_IDS, available, import_named, load

_WITH_MODULE = re.compile(r"[A-Za-z_][\w.]*:[\w./-]+-v\d+")


def import_environment(env_id: str) -> str:
    """Import the module that stands in an id such as `my_package.envs:My9x9-v0`; return the id.

    Only what a person writes comes here, never what stands in a file: a module runs.

    Raises:
        ValueError: if there is no such module, or it registers no such environment.
        ModuleNotFoundError: if the module needs a package that is not installed.
    """
    module, _, name = env_id.rpartition(":")
    if module:
        import_named(module, env_id)
        if name not in gym.registry:
            raise ValueError(f"env={env_id!r}: the module {module} registers no {name!r}")
    return env_id


def import_environments(config: dict[str, Any]) -> None:
    """Import the modules that stand in the ids of a configuration whose author is trusted."""
    for value in config.values():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and _WITH_MODULE.fullmatch(text):
                import_environment(text)


def find_env(env_id: str) -> EnvSpec:
    """Return the specification of an environment of this suite or of another package.

    Args:
        env_id: an id; also in the form `module:id` if the module was imported. An id that is not
            registered may be an entry point of the group `sudoku_gym.environments`, which is
            imported then.

    Raises:
        ValueError: if there is none, or it draws no puzzles; the message says how to register it.
    """
    module, _, name = env_id.rpartition(":")
    if name not in gym.registry and name in available(ENVIRONMENT_IDS):
        load(ENVIRONMENT_IDS, name)
    if module and name not in gym.registry:
        raise ValueError(
            f"env={env_id!r}: {name} is not registered, and what a file names is not imported: "
            f"give --env {env_id}, import {module} first, or pass trust=True (--trust)"
        )
    try:
        spec = gym.spec(name)
    except gym.error.Error as error:
        raise ValueError(
            f"env={env_id!r}: {str(error).rstrip('.')}. One of another package is given with its "
            f"module, my_package.envs:{name}, or is an entry point of the group {ENVIRONMENT_IDS}"
        ) from None
    if "source" not in spec.kwargs:
        raise ValueError(
            f"env={env_id!r} is no Sudoku environment: register yours with sudoku_gym.register"
        )
    return spec


def sudoku_specs() -> dict[str, EnvSpec]:
    """Return the specification of each environment with puzzles that is registered now, by id."""
    return {name: spec for name, spec in gym.registry.items() if "source" in spec.kwargs}
