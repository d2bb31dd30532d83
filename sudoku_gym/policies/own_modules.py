"""Modules of several policies in one process, where each name stands for the first one imported.

Agents that put their own folder on `sys.path`, each with a `model.py`, would get each other's.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from sudoku_gym.policies.checksums import files_below
from sudoku_gym.policies.identity import code_roots
from sudoku_gym.policies.protocols import Policy

_INSTALLED = ("site-packages", "dist-packages")
_LONGEST = 1_000_000  # bytes of a source that is looked at


def check_own_modules(players: Mapping[str, Policy]) -> None:
    """Raise a ValueError if two policies import different files of theirs by one name.

    What they import by way of code that lies elsewhere is not looked at.

    Args:
        players: policies by their names, as `load_policy` takes them.
    """
    roots = {(name, root) for name, player in players.items() for root in code_roots(name, player)}
    if len({root for _, root in roots}) < 2:
        return
    first = dict[str, tuple[str, Path]]()
    for name, root in sorted(roots):
        for module, place in _own_imports(root):
            other, others = first.setdefault(module, (name, place))
            if others != place and _stands_for(module) in (None, place, others):
                raise ValueError(
                    f"{other} and {name} import {others} and {place} by one name, {module}, which "
                    "stands for one of them in a process: give each a process of its own"
                )


def _own_imports(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield what code imports from its own folder by names alone: each with its file or folder."""
    if root.is_dir():
        sources = own = [file for file in files_below(root)[0] if file.suffix == ".py"]
    else:
        sources = [root] if root.suffix == ".py" else []
        beside = (*root.parent.glob("*.py"), *root.parent.glob("*/*.py"))
        own = [] if root.parent.name in _INSTALLED else [*beside]
    places = {file.parent.name: file.parent for file in own} | {file.stem: file for file in own}
    for source in sources:
        for module in _imported(source) & places.keys() - sys.stdlib_module_names:
            yield module, places[module]


def _imported(source: Path) -> set[str]:
    """Return the outermost names that a source imports, but for relative imports."""
    found = set[str]()
    with suppress(SyntaxError, ValueError, RecursionError), source.open("rb") as file:
        for node in ast.walk(ast.parse(file.read(_LONGEST))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.partition(".")[0])
    return found


def _stands_for(module: str) -> Path | None:
    """Return the file, or the folder of a package, that a name stands for now; None if nothing."""
    with suppress(ImportError, ValueError):
        spec = getattr(sys.modules.get(module), "__spec__", None) or find_spec(module)
        folders = spec.submodule_search_locations if spec else None
        if spec and (folders or spec.origin):
            return Path(next(iter(folders)) if folders else str(spec.origin))
    return None
