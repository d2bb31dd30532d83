"""Imports point down only: each package imports what it may, wherever the import stands."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
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
            "envs/rendering": {"PIL", "imageio"},
            "cli": {"tyro", "rich", "PIL"},
            "app/page": {"gradio"},
            "puzzles": {"igraph"},
            "text/trl": {"datasets"},
            "text/openenv": {"openenv", "fastapi"},
            "text/verifiers": {"verifiers", "openai", "pydantic"},
            "storage/atomic": {"filelock"},
            "trajectories/recording": {"h5py", "minari"},
            "policies/hub": {"huggingface_hub"},
        },
    ),
    "curricula/sudoku_curricula": (
        NUMERIC | {"sudoku_gym", "sudoku_curricula"},
        {
            "sb3": {"stable_baselines3"},
            "rllib": {"ray", "torch"},
            "curves": {"tensorboard"},
            "plots": {"matplotlib"},
        },
    ),
    "learning/sudoku_learning": (
        NUMERIC | LEARNING | {"sudoku_gym", "sudoku_curricula"},
        {"training/actors": {"ray"}},
    ),
    "agents/sudoku_agents": (
        NUMERIC | LEARNING | {"sudoku_gym", "sudoku_curricula", "sudoku_agents"},
        {"sb3": {"stable_baselines3", "sb3_contrib"}, "rllib": {"ray"}},
    ),
    "baselines/sudoku_baselines": (
        NUMERIC | {"sudoku_gym", "sudoku_baselines"},
        {"neural/": LEARNING | {"sudoku_curricula"}, "classical/solvers": {"pysat"}},
    ),
}
# The subpackages of sudoku_gym are folders, but for these files.
FILES = {"plugins", "registration", "testing", "__main__"}


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


def subpackage_of(path, folder):
    """Return the folder or file of a package that a file lies in."""
    return path.removeprefix(f"{folder}/").split("/")[0].removesuffix(".py")


@pytest.mark.parametrize("folder", RULES)
def test_subpackages_import_no_later_one(folder):
    """The manual lists the folders of each package in their order; files have one among them."""
    page = (ROOT / "docs/design.md").read_text()
    listed = re.findall(r"`(\w+)/`", page.partition("Inside a package")[2])
    order = [name for name in dict.fromkeys(listed) if (ROOT / folder / name).is_dir()]
    package, graph = folder.split("/")[-1], {}
    for path, modules in sources(folder):
        here = subpackage_of(path, folder)
        inside = {module.split(".")[1] for module in modules if module.startswith(f"{package}.")}
        graph.setdefault(here, set()).update(inside - {here})
    del graph["__init__"]  # a package's own names come from all of its subpackages
    for names in graph.values():
        names &= graph.keys()  # others are offered by the package itself
    assert set(order) == {name for name in graph if (ROOT / folder / name).is_dir()}
    later = {name: set(order[i + 1 :]) & graph[name] for i, name in enumerate(order)}
    assert not any(later.values()), later
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_sudoku_gym_has_no_loose_file():
    loose = {file.stem for file in (ROOT / "sudoku_gym").glob("*.py")}
    assert loose == FILES | {"__init__"}


def module_name(path):
    """Return the name by which a file is imported."""
    parts = path.removesuffix(".py").split("/")
    parts = parts if parts[0] == "sudoku_gym" else parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_modules_import_each_other():
    """Circles of imports at the top of modules; `__init__` files only pass names on."""
    graph = {
        module_name(path): modules
        for folder in RULES
        for path, modules in sources(folder)
        if not path.endswith("__init__.py")
    }
    TopologicalSorter({name: graph[name] & graph.keys() for name in graph}).prepare()


@pytest.mark.parametrize("folder", RULES)
def test_kernels_are_compiled_by_our_compiler(folder):
    """Numba's own cache would run the old machine code of a callee that has changed."""
    numbas = re.compile(r"from numba import .*\b(?:n?jit|vectorize)\b|\bnumba\.n?jit\b")
    files = [file for file in (ROOT / folder).rglob("*.py") if file.name != "jit.py"]
    assert [str(file) for file in files if numbas.search(file.read_text())] == []


def test_the_walk_finds_imports_wherever_they_stand():
    source = "import torch.nn as nn\nimport os\ndef f():\n    from ray.rllib import x\n"
    assert imported_modules(source) == {"torch.nn", "ray.rllib", "ray.rllib.x"}


def test_importing_sudoku_gym_stays_light():
    heavy = "torch ray stable_baselines3 PIL tyro rich igraph matplotlib tensorboard"
    ours = "sudoku_agents sudoku_curricula sudoku_learning sudoku_baselines"
    code = f"import sys, sudoku_gym; print(*set('{heavy} {ours}'.split()) & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (loaded.returncode, loaded.stdout.strip()) == (0, ""), loaded.stderr
