"""Hold the solver against SAT on boards with no, one and several solutions.

A third of the boards are minimal puzzles, a third lack one given more, and a third have a given
changed, so that all three answers are common. Every board is answered by both; a difference ends
the run with an error.

With `--engines` standard 9x9 boards of six kinds are searched by both engines of the solver, and
counted by a native program, if one is given that prints the number of solutions first when it is
called as `PROGRAM list FILE LIMIT` (`tdoku_driver.cpp` makes one).

    python benchmarks/solver_agreement.py --out docs/results/checks.json
    python benchmarks/solver_agreement.py --boards 5000 --seed 7
    python benchmarks/solver_agreement.py --boards 0 --engines 1000000 --native tdoku-avx2
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from numpy.typing import NDArray
from pysat.solvers import Solver

from results import Row, command_of, keep
from sudoku_gym import board, solver
from sudoku_gym.geometry import Geometry, jigsaw, latin_square, sudoku_x, windows
from sudoku_gym.puzzles.generator import generate
from sudoku_gym.solver import FoundSolutions
from sudoku_gym.solver.cover_bits import cover_tables
from sudoku_gym.solver.depth_first import search_boards
from sudoku_gym.solver.sat import clauses_of, literals_of

# the share of all boards that each geometry gets; large boards are slow for SAT
SHARES = {
    Geometry.standard(4): 0.15,
    Geometry.standard(6): 0.15,
    Geometry.boxes(2, 4): 0.1,
    Geometry.standard(9): 0.2,
    sudoku_x(9): 0.1,
    windows(9): 0.1,
    jigsaw(9): 0.05,
    latin_square(7): 0.05,
    Geometry.standard(12): 0.06,
    Geometry.standard(16): 0.035,
    Geometry.standard(25): 0.005,
}


@dataclass(frozen=True)
class Config:
    """What to compare.

    Attributes:
        boards: how many are compared with SAT.
        engines: how many 9x9 boards are compared between the engines.
        native: a program to compare these with too.
        seed: of the boards.
        out: a JSON file; the figures of other parts in it stay.
    """

    boards: int = 100_000
    engines: int = 0
    native: Path | None = None
    seed: int = 0
    out: Path | None = None


def draw(geometry: Geometry, count: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Make boards: puzzles, puzzles with a given taken away, puzzles with a given changed."""
    boards = generate(count, geometry, rng).puzzles
    for index, cells in enumerate(boards.reshape(count, -1)):
        cell = rng.choice(np.flatnonzero(cells))
        if index % 3 == 1:
            cells[cell] = 0
        elif index % 3 == 2:
            cells[cell] = (cells[cell] + rng.integers(geometry.size - 1)) % geometry.size + 1
    return boards


def count_by_sat(boards: NDArray[np.int8], geometry: Geometry) -> list[int]:
    """Count up to two solutions of each board with one incremental Glucose."""
    counts = []
    variables = geometry.num_placements + geometry.size
    selector = variables
    with Solver("glucose4", bootstrap_with=clauses_of(geometry)) as glucose:
        for cells in boards.reshape(len(boards), -1):
            selector += 1
            found = 0
            assumptions = [*literals_of(cells, geometry), selector]
            while found < 2 and glucose.solve(assumptions=assumptions):
                found += 1
                model = [literal for literal in glucose.get_model() if 0 < literal <= variables]
                glucose.add_clause([-selector, *(-literal for literal in model)])
            counts.append(found)
    return counts


def boards_of_all_kinds(count: int, rng: np.random.Generator) -> dict[str, NDArray[np.int8]]:
    """Make standard 9x9 boards `[count, 9, 9]` of six kinds, with no, one and several solutions."""
    made = generate(count, Geometry.standard(9), rng)
    minimal, solutions = made.puzzles.reshape(count, 81), made.solutions.reshape(count, 81)
    fewer, more, changed = minimal.copy(), minimal.copy(), minimal.copy()
    for index in range(count):
        fewer[index, rng.choice(np.flatnonzero(minimal[index]))] = 0
        more[index, rng.choice(np.flatnonzero(minimal[index] == 0))] = rng.integers(1, 10)
        changed[index, rng.choice(np.flatnonzero(minimal[index]))] = rng.integers(1, 10)
    shown = rng.random(solutions.shape) < 0.6 * rng.random((count, 1))
    partly = np.where(shown, solutions, 0).astype(np.int8)
    wrong = partly.copy()
    wrong[np.arange(count), rng.integers(0, 81, count)] = rng.integers(1, 10, count)
    kinds = {
        "minimal": minimal,
        "a given less": fewer,
        "a digit more, at random": more,
        "a given changed": changed,
        "up to 60 % of a grid": partly,
        "the same with a digit at random": wrong,
    }
    return {kind: boards.reshape(count, 9, 9) for kind, boards in kinds.items()}


def by_exact_cover(boards: NDArray[np.int8], limit: int) -> FoundSolutions:
    """Search standard 9x9 boards with the engine for all geometries."""
    flat = boards.reshape(-1, 81)
    solutions, decided = np.empty_like(flat), np.empty(len(flat), np.bool_)
    found, nodes = np.empty((2, len(flat)), np.int64)
    tables = cover_tables(Geometry.standard(9))
    results = solutions, found, decided, nodes
    search_boards(flat, limit, 10**6, tables, *results, is_stopped=np.zeros(1, np.bool_))
    return FoundSolutions(solutions.reshape(boards.shape), found, decided, nodes)


def count_by_program(program: Path, boards: NDArray[np.int8]) -> NDArray[np.int64]:
    """Count up to two solutions of each board with a native program."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "boards.txt"
        file.write_text("".join(board.to_line(each) + "\n" for each in boards), encoding="utf-8")
        command = [str(program.absolute()), "list", str(file), "2"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return np.array([int(line.split()[0]) for line in lines.splitlines()])


def compare_engines(config: Config) -> list[Row]:
    """Compare the engines, and the program, on boards of all kinds; SystemExit if they differ."""
    rows: list[Row] = []
    count = -(-config.engines // 6)
    kinds = boards_of_all_kinds(count, np.random.default_rng(config.seed))
    for kind, boards in kinds.items():
        ours, other = solver.find_solutions(boards), by_exact_cover(boards, 2)
        is_found, is_one = ours.found > 0, ours.found == 1
        is_same = (ours.found == other.found) & ours.decided & other.decided
        is_same &= ~is_one | (ours.solutions == other.solutions).all((1, 2))
        is_same &= board.is_solved(ours.solutions) == is_found
        is_same &= ~is_found | ((boards == 0) | (boards == ours.solutions)).all((1, 2))
        if config.native is not None:
            is_same &= count_by_program(config.native, boards) == ours.found
        for index in np.flatnonzero(~is_same)[:1]:
            raise SystemExit(f"{kind}: no agreement on\n{board.to_line(boards[index])}")
        none, one, several = np.bincount(ours.found, minlength=3).tolist()
        row: Row = {"9x9 boards": kind, "boards that agree": count}
        row |= {"no solution": none, "one": one, "several": several}
        for name, nodes in (("lanes", ours.nodes), ("exact cover", other.nodes)):
            row |= {f"{name}, mean candidates": round(float(nodes.mean()), 2)}
            row |= {f"{name}, most": int(nodes.max())}
        rows.append(row)
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    """Compare, and print how often each answer came up."""
    config = tyro.cli(Config, args=argv, description=__doc__)
    if config.engines:
        rows = compare_engines(config)
        total = sum(row["boards that agree"] for row in rows)
        keep(config.out, f"{total:,} boards by two engines", command_of(__file__, argv), rows)
    if config.boards:
        compare_with_sat(config, command_of(__file__, argv))


def compare_with_sat(config: Config, command: str) -> None:
    """Compare with SAT on boards of every geometry; SystemExit if they differ."""
    rng = np.random.default_rng(config.seed)
    rows: list[Row] = []
    for geometry, share in SHARES.items():
        boards = draw(geometry, max(3, round(config.boards * share)), rng)
        ours = solver.count_solutions(boards, 2, geometry, node_limit=10**9)
        theirs = count_by_sat(boards, geometry)
        for index in np.flatnonzero(ours != theirs)[:1]:
            raise SystemExit(
                f"{geometry.name}: {ours[index]} solutions, SAT finds {theirs[index]}:\n"
                f"{board.to_line(boards[index])}"
            )
        none, one, more = np.bincount(ours, minlength=3).tolist()
        agree = {"geometry": geometry.name, "boards that agree": len(boards)}
        rows.append(agree | {"no solution": none, "one": one, "several": more})
    total = sum(row["boards that agree"] for row in rows)
    keep(config.out, f"{total:,} boards by SAT", command, rows)


if __name__ == "__main__":
    main()
