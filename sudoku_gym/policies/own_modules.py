"""Modules of several policies in one process, where each name stands for the first one imported.

Agents that put their own folder on `sys.path`, each with a `model.py`, would get each other's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from sudoku_gym.policies.identity import code_roots
from sudoku_gym.policies.protocols import Policy


def check_own_modules(players: Mapping[str, Policy]) -> None:
    """Raise a ValueError if a policy's code has got a module of another's in place of its own.

    Args:
        players: policies by their names, as `load_policy` takes them.
    """
    roots = {name: code_roots(name, player) for name, player in players.items()}
    for name, own in roots.items():
        others = {root for each in roots.values() for root in each} - {*own}
        for module, file in _same_names(own):
            found = Path(str(module.__file__))
            is_another = any(found.is_relative_to(root) for root in others)
            if is_another and any(_uses(user, module) for user in _modules_below(own)):
                raise ValueError(
                    f"{name}: it has got {found} in place of its own {file}, for another policy "
                    "has imported a module of that name: play each by itself, with evaluate"
                )


def _same_names(roots: Sequence[Path]) -> Iterator[tuple[ModuleType, Path]]:
    """Yield imported modules, and the file of the same name at the top of a policy's folder."""
    for folder in {root if root.is_dir() else root.parent for root in roots}:
        for file in sorted((*folder.glob("*.py"), *folder.glob("*/__init__.py"))):
            name = file.parent.name if file.name == "__init__.py" else file.stem
            module = sys.modules.get(name)
            if module is not None and Path(getattr(module, "__file__", None) or file) != file:
                yield module, file


def _modules_below(roots: Sequence[Path]) -> Iterator[ModuleType]:
    for module in [*sys.modules.values()]:
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and any(Path(file).is_relative_to(root) for root in roots):
            yield module


def _uses(user: ModuleType, module: ModuleType) -> bool:
    """Whether a module has a name for another one, or for something that is defined there."""
    for value in [*vars(user).values()]:
        with suppress(Exception):  # others' objects may do anything when they are asked
            if value is module or value.__module__ == module.__name__:
                return True
    return False
