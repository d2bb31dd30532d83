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

import agents_page
import environments
import notebooks
import project_pages

ROOT = Path(__file__).parent.parent
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


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


def test_the_year_is_that_of_the_release():
    assert re.fullmatch(r"20\d\d", project_pages.year_of(CHANGES))
    with pytest.raises(ValueError, match="no release"):
        project_pages.year_of("## [Unreleased]\n")


def test_there_is_no_commit_outside_a_repository(tmp_path):
    assert project_pages.commit(tmp_path) == ""


def test_an_environment_is_as_old_as_the_release_that_names_it():
    parts = ("## [Unreleased]", "- `B-v0`", "## [0.2.0] - 2027-01-01", "- `A-v0`", "## [0.1.0]")
    changes = "\n".join(parts)
    found = {name: environments.since(name, changes) for name in ("A-v0", "B-v0", "C-v0")}
    assert found == {"A-v0": "0.2.0", "B-v0": "Unreleased", "C-v0": "0.1.0"}
    assert environments.since("Sudoku4x4-v0", CHANGES) == "0.1.0"
    assert set(environments.ABOUT) == set(ENVIRONMENTS)


def test_lists_of_an_environment_are_lists():
    text = environments.description("## Arguments", "## Version History")
    assert "\n```\n\n- `source`: " in text and text.count("\n\n- ") == 1


def test_every_trainer_has_a_word_on_the_page_of_agents():
    assert set(agents_page.AGENTS) == set(plugins.available(plugins.TRAINERS))
    policies = plugins.available(plugins.POLICIES)
    assert {agent.policy for agent in agents_page.AGENTS.values()} <= set(policies)


def test_what_a_checkpoint_says_stands_on_the_page_of_agents():
    agent = agents_page.AGENTS["q-learning"]
    facts = agents_page.facts_of(agent)
    assert facts["Policy"] == "`q-table`" and facts["Solutions shown"] == "none"
    assert "start 2, stop 6, updates 30; on `Sudoku4x4-v0`" in facts["Curriculum"]
    assert "sudoku-gym train q-learning" in agents_page.training_of("q-learning", agent)
    agent = agents_page.AGENTS["calphazero"]
    assert "No network of this trainer" in agents_page.training_of("calphazero", agent)


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
    with pytest.raises(ValueError, match="a function main"):
        notebooks.cells_of('"""A text."""\n')


def test_the_extras_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    assert set(plugins.EXTRA_OF_MODULE.values()) == extras - {"all", "dev", "docs"}
    install = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in install.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`([\w-]+)`", "".join(rows))) == extras
