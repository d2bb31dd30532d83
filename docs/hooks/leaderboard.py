"""Complete the leaderboard's page with tables and plots of `docs/results/leaderboard.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import leaderboard_page
import leaderboard_plots
from sudoku_gym.evaluation.leaderboard import read_leaderboard

RESULTS = "results/leaderboard.json"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the plots to the files of the site."""
    results = read_leaderboard(Path(config.docs_dir) / RESULTS)
    for path, content in leaderboard_plots.plots(results).items():
        files.append(File.generated(config, f"images/{path}", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Put the tables in their places."""
    if page.file.src_uri != "leaderboard.md":
        return markdown
    return leaderboard_page.fill_in(markdown, read_leaderboard(Path(config.docs_dir) / RESULTS))
