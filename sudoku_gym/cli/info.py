"""`sudoku-gym info`: the installed components, and the contents of a bank."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import numpy as np
from rich.text import Text

from sudoku_gym import plugins
from sudoku_gym.cli.terminal import console, strip_control, table
from sudoku_gym.puzzles import banks
from sudoku_gym.puzzles.difficulty import GRADES

_PACKAGES = "sudoku-gym gymnasium numpy numba torch stable-baselines3 ray gradio".split()


def info(bank: str = "", /) -> int:
    """Show what is installed and compiled: versions, environments, policies, extras, kernels.

    Args:
        bank: Describe this bank of puzzles instead.
    """
    if bank:
        _describe_bank(bank)
    else:
        _describe_installation()
    return 0


def _describe_bank(bank: str) -> None:
    whole = banks.load(bank)
    rows = []
    for split in ("all", *banks.SPLITS_OF[bank]):
        part = banks.load(bank, split)
        givens = whole.geometry.num_cells - part.blanks
        counts = np.bincount(part.grades[part.grades >= 0], minlength=len(GRADES))
        rows.append(
            [split, f"{len(part):,}", f"{part.minimal.sum():,}"]
            + [f"{len(np.unique(part.orbits)):,}", f"{givens.min()}-{givens.max()}"]
            + [f"{count:,}" for count in counts]
        )
    heads = ["split", "puzzles", "minimal", "orbits", "givens", *GRADES]
    console().print(table(heads, rows, f"Bank {bank}, boards {whole.geometry.name}"))


def _describe_installation() -> None:
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
    found = []
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    return found
