"""The pages say what the code does: their examples run, their tables are complete."""

import ast
import re
import shlex
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from unittest.mock import patch

import pytest
import tyro

from sudoku_curricula import SCHEDULES
from sudoku_curricula import curves as curve_names
from sudoku_gym import cli, puzzles
from sudoku_gym.puzzles import banks
from sudoku_gym.registration import ANY_BOARD, ENVIRONMENTS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SOURCES = (".", "curricula", "learning", "agents", "baselines")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


def blocks(page, *languages):
    """Yield the line and the text of each block of a page that is in one of the languages."""
    text = page.read_text("utf-8")
    for block in FENCE.finditer(text):
        if block[1] in languages:
            yield text[: block.start(2)].count("\n"), dedent(block[2])


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

    A block marked `py` is not run: it needs a cluster, or things of the reader's.
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


@pytest.mark.parametrize("bank", banks.SPLIT_NAMES)
def test_every_bank_is_counted(bank):
    page = (DOCS / "puzzles.md").read_text(encoding="utf-8")
    counts = [f"{len(puzzles.load(bank, split)):,}" for split in puzzles.SPLITS]
    whole = puzzles.load(bank)
    givens = whole.geometry.num_cells - whole.blanks
    span = f"{givens.min()} to {givens.max()}, mean {givens.mean():.1f}"
    assert f"| `{bank}` | {' | '.join(counts)} | {span} |" in page


TEXTS = [*PAGES, *(page for folder in SOURCES[1:] for page in (ROOT / folder).rglob("*.md"))]
LINES = dict.fromkeys(
    command
    for page in TEXTS
    for _, block in blocks(page, "sh", "bash", "console", "")
    for command in block.replace("\\\n", " ").splitlines()
)
COMMANDS = [command for command in LINES if command.startswith("sudoku-gym ")]
INLINE = re.compile(r"`python (benchmarks/[^`]+)`")
BENCHMARKS = dict.fromkeys(
    [line.removeprefix("python ") for line in LINES if line.startswith("python benchmarks/")]
    + [" ".join(text.split()) for page in TEXTS for text in INLINE.findall(page.read_text("utf-8"))]
)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_parse(command):
    words = shlex.split(command, comments=True)[1:]
    has_more = re.search(r"--help|\$|my_package", command)  # of the reader's, or of the shell's
    run = None if "--help" in words else cli.parse(words)
    if run is not None and words[0] == "train" and not has_more:
        with patch("sudoku_learning.training.loop.Training") as training:
            run()  # the trainer parses the rest
        assert training.called or len(words) == 1


@pytest.mark.parametrize("command", BENCHMARKS)
def test_commands_of_benchmarks_parse(command):
    script, *words = shlex.split(command, comments=True)
    module = pytest.importorskip(Path(script).stem, exc_type=ModuleNotFoundError)
    if hasattr(module, "Config") and not {"...", "--help"} & {*words}:
        assert tyro.cli(module.Config, args=words)


def test_every_environment_is_listed():
    text = (DOCS / "environments.md").read_text()
    assert [name for name in (*ENVIRONMENTS, ANY_BOARD) if f"`{name}`" not in text] == []


def is_curve(value):
    return isinstance(value, str) and value.partition("/")[0] in curve_names.GROUPS


def test_every_schedule_and_every_curve_is_listed():
    text = (DOCS / "curricula.md").read_text()
    curves = [value for value in vars(curve_names).values() if is_curve(value)]
    assert len(curves) > 10 and curve_names.BLANKS_LEVEL in curves
    assert [name for name in [*SCHEDULES, *curves] if f"`{name}`" not in text] == []


def printed_columns():
    """Yield what `sudoku-gym train` may print as heads: keys beside the word `columns`."""
    loop = ROOT / "learning/sudoku_learning/training/loop.py"
    for file in [loop, *(f for s in SOURCES[3:] for f in (ROOT / s).rglob("*.py"))]:
        text = file.read_text("utf-8")
        for function in ast.walk(ast.parse(text)) if file == loop or "Report(" in text else ():
            nodes = [*ast.walk(function)] if isinstance(function, ast.FunctionDef) else []
            if "columns" in {getattr(n, "arg", getattr(n, "id", "")) for n in nodes}:
                others = [n.value for n in nodes if getattr(n, "arg", "") == "metrics"]
                dicts = [n for n in nodes if isinstance(n, ast.Dict) and n not in others]
                yield from (k.value for d in dicts for k in d.keys if isinstance(k, ast.Constant))


def test_every_column_of_a_trainer_is_explained():
    text = (DOCS / "agents.md").read_text("utf-8").partition("### Columns")[2]
    explained = re.findall(r"`([^`]+)`", "".join(re.findall(r"^\|(.*?)\|", text, re.M)))
    printed = set(printed_columns())
    assert {"left", "minimal", "log Z", "search solved", "network"} < printed
    assert printed == set(explained) and len(explained) == len(printed)


def directives():
    """Return what the pages of the reference show: each `::: name`, and its members if not all."""
    found = {}
    for page in (DOCS / "reference").glob("*.md"):
        for name, rest in re.findall(r"^::: (\S+)\n((?:    .*\n)*)", page.read_text("utf-8"), re.M):
            members = re.search(r"^ +members: \[(.*)\]", rest, re.M)
            found[name] = members and set(members[1].split(", "))
    return found


def offered(package):
    """Return what a package's `__all__` offers, with the module it imports each name from."""
    for source in SOURCES:
        file = ROOT / source / package.replace(".", "/") / "__init__.py"
        if file.exists():
            tree = ast.parse(file.read_text("utf-8"))
            homes = {
                alias.name: node.module
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
            for node in tree.body:
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                    return {name: homes.get(name, "") for name in ast.literal_eval(node.value)}
    return {}


def is_documented(module, name, shown):
    """Say whether a name is in the reference: by itself, with its module, or with its package."""
    for home in (module, offered(module).get(name, module)):
        package = home.rpartition(".")[0]
        for place in (home, package if name in offered(package) else home):
            if f"{place}.{name}" in shown:
                return True
            if place in shown and (shown[place] is None or name in shown[place]):
                return True
    return False


def imported_names():
    """Yield (module, name) for all that examples and blocks of code import from our packages."""
    inner = {"draw_a_search.py", "export_onnx.py"}  # which show what is inside
    files = [file for file in (ROOT / "examples").glob("*.py") if file.name not in inner]
    sources = [file.read_text("utf-8") for file in files]
    sources += [code for page in PAGES for _, code in blocks(page, "python", "py")]
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("sudoku_"):
                yield from ((node.module, alias.name) for alias in node.names)


def test_reference_has_every_package_with_a_public_face():
    shown = directives()
    faces = {
        ".".join(file.relative_to(ROOT / source).parent.parts)
        for source in SOURCES
        for file in (ROOT / source).glob("sudoku_*/**/__init__.py")
    }
    missing = {
        f"{face}.{name}"
        for face in faces
        for name in offered(face)
        if not is_documented(face, name, shown)
    }
    assert len(faces) > 20 and missing == set()


def test_reference_has_whatever_examples_import():
    shown = directives()
    missing = {
        f"{module}.{name}"
        for module, name in imported_names()
        if not is_documented(module, name, shown)
    }
    assert missing == set()


def test_what_is_missing_is_seen():
    shown = {"sudoku_gym.envs": None, "sudoku_gym.puzzles.files": {"read"}}
    assert is_documented("sudoku_gym.envs.sudoku", "SudokuEnv", shown)
    assert is_documented("sudoku_gym.puzzles.files", "read", shown)
    assert not is_documented("sudoku_gym.puzzles.files", "write", shown)
    assert not is_documented("sudoku_gym.envs.sudoku", "BoardBatch", shown)


def anchors(page):
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text("utf-8")), re.M)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {re.sub(r" +", "-", heading.strip()) for heading in plain}


@pytest.mark.parametrize(
    "page", [*ROOT.glob("*.md"), *(ROOT / "agents").rglob("README.md")], ids=lambda page: page.name
)
def test_links_outside_the_site_lead_somewhere(page):
    """`mkdocs build --strict` looks at those within."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if not re.match(r"https?:", target):
            path, _, anchor = target.partition("#")
            linked = page.parent / path if path else page
            assert linked.exists(), target
            assert not anchor or anchor in anchors(linked), target


def test_every_page_has_a_place_in_the_menu():
    menu = (ROOT / "mkdocs.yml").read_text("utf-8")
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    pages += [f"environments/{name.removesuffix('-v0').lower()}.md" for name in ENVIRONMENTS]
    assert [page for page in pages if f" {page}" not in menu] == []
