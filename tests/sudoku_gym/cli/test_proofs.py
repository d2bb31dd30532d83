"""The page about proofs shows what the command prints."""

import re
import shlex
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "proofs.md"
SHOWN = re.findall(r"^\$ sudoku-gym (.*)\n(.*)$", PAGE.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("command, line", SHOWN, ids=range(len(SHOWN)))
def test_the_command_prints_what_the_page_shows(run, command, line):
    code, out, _ = run(*shlex.split(command))
    _, _, verdict = out.rstrip().partition("  ")
    assert code == int(verdict != "one solution") and line.endswith(f"  {verdict}")
    if verdict != "several solutions":  # which of them is found first depends on the weights
        assert out.rstrip() == line


def test_each_verdict_is_shown():
    verdicts = [line.partition("  ")[2].partition(":")[0] for _, line in SHOWN]
    assert verdicts == ["one solution", "several solutions", "no solution", "undecided"]
