"""The sets are the same everywhere, and whoever has other puzzles is refused."""

import tracemalloc
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from sudoku_gym import board, solver
from sudoku_gym.evaluation.leaderboard.fixed_sets import SEED, FixedSet, checksum, fixed_sets
from sudoku_gym.puzzles import GRADES, banks

SETS = {each.name: each for each in fixed_sets()}


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_what_its_checksum_says(name):
    fixed = SETS[name]
    puzzles = fixed.load(SEED)
    lines = [board.to_line(puzzle) for puzzle in puzzles.puzzles]
    assert len(puzzles) == fixed.count == len(set(lines))
    assert sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest() == fixed.sha256
    if fixed.grade:
        assert set(puzzles.grades) == {GRADES.index(fixed.grade)}
    if fixed.blanks:
        assert set(puzzles.blanks) == {fixed.blanks}
    test = banks.load(fixed.bank, "test")
    assert {grid.tobytes() for grid in puzzles.solutions} <= {g.tobytes() for g in test.solutions}
    kept = (puzzles.puzzles == 0) | (puzzles.puzzles == puzzles.solutions)
    assert kept.all() and set(puzzles.orbits) <= set(test.orbits)


def test_the_first_puzzles_by_hash_are_taken_whatever_the_order_of_the_bank():
    fixed = SETS["6x6"]
    test = banks.load("6x6", "test")
    lines = sorted(
        (board.to_line(puzzle) for puzzle in test.puzzles),
        key=lambda line: sha256(f"0 {line}".encode()).digest(),
    )
    assert [board.to_line(puzzle) for puzzle in fixed.load(0).puzzles] == lines[: fixed.count]


def test_few_givens_are_the_fewest():
    givens = np.sort(81 - banks.load("9x9", "test").blanks)
    found = np.sort(81 - SETS["9x9-few-givens"].load(0).blanks)
    assert list(found) == list(givens[: len(found)])


def test_revealed_puzzles_have_one_solution():
    puzzles = SETS["16x16-140-blanks"].load(0)[:5]
    assert (solver.count_solutions(puzzles.puzzles, 2) == 1).all()


def test_another_checksum_is_refused():
    with pytest.raises(ValueError, match=r"the set 4x4 has the checksum .* not 00ff: its puzzles"):
        replace(SETS["4x4"], sha256="00ff").load(0)
    with pytest.raises(ValueError, match="its puzzles are not those"):
        SETS["4x4"].load(1)  # another seed chooses others


def test_another_number_of_puzzles_is_refused():
    with pytest.raises(ValueError, match="the set 25x25 has the checksum"):
        replace(SETS["25x25"], count=11).load(0)


def test_a_list_is_a_set_too(tmp_path):
    path = tmp_path / "mine.txt"
    whole = banks.load("4x4", "test")[:300]
    path.write_text("".join(f"{board.to_line(puzzle)}\n" for puzzle in whole.puzzles))
    fixed = FixedSet(name="mine", title="mine", bank=str(path))
    puzzles = fixed.load(0)
    path.write_text("".join(f"{board.to_line(puzzle)}\n" for puzzle in whole.puzzles[::-1]))
    again = replace(fixed, title="again").load(0)
    assert len(puzzles) == 200 and checksum(puzzles) == checksum(again)


def test_of_a_long_list_no_more_is_kept_than_is_chosen(tmp_path):
    few = [board.to_line(puzzle) for puzzle in banks.load("4x4", "test").puzzles]
    lines = (few * (40_000 // len(few) + 1))[:40_000]
    sources = ["s" * 100, *["a"] * (len(lines) - 1)]
    rows = [f"{source},{line}\n" for source, line in zip(sources, lines, strict=True)]
    path = tmp_path / "mine.csv"
    path.write_text("".join(["source,question\n", *rows]))
    tracemalloc.start()
    chosen = FixedSet(name="mine", title="mine", bank=path).load(0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 28e6
    by_hash = sorted(lines, key=lambda line: sha256(f"0 {line}".encode()).digest())
    assert [board.to_line(puzzle) for puzzle in chosen.puzzles] == by_hash[:200]
