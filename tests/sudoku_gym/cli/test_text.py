"""`sudoku-gym text`."""

import io
import sys

import pytest

PUZZLE = ("Sudoku4x4-v0", "--puzzle", "1234....21.34..1")


def typed(run, monkeypatch, text, *arguments):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    return run("text", *arguments)


def test_a_person_reads_what_a_model_reads(run, monkeypatch):
    options = ("--blanks", "20", "--seed", "3")
    code, out, _ = typed(run, monkeypatch, "r1c1=12\n", *options)
    assert code == 1 and "Blank cells: 20. Turns: 60." in out
    assert "12 is no digit of this board" in out and "Rewards: solved 0" in out
    assert typed(run, monkeypatch, "r1c1=12\n", *options)[1] == out


def test_a_whole_board_is_typed(run, monkeypatch):
    answer = "1234\n3412\n2143\n4321\n\n"
    code, out, _ = typed(run, monkeypatch, answer, *PUZZLE, "--mode", "answer")
    assert code == 0 and "The board is solved." in out
    code, out, _ = typed(run, monkeypatch, answer[:12], *PUZZLE, "--mode", "answer")
    assert code == 1 and "No board" in out


@pytest.mark.parametrize("mode", ["turns", "answer"])
def test_a_policy_answers(run, mode):
    code, out, _ = run("text", "--blanks", "5", "--policy", "solver", "--mode", mode)
    assert code == 0 and "Rewards: solved 1, constraints 1, format 1" in out
