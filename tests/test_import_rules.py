"""Imports point down only: each package imports what its floor may, wherever the import stands."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NUMERIC = {"numpy", "numba", "llvmlite", "gymnasium"}  # llvmlite comes with numba

LEARNING = {"sudoku_learning", "torch", "safetensors", "tyro", "rich"}

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
            "demo/page": {"gradio", "fastapi", "uvicorn"},
            "demo/picture": {"PIL"},
            "puzzles": {"igraph"},
            "puzzles/build_banks": {"pysat"},
        },
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
    "learning/sudoku_learning": (
        NUMERIC | LEARNING | {"sudoku_gym", "sudoku_curricula"},
        {"training/actors": {"ray"}, "training/run_folder": {"filelock"}},
    ),
    "agents/sudoku_agents": (
        NUMERIC | LEARNING | {"sudoku_gym", "sudoku_curricula", "sudoku_agents"},
        {"sb3": {"stable_baselines3", "sb3_contrib"}, "rllib": {"ray"}},
    ),
    "baselines/sudoku_baselines": (
        NUMERIC | {"sudoku_gym", "sudoku_baselines"},
        {
            "neural/": LEARNING | {"sudoku_curricula"},
            "classical/references": {"pysat"},
        },
    ),
}
# A room of a package: who else may import it. What `neural` needs must not reach the rest.
CLOSED = {"sudoku_baselines.neural": "baselines/sudoku_baselines/neural/"}
# The rooms of the ground floor; none imports a later one.
ROOMS = [
    "geometry",
    "kernels",
    "solver",
    "puzzles",
    "envs",
    "wrappers",
    "evaluation",
    "demo",
    "cli",
]


def imported_modules(source):
    """Return the modules that a source imports, on top or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, "imports are absolute here"
            # a name may be a module of a package, or something in a module
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.split(".")[0] not in sys.stdlib_module_names}


def sources(folder):
    """Yield the path below the root and the imports of each file of a folder."""
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    for file in files:
        yield file.relative_to(ROOT).as_posix(), imported_modules(file.read_text())


@pytest.mark.parametrize("folder", RULES)
def test_packages_import_only_what_they_may(folder):
    allowed, extras = RULES[folder]
    wrong = []
    for path, modules in sources(folder):
        inside = path.removeprefix(f"{folder}/")
        here = allowed.union(
            *(names for start, names in extras.items() if inside.startswith(start))
        )
        packages = {module.split(".")[0] for module in modules}
        wrong += [f"{path}: {name}" for name in packages - here]
    assert not wrong


@pytest.mark.parametrize("room", CLOSED)
def test_closed_rooms_are_imported_from_within_only(room):
    wrong = [
        path
        for folder in RULES
        for path, modules in sources(folder)
        if not path.startswith(CLOSED[room])
        if any(module == room or module.startswith(f"{room}.") for module in modules)
    ]
    assert not wrong


def test_rooms_of_the_ground_floor_import_no_later_one():
    wrong = []
    for floor, room in enumerate(ROOMS):
        later = tuple(f"sudoku_gym.{name}" for name in ROOMS[floor + 1 :])
        for path, modules in sources(f"sudoku_gym/{room}"):
            # what compiles the kernels is no kernel
            reached = {m for m in modules if not m.startswith("sudoku_gym.kernels.compiler")}
            wrong += [f"{path}: {m}" for m in reached if m.startswith(later)]
    assert not wrong


@pytest.mark.parametrize("folder", RULES)
def test_kernels_are_compiled_by_our_compiler(folder):
    """Numba's own cache would run the old machine code of a callee that has changed."""
    numbas = re.compile(r"from numba import .*\b(?:n?jit|vectorize)\b|\bnumba\.n?jit\b")
    files = [file for file in (ROOT / folder).rglob("*.py") if file.name != "compiler.py"]
    assert [str(file) for file in files if numbas.search(file.read_text())] == []


def test_the_walk_finds_imports_wherever_they_stand():
    source = "import torch.nn as nn\nimport os\ndef f():\n    from ray.rllib import x\n"
    assert imported_modules(source) == {"torch.nn", "ray.rllib", "ray.rllib.x"}


def test_importing_the_ground_floor_stays_light():
    heavy = "torch ray stable_baselines3 PIL tyro rich igraph matplotlib tensorboard"
    rooms = "sudoku_agents sudoku_curricula sudoku_learning sudoku_baselines"
    code = f"import sys, sudoku_gym; print(*set('{heavy} {rooms}'.split()) & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (loaded.returncode, loaded.stdout.strip()) == (0, ""), loaded.stderr
