"""What `--help` says, on the page of the command line, while the site is built."""

from __future__ import annotations

import io
import os
import re
from contextlib import redirect_stdout
from typing import Any
from unittest.mock import patch

from mkdocs.structure.pages import Page

from sudoku_gym import cli

WIDTH = 96


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Add the help texts of the commands."""
    if page.file.src_uri != "reference/command-line.md":
        return markdown
    sections = [f"## {each}\n\n```text\n{help_of(each)}\n```\n" for each in cli.COMMANDS]
    return "\n".join([markdown, *sections])


def help_of(command: str) -> str:
    """Return the help text of a command without colours."""
    printed = io.StringIO()
    with patch.dict(os.environ, {"COLUMNS": str(WIDTH)}), redirect_stdout(printed):
        code = cli.main([command, "--help"])
    if code:
        raise ValueError(f"sudoku-gym {command} --help ended with {code}")
    text = re.sub(r"\x1b\[[\d;]*m", "", printed.getvalue())
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()
