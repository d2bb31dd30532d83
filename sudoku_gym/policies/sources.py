"""The files of modules, and what a single one imports from beside it by what its sources say."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import all_suffixes
from pathlib import Path
from types import ModuleType

from sudoku_gym import plugins

CODE = (".py", ".pyc", ".so", ".pyd")
"""How the names of modules end, in Python and compiled."""

INSTALLED = ("site-packages", "dist-packages")
"""Names of folders in which each package has a version."""

_LONGEST = 1_000_000  # bytes of a source that is looked at
_MOST = 10_000  # files


def file_of(module: object) -> str | None:
    """Return the file of what lies in `sys.modules`, None if it is no module or of no file.

    A module that is loaded when it is first asked for something stays as it is.
    """
    if not issubclass(type(module), ModuleType):  # what a policy has put there may say anything
        return None
    file = object.__getattribute__(module, "__dict__").get("__file__")
    return file if isinstance(file, str) and file else None


def sources_of(file: Path, module: str) -> tuple[Path, list[Path]]:
    """Return the folder that a module is imported from, and its files.

    They are the file itself and what it, and they, import from that folder; of a module that is
    installed the file alone. What is imported by names that are put together is not found.

    Args:
        file: which is no package's.
        module: its name, perhaps in folders without `__init__.py`.
    """
    folder = file.parents[module.count(".")]
    if not file.is_file():  # a module may call itself anything
        return folder, []
    found, waiting = {file}, [] if folder.name in INSTALLED else [file]
    while waiting and len(found) < _MOST:
        new = {*_imported(waiting.pop(), folder)} - found
        found |= new
        waiting += new
    return folder, sorted(found)


def _imported(source: Path, folder: Path) -> Iterator[Path]:
    """Yield files below a folder that a source imports."""
    if source.suffix != ".py":
        return
    tree = ast.Module([], [])
    with (
        suppress(SyntaxError, ValueError, RecursionError),
        warnings.catch_warnings(action="ignore"),  # it warns when it is imported
        source.open("rb") as file,
    ):
        tree = ast.parse(file.read(_LONGEST))
    place = source.relative_to(folder).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files_of(folder, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            above = place[: len(place) + 1 - node.level] if node.level else ()
            parts = [*above, *(node.module.split(".") if node.module else ())]
            for alias in node.names:
                yield from _files_of(folder, [*parts, alias.name])


def _files_of(folder: Path, parts: list[str]) -> Iterator[Path]:
    """Yield the files of a module, of the packages it lies in, and of what is no module nothing."""
    if plugins.is_own_module(parts[0]):
        return
    for end in range(1, len(parts) + 1):
        path = folder.joinpath(*parts[:end])
        for name in (path, path / "__init__"):
            for suffix in all_suffixes():
                file = name.with_name(f"{name.name}{suffix}")
                if file.is_file():
                    yield file
