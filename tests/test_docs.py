"""The pages say what the code does: their examples run, their tables are complete."""

import re
import shlex
from pathlib import Path
from unittest.mock import patch

import pytest

from sudoku_curricula import SCHEDULES
from sudoku_curricula import curves as curve_names
from sudoku_gym import cli, puzzles
from sudoku_gym.registration import ANY_BOARD, ENVIRONMENTS

DOCS = Path(__file__).parent.parent / "docs"
EXAMPLES = [
    pytest.param(code, id=f"{page.stem}-{number}")
    for page in sorted(DOCS.rglob("*.md"))
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
    if "import" in code  # the rest are fragments
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_examples_run(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with patch.dict(SCHEDULES):  # one page adds a schedule of its own
        exec(compile(code, "example", "exec"), {})


@pytest.mark.parametrize("bank", [name for name in puzzles.NAMES if name != "named"])
def test_every_bank_is_counted(bank):
    page = (DOCS / "puzzles.md").read_text(encoding="utf-8")
    counts = [f"{len(puzzles.load(bank, split)):,}" for split in puzzles.SPLITS]
    whole = puzzles.load(bank)
    givens = whole.geometry.num_cells - whole.blanks
    span = f"{givens.min()} to {givens.max()}, mean {givens.mean():.1f}"
    assert f"| `{bank}` | {' | '.join(counts)} | {span} |" in page


PAGES = [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]
COMMANDS = [
    command
    for page in PAGES
    for block in re.findall(r"```(?:sh|bash|console)\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    for command in block.replace("\\\n", " ").splitlines()
    if command.startswith("sudoku-gym ")
]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_parse(command):
    cli._parse(shlex.split(command, comments=True)[1:])


def test_every_environment_is_listed():
    text = (DOCS / "environments.md").read_text()
    assert [name for name in (*ENVIRONMENTS, ANY_BOARD) if f"`{name}`" not in text] == []


def is_curve(value):
    return isinstance(value, str) and value.partition("/")[0] in curve_names.GROUPS


def test_every_schedule_and_every_curve_is_listed():
    text = (DOCS / "curricula.md").read_text()
    curves = [value for value in vars(curve_names).values() if is_curve(value)]
    assert len(curves) > 10 and curve_names.BLANKS in curves
    assert [name for name in [*SCHEDULES, *curves] if f"`{name}`" not in text] == []
