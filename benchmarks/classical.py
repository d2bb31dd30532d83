"""Panchal's comparison again: backtracking, dancing links and constraint propagation, compiled.

Writes its figures as JSON, prints them as Markdown tables, and draws Figure 1 with `--plot`. The
parts:

- `named`: Table 1, the named boards, with times, nodes, backtracks and assignments;
- `sizes`: the banks' minimal puzzles from 6x6 to 25x25, of all splits, for nothing is learned;
- `levels`: the same puzzles with cells revealed, to see where each algorithm stops being usable.

`--puzzles FILE` measures a list of your own instead of the banks in `sizes`. What the file of
figures holds already is not measured again.
Each time is the fastest of several runs, if the first was short: other work on the machine only
adds to it. (SAT has one run, since it learns.) Compiling, and loading the rules into the SAT
solver, are done before. A search stops at the number of nodes that, by a trial on the same puzzle,
it visits in the seconds allowed.

    python benchmarks/classical.py --plot docs/results/classical.png
    python benchmarks/classical.py --parts sizes --puzzles mine.txt
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np
import tyro
from numpy.typing import NDArray

from results import Results, Row, command_of, in_ms, pivot, read, share_of, table
from sudoku_baselines.classical.backtracking import Backtracking
from sudoku_baselines.classical.dlx import DancingLinks
from sudoku_baselines.classical.erasing import ErasingSearch
from sudoku_baselines.classical.propagation import Propagation
from sudoku_baselines.classical.solvers import Sat, SuiteSolver
from sudoku_baselines.classical.tree_search import TreeSearch
from sudoku_gym import evaluate, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.banks import NAMED_BOARDS
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource

Part = Literal["named", "sizes", "levels"]

PAPERS = Path(__file__).parents[1] / "docs/results/papers.json"
PAPER_MS = {entry["where"]["board"]: entry["paper"] for entry in read(PAPERS)["panchal"]}
"""Table 1: backtracking, Algorithm X and propagation, in Python."""
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
        out: a JSON file for the figures; those of other parts and lists in it are kept.
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
    out: Path = Path("runs/classical.json")
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


TRIAL = 2 * 10**6  # nodes of the search that says how many a second are
ALGORITHMS: dict[str, Callable[[], Any]] = {
    "backtracking": Backtracking,
    "dancing links": DancingLinks,
    "propagation": Propagation,
}
ABLATIONS: dict[str, Callable[[], Any]] = {
    "dancing links, fewest": partial(DancingLinks, item_rule="fewest"),
    "dancing links, first": partial(DancingLinks, item_rule="first"),
    "propagation, mrv": partial(Propagation, heuristic="mrv"),
    "propagation, first": partial(Propagation, heuristic="first"),
}
REFERENCES: dict[str, Callable[[], Any]] = {"the suite's solver": SuiteSolver, "python-sat": Sat}
EVERYONE = {**ALGORITHMS, **ABLATIONS, **REFERENCES}


class SolverByPlay:
    """`erasing-search` as a solver: its nodes are the digits it placed, backtracks what it cleared.

    It stops for nothing but its steps, and plays boards with a solution.
    """

    def solve(self, boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Return the last boards, int8 `[B, N, N]`."""
        policy = ErasingSearch()
        played = evaluate(policy, boards, geometry=geometry, erase=True, max_steps=10**6)
        self.status = np.where(played.solved, "solved", "undecided")
        self.nodes = self.assignments = policy.placed
        self.backtracks = policy.erased
        return played.boards


PLAYERS: dict[str, Callable[[], Any]] = {"erasing-search": SolverByPlay}


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__, args=argv)
    if config.smoke:
        config = replace(config, count=2, level_count=1, paper_limit=0.05, repeats=1)
        config = replace(config, limit=0.05, level_limit=0.02)
    logging.disable(logging.WARNING)  # the tables say what stayed undecided
    results = Results(config.out, command_of(__file__, argv))
    if "named" in config.parts:
        named(config, results)
    if "sizes" in config.parts:
        sizes(config, results)
    if "levels" in config.parts:
        levels(config, results)
    for title, text in tables(results.rows).items():
        print(f"\n{title}\n\n{text}")
    if config.plot:
        draw(config.plot, of_part(results.rows, "named"))


def measure(algorithm: Any, boards: PuzzleSet, config: Config, limit: float) -> Run:
    """Solve one puzzle after the other, in so many seconds each, and check every answer."""
    algorithm.solve(boards.solutions[:1], boards.geometry)  # compiles, or loads the rules
    seconds = np.zeros(len(boards))
    columns: list[tuple[Any, ...]] = []
    for i in range(len(boards)):
        puzzle = boards.puzzles[i : i + 1]
        if isinstance(algorithm, TreeSearch):
            algorithm.node_limit, start = TRIAL, perf_counter()
            algorithm.solve(puzzle, boards.geometry)
            a_second = algorithm.nodes[0] / (perf_counter() - start)
            algorithm.node_limit = max(TRIAL, int(limit * a_second))
        # A SAT solver remembers the puzzle, so its second answer would be worth nothing.
        for repeat in range(1 if isinstance(algorithm, Sat) else config.repeats):
            start = perf_counter()
            answer = algorithm.solve(puzzle, boards.geometry)
            elapsed = perf_counter() - start
            seconds[i] = elapsed if repeat == 0 else min(seconds[i], elapsed)
            if repeat == 0:
                # Not all of them count both.
                counts = (getattr(algorithm, c, ()) for c in ("backtracks", "assignments"))
                counts = (count[0] if len(count) else 0 for count in counts)
                columns.append((algorithm.status[0], algorithm.nodes[0], *counts))
            if elapsed > 0.2:
                break
        if columns[-1][0] == "solved" and (answer[0] != boards.solutions[i]).any():
            sys.exit(f"{type(algorithm).__name__} solved puzzle {i} of {boards!r} wrongly")
    status, nodes, backtracks, assignments = map(np.array, zip(*columns, strict=True))
    return Run(status, seconds, nodes, backtracks, assignments)


def named(config: Config, results: Results) -> None:
    """Table 1 of the paper, with what the search did."""
    boards = puzzles.load("named")
    givens = boards.geometry.num_cells - boards.blanks
    for name, make in {**EVERYONE, **PLAYERS}.items():
        key = {"part": "named", "algorithm": name, "limit": config.paper_limit}
        if not results.lacks({**key, "board": [*NAMED_BOARDS][-1]}):
            continue
        run = measure(make(), boards, config, config.paper_limit)
        for i, title in enumerate(NAMED_BOARDS):
            results.add(
                {
                    **key,
                    "board": title,
                    "givens": int(givens[i]),
                    "solved": bool(run.solved[i]),
                    "ms": in_ms(run.seconds[i]),
                    "nodes": int(run.nodes[i]),
                    "backtracks": int(run.backtracks[i]),
                    "assignments": int(run.assignments[i]),
                }
            )


def sizes(config: Config, results: Results) -> None:
    """Minimal puzzles of every size, or a list of one's own."""
    sets = (
        {config.puzzles.stem: puzzles.read(config.puzzles)}
        if config.puzzles
        else {name: puzzles.load(name) for name in ("6x6", "9x9", "16x16", "25x25")}
    )
    for name, boards in sets.items():
        boards = boards[: config.count]
        for algorithm, make in EVERYONE.items():
            key = {"part": "sizes", "puzzles": name, "algorithm": algorithm, "limit": config.limit}
            if results.lacks(key):
                run = measure_until_hopeless(make(), boards, config)
                blanks = f"{boards.blanks.min()}-{boards.blanks.max()}"
                results.add({**key, "blanks": blanks, **summary(run)})


def levels(config: Config, results: Results) -> None:
    """How many blanks each algorithm bears; one that solved none is not asked for more."""
    for name, blanks in LEVELS.items():
        source = BankSource(puzzles.load(name))
        for algorithm, make in ALGORITHMS.items():
            for number in blanks:
                key = {"part": "levels", "bank": name, "blanks": number, "algorithm": algorithm}
                key["count"] = config.level_count
                row = results.find(key)
                if row is None:
                    rng = np.random.default_rng([config.seed, number])
                    boards, solutions = source.sample(config.level_count, number, rng)
                    level = PuzzleSet(boards, solutions, source.geometry, name)
                    run = measure(make(), level, config, config.level_limit)
                    row = {**key, **summary(run)}
                    results.add(row)
                if row["solved"] == 0:
                    break


def measure_until_hopeless(algorithm: Any, boards: PuzzleSet, config: Config) -> Run:
    """Measure, but give up where most of the first five puzzles run into the limit."""
    run = measure(algorithm, boards[:5], config, config.limit)
    return measure(algorithm, boards, config, config.limit) if run.solved.mean() > 0.5 else run


def summary(run: Run) -> Row:
    """Return how many were solved; times, where none ran into the limit."""
    row = share_of(run.solved)
    if run.solved.all():
        row["median ms"] = in_ms(np.median(run.seconds))
        row["slowest ms"] = in_ms(run.seconds.max())
        row["nodes"] = int(np.median(run.nodes))
    return row


def of_part(rows: Sequence[Row], part: Part) -> list[Row]:
    return [row for row in rows if row["part"] == part]


def tables(rows: Sequence[Row]) -> dict[str, str]:
    """Return the Markdown tables of some rows, by title."""
    found = {}
    if boards := of_part(rows, "named"):
        found |= tables_of_named(boards)
    for name in dict.fromkeys(row["puzzles"] for row in of_part(rows, "sizes")):
        chosen = [row for row in of_part(rows, "sizes") if row["puzzles"] == name]
        heads = "algorithm,count,solved,95 % interval,median ms,slowest ms,nodes".split(",")
        found[f"{name}, {chosen[0]['blanks']} blanks"] = table(chosen, heads)
    for name in dict.fromkeys(row["bank"] for row in of_part(rows, "levels")):
        chosen = [row for row in of_part(rows, "levels") if row["bank"] == name]
        found[f"{name} by number of blanks"] = pivot(chosen, "algorithm", "blanks", told_level)
    return found


def tables_of_named(rows: Sequence[Row]) -> dict[str, str]:
    def beside_the_paper(row: Row) -> str:
        title, name = row["board"], row["algorithm"]
        if name not in ALGORITHMS:
            return told_ms(row)
        paper = PAPER_MS.get(title, ("-",) * 3)[list(ALGORITHMS).index(name)]
        said = "none in 18 s" if paper is None else paper
        return f"{said}, {told_ms(row)}"

    def counts(row: Row) -> str:
        return " / ".join(f"{row[name]:,}" for name in ("nodes", "backtracks", "assignments"))

    def by_rule(row: Row) -> str:
        return f"{row['nodes']:,} ({told_ms(row)})"

    def chosen(names: Iterable[str]) -> list[Row]:
        return [
            {**row, "board (givens)": f"{row['board']} ({row['givens']})"}
            for name in names
            for row in rows
            if row["algorithm"] == name
        ]

    ablated = [
        name for kind in ("dancing links", "propagation") for name in EVERYONE if kind in name
    ]
    by_board = partial(pivot, index="board (givens)", columns="algorithm")
    return {
        "milliseconds: paper, ours": by_board(
            chosen([*ALGORITHMS, *REFERENCES, *PLAYERS]), told_cell=beside_the_paper
        ),
        "nodes / backtracks / assignments": by_board(
            chosen([*ALGORITHMS, *PLAYERS]), told_cell=counts
        ),
        "nodes (milliseconds) by rule": by_board(chosen(ablated), told_cell=by_rule),
    }


def told_ms(row: Row) -> str:
    return f"{row['ms']:g}" if row["solved"] else f"none in {row['ms'] / 1e3:.0f} s"


def told_level(row: Row) -> str:
    median = f", {row['median ms']:g} ms" if "median ms" in row else ""
    return f"{row['solved']} of {row['count']}{median}"


def draw(path: Path, rows: Sequence[Row]) -> None:
    """Draw Figure 1: the times over the boards, the paper's dashed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.add_subplot()
    givens = {row["board"]: row["givens"] for row in rows}
    labels = [f"{title}\n{givens[title]} givens" for title in NAMED_BOARDS]
    x = np.arange(len(labels))
    markers, colours = "osD", ("#d55e00", "#0072b2", "#009e73")
    papers = np.array([PAPER_MS.get(title, (None,) * 3) for title in NAMED_BOARDS], float)
    for k, name in enumerate(ALGORITHMS):
        times = {r["board"]: r["ms"] for r in rows if r["algorithm"] == name and r["solved"]}
        style = {"color": colours[k], "marker": markers[k]}
        axes.semilogy(x, [times.get(title) for title in NAMED_BOARDS], label=name, **style)
        style |= {"linestyle": "--", "markerfacecolor": "white", "linewidth": 1}
        axes.semilogy(x, papers[:, k], label=f"{name}, paper (Python)", **style)
    axes.set_xticks(x, labels, fontsize=8)
    axes.set_ylabel("milliseconds to the first solution")
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.18), frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
