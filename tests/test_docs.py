"""The pages say what the code does: their examples run, their tables are complete."""

import re
import shlex
import sys
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import pytest

from sudoku_curricula import SCHEDULES
from sudoku_curricula import curves as curve_names
from sudoku_gym import cli, puzzles
from sudoku_gym.registration import ANY_BOARD, ENVIRONMENTS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page, *languages):
    """Yield the line and the text of each block of a page that is in one of the languages."""
    text = page.read_text("utf-8")
    for block in FENCE.finditer(text):
        if block[1] in languages:
            yield text[: block.start(2)].count("\n"), block[2]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.relative_to(ROOT).as_posix())
        for page in PAGES
        if any(blocks(page, "python"))
    ],
)
def test_code_runs(page, tmp_path, monkeypatch):
    """The blocks of a page run one after the other, as in a notebook.

    A block marked `py` in place of `python` is not run: it needs a cluster, or things of the reader's.
    """
    monkeypatch.chdir(tmp_path)
    module = ModuleType(f"page_{page.stem.replace('-', '_')}")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # dataclasses look their module up
    with patch.dict(SCHEDULES):  # one page adds a schedule of its own
        for line, code in blocks(page, "python"):
            exec(compile("\n" * line + code, str(page), "exec"), module.__dict__)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_that_is_not_run_is_python(page):
    for line, code in blocks(page, "py"):
        compile("\n" * line + code, str(page), "exec")


@pytest.mark.parametrize("bank", [name for name in puzzles.NAMES if name != "named"])
def test_every_bank_is_counted(bank):
    page = (DOCS / "puzzles.md").read_text(encoding="utf-8")
    counts = [f"{len(puzzles.load(bank, split)):,}" for split in puzzles.SPLITS]
    whole = puzzles.load(bank)
    givens = whole.geometry.num_cells - whole.blanks
    span = f"{givens.min()} to {givens.max()}, mean {givens.mean():.1f}"
    assert f"| `{bank}` | {' | '.join(counts)} | {span} |" in page


COMMANDS = [
    command
    for page in PAGES
    for _, block in blocks(page, "sh", "bash", "console", "")
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
