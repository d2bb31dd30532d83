"""Panchal's comparison again: backtracking, dancing links and constraint propagation, compiled.

Prints Markdown tables, and draws Figure 1 with `--plot`. The parts:

- `named`: Table 1, the named boards, with times, nodes, backtracks and assignments;
- `sizes`: the banks' minimal puzzles from 6x6 to 25x25, of all splits, for nothing is learned;
- `levels`: the same puzzles with cells revealed, to see where each algorithm stops being usable.

`--puzzles FILE` measures a list of your own instead of the banks in `sizes`.
Each time is the fastest of several runs, if the first was short: other work on the machine only
adds to it. (SAT has one run, since it learns.) Compiling, and loading the rules into the SAT
solver, are done before.

    python benchmarks/classical.py --plot docs/results/classical.png
    python benchmarks/classical.py --parts sizes --puzzles mine.txt
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np
import tyro
from numpy.typing import NDArray

from sudoku_baselines.classical.backtracking import Backtracking
from sudoku_baselines.classical.dlx import DancingLinks
from sudoku_baselines.classical.propagation import Propagation
from sudoku_baselines.classical.references import Sat, SuiteSolver
from sudoku_gym import puzzles
from sudoku_gym.puzzles.files import read
from sudoku_gym.puzzles.named import TITLES
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource
from sudoku_gym.statistics import wilson_interval

Part = Literal["named", "sizes", "levels"]

PAPER_SECONDS = {  # Panchal's Table 1, in Python: backtracking, Algorithm X, propagation
    "easy": (0.002, 0.004, 0.001),
    "medium": (0.005, 0.004, 0.001),
    "difficult": (0.006, 0.003, 0.002),
    "AI Escargot": (0.039, 0.005, 0.005),
    "Inkala 2010": (0.43, 0.018, 0.009),  # which of the two Inkala boards it was, is not said
    "Steering Wheel": (None, 0.003, 0.001),
    "Platinum Blonde": (4.736, 0.006, 0.003),
}
LEVELS = {
    "9x9": (30, 40, 45, 50, 54),
    "16x16": (80, 100, 120, 130, 140, 150, 155),
    "25x25": (150, 200, 250, 275, 300, 325),
}


@dataclass(frozen=True)
class Config:
    """What to measure.

    Attributes:
        parts: which tables to print.
        puzzles: a list of your own for `sizes`, one puzzle a line.
        count: puzzles of a bank, at most, in `sizes`.
        level_count: puzzles a level in `levels`.
        paper_limit: seconds a named board may take, 18 in the paper.
        limit: seconds a puzzle may take in `sizes`.
        level_limit: seconds a puzzle may take in `levels`.
        repeats: how often a short run is repeated.
        seed: of the revealed cells.
        plot: where to draw Figure 1.
        smoke: measure next to nothing, to see that the script runs.
    """

    parts: tuple[Part, ...] = ("named", "sizes", "levels")
    puzzles: Path | None = None
    count: int = 100
    level_count: int = 20
    paper_limit: float = 18.0
    limit: float = 2.0
    level_limit: float = 1.0
    repeats: int = 5
    seed: int = 0
    plot: Path | None = None
    smoke: bool = False


@dataclass(frozen=True)
class Run:
    """What one algorithm did on M puzzles: status, seconds and counts, each `[M]`."""

    status: NDArray[np.str_]
    seconds: NDArray[np.float64]
    nodes: NDArray[np.int64]
    backtracks: NDArray[np.int64]
    assignments: NDArray[np.int64]

    @property
    def solved(self) -> NDArray[np.bool_]:
        """Which puzzles were solved within the limit."""
        return self.status == "solved"


NO_NODE_LIMIT = 10**15
ALGORITHMS: dict[str, Callable[[float], Any]] = {
    "backtracking": lambda limit: Backtracking(NO_NODE_LIMIT, limit),
    "dancing links": lambda limit: DancingLinks(NO_NODE_LIMIT, limit),
    "propagation": lambda limit: Propagation(NO_NODE_LIMIT, limit),
}
ABLATIONS: dict[str, Callable[[float], Any]] = {
    "dancing links, fewest": lambda limit: DancingLinks(NO_NODE_LIMIT, limit, "fewest"),
    "dancing links, first": lambda limit: DancingLinks(NO_NODE_LIMIT, limit, "first"),
    "propagation, mrv": lambda limit: Propagation(NO_NODE_LIMIT, limit, "mrv"),
    "propagation, first": lambda limit: Propagation(NO_NODE_LIMIT, limit, "first"),
}
REFERENCES: dict[str, Callable[[float], Any]] = {
    "the suite's solver": lambda limit: SuiteSolver(),
    "python-sat": lambda limit: Sat(),
}


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__, args=argv)
    if config.smoke:
        config = Config(config.parts, config.puzzles, 2, 1, 0.05, 0.05, 0.02, 1, plot=config.plot)
    logging.disable(logging.WARNING)  # the tables say what stayed undecided
    if "named" in config.parts:
        named(config)
    if "sizes" in config.parts:
        sizes(config)
    if "levels" in config.parts:
        levels(config)


def measure(algorithm: Any, boards: PuzzleSet, config: Config) -> Run:
    """Solve one puzzle after the other and check every answer."""
    algorithm.solve(boards.solutions[:1], boards.geometry)  # compiles, or loads the rules
    seconds = np.zeros(len(boards))
    columns: list[tuple[Any, ...]] = []
    for i in range(len(boards)):
        puzzle = boards.puzzles[i : i + 1]
        # A SAT solver remembers the puzzle, so its second answer would be worth nothing.
        for repeat in range(1 if isinstance(algorithm, Sat) else config.repeats):
            start = perf_counter()
            answer = algorithm.solve(puzzle, boards.geometry)
            elapsed = perf_counter() - start
            seconds[i] = elapsed if repeat == 0 else min(seconds[i], elapsed)
            if repeat == 0:
                counts = [getattr(algorithm, c, [0])[0] for c in ("backtracks", "assignments")]
                columns.append((algorithm.status[0], algorithm.nodes[0], *counts))
            if elapsed > 0.2:
                break
        if columns[-1][0] == "solved" and (answer[0] != boards.solutions[i]).any():
            sys.exit(f"{type(algorithm).__name__} solved puzzle {i} of {boards!r} wrongly")
    status, nodes, backtracks, assignments = map(np.array, zip(*columns, strict=True))
    return Run(status, seconds, nodes, backtracks, assignments)


def named(config: Config) -> None:
    """Table 1 of the paper, with what the search did."""
    boards = puzzles.load("named")
    runs = {
        name: measure(make(config.paper_limit), boards, config)
        for name, make in {**ALGORITHMS, **ABLATIONS, **REFERENCES}.items()
    }
    givens = (boards.puzzles > 0).sum((1, 2))
    heads = ["board (givens)", *(f"{name}: paper, ours" for name in ALGORITHMS), *REFERENCES]
    rows = []
    for i, title in enumerate(TITLES):
        row = [f"{title} ({givens[i]})"]
        for k, name in enumerate(ALGORITHMS):
            paper = PAPER_SECONDS.get(title, ("", "", ""))[k]
            said = "none in 18 s" if paper is None else f"{1e3 * paper:g}" if paper else ""
            row.append(f"{said or '-'}, {milliseconds(runs[name], i)}")
        rows.append([*row, *(milliseconds(runs[name], i) for name in REFERENCES)])
    print_table("Named boards, milliseconds", heads, rows)
    heads = ["board", *(f"{name}: nodes / backtracks / assignments" for name in ALGORITHMS)]
    rows = [
        [title]
        + [
            " / ".join(f"{count[i]:,}" for count in (run.nodes, run.backtracks, run.assignments))
            for run in (runs[name] for name in ALGORITHMS)
        ]
        for i, title in enumerate(TITLES)
    ]
    print_table("Named boards, counts", heads, rows)
    ablated = ["dancing links", *list(ABLATIONS)[:2], "propagation", *list(ABLATIONS)[2:]]
    rows = [
        [title, *(f"{runs[name].nodes[i]:,} ({milliseconds(runs[name], i)})" for name in ablated)]
        for i, title in enumerate(TITLES)
    ]
    print_table("Named boards, nodes (milliseconds) by rule", ["board", *ablated], rows)
    if config.plot:
        draw(config.plot, [f"{t}\n{g} givens" for t, g in zip(TITLES, givens, strict=True)], runs)


def sizes(config: Config) -> None:
    """Minimal puzzles of every size, or a list of one's own."""
    if config.puzzles:
        sets = [read(config.puzzles)]
    else:
        sets = [puzzles.load(name) for name in ("6x6", "9x9", "16x16", "25x25")]
    origin = config.puzzles.name if config.puzzles else "Minimal puzzles of the banks"
    heads = ["puzzles", "algorithm", "solved", "95 % interval", "median ms", "slowest ms", "nodes"]
    print_table(f"{origin}, {config.limit:g} s a puzzle", heads, size_rows(sets, config))


def size_rows(sets: list[PuzzleSet], config: Config) -> Iterator[list[str]]:
    """Yield a row for each list and algorithm, as soon as it is measured."""
    for boards in (s[: config.count] for s in sets):
        label = f"{boards.name}, {boards.blanks.min()}-{boards.blanks.max()} blanks"
        for name, make in {**ALGORITHMS, **ABLATIONS, **REFERENCES}.items():
            run = measure_until_hopeless(make(config.limit), boards, config)
            yield [label, name, *summary(run, len(boards))]


def levels(config: Config) -> None:
    """How many blanks each algorithm bears."""
    for name, blanks in LEVELS.items():
        source = BankSource(puzzles.load(name))
        rows = [[algorithm] for algorithm in ALGORITHMS]
        for number in blanks:
            rng = np.random.default_rng([config.seed, number])
            boards, solutions = source.sample(config.level_count, number, rng)
            level = PuzzleSet(boards, solutions, source.geometry, name)
            for row, make in zip(rows, ALGORITHMS.values(), strict=True):
                if row[-1].startswith("0 "):
                    row.append("0 (not run)")
                    continue
                run = measure(make(config.level_limit), level, config)
                median = f", {in_ms(np.median(run.seconds))} ms" if run.solved.all() else ""
                row.append(f"{run.solved.sum()} of {len(level)}{median}")
        limit = f"{config.level_limit:g} s each, {config.level_count} puzzles a level"
        print_table(f"{name} by number of blanks, {limit}", ["algorithm", *map(str, blanks)], rows)


def measure_until_hopeless(algorithm: Any, boards: PuzzleSet, config: Config) -> Run:
    """Measure, but give up where most of the first five puzzles run into the limit."""
    run = measure(algorithm, boards[:5], config)
    return measure(algorithm, boards, config) if run.solved.mean() > 0.5 else run


def summary(run: Run, total: int) -> list[str]:
    solved, tried = int(run.solved.sum()), len(run.solved)
    low, high = wilson_interval(solved, tried)
    share = f"{solved} of {tried}" + ("" if tried == total else " (then given up)")
    interval = f"{100 * low:.1f} to {100 * high:.1f} %"
    if solved < tried:
        return [share, interval, "-", "at the limit", "-"]
    times = [in_ms(np.median(run.seconds)), in_ms(run.seconds.max())]
    return [share, interval, *times, f"{int(np.median(run.nodes)):,}"]


def milliseconds(run: Run, i: int) -> str:
    return in_ms(run.seconds[i]) if run.solved[i] else f"none in {run.seconds[i]:.0f} s"


def in_ms(seconds: float) -> str:
    return f"{1e3 * seconds:,.0f}" if seconds >= 0.1 else f"{1e3 * seconds:.3g}"


def print_table(title: str, heads: list[str], rows: Iterable[list[str]]) -> None:
    print(f"\n### {title}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def draw(path: Path, labels: list[str], runs: dict[str, Run]) -> None:
    """Draw Figure 1: the times over the boards, the paper's dashed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.add_subplot()
    x = np.arange(len(labels))
    markers, colours = "osD", ("#d55e00", "#0072b2", "#009e73")
    papers = np.array(
        [
            [np.nan if value is None else value for value in PAPER_SECONDS.get(title, (None,) * 3)]
            for title in TITLES
        ]
    )
    for k, name in enumerate(ALGORITHMS):
        seconds = np.where(runs[name].solved, runs[name].seconds, np.nan)
        axes.semilogy(x, 1e3 * seconds, color=colours[k], marker=markers[k], label=name)
        axes.semilogy(
            x,
            1e3 * papers[:, k],
            color=colours[k],
            marker=markers[k],
            linestyle="--",
            markerfacecolor="white",
            linewidth=1,
            label=f"{name}, paper (Python)",
        )
    axes.set_xticks(x, labels, fontsize=8)
    axes.set_ylabel("milliseconds to the first solution")
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.18), frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
