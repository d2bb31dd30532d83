"""Machine code is kept while nothing changes, and never outlives a change anywhere in it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sudoku_gym
from sudoku_gym.compiler.jit import inlined, njit

HOME = Path(sudoku_gym.__file__).parent.parent
SOURCES = {
    "__init__.py": "from tiny.caller import twice\n",
    "constants.py": """from typing import NamedTuple
STEP = 1
class Start(NamedTuple):
    x: int
START = Start(0)
""",
    "callee.py": """from sudoku_gym.compiler.jit import inlined
from tiny.constants import (
    STEP,
)

@inlined
def advance(x):
    return x + STEP
""",
    "caller.py": """from sudoku_gym.compiler.jit import njit
from tiny import callee
advance = callee.advance

@njit(cache=True)
def twice(start):
    return advance(advance(start.x))
""",
    "bystander.py": "from tiny.caller import twice\n",
}
CALL = """
import json, numba
from tiny.caller import twice
from tiny.constants import START
value = twice(START)
hits = sum(twice.stats.cache_hits.values())
print(json.dumps([value, hits, twice.stats.cache_path, numba.config.CACHE_DIR]))
"""


@pytest.fixture
def tiny(tmp_path):
    """A package of a caller, a callee and a constant; call it to run the caller in a process."""

    class Tiny:
        folder = tmp_path / "tiny"

        def write(self, name, source):
            (self.folder / name).write_text(source)

        def __call__(self, **environment):
            """Return the answer, whether it came from the cache, that folder and numba's own."""
            usual = {key: os.environ[key] for key in os.environ if key != "NUMBA_CACHE_DIR"}
            paths = f"{tmp_path}{os.pathsep}{HOME}"
            done = subprocess.run(
                [sys.executable, "-B", "-c", CALL],
                env=usual | {"PYTHONPATH": paths} | environment,
                capture_output=True,
                cwd=tmp_path,
                text=True,
            )
            assert done.returncode == 0 and done.stderr == "", done.stderr
            return json.loads(done.stdout)

    tiny = Tiny()
    tiny.folder.mkdir()
    for name, source in SOURCES.items():
        tiny.write(name, source)
    return tiny


def test_a_change_anywhere_in_it_is_seen_and_nothing_else_compiles_again(tiny):
    assert tiny() == [2, 0, str(tiny.folder / "__pycache__"), ""]
    tiny.write("bystander.py", "# it imports the caller, not the other way\n")
    assert tiny()[:2] == [2, 1]
    tiny.write("callee.py", SOURCES["callee.py"].replace("x + STEP", "x + 10 * STEP"))
    assert tiny()[:2] == [20, 0]
    renamed = SOURCES["constants.py"].replace("Start", "Begin").replace("STEP = 1", "STEP = 3")
    tiny.write("constants.py", renamed)  # the old index names a class that is no longer there
    assert tiny()[:2] == [60, 0]


def test_code_lies_where_numba_puts_it_and_its_settings_stay_as_they_are(tiny, tmp_path):
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: named\n")
    value, _, folder, setting = tiny()
    assert (value, setting) == (2, "named") and "named" in folder
    (tmp_path / ".numba_config.yaml").unlink()
    (tiny.folder / "__pycache__").touch()  # not even root can make a folder where there is a file
    for hits in (0, 1):
        value, found, folder, _ = tiny(XDG_CACHE_HOME=str(tmp_path / "user"))
        assert (value, found) == (2, hits) and folder.startswith(str(tmp_path / "user"))
    assert tiny(XDG_CACHE_HOME=os.devnull)[:3] == [2, 0, None]  # compiled by every process


@inlined
def add(x, y):
    return x + y


@njit
def add_three(x, y, z):
    return add(add(x, y), z)


def test_what_becomes_part_of_its_callers_can_be_called_from_python_too():
    """Before and after it was compiled for them; numba would crash where it has no wrapper."""
    assert add(1, 2) == 3
    assert add_three(1, 2, 3) == 6
    assert add(1, 2) == 3
    assert add(0.5, 1) == 1.5
