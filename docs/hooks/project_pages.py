"""What the project says of itself: release and commit in the header, changelog, how to cite it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from string import Template
from typing import Any

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import agents_page


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Hand release, commit and repository to the header."""
    root = Path(config.config_file_path).parent
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    commit = ["git", "-C", str(root), "rev-parse", "--short", "HEAD"]
    found = subprocess.run(commit, capture_output=True, text=True, check=False)
    config.extra |= {
        "citation": citation,
        "release": citation["version"],
        "commit": found.stdout.strip(),  # empty outside a repository
        "repository": config.repo_url or "",
    }
    # The theme has this part of the header only for sites with the address of a repository.
    config.repo_url = config.repo_url or "changelog.md"
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the changelog, the citation and the checkpoints to the files of the site."""
    changes = Path(config.config_file_path).with_name("CHANGELOG.md").read_text(encoding="utf-8")
    template = Path(config.docs_dir, "overrides/citation.template").read_text(encoding="utf-8")
    (year, *_) = re.findall(r"^## \[\d[\d.]*\] - (\d{4})-", changes, re.MULTILINE)
    citation = citation_page(
        template, config.extra["citation"], year, config.extra["commit"], config.extra["repository"]
    )
    made = {"changelog.md": changelog_page(changes), "citation.md": citation}
    for path, text in (made | {"checkpoints.md": agents_page.checkpoints()}).items():
        files.append(File.generated(config, path, content=text))
    return files


def changelog_page(changes: str) -> str:
    """Return the changelog with the links that lead below `docs/` as they are from there."""
    return changes.replace("](docs/", "](")


def citation_page(
    template: str, citation: dict[str, Any], year: str, commit: str, repository: str
) -> str:
    """Fill in the page on how to cite the project, from what `CITATION.cff` holds."""
    authors = [author["name"] for author in citation["authors"]]
    fields = {
        "author": " and ".join(f"{{{name}}}" for name in authors),
        "title": f"{{{citation['title']}}}",
        "year": year,
        "version": citation["version"],
        "note": f"{citation['license']} licence" + (f", commit {commit}" if commit else ""),
        "url": repository,
    }
    entry = ",\n".join(f"  {name:<7} = {{{value}}}" for name, value in fields.items() if value)
    bibtex = f"@software{{sudoku_gym,\n{entry}\n}}"
    return Template(template).substitute(
        citation, names=", ".join(authors), year=year, bibtex=bibtex
    )
