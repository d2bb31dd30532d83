"""The page about proofs shows what the command prints."""

import re
import shlex
from pathlib import Path

import pytest

from sudoku_gym import cli

PAGE = Path(__file__).parents[1] / "docs" / "proofs.md"
SHOWN = re.findall(r"^\$ sudoku-gym (.*)\n(.*)$", PAGE.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("command, line", SHOWN, ids=range(len(SHOWN)))
def test_the_command_prints_what_the_page_shows(capsys, command, line):
    code = cli.main(shlex.split(command))
    out = capsys.readouterr().out
    _, _, verdict = out.rstrip().partition("  ")
    assert code == int(verdict != "one solution") and line.endswith(f"  {verdict}")
    if verdict != "several solutions":  # which of them is found first depends on the weights
        assert out.rstrip() == line


def test_each_verdict_is_shown():
    verdicts = [line.partition("  ")[2].partition(":")[0] for _, line in SHOWN]
    assert verdicts == ["one solution", "several solutions", "no solution", "undecided"]
