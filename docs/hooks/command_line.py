"""What `--help` says, below the pages of the command line, while the site is built."""

from __future__ import annotations

import io
import os
import re
from contextlib import redirect_stdout
from typing import Any
from unittest.mock import patch

from mkdocs.structure.pages import Page

from sudoku_gym import cli, plugins

WIDTH = 96


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Add the help texts of the commands, or those of the trainers."""
    words: list[list[str]] = []
    if page.file.src_uri == "reference/command-line.md":
        words = [[command] for command in cli.COMMANDS]
    elif page.file.src_uri == "reference/trainers.md":
        words = [["train", name] for name in plugins.available("trainers")]
    sections = [f"## {each[-1]}\n\n```text\n{help_of(each)}\n```\n" for each in words]
    return "\n".join([markdown, *sections])


def help_of(words: list[str]) -> str:
    """Return the help text of a command without colours."""
    printed = io.StringIO()
    with patch.dict(os.environ, {"COLUMNS": str(WIDTH)}), redirect_stdout(printed):
        code = cli.main([*words, "--help"])
    if code:
        raise ValueError(f"sudoku-gym {' '.join(words)} --help ended with {code}")
    text = re.sub(r"\x1b\[[\d;]*m", "", printed.getvalue())
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()
