"""Our dancing links beside the package `exact_cover` (C), and its item rules on 16x16.

Both stop at the first solution, and both pay for building the matrix: ours builds its links from
the board, the package is handed what the givens leave open of a matrix made once (numpy), which is
the fastest way we found to call it. At 16x16 each of its puzzles runs in a process of its own, for
its C code can only be killed.

    python benchmarks/dancing_links.py
    python benchmarks/dancing_links.py --puzzles 17_givens.txt --count 1000
"""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter

import numpy as np
import tyro
from numpy.typing import NDArray

from sudoku_baselines.classical.dlx import ITEM_RULES, DancingLinks
from sudoku_gym import puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.files import read
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.statistics import wilson_interval


@dataclass(frozen=True)
class Config:
    """What to measure.

    Attributes:
        puzzles: a list of your own in place of the 9x9 test split, one puzzle a line.
        large: a list of your own in place of the 16x16 test split.
        count: puzzles of each list, at most.
        package_count: 16x16 puzzles that the package is tried on, at most.
        limit: seconds a 16x16 puzzle may take.
        repeats: how often the 9x9 puzzles are solved; the fastest counts.
        smoke: measure next to nothing, to see that the script runs.
    """

    puzzles: Path | None = None
    large: Path | None = None
    count: int = 1000
    package_count: int = 10
    limit: float = 10.0
    repeats: int = 7
    smoke: bool = False


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__, args=argv)
    if config.smoke:
        config = Config(config.puzzles, config.large, 2, 1, 0.1, 1)
    logging.disable(logging.WARNING)  # the tables say what stayed undecided
    small, large = (
        read(path) if path else puzzles.load(name, split="test")
        for path, name in ((config.puzzles, "9x9"), (config.large, "16x16"))
    )
    has_package = package_is_installed()
    if has_package:
        side_by_side(small[: config.count], config)
    rules(large[: config.count], config)
    if has_package:
        package_at_16x16(large[: config.package_count], config)


def package_is_installed() -> bool:
    try:
        import exact_cover  # noqa: F401
    except ModuleNotFoundError:
        print("exact_cover is not installed, its rows are left out: pip install exact_cover")
        return False
    return True


def side_by_side(boards: PuzzleSet, config: Config) -> None:
    """Puzzles a second, in turns, so that other work on the machine hits both alike."""
    from exact_cover import get_exact_cover

    matrix = cover_matrix(boards.geometry)
    algorithms = {rule: DancingLinks(item_rule=rule) for rule in ITEM_RULES[:2]}
    for algorithm in algorithms.values():
        algorithm.solve(boards.puzzles[:1], boards.geometry)  # compiles
    seconds = np.zeros((config.repeats, 4))
    for repeat in range(config.repeats):
        times = [perf_counter()]
        parts = [open_part(matrix, puzzle) for puzzle in boards.puzzles]
        times.append(perf_counter())
        for part in parts:
            get_exact_cover(part)
        times.append(perf_counter())
        for algorithm in algorithms.values():
            algorithm.solve(boards.puzzles, boards.geometry)
            times.append(perf_counter())
        seconds[repeat] = np.diff(times)
    building, covering, *ours = seconds.min(0) / len(boards)
    rates = {
        "exact_cover, open part of the matrix built by numpy": 1 / (building + covering),
        "exact_cover, its C code alone": 1 / covering,
        **{f"dancing links, {rule}": 1 / t for rule, t in zip(algorithms, ours, strict=True)},
    }
    slowest = min(rates.values())
    rows = [[name, f"{rate:,.0f}", f"{rate / slowest:.1f}"] for name, rate in rates.items()]
    title = f"First solution of {len(boards)} puzzles, {boards.name}, {givens(boards)}"
    print_table(title, ["solver", "puzzles a second", "ratio"], rows)


def rules(boards: PuzzleSet, config: Config) -> None:
    """The item rules on large puzzles; `first` gives up after five puzzles at the limit."""
    heads = ["item rule", "solved", "95 % interval", "median ms", "slowest ms", "median nodes"]
    rows = []
    for rule in ITEM_RULES:
        algorithm = DancingLinks(10**15, config.limit, rule)
        algorithm.solve(boards.solutions[:1], boards.geometry)  # compiles
        seconds, nodes, solved = [], [], []
        for puzzle in boards.puzzles if rule != "first" else boards.puzzles[:5]:
            start = perf_counter()
            algorithm.solve(puzzle[None], boards.geometry)
            seconds.append(perf_counter() - start)
            nodes.append(algorithm.nodes[0])
            solved.append(algorithm.status[0] == "solved")
        low, high = wilson_interval(sum(solved), len(solved))
        share = [f"{sum(solved)} of {len(solved)}", f"{100 * low:.1f} to {100 * high:.1f} %"]
        times = [in_ms(np.median(seconds)), in_ms(max(seconds)), f"{np.median(nodes):,.0f}"]
        rows.append([rule, *share, *(times if all(solved) else ["-", "-", "-"])])
    print_table(f"{boards.name}, {givens(boards)}, {config.limit:g} s a puzzle", heads, rows)


def package_at_16x16(boards: PuzzleSet, config: Config) -> None:
    """The package on large puzzles, handed what the givens leave open, or all blanks' rows."""
    rows = []
    for handed, only_open in (("what the givens leave open", True), ("the whole matrix", False)):
        times = [package_seconds(puzzle, only_open, config.limit) for puzzle in boards.puzzles]
        done = [seconds for seconds in times if seconds is not None]
        complete = len(done) == len(times)
        figures = [in_ms(np.median(done)), in_ms(max(done))] if complete else ["-", "-"]
        rows.append([f"exact_cover, handed {handed}", f"{len(done)} of {len(times)}", *figures])
    title = f"The package on the first {len(boards)} of them, {config.limit:g} s a puzzle"
    print_table(title, ["solver", "solved", "median ms", "slowest ms"], rows)


def package_seconds(puzzle: NDArray[np.int8], only_open: bool, limit: float) -> float | None:
    """Return how long the package takes to find a cover, or None if it is over the limit."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=cover_one, args=(puzzle, only_open, there))
    process.start()
    there.close()  # so that a process that dies is noticed
    here.recv()  # the matrix is built, the clock starts
    seconds = here.recv() if here.poll(limit) else None
    process.kill()
    process.join()
    return seconds


def cover_one(puzzle: NDArray[np.int8], only_open: bool, pipe: Connection) -> None:
    """Find one cover, in a process of its own, and send the seconds it took."""
    from exact_cover import get_exact_cover

    matrix = cover_matrix(Geometry.standard(len(puzzle)))
    part = open_part(matrix, puzzle) if only_open else with_givens(matrix, puzzle)
    pipe.send("ready")
    start = perf_counter()
    get_exact_cover(part)
    pipe.send(perf_counter() - start)


def cover_matrix(geometry: Geometry) -> NDArray[np.bool_]:
    """Return the whole exact cover of a geometry, bool `[N**3, items]`, made once."""
    size, cells = geometry.size, geometry.num_cells
    matrix = np.zeros((geometry.num_placements, cells + geometry.units.size), np.bool_)
    for cell in range(cells):
        own = geometry.cell_units[cell]
        for digit in range(size):
            row = matrix[cell * size + digit]
            row[cell] = True
            row[cells + own[own < len(geometry.units)] * size + digit] = True
    return matrix


def open_part(matrix: NDArray[np.bool_], puzzle: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return what a puzzle leaves open of the matrix."""
    filled = np.flatnonzero(puzzle)
    covered = matrix[filled * len(puzzle) + puzzle.ravel()[filled] - 1].any(0)
    return np.ascontiguousarray(matrix[~matrix[:, covered].any(1)][:, ~covered])


def with_givens(matrix: NDArray[np.bool_], puzzle: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return the rows of all blanks and of the givens, the plain way to state a puzzle."""
    size = len(puzzle)
    filled = np.flatnonzero(puzzle)
    kept = np.repeat(puzzle.ravel() == 0, size)
    kept[filled * size + puzzle.ravel()[filled] - 1] = True
    return matrix[kept]


def givens(boards: PuzzleSet) -> str:
    counts = boards.geometry.num_cells - boards.blanks
    low, high = counts.min(), counts.max()
    return f"{low} givens" if low == high else f"{low}-{high} givens"


def in_ms(seconds: float) -> str:
    return f"{1e3 * seconds:,.0f}" if seconds >= 0.1 else f"{1e3 * seconds:.3g}"


def print_table(title: str, heads: list[str], rows: list[list[str]]) -> None:
    print(f"\n### {title}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
