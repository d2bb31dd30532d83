"""Modules of several policies in one process, where each name stands for the first one imported.

Agents that put their own folder on `sys.path`, each with a `model.py`, would get each other's.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from sudoku_gym.policies.checksums import files_below
from sudoku_gym.policies.identity import code_roots
from sudoku_gym.policies.protocols import Policy

_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+(\w+)", re.M)
_INSTALLED = ("site-packages", "dist-packages")
_LONGEST = 1_000_000  # bytes of a source that is looked at


def check_own_modules(players: Mapping[str, Policy]) -> None:
    """Raise a ValueError if two policies import different files of theirs by one name.

    Args:
        players: policies by their names, as `load_policy` takes them.
    """
    roots = {(name, root) for name, player in players.items() for root in code_roots(name, player)}
    if len({root for _, root in roots}) < 2:
        return
    first = dict[str, tuple[str, Path]]()
    for name, root in sorted(roots):
        for module, file in _own_imports(root):
            other, others = first.setdefault(module, (name, file))
            if others != file:
                raise ValueError(
                    f"{other} and {name} import {others} and {file} by one name, {module}, which "
                    "stands for one of them in a process: play each by itself, with evaluate"
                )


def _own_imports(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the modules that code imports from its own folder by their names alone, and files."""
    if root.is_dir():
        sources = [file for file in files_below(root)[0] if file.suffix == ".py"]
        own = sources
    else:
        sources = [root] if root.suffix == ".py" else []
        is_installed = root.parent.name in _INSTALLED
        beside = (*root.parent.glob("*.py"), *root.parent.glob("*/__init__.py"))
        own = [] if is_installed else [*beside]
    files = {file.parent.name if file.name == "__init__.py" else file.stem: file for file in own}
    for source in sources:
        with source.open("rb") as file:
            text = file.read(_LONGEST).decode(errors="replace")
        for module in {*_IMPORT.findall(text)} & files.keys() - sys.stdlib_module_names:
            yield module, files[module]
