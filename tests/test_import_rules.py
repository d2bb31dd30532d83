"""Imports point down only: each package imports what its floor may, wherever the import stands."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NUMERIC = {"numpy", "numba", "llvmlite", "gymnasium"}  # llvmlite comes with numba

# folder: what every file in it may import, and what the files below a path may import besides
RULES = {
    "sudoku_gym": (
        NUMERIC | {"sudoku_gym"},
        {
            "envs/rendering": {"PIL"},
            "envs/marks": {"PIL"},
            "envs/films": {"PIL", "moviepy"},
            "envs/window": {"pygame"},
            "cli": {"tyro", "rich", "PIL"},
            "puzzles": {"igraph"},
            "puzzles/build_banks": {"pysat"},
        },
    ),
    "baselines/sudoku_baselines": (
        NUMERIC | {"sudoku_gym", "sudoku_baselines"},
        {"neural": {"torch", "safetensors"}, "classical/references": {"pysat"}},
    ),
    "curricula/sudoku_curricula": (
        NUMERIC | {"sudoku_gym", "sudoku_curricula"},
        {
            "sb3": {"stable_baselines3"},
            "rllib": {"ray"},
            "curves": {"tensorboard"},
            "plots": {"matplotlib"},
        },
    ),
    "agents/sudoku_agents": (
        NUMERIC
        | {"sudoku_gym", "sudoku_curricula", "sudoku_agents"}
        # Their configuration is a command line, their progress is shown on the console.
        | {"torch", "safetensors", "tyro", "rich", "matplotlib"},
        {"sb3": {"stable_baselines3", "sb3_contrib"}, "rllib": {"ray"}, "alphazero": {"ray"}},
    ),
}


def imported_packages(source):
    """Return the top-level packages that a source imports, on top or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, "imports are absolute here"
            found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names)


@pytest.mark.parametrize("folder", RULES)
def test_packages_import_only_what_they_may(folder):
    allowed, extras = RULES[folder]
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    wrong = []
    for file in files:
        path = file.relative_to(ROOT / folder).as_posix()
        here = allowed.union(*(names for start, names in extras.items() if path.startswith(start)))
        wrong += [f"{folder}/{path}: {name}" for name in imported_packages(file.read_text()) - here]
    assert not wrong


@pytest.mark.parametrize("folder", RULES)
def test_kernels_are_compiled_by_our_compiler(folder):
    """Numba's own cache would run the old machine code of a callee that has changed."""
    numbas = re.compile(r"from numba import .*\b(?:n?jit|vectorize)\b|\bnumba\.n?jit\b")
    files = [file for file in (ROOT / folder).rglob("*.py") if file.name != "compiler.py"]
    assert [str(file) for file in files if numbas.search(file.read_text())] == []


def test_the_walk_finds_imports_wherever_they_stand():
    source = "import torch.nn as nn\nimport os\ndef f():\n    from ray.rllib import x\n"
    assert imported_packages(source) == {"torch", "ray"}


def test_importing_the_ground_floor_stays_light():
    heavy = "torch ray stable_baselines3 PIL tyro rich igraph matplotlib tensorboard"
    rooms = "sudoku_agents sudoku_curricula sudoku_baselines"
    code = f"import sys, sudoku_gym; print(*set('{heavy} {rooms}'.split()) & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (loaded.returncode, loaded.stdout.strip()) == (0, ""), loaded.stderr
