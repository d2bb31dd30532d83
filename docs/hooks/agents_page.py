"""The tables of the page of all agents, from the `README.md` beside each checkpoint."""

from __future__ import annotations

import re
from pathlib import Path

import marked
from sudoku_gym.evaluation.tables import markdown_table

ROOT = Path(__file__).parents[2]
PAGE = "all-agents.md"
_SHOWN = ("Policy", "Solutions shown", "Boards", "Weights", "Training")
_PAGE_OF_DOCS = re.compile(r"`docs/((?:[\w-]+/)*([\w-]+)\.md(?:#[\w-]+)?)`")


def fill_in(markdown: str) -> str:
    """Put the parts that are marked with `agents` in their places, see `marked.fill_in`."""
    told = [path.read_text(encoding="utf-8").strip() for path in readmes()]
    rows = []
    for text in told:
        facts = facts_of(text)
        rows.append([f"`{facts['Trainer']}`", *(facts.get(name, "-") for name in _SHOWN)])
    table = markdown_table(["Trainer", *_SHOWN], rows, names=4)
    sections = _PAGE_OF_DOCS.sub(r"[\2](\1)", "\n\n".join(f"#{text}" for text in told))
    return marked.fill_in(markdown, "agents", {"table": table, "sections": sections})


def readmes() -> list[Path]:
    """Return the texts that lie beside the checkpoints of the packages, in the order of paths."""
    return sorted(ROOT.glob("*/sudoku_*/**/pretrained/**/README.md"))


def facts_of(readme: str) -> dict[str, str]:
    """Return the table at the head of a text, and its title as `Trainer`."""
    title, table = readme.removeprefix("# ").split("\n\n", 2)[:2]
    return {"Trainer": title, **dict(re.findall(r"^\| (\w[\w ]*) \| (.+) \|$", table, re.M))}
