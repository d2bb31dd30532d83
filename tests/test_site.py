"""What the hooks of the documentation make of the project's files: pages, the header."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from sudoku_gym import plugins
from sudoku_gym.registration import ENVIRONMENTS

pytest.importorskip("mkdocs", reason="the extra docs is not installed")

import environments
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
    citation["license"] = "MIT"
    template = (ROOT / "docs/overrides/citation.template").read_text(encoding="utf-8")
    page = project_pages.citation_page(template, citation, "2026", "abc", "https://r")
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
    assert "A, B (2026). *T* (version 1.2)." in page
    page = project_pages.citation_page(template, citation, "2026", "", "")
    assert "commit" not in page.partition("A figure")[0]


def test_an_environment_has_a_text_and_floors():
    docs = ROOT / "docs"
    about = environments.texts((docs / environments.PAGE).read_text(encoding="utf-8"))
    assert set(about) == set(ENVIRONMENTS)
    floors = json.loads((docs / "results/floors.json").read_text(encoding="utf-8"))
    rows = environments.floors_of("Sudoku4x4-v0", floors).splitlines()
    assert len(rows) == 12 and rows[2].startswith("| naked singles ")
    with pytest.raises(ValueError, match="no floors of Sudoku5x5-v0"):
        environments.floors_of("Sudoku5x5-v0", floors)
    assert environments.description().startswith("## Description")


def test_the_extras_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    assert set(plugins.MODULES_OF_EXTRA) == extras - {"all", "dev", "docs"}
    page = (ROOT / "docs" / "quick-start.md").read_text(encoding="utf-8")
    table = page.partition("## Extras\n")[2].partition("## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`([\w-]+)`", "".join(rows))) == extras
