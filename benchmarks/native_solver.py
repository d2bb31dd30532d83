"""Our solver and a native program in turns: the same puzzles, on the same core, processor time.

The program is called as `PROGRAM bench FILE LIMIT SECONDS`. It reads one puzzle a line, searches
each for up to LIMIT solutions (2 proves that one is the only one), again and again for so many
seconds, and prints how many puzzles it has done in a second of processor time, first on its line.
`tdoku_driver.cpp` makes such a program of tdoku.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time

import numpy as np
from numpy.typing import NDArray

from results import Row
from sudoku_gym import board, solver

BATCH = 1_000  # puzzles in a batch, at least; a shorter list is repeated
SINGLES = 200  # puzzles that are solved one by one
LIMITS = {1: "first solution", 2: "uniqueness"}


def compare(
    name: str, boards: NDArray[np.int8], program: Path, turns: int, seconds: float
) -> Iterator[Row]:
    """Measure ours and a program in turns on boards `[B, 9, 9]`, with either limit.

    The ratio is the median over the turns of our time a puzzle to that of the program. One puzzle
    alone is a call of the Python function with a batch of one.
    """
    batch = np.tile(boards, (-(-BATCH // len(boards)), 1, 1))
    with tempfile.TemporaryDirectory() as folder, _one_core():
        file = Path(folder) / "puzzles.txt"
        file.write_text("".join(board.to_line(each) + "\n" for each in boards), encoding="utf-8")
        for limit, purpose in LIMITS.items():
            ours, theirs, alone = [], [], []
            for _ in range(turns):
                ours.append(_seconds_in_batches(batch, limit, seconds))
                alone.append(_seconds_alone(boards[:SINGLES], limit))
                theirs.append(_seconds_of(program, file, limit, seconds))
            ratios = np.array(ours) / np.array(theirs)
            yield {
                "puzzles": name,
                "purpose": purpose,
                "count": len(boards),
                "ours, us": _three_digits(1e6 * float(np.median(ours))),
                f"{program.name}, us": _three_digits(1e6 * float(np.median(theirs))),
                "ours / theirs": round(float(np.median(ratios)), 3),
                "least": round(float(ratios.min()), 3),
                "most": round(float(ratios.max()), 3),
                "ours, one puzzle alone, us": _three_digits(1e6 * float(np.median(alone))),
            }


def _seconds_in_batches(batch: NDArray[np.int8], limit: int, seconds: float) -> float:
    """Return the processor time of a puzzle in batches, over so many seconds."""
    start, calls = process_time(), 0
    while process_time() - start < seconds or not calls:
        solver.count_solutions(batch, limit)
        calls += 1
    return (process_time() - start) / (calls * len(batch))


def _seconds_alone(boards: NDArray[np.int8], limit: int) -> float:
    """Return the mean processor time of a call with one puzzle."""
    start = process_time()
    for each in boards:
        solver.count_solutions(each[None], limit)
    return (process_time() - start) / len(boards)


def _seconds_of(program: Path, file: Path, limit: int, seconds: float) -> float:
    """Return the processor time of a puzzle that a program prints."""
    command = [str(program.absolute()), "bench", str(file), str(limit), str(seconds)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return 1 / float(output.split()[0])


@contextmanager
def _one_core() -> Iterator[None]:
    """Keep this process, and those it starts, on one core, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _three_digits(value: float) -> float:
    return float(f"{value:.3g}")
