"""The tutorials as notebooks, made and executed while the site is built.

A notebook is its program in `examples/`, cut into cells: what stands before `main`, a cell each,
then the body of `main`, a cell a paragraph, whose first comment becomes text. It is executed with
`--smoke`, in an empty folder, and holds what was printed.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

TUTORIALS = (
    "quickstart",
    "q_table_with_curriculum",
    "train_a_network",
    "plug_in_your_agent",
    "compare_policies",
    "your_own_learner",
)
FOLDER = "notebooks"
PAGE = "tutorials.md"
SETTING = 'argv = ["--smoke"]  # a short run, which learns little; [] is the whole one'
_COLOURS = re.compile(r"\x1b\[[\d;]*m")


@dataclass
class Cell:
    """A cell of a notebook."""

    kind: str  # code or markdown
    source: str
    printed: str = field(default="")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the notebooks to the files of the site."""
    from mkdocs.structure.files import File

    examples = Path(config.config_file_path).parent / "examples"
    for name in TUTORIALS:
        source = (examples / f"{name}.py").read_text(encoding="utf-8")
        path = f"{FOLDER}/{name}.ipynb"
        files.append(File.generated(config, path, content=executed(name, source)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Link the notebooks in the table of the tutorials; where they are not made it has no links."""
    if page.file.src_uri == PAGE:
        for name in TUTORIALS:
            program = re.compile(rf"(\[`{name}\.py`\]\(#.+?\)) \|")
            link = rf"\1, [notebook]({FOLDER}/{name}.ipynb){{ download }} |"
            markdown, found = program.subn(link, markdown)
            if not found:
                raise ValueError(f"{PAGE} has no row of {name}.py")
    return markdown


def executed(name: str, source: str) -> str:
    """Return the notebook of a program as JSON, with what its cells print."""
    cells = cells_of(source)
    execute(name, cells)
    return as_json(cells)


def cells_of(source: str) -> list[Cell]:
    """Cut a program, which has a docstring and a function `main`, into cells."""
    body = ast.parse(source).body
    text = ast.get_docstring(ast.parse(source)) or ""
    (main,) = (node for node in body if isinstance(node, ast.FunctionDef) and node.name == "main")
    title, _, rest = text.partition("\n")
    commands = r"((?:^(?:python|sudoku-gym|tensorboard) .*\n?)+)"
    rest = re.sub(commands, r"```sh\n\1```\n", f"{rest}\n", flags=re.MULTILINE)
    cells = [Cell("markdown", f"# {title.rstrip('.')}\n{rest}".strip())]
    before = [node for node in body[1:] if node is not main and not _is_start(node)]
    lines = source.splitlines()
    for nodes in _with_imports_together(before):
        cells.append(Cell("code", _lines(lines, nodes)))
    cells.append(Cell("code", SETTING))
    for paragraph in _paragraphs(lines, main):
        cells += _with_text(paragraph)
    return cells


def _is_start(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def _with_imports_together(nodes: list[ast.stmt]) -> list[list[ast.stmt]]:
    """Group the statements: all that stands before the first definition is one cell."""
    named = (ast.FunctionDef, ast.ClassDef)
    first = next((i for i, node in enumerate(nodes) if isinstance(node, named)), len(nodes))
    return [nodes[:first], *([node] for node in nodes[first:])]


def _lines(lines: list[str], nodes: list[ast.stmt]) -> str:
    """Return the lines from the first statement, its decorators included, to the last."""
    decorators = [node.lineno for node in getattr(nodes[0], "decorator_list", [])]
    return "\n".join(lines[min([nodes[0].lineno, *decorators]) - 1 : nodes[-1].end_lineno])


def _paragraphs(lines: list[str], main: ast.FunctionDef) -> Iterator[str]:
    """Yield the parts of the body of `main` between empty lines that no statement goes across."""
    body = [node for node in main.body if not isinstance(node, ast.Return)]
    inside = {line for node in body for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    part: list[str] = []
    for number in range(main.lineno + 1, (body[-1].end_lineno or 0) + 1):
        if lines[number - 1].strip() or number in inside:
            part.append(lines[number - 1])
        elif part:
            yield dedent("\n".join(part))
            part = []
    yield dedent("\n".join(part))


def _with_text(paragraph: str) -> list[Cell]:
    """Return a cell of code, and before it one of text if it begins with a comment."""
    found = re.match(r"((?:# .*\n)+)", paragraph)
    if not found:
        return [Cell("code", paragraph)]
    text = re.sub(r"^# ", "", found[1], flags=re.MULTILINE).strip()
    return [Cell("markdown", text), Cell("code", paragraph[found.end() :])]


def execute(name: str, cells: list[Cell]) -> None:
    """Execute the cells of code one after the other, in an empty folder; keep what they print."""
    module, before = ModuleType("__main__", "A notebook."), sys.modules["__main__"]
    sys.modules["__main__"] = module  # where a notebook's kernel has what a program defines
    try:
        with TemporaryDirectory() as folder, chdir(folder):
            for cell in cells:
                if cell.kind == "code":
                    printed = io.StringIO()
                    with redirect_stdout(printed):
                        exec(compile(cell.source, name, "exec", dont_inherit=True), vars(module))
                    cell.printed = _COLOURS.sub("", printed.getvalue())
    finally:
        sys.modules["__main__"] = before


def as_json(cells: list[Cell]) -> str:
    """Write cells in the form of a notebook, version 4.5 of nbformat."""
    count, written = 0, []
    for number, cell in enumerate(cells):
        source = cell.source.splitlines(keepends=True)
        entry: dict[str, Any] = {"cell_type": cell.kind, "id": f"cell-{number}", "metadata": {}}
        if cell.kind == "code":
            count += 1
            stream = {"output_type": "stream", "name": "stdout"}
            outputs = [{**stream, "text": cell.printed.splitlines(keepends=True)}]
            entry |= {"execution_count": count, "outputs": outputs if cell.printed else []}
        written.append({**entry, "source": source})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    notebook = {"cells": written, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
