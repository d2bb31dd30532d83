"""After the site is built: every public name of the packages must be in its reference."""

from __future__ import annotations

import ast
import logging
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocstrings import Inventory

SOURCES = (".", "curricula", "learning", "agents", "baselines")
_log = logging.getLogger("mkdocs.hooks.completeness")


def on_post_build(config: MkDocsConfig) -> None:
    """Warn of each name that is missing; `mkdocs build --strict` then fails."""
    with (Path(config.site_dir) / "objects.inv").open("rb") as file:
        documented = set(Inventory.parse_sphinx(file))
    for name in sorted(public_names(Path(config.config_file_path).parent) - documented):
        _log.warning("%s is public, and no page below docs/reference has it", name)


def public_names(root: Path) -> set[str]:
    """Return what the packages offer: every name in an `__all__`, as `package.name`."""
    found = set()
    for source in SOURCES:
        for file in (root / source).glob("sudoku_*/**/__init__.py"):
            package = ".".join(file.parent.relative_to(root / source).parts)
            found |= {f"{package}.{name}" for name in offered_by(file.read_text("utf-8"))}
    return found


def offered_by(source: str) -> list[str]:
    """Return the `__all__` of a source."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return names
    return []
