"""What the project says of itself in several places is the same in all of them."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = WHOLE["project"]


def test_the_citation_names_this_release():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    found = dict(re.findall(r"^(\w[\w-]*): (.+)$", text, re.M))
    assert found["version"] == PROJECT["version"] and found["license"] == PROJECT["license"]
    names = re.findall(r"^  - name: (.+)$", text, re.M)
    assert names == [author["name"] for author in PROJECT["authors"]]
    assert re.findall(r"^  - (\w[^:\n]*)$", text, re.M) == PROJECT["keywords"]


def test_the_changelog_has_this_release():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    releases = re.findall(r"^## \[(\d[\d.]*)\] - \d{4}-\d\d-\d\d$", text, re.M)
    assert releases[0] == PROJECT["version"]


# Each in an environment of its own.
APART = {"openenv", "torchrl", "trl", "verifiers"}


def test_every_extra_is_in_all_or_serves_developers():
    extras = PROJECT["optional-dependencies"]
    for name in ("all", "dev"):
        (whole,) = (each for each in extras[name] if each.startswith("sudoku-gym["))
        included = re.findall(r"[\w-]+", whole.removeprefix("sudoku-gym"))
        assert set(included) == set(extras) - {"all", "dev", "docs"} - APART
