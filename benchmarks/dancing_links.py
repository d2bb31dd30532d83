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
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from time import process_time

import numpy as np
import tyro
from numpy.typing import NDArray

from results import Results, Row, command_of, in_ms, share_of, table
from sudoku_baselines.classical.dlx import ITEM_RULES, DancingLinks
from sudoku_gym import puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

EXTRA = {"item rules": ("median nodes",)}  # columns of one part


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
        out: a JSON file for the figures; those of other lists in it are kept.
        smoke: measure next to nothing, to see that the script runs.
    """

    puzzles: Path | None = None
    large: Path | None = None
    count: int = 1000
    package_count: int = 10
    limit: float = 10.0
    repeats: int = 7
    out: Path = Path("runs/dancing-links.json")
    smoke: bool = False


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__, args=argv)
    if config.smoke:
        config = replace(config, count=2, package_count=1, limit=0.1, repeats=1)
    logging.disable(logging.WARNING)  # the tables say what stayed undecided
    results = Results(config.out, command_of(__file__, argv))
    small, large = (
        (path.stem, puzzles.read(path))
        if path
        else (f"{name} test split", puzzles.load(name, "test"))
        for path, name in ((config.puzzles, "9x9"), (config.large, "16x16"))
    )
    has_package = package_is_installed()
    if has_package:
        side_by_side(*small, config, results)
    rules(*large, config, results)
    if has_package:
        package_at_16x16(*large, config, results)
    for title, text in tables(results.rows).items():
        print(f"\n{title}\n\n{text}")


def package_is_installed() -> bool:
    try:
        import exact_cover  # noqa: F401
    except ModuleNotFoundError:
        print("exact_cover is not installed, its rows are left out: pip install exact_cover")
        return False
    return True


def side_by_side(name: str, boards: PuzzleSet, config: Config, results: Results) -> None:
    """Puzzles a second, in turns, so that other work on the machine hits both alike."""
    from exact_cover import get_exact_cover

    boards = boards[: config.count]
    key = {"part": "puzzles a second", "puzzles": name, "count": len(boards)}
    if not results.lacks(key):
        return
    matrix = cover_matrix(boards.geometry)
    algorithms = {rule: DancingLinks(item_rule=rule) for rule in ITEM_RULES[:2]}
    for algorithm in algorithms.values():
        algorithm.solve(boards.puzzles[:1], boards.geometry)  # compiles
    seconds = np.zeros((config.repeats, 4))
    for repeat in range(config.repeats):
        times = [process_time()]
        parts = [open_part(matrix, puzzle) for puzzle in boards.puzzles]
        times.append(process_time())
        for part in parts:
            get_exact_cover(part)
        times.append(process_time())
        for algorithm in algorithms.values():
            algorithm.solve(boards.puzzles, boards.geometry)
            times.append(process_time())
        seconds[repeat] = np.diff(times)
    building, covering, *ours = seconds.min(0) / len(boards)
    rates = {
        "exact_cover, open part of the matrix built by numpy": 1 / (building + covering),
        "exact_cover, its C code alone": 1 / covering,
        **{f"dancing links, {rule}": 1 / t for rule, t in zip(algorithms, ours, strict=True)},
    }
    slowest = min(rates.values())
    for solver, rate in rates.items():
        ratio = round(rate / slowest, 1)
        found = {"solved a second": round(rate), "ratio": ratio}
        results.add({**key, "solver": solver, **found})


def rules(name: str, boards: PuzzleSet, config: Config, results: Results) -> None:
    """The item rules on large puzzles; `first` gives up after five puzzles at the limit."""
    for rule in ITEM_RULES:
        chosen = boards.puzzles[: 5 if rule == "first" else config.count]
        key = {"part": "item rules", "puzzles": name, "givens": givens(boards), "solver": rule}
        key["count"] = len(chosen)
        if not results.lacks(key):
            continue
        algorithm = DancingLinks(10**15, config.limit, rule)
        algorithm.solve(boards.solutions[:1], boards.geometry)  # compiles
        seconds, nodes, solved = [], [], []
        for puzzle in chosen:
            start = process_time()
            algorithm.solve(puzzle[None], boards.geometry)
            seconds.append(process_time() - start)
            nodes.append(algorithm.nodes[0])
            solved.append(algorithm.status[0] == "solved")
        row = {**key, **share_of(solved)}
        if all(solved):
            row |= times_of(seconds) | {"median nodes": int(np.median(nodes))}
        results.add(row)


def package_at_16x16(name: str, boards: PuzzleSet, config: Config, results: Results) -> None:
    """The package on large puzzles, handed what the givens leave open, or all blanks' rows."""
    for handed, only_open in (("what the givens leave open", True), ("the whole matrix", False)):
        solver = f"exact_cover, handed {handed}"
        chosen = boards.puzzles[: config.package_count]
        key = {"part": "package", "puzzles": name, "givens": givens(boards), "solver": solver}
        key["count"] = len(chosen)
        if results.lacks(key):
            times = [package_seconds(puzzle, only_open, config.limit) for puzzle in chosen]
            done = [seconds for seconds in times if seconds is not None]
            row = {**key, **share_of([seconds is not None for seconds in times])}
            results.add(row | times_of(done) if len(done) == len(times) else row)


def times_of(seconds: Sequence[float]) -> Row:
    return {"median ms": in_ms(np.median(seconds)), "slowest ms": in_ms(max(seconds))}


def tables(rows: Sequence[Row]) -> dict[str, str]:
    """Return the Markdown tables of some rows, by title."""
    found = {}
    for part in dict.fromkeys(row["part"] for row in rows):
        for name in dict.fromkeys(row["puzzles"] for row in rows if row["part"] == part):
            chosen = [row for row in rows if (row["part"], row["puzzles"]) == (part, name)]
            heads = ["solver", "count", "solved a second", "ratio"]
            if part != "puzzles a second":
                heads = ["solver", "count", "solved", "95 % interval", "median ms", "slowest ms"]
            found[f"{part}, {name}"] = table(chosen, [*heads, *EXTRA.get(part, ())])
    return found


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
    start = process_time()
    get_exact_cover(part)
    pipe.send(process_time() - start)


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


if __name__ == "__main__":
    main()
