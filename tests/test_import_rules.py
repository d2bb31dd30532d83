"""Imports point down only: each package may import what stands here, and nothing else."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = {
    "sudoku_gym": ROOT / "sudoku_gym",
    "sudoku_baselines": ROOT / "baselines" / "sudoku_baselines",
    "sudoku_curricula": ROOT / "curricula" / "sudoku_curricula",
    "sudoku_agents": ROOT / "agents" / "sudoku_agents",
}

# What a module may import besides the standard library: the rows of all its parents together.
ALLOWED = {
    "sudoku_gym": {"sudoku_gym", "numpy", "numba", "gymnasium"},
    "sudoku_gym.envs.rendering": {"PIL", "pygame"},
    "sudoku_gym.puzzles": {"igraph"},
    "sudoku_gym.cli": {"tyro", "rich"},
    "sudoku_baselines": {"sudoku_baselines", "sudoku_gym", "numpy", "numba"},
    "sudoku_baselines.neural": {"torch", "safetensors"},
    "sudoku_curricula": {"sudoku_curricula", "sudoku_gym", "numpy", "gymnasium"},
    "sudoku_curricula.tensorboard": {"tensorboard"},
    "sudoku_curricula.sb3": {"stable_baselines3", "sb3_contrib"},
    "sudoku_curricula.rllib": {"ray"},
    "sudoku_agents": {"sudoku_agents", "sudoku_curricula", "sudoku_gym", "numpy", "numba"}
    | {"gymnasium", "torch", "safetensors", "tensorboard", "matplotlib", "tyro", "rich"},
    "sudoku_agents.sb3": {"stable_baselines3", "sb3_contrib"},
    "sudoku_agents.rllib": {"ray"},
    "sudoku_agents.alphazero.distributed": {"ray"},
}
ONLY_WHEN_USED = {"igraph", "pygame"}  # optional, and slow to import: inside a function


def imported(source: str, package: str) -> Iterator[tuple[str, int, bool]]:
    """Yield (top-level name, line, whether inside a function) of each import in `source`."""
    tree = ast.parse(source)
    functions = [
        n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    inner = {id(node) for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [package if node.level else node.module or ""]
        else:
            continue
        for name in names:
            yield name.partition(".")[0], node.lineno, id(node) in inner


def broken_rules(source: str, module: str) -> list[str]:
    """Say which imports of `module` the table does not allow."""
    parts = module.split(".")
    parents = [".".join(parts[:i]) for i in range(1, len(parts) + 1)]
    allowed = set().union(*(ALLOWED.get(parent, set()) for parent in parents))
    found = []
    for name, line, is_inner in imported(source, parts[0]):
        if name in sys.stdlib_module_names:
            continue
        if name not in allowed:
            found.append(f"{module}, line {line}: {name} may not be imported here")
        elif name in ONLY_WHEN_USED and not is_inner:
            found.append(f"{module}, line {line}: import {name} inside the function that needs it")
    return found


def modules() -> list[tuple[str, Path]]:
    return [
        (".".join((package, *path.relative_to(folder).with_suffix("").parts)), path)
        for package, folder in FOLDERS.items()
        for path in sorted(folder.rglob("*.py"))
    ]


@pytest.mark.parametrize("module, path", modules(), ids=lambda value: str(value).split("/")[-1])
def test_imports_point_down(module: str, path: Path) -> None:
    assert broken_rules(path.read_text(encoding="utf-8"), module) == []


def test_every_package_is_checked() -> None:
    packages = [module.partition(".")[0] for module, _ in modules()]
    assert set(packages) == set(FOLDERS)


@pytest.mark.parametrize(
    "source, module",
    [
        ("import torch", "sudoku_gym.policy"),
        ("def f():\n    from torch import nn", "sudoku_gym.policy"),
        ("from sudoku_agents.alphazero import agent", "sudoku_gym.cli.train"),
        ("import rich.table", "sudoku_gym.evaluation"),
        ("import igraph", "sudoku_gym.puzzles.orbits"),
        ("from sudoku_baselines import floors", "sudoku_agents.alphazero.trainer"),
        ("if True:\n    import sudoku_curricula.base", "sudoku_baselines.floors"),
    ],
)
def test_a_forbidden_import_is_found(source: str, module: str) -> None:
    assert len(broken_rules(source, module)) == 1


def test_importing_sudoku_gym_stays_light() -> None:
    heavy = ["torch", "PIL", "tyro", "rich", "igraph", "pygame", "ray", "stable_baselines3"]
    rooms = ["sudoku_agents", "sudoku_baselines", "sudoku_curricula"]
    code = f"import sys, sudoku_gym; print([m for m in {heavy + rooms} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
