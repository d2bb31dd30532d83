"""The `README.md` beside each checkpoint: a table of `agents.md`, and `checkpoints.md`."""

from __future__ import annotations

import re
from pathlib import Path

import marked
from sudoku_gym.evaluation.tables import markdown_table

ROOT = Path(__file__).parents[2]
PAGE = "agents.md"
_SHOWN = ("Policy", "Solutions shown", "Boards", "Weights", "Training")
_PAGE_OF_DOCS = re.compile(r"`docs/((?:[\w-]+/)*([\w-]+)\.md(?:#[\w-]+)?)`")


def checkpoints() -> str:
    """Return the page of all checkpoints, which is made while the site is built."""
    told = "\n\n".join(f"#{path.read_text(encoding='utf-8').strip()}" for path in readmes())
    head = "# Checkpoints\n\nHow each network in the package was trained, with its command.\n\n"
    return head + _PAGE_OF_DOCS.sub(r"[\2](\1)", told) + "\n"


def fill_in(markdown: str) -> str:
    """Put the table of all checkpoints in its place, see `marked.fill_in`."""
    rows = []
    for path in readmes():
        facts = facts_of(path.read_text(encoding="utf-8"))
        rows.append([facts.get(name, "-") for name in _SHOWN])
    table = markdown_table(_SHOWN, rows, names=3)
    return marked.fill_in(markdown, "agents", {"table": table})


def readmes() -> list[Path]:
    """Return the texts that lie beside the checkpoints of the packages, in the order of paths."""
    return sorted(ROOT.glob("*/sudoku_*/**/pretrained/**/README.md"))


def facts_of(readme: str) -> dict[str, str]:
    """Return the table at the head of a text, and its title as `Trainer`."""
    title, table = readme.removeprefix("# ").split("\n\n", 2)[:2]
    return {"Trainer": title, **dict(re.findall(r"^\| (\w[\w ]*) \| (.+) \|$", table, re.M))}
