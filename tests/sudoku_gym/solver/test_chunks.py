"""Chunks of many boards: all of them in order, and few at a time where they are slow."""

import numpy as np
import pytest

from sudoku_gym import board, solver
from sudoku_gym.puzzles import files, load
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.solver import chunks
from sudoku_gym.solver.chunks import in_chunks


@pytest.mark.parametrize(
    ("seconds", "most", "largest"), [(60, None, 489), (60, 100, 100), (0, None, 1)]
)
def test_chunks_grow_while_they_are_quick(monkeypatch, seconds, most, largest):
    monkeypatch.setattr(chunks, "_SECONDS", seconds)
    parts = list(in_chunks(1000, most))
    covered = [i for part in parts for i in range(part.start, part.stop)]
    assert covered == list(range(1000))
    assert max(part.stop - part.start for part in parts) == largest
    assert list(in_chunks(0)) == []


def test_a_bad_puzzle_is_told_before_all_others_are_solved(tmp_path, monkeypatch):
    good = load("9x9", "test")[:500]
    bad = good.puzzles[0].copy()
    bad[bad != 0] = 0
    lines = [board.to_line(each) for each in (bad, *good.puzzles)]
    (tmp_path / "list.txt").write_text("\n".join(lines))
    solved = []
    for name in ("find_solutions", "count_solutions"):
        real = getattr(solver, name)

        def counts(boards, *rest, real=real):
            solved.append(len(boards))
            return real(boards, *rest)

        monkeypatch.setattr(solver, name, counts)
    with pytest.raises(ValueError, match="line 1: the puzzle has several solutions"):
        files.read(tmp_path / "list.txt")
    assert sum(solved) == 1
    solutions = np.concatenate([good.solutions[:1], good.solutions])
    puzzles = PuzzleSet(np.concatenate([bad[None], good.puzzles]), solutions, good.geometry)
    solved.clear()
    with pytest.raises(ValueError, match="puzzle 0 has several solutions"):
        puzzles.check()
    assert sum(solved) == 1
