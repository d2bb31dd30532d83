"""Khan's Table 1 and Figure 5 again: belief propagation, Sinkhorn balancing and our additions.

Prints Markdown tables, and draws Figure 5 with `--plot`. The parts:

- `accuracy`: puzzles solved within so many iterations, by each method;
- `contradictions`: puzzles with one wrong given, and how often that is noticed (theorem 3.8);
- `time`: seconds an iteration, from 4x4 to 25x25.

    python benchmarks/belief_propagation.py --plot docs/results/belief-propagation.png
    python benchmarks/belief_propagation.py --parts accuracy --puzzles 17_givens.txt
    python benchmarks/belief_propagation.py --parts accuracy --size 16 --iterations 1000
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, Protocol

import numpy as np
import tyro
from numpy.typing import NDArray

from sudoku_baselines.belief_propagation.messages import MAX_EXACT
from sudoku_baselines.belief_propagation.sinkhorn_solver import Sinkhorn
from sudoku_baselines.belief_propagation.solver import (
    BeliefPropagation,
    bp_sinkhorn,
    fractional_bp,
    max_product,
    sum_product,
)
from sudoku_gym import board, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.files import read
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.statistics import wilson_interval

Part = Literal["accuracy", "contradictions", "time"]


class CountingSolver(Protocol):
    """A solver that says how many iterations each puzzle took."""

    status: NDArray[np.str_]
    iterations: NDArray[np.int64]

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Return completed boards, zeros where none was found."""
        ...


UNITS_ONLY: dict[str, Any] = {"placement_weight": 0.0}
SLOW: dict[str, Any] = {"schedule": "flooding", "damping": 0.8, "placement_weight": 0.2}

# name: a function of the iterations allowed. From the first + on they are our additions.
METHODS: dict[str, Callable[[int], CountingSolver]] = {
    "sum-product, arg-max": lambda n: sum_product(iterations=n, check="arg-max"),
    "sum-product, check": lambda n: sum_product(iterations=n),
    "max-product, arg-max": lambda n: max_product(iterations=n, check="arg-max"),
    "max-product, check": lambda n: max_product(iterations=n),
    "Sinkhorn alone, check": lambda n: Sinkhorn(n),
    "eq. 5, arg-max": lambda n: sum_product(rule="polynomial", iterations=n, check="arg-max"),
    "eq. 5, check": lambda n: sum_product(rule="polynomial", iterations=n),
    "eq. 5 + 3 rounds every 2nd": lambda n: bp_sinkhorn(iterations=n, sinkhorn_rounds=3),
    "eq. 5 + Sinkhorn every 2nd": lambda n: bp_sinkhorn(iterations=n),
    "eq. 5 + Sinkhorn every": lambda n: bp_sinkhorn(iterations=n, sinkhorn_every=1, check_every=1),
    "+ damping 0.5": lambda n: sum_product(iterations=n, damping=0.5),
    "+ residual schedule": lambda n: sum_product(iterations=n, schedule="residual"),
    "+ weights 0.45": lambda n: sum_product(iterations=n, weight=0.45),
    "+ weights, damping, residual": lambda n: fractional_bp(iterations=n, **UNITS_ONLY),
    "+ placements (fractional-bp)": lambda n: fractional_bp(iterations=n),
    "fractional-bp, cover-check": lambda n: fractional_bp(iterations=n, check="cover-check"),
    "no check, hard zeros alone": lambda n: fractional_bp(iterations=n, check_every=0),
    "no check, decimation": lambda n: fractional_bp(
        iterations=n, check_every=0, decimate_after=60, decimate_every=5, **SLOW
    ),
}
FIGURE = (
    "sum-product, arg-max",
    "sum-product, check",
    "Sinkhorn alone, check",
    "eq. 5, check",
    "eq. 5 + Sinkhorn every 2nd",
    "eq. 5 + Sinkhorn every",
    "+ placements (fractional-bp)",
)


@dataclass(frozen=True)
class Config:
    """What to measure.

    Attributes:
        parts: which tables.
        puzzles: a list of your own in place of a bank, one puzzle a line.
        size: N of the bank, whose test split's minimal puzzles are taken.
        count: puzzles at most.
        iterations: the most to make.
        methods: those whose name contains one of these; all if there is none.
        plot: a PNG to draw accuracy against iterations into.
        seed: of the wrong givens.
        smoke: measure next to nothing, to see that the script runs.
    """

    parts: tuple[Part, ...] = ("accuracy", "contradictions", "time")
    puzzles: Path | None = None
    size: int = 9
    count: int = 1000
    iterations: int = 200
    methods: tuple[str, ...] = ()
    plot: Path | None = None
    seed: int = 0
    smoke: bool = False


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, args=argv, description=__doc__)
    chosen = choose_puzzles(config)
    chosen = chosen[: 3 if config.smoke else config.count]
    if "accuracy" in config.parts:
        accuracy(config, chosen)
    if "contradictions" in config.parts:
        contradictions(config, chosen)
    if "time" in config.parts:
        times([4, 6] if config.smoke else [4, 6, 9, 12, 16, 20, 25])


def choose_puzzles(config: Config) -> PuzzleSet:
    if config.puzzles is not None:
        return read(config.puzzles)
    held_out = puzzles.load(f"{config.size}x{config.size}", "test")
    return held_out[held_out.minimal]


def accuracy(config: Config, puzzle_set: PuzzleSet) -> None:
    limit = 20 if config.smoke else config.iterations
    marks = [mark for mark in (10, 40, 100, 200, 500) if mark < limit] + [limit]
    print(f"\n{puzzle_set!r}, {puzzle_set.blanks.mean():.1f} blanks on average\n")
    heads = [f"within {mark}" for mark in marks]
    print_row(["method", *heads, f"95 % interval at {limit}", "contradictions", "seconds"])
    print_row(["---"] + ["---:"] * (len(marks) + 3))
    reached = {}
    for name, make in METHODS.items():
        if config.methods and not any(part in name for part in config.methods):
            continue
        solver = make(limit)
        solver.solve(puzzle_set.puzzles[:1], puzzle_set.geometry)  # compiles
        start = perf_counter()
        solved = is_right(solver.solve(puzzle_set.puzzles, puzzle_set.geometry), puzzle_set)
        seconds = perf_counter() - start
        reached[name] = np.where(solved, solver.iterations, np.iinfo(np.int64).max)
        shares = [f"{100 * (reached[name] <= mark).mean():.1f} %" for mark in marks]
        wrong = (solver.status == "contradiction").mean()
        low, high = wilson_interval(int(solved.sum()), len(solved))
        interval = f"{100 * low:.1f} to {100 * high:.1f} %"
        print_row([name, *shares, interval, f"{100 * wrong:.1f} %", f"{seconds:.1f}"])
    if config.plot is not None:
        draw({name: reached[name] for name in FIGURE if name in reached}, limit, config.plot)


def is_right(grids: NDArray[np.int8], puzzle_set: PuzzleSet) -> NDArray[np.bool_]:
    kept = ((puzzle_set.puzzles == 0) | (puzzle_set.puzzles == grids)).all((1, 2))
    return kept & board.is_solved(grids, puzzle_set.geometry)


def contradictions(config: Config, puzzle_set: PuzzleSet) -> None:
    """Add one wrong given, legal by itself, to each puzzle: no solution is left."""
    spoilt = with_a_wrong_given(puzzle_set, np.random.default_rng(config.seed))
    limit = 20 if config.smoke else config.iterations
    print(f"\none wrong given in each of {len(spoilt)} puzzles, seed {config.seed}\n")
    print_row(["method", "noticed", "95 % interval", "by iteration 10", "missed"])
    print_row(["---"] + ["---:"] * 4)
    makers: dict[str, BeliefPropagation] = {
        "sum-product": sum_product(),
        "max-product": max_product(),
        "eq. 5": sum_product(rule="polynomial"),
        "sum-product with placements": sum_product(placement_weight=0.1),
        "fractional-bp": fractional_bp(),
    }
    for name, maker in makers.items():
        solver = BeliefPropagation(maker.settings, iterations=limit, check_every=0)
        solver.solve(spoilt, puzzle_set.geometry)
        noticed = solver.status == "contradiction"
        early = noticed & (solver.iterations <= 10)
        low, high = wilson_interval(int(noticed.sum()), len(noticed))
        shares = [f"{100 * share.mean():.1f} %" for share in (noticed, early, ~noticed)]
        print_row([name, shares[0], f"{100 * low:.1f} to {100 * high:.1f} %", *shares[1:]])


def with_a_wrong_given(puzzle_set: PuzzleSet, rng: np.random.Generator) -> NDArray[np.int8]:
    spoilt = puzzle_set.puzzles.copy()
    wrong = board.candidates(spoilt, puzzle_set.geometry)
    np.put_along_axis(wrong, solutions_of(puzzle_set)[..., None] - 1, False, 3)
    for b in range(len(spoilt)):
        row, column, digit = rng.choice(np.argwhere(wrong[b]))
        spoilt[b, row, column] = digit + 1
    return spoilt


def solutions_of(puzzle_set: PuzzleSet) -> NDArray[np.int64]:
    return puzzle_set.solutions.astype(np.int64)


def times(sizes: Iterable[int]) -> None:
    """Time iterations on the empty board, where no cell is known, by itself the worst case."""
    print("\nmilliseconds an iteration on the empty board, the fastest of 5\n")
    names = ["sum-product", "max-product", "polynomial"]
    print_row(["N", *names, "with placements", "Sinkhorn round and check"])
    print_row(["---:"] * 6)
    for size in sizes:
        cells = [time_rule(name, size) for name in names]
        cells.append(time_rule("polynomial", size, placement_weight=0.1))
        cells.append(fastest(Sinkhorn(1), size))
        shown = ["-" if cell is None else f"{1000 * cell:.3f}" for cell in cells]
        print_row([str(size), *shown])


def time_rule(rule: Any, size: int, **changes: Any) -> float | None:
    if rule != "polynomial" and size > min(MAX_EXACT, 16):
        return None
    few, many = (
        fastest(
            BeliefPropagation(rule=rule, iterations=n, check_every=0, **changes),
            size,
        )
        for n in (1, 3)
    )
    return (many - few) / 2


def fastest(solver: CountingSolver, size: int) -> float:
    geometry = Geometry.standard(size)
    empty = np.zeros((1, size, size), np.int8)
    solver.solve(empty, geometry)
    spent = []
    for _ in range(5):
        start = perf_counter()
        solver.solve(empty, geometry)
        spent.append(perf_counter() - start)
    return min(spent)


def draw(reached: dict[str, NDArray[np.int64]], limit: int, path: Path) -> None:
    """Draw Figure 5: the share solved against iterations."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    steps = np.arange(1, limit + 1)
    for name, first in reached.items():
        shares = 100 * (first[None] <= steps[:, None]).mean(1)
        axes.plot(steps, shares, label=name.removeprefix("+ "), drawstyle="steps-post")
    axes.set(xscale="log", xlabel="iterations", ylabel="puzzles solved (%)", ylim=(0, 101))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", fontsize=8)
    partial = path.with_name(path.name + ".part")
    figure.savefig(partial, dpi=120, format="png")
    partial.replace(path)


def print_row(cells: Sequence[str]) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
