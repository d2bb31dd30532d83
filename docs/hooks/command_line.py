"""The pages of the command line, made while the site is built: what `--help` says."""

from __future__ import annotations

import io
import os
import re
from contextlib import redirect_stdout
from unittest.mock import patch

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from sudoku_gym import cli, plugins

WIDTH = 96
COMMANDS_PAGE, TRAINERS_PAGE = "reference/command-line.md", "reference/trainers.md"

COMMANDS_INTRODUCTION = """# Command line

`sudoku-gym COMMAND --help` shows what stands here. The exit code is 0 if all went well, 1 if the
answer is no (a puzzle without a single solution, say), and 2 for bad input, of which one line on
standard error tells.
The settings of each trainer are on [a page of their own](trainers.md).
"""
TRAINERS_INTRODUCTION = """# Trainers

`sudoku-gym train` lists the trainers, `sudoku-gym train TRAINER --help`
shows the options of one.
`sudoku-gym train TRAINER` trains, and writes curves, checkpoints and its configuration to `--run`;
`--resume` goes on where a run was stopped. A run's folder is then a policy:
`load_policy("runs/mine")`. What stands at the end of a help text as sub-commands picks a part, a
network's body or a curriculum, and its own settings follow it:
`sudoku-gym train calphazero network:mlp --help` shows them.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to the files of the site."""
    commands = {command: [command] for command in cli.COMMANDS}
    trainers = {name: ["train", name] for name in plugins.available(plugins.TRAINERS)}
    for path, introduction, names in (
        (COMMANDS_PAGE, COMMANDS_INTRODUCTION, commands),
        (TRAINERS_PAGE, TRAINERS_INTRODUCTION, trainers),
    ):
        sections = [
            f"## {name}\n\n```text\n{help_of(words)}\n```\n" for name, words in names.items()
        ]
        text = "\n".join([introduction, *sections])
        files.append(File.generated(config, path, content=text))
    return files


def help_of(words: list[str]) -> str:
    """Return the help text of a command without colours."""
    printed = io.StringIO()
    with patch.dict(os.environ, {"COLUMNS": str(WIDTH)}), redirect_stdout(printed):
        code = cli.main([*words, "--help"])
    if code:
        raise ValueError(f"sudoku-gym {' '.join(words)} --help ended with {code}")
    lines = (
        line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", printed.getvalue()).splitlines()
    )
    return "\n".join(lines).strip()
