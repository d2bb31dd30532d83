"""Files that the module of a policy imports from beside it count as its code."""

import importlib
import sys
import warnings

import pytest

from sudoku_gym import load_policy
from sudoku_gym.policies.identity import code_checksum

POLICY = """
class Mine:
    def reset(self, puzzles, geometry, rng):
        pass

    def act(self, boards, action_masks):
        return action_masks.argmax(1)
"""


@pytest.mark.parametrize("place", ["", "own_research/", "own_research/deep/"])
@pytest.mark.parametrize(
    "statement", ["from {}own_net import NAME", "import {}own_net", "from . import own_net"]
)
def test_what_a_module_imports_from_beside_it_counts(own_folder, place, statement):
    """Without `__init__.py`, as research code often has none; not what lies there unused."""
    if "." in statement.split()[1] and not place:
        return
    folder, dotted = own_folder / place, place.replace("/", ".")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "own_alone.py").write_text(f"import os, numpy\n{statement.format(dotted)}\n{POLICY}")
    (folder / "own_net.py").write_text("import os\n")
    (folder / "own_script.py").write_text("import own_alone\n")
    name = f"{dotted}own_alone:Mine"

    def code():
        for module in [each for each in sys.modules if each.startswith("own_")]:
            del sys.modules[module]
        importlib.invalidate_caches()
        return code_checksum(name, load_policy(name))

    (folder / "own_net.py").write_text("NAME = 1\n")
    before = code()
    (folder / "own_script.py").write_text("import own_alone as other\n")
    assert code() == before and len(before) == 64
    (folder / "own_net.py").write_text("NAME = 2\n")
    assert code() != before


def test_a_module_s_warnings_and_its_name_of_itself_are_no_trouble(own_folder, recwarn):
    (own_folder / "own_odd.py").write_text(f"import own_beside\nPATTERN = '\\d'\n{POLICY}")
    (own_folder / "own_beside.py").touch()
    name = "own_odd:Mine"
    with warnings.catch_warnings(action="ignore"):
        made = load_policy(name)
    before = code_checksum(name, made)
    (own_folder / "own_beside.py").write_text("NAME = 1\n")
    with warnings.catch_warnings(action="error"):
        assert code_checksum(name, made) != before
    assert not recwarn.list
    sys.modules["own_odd"].__file__ = "/nowhere/own_odd.py"
    assert code_checksum(name, made)
