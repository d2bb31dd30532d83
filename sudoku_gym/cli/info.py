"""`sudoku-gym info`: the installed components."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import gymnasium as gym
from rich.text import Text

from sudoku_gym import plugins
from sudoku_gym.cli.terminal import console, strip_control
from sudoku_gym.evaluation import evaluate
from sudoku_gym.policies import load_policy
from sudoku_gym.puzzles import banks

_PACKAGES = "sudoku-gym gymnasium numpy numba torch stable-baselines3 ray gradio".split()


def info(*, compile: bool = False) -> int:
    """Show what is installed: versions, environments, banks, policies, trainers, extras.

    Args:
        compile: Compile the kernels that most commands use first, once; later starts load them.
    """
    if compile:
        print("Compiling ...", flush=True)
        gym.make_vec("Sudoku9x9-v0", num_envs=2).reset(seed=0)
        evaluate(load_policy("solver"), banks.load("9x9", "test").puzzles[:1])
    ids = {**plugins.sudoku_specs(), **plugins.available("environments")}
    rows = [
        ["versions", ", ".join([f"Python {platform.python_version()}", *_versions()])],
        ["machine", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"],
        ["environments", ", ".join(ids)],
        ["banks", ", ".join(banks.NAMES)],
        ["policies", ", ".join(plugins.available("policies")) or "none"],
        ["trainers", ", ".join(plugins.available("trainers")) or "none"],
        ["extras", ", ".join(_extras())],
    ]
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        console().print(
            Text.assemble((name.ljust(width), "bold"), "  ", strip_control(text)), soft_wrap=True
        )
    return 0


def _extras() -> list[str]:
    """Name each extra, with what it lacks."""
    needs = {
        extra: [module for module in modules if find_spec(module) is None]
        for extra, modules in plugins.MODULES_OF_EXTRA.items()
    }
    return [
        f"{extra} (needs {', '.join(missing)})" if missing else extra
        for extra, missing in needs.items()
    ]


def _versions() -> list[str]:
    versions = []
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions.append(f"{package} {version(package)}")
    return versions
