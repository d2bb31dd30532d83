"""Hold the solver against SAT on boards with no, one and several solutions.

A third of the boards are minimal puzzles, a third lack one given more, and a third have a given
changed, so that all three answers are common. Every board is answered by both; a difference ends
the run with an error.

    python benchmarks/solver_agreement.py --out docs/results/checks.json
    python benchmarks/solver_agreement.py --boards 5000 --seed 7
"""

from __future__ import annotations

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
        boards: how many in all.
        seed: of the boards.
        out: a JSON file; the figures of other parts in it stay.
    """

    boards: int = 100_000
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


def main(argv: Sequence[str] | None = None) -> None:
    """Compare, and print how often each answer came up."""
    config = tyro.cli(Config, args=argv, description=__doc__)
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
    keep(config.out, f"{total:,} boards by SAT", command_of(__file__, argv), rows)


if __name__ == "__main__":
    main()
