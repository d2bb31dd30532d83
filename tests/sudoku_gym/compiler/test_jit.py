"""Machine code is kept while nothing changes, and never outlives a change anywhere in it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import sudoku_gym
from sudoku_gym.compiler.jit import inlined, njit

pytestmark = pytest.mark.slow  # most of it starts processes that compile

SOURCES = {
    "__init__.py": "",
    "constants.py": "STEP = 1\n",
    "callee.py": """from COMPILER import njit
from tiny.constants import (
    STEP,
)

@njit
def advance(x):
    return x + STEP
""",
    "caller.py": """from COMPILER import njit
from tiny import callee
advance = callee.advance

@njit(cache=True)
def twice(x):
    return advance(advance(x))
""",
    "bystander.py": "from tiny.caller import twice\n",
}
CALL = """
import json
from tiny.caller import twice
value = twice(0)
print(json.dumps([value, sum(twice.stats.cache_hits.values())]))
"""


@pytest.fixture(params=["beside the source", "NUMBA_CACHE_DIR"])
def tiny(request, tmp_path):
    """A package of a caller, a callee and a constant; call it to run the caller in a process."""

    class Tiny:
        folder = tmp_path / "tiny"
        compiler = "sudoku_gym.compiler.jit"

        def write(self, name, source):
            self.folder.mkdir(exist_ok=True)
            (self.folder / name).write_text(source.replace("COMPILER", self.compiler))

        def __call__(self):
            """Return the caller's answer, and how many functions came from the cache."""
            home = Path(sudoku_gym.__file__).parent.parent
            environment = os.environ | {
                "PYTHONPATH": f"{tmp_path}{os.pathsep}{home}",
                "PYTHONDONTWRITEBYTECODE": "1",  # Python's own cache looks at whole seconds
            }
            environment.pop("NUMBA_CACHE_DIR", None)
            if request.param == "NUMBA_CACHE_DIR":
                environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
            run = subprocess.run(
                [sys.executable, "-c", CALL], env=environment, capture_output=True, text=True
            )
            assert run.returncode == 0, run.stderr
            return tuple(json.loads(run.stdout))

    return Tiny()


def test_a_change_anywhere_in_it_is_seen_and_nothing_else_compiles_again(tiny):
    for name, source in SOURCES.items():
        tiny.write(name, source)
    assert tiny() == (2, 0)
    assert tiny() == (2, 1)
    tiny.write("bystander.py", "# it imports the caller, not the other way\n")
    assert tiny() == (2, 1)
    tiny.write("callee.py", SOURCES["callee.py"].replace("x + STEP", "x + 10 * STEP"))
    assert tiny() == (20, 0)
    tiny.write("constants.py", "STEP = 3\n")
    assert tiny() == (60, 0)
    tiny.write("constants.py", "STEP = 1\n")
    assert tiny() == (20, 1)  # as after switching a branch and back


def test_numbas_own_cache_would_run_the_old_callee(tiny):
    """Should this fail one day, numba looks at callees itself, and our compiler can go."""
    tiny.compiler = "numba"
    for name, source in SOURCES.items():
        tiny.write(name, source)
    assert tiny() == (2, 0)
    tiny.write("callee.py", SOURCES["callee.py"].replace("x + STEP", "x + 10 * STEP"))
    assert tiny() == (2, 1)


@inlined
def add(x, y):
    return x + y


@njit
def add_three(x, y, z):
    return add(add(x, y), z)


def test_what_becomes_part_of_its_callers_can_be_called_from_python_too():
    """Before and after it was compiled for them; numba would crash where there is no way in."""
    assert add(1, 2) == 3
    assert add_three(1, 2, 3) == 6
    assert add(1, 2) == 3
    assert add(0.5, 1) == 1.5


def test_a_function_without_a_module_can_be_compiled():
    """Others compile theirs beside ours: of what `exec` made, nobody knows a module."""
    made = {}
    exec("def twice(x):\n    return 2 * x", {"__builtins__": {}}, made)
    assert made["twice"].__module__ is None and numba.njit(made["twice"])(4) == 8
