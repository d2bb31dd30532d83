"""What the hooks of the documentation make of the project's files: pages, notebooks, the header."""

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest

from sudoku_gym import plugins
from sudoku_gym.registration import ENVIRONMENTS

pytest.importorskip("mkdocs", reason="the extra docs is not installed")

import environments
import notebooks
import project_pages

ROOT = Path(__file__).parent.parent
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_links_of_the_changelog_lead_to_pages():
    page = project_pages.changelog_page("[a page](docs/text.md), [outside](https://docs/)")
    assert page == "[a page](text.md), [outside](https://docs/)"
    for target in re.findall(r"\]\(([\w/-]+\.md)\)", project_pages.changelog_page(CHANGES)):
        assert (ROOT / "docs" / target).exists(), target


def test_the_citation_is_that_of_the_file():
    citation = {"authors": [{"name": "A"}, {"name": "B"}], "title": "T", "version": "1.2"}
    page = project_pages.citation_page({**citation, "license": "MIT"}, "2026", "abc", "https://r")
    (entry,) = re.findall(r"```bibtex\n(.*?)```", page, re.DOTALL)
    assert entry.splitlines() == [
        "@software{sudoku_gym,",
        "  author  = {{A} and {B}},",
        "  title   = {{T}},",
        "  year    = {2026},",
        "  version = {1.2},",
        "  note    = {MIT licence, commit abc},",
        "  url     = {https://r}",
        "}",
    ]
    assert "A, B (2026). *T* (version 1.2). <https://r>" in page
    assert (
        "commit"
        not in project_pages.citation_page(
            {**citation, "license": "MIT"}, "2026", "", ""
        ).partition("A figure")[0]
    )


def test_an_environment_is_as_old_as_the_release_that_names_it():
    parts = ("## [Unreleased]", "- `B-v0`", "## [0.2.0] - 2027-01-01", "- `A-v0`", "## [0.1.0]")
    changes = "\n".join(parts)
    found = {name: environments.since(name, changes) for name in ("A-v0", "B-v0", "C-v0")}
    assert found == {"A-v0": "0.2.0", "B-v0": "Unreleased", "C-v0": "0.1.0"}
    assert environments.since("Sudoku4x4-v0", CHANGES) == "0.1.0"
    assert set(environments.ABOUT) == set(ENVIRONMENTS)


def statements(source):
    return [ast.unparse(node) for node in ast.parse(source).body]


@pytest.mark.parametrize("name", notebooks.TUTORIALS)
def test_a_notebook_has_all_of_its_program(name):
    source = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    code = [cell.source for cell in notebooks.cells_of(source) if cell.kind == "code"]
    found = statements("\n".join(code))
    tree = ast.parse(source)
    (main,) = (each for each in tree.body if getattr(each, "name", "") == "main")
    wanted = [ast.unparse(node) for node in tree.body[1:] if node is not main][:-1]
    wanted += [ast.unparse(node) for node in main.body if not isinstance(node, ast.Return)]
    assert [each for each in found if each != ast.unparse(ast.parse(notebooks.SETTING))] == wanted
    assert f"[`{name}.py`](#" in (ROOT / "docs" / notebooks.PAGE).read_text(encoding="utf-8")


PROGRAM = '''"""Count.

python count.py
"""

from dataclasses import dataclass


@dataclass
class Box:
    size: int = 2


def main(argv=None):
    # A box
    # of two.
    box = Box()

    print(argv, box.size)
    return box


if __name__ == "__main__":
    main()
'''


def test_a_notebook_holds_what_its_cells_print():
    written = json.loads(notebooks.executed("count", PROGRAM))
    assert (written["nbformat"], written["nbformat_minor"]) == (4, 5)
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in written["cells"]]
    assert cells == [
        ("markdown", "# Count\n\n```sh\npython count.py\n```"),
        ("code", "from dataclasses import dataclass"),
        ("code", "@dataclass\nclass Box:\n    size: int = 2"),
        ("code", notebooks.SETTING),
        ("markdown", "A box\nof two."),
        ("code", "box = Box()"),
        ("code", "print(argv, box.size)"),
    ]
    (output,) = written["cells"][-1]["outputs"]
    assert output["text"] == ["['--smoke'] 2\n"] and len({c["id"] for c in written["cells"]}) == 7


def test_the_extras_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    assert set(plugins.EXTRA_OF_MODULE.values()) == extras - {"all", "dev", "docs"}
    install = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in install.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`([\w-]+)`", "".join(rows))) == extras
