"""What the project says of itself: release and commit in the header, changelog, how to cite it."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

CHANGELOG_PAGE, CITATION_PAGE = "changelog.md", "citation.md"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Hand release, commit and repository to the header."""
    root = _root(config)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    config.extra["release"] = project["version"]
    config.extra["commit"] = commit(root)
    config.extra["repository"] = config.repo_url or ""
    # The theme has this part of the header only for sites with the address of a repository.
    config.repo_url = config.repo_url or CHANGELOG_PAGE
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to the files of the site."""
    root = _root(config)
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    texts = {
        CHANGELOG_PAGE: changelog_page(changes),
        CITATION_PAGE: citation_page(
            citation, year_of(changes), config.extra["commit"], config.extra["repository"]
        ),
    }
    for path, text in texts.items():
        files.append(File.generated(config, path, content=text))
    return files


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent


def commit(root: Path) -> str:
    """Return the short hash of the commit that is checked out, empty outside a repository."""
    command = ["git", "-C", str(root), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def changelog_page(changes: str) -> str:
    """Return the changelog with the links that lead below `docs/` as they are from there."""
    return changes.replace("](docs/", "](")


def year_of(changes: str) -> str:
    """Return the year of the latest release in a changelog."""
    return re.findall(r"^## \[\d[\d.]*\] - (\d{4})-", changes, re.MULTILINE)[0]


def citation_page(citation: dict[str, Any], year: str, commit: str, repository: str) -> str:
    """Write the page on how to cite the project, from `CITATION.cff`."""
    authors = " and ".join(f"{{{author['name']}}}" for author in citation["authors"])
    fields = {
        "author": authors,
        "title": f"{{{citation['title']}}}",
        "year": year,
        "version": citation["version"],
        "note": f"{citation['license']} licence" + (f", commit {commit}" if commit else ""),
        "url": repository,
    }
    entry = ",\n".join(f"  {name:<7} = {{{value}}}" for name, value in fields.items() if value)
    names = ", ".join(author["name"] for author in citation["authors"])
    place = f" <{repository}>" if repository else ""
    return f"""# Citation

If you use Sudoku Gym in your work, please cite it:

> {names} ({year}). *{citation["title"]}* (version {citation["version"]}).{place}

```bibtex
@software{{sudoku_gym,
{entry}
}}
```

The same stands in `CITATION.cff`, which GitHub and Zotero read. A figure of yours is comparable
with those of this site if it says

- the version and the commit, as above: `sudoku-gym info` prints the version;
- the environment's id, whose version moves only when its behaviour does;
- the bank, its split, the number of puzzles, the seed, and a 95 % interval;
- how it was played: one shot, sequentially or with a search, and how often a network may start
  again.

The algorithms are others' work: [The papers](papers.md) has their sources.
"""
