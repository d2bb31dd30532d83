"""Khan's Table 1 and Figure 5 again: belief propagation, Sinkhorn balancing and our additions.

Writes its figures as JSON, prints them as Markdown tables, and draws Figure 5 with `--plot`; what
the file of figures holds already is not measured again. The parts:

- `accuracy`: minimal puzzles solved within so many iterations, by each method;
- `givens`: the paper's solver by the number of givens, which is how its text reads Figure 5;
- `contradictions`: puzzles with one wrong given, and how often that is noticed (theorem 3.8);
- `time`: seconds an iteration, from 4x4 to 25x25.

    python benchmarks/belief_propagation.py --plot docs/results/belief-propagation.png
    python benchmarks/belief_propagation.py --parts accuracy --puzzles 17_givens.txt
    python benchmarks/belief_propagation.py --parts accuracy --bank 16x16 --iterations 1000
    python benchmarks/belief_propagation.py --parts givens --count 200 --iterations 250
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any, Literal, TypeAlias

import numpy as np
import tyro
from numpy.typing import NDArray

from results import Results, Row, command_of, in_ms, pivot, share_of, table
from sudoku_baselines.belief_propagation.messages import MAX_EXACT
from sudoku_baselines.belief_propagation.solver import (
    BeliefPropagation,
    Sinkhorn,
    bp_sinkhorn,
    fractional_bp,
    max_product,
    sum_product,
)
from sudoku_gym import board, puzzles
from sudoku_gym.evaluation.games import percent
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource
from sudoku_gym.storage.atomic import atomic_write

Part = Literal["accuracy", "givens", "contradictions", "time"]
CountingSolver: TypeAlias = BeliefPropagation | Sinkhorn
MARKS = (10, 40, 100, 200, 500)  # iterations at which the puzzles solved are counted
EARLY = 10  # iterations within which most contradictions are noticed
UNITS_ONLY: dict[str, Any] = {"placement_weight": 0.0}

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
    "no check, hard zeros alone": lambda n: fractional_bp(iterations=n, check_every=0),
}
GIVENS = {9: (22, 23, 24, 25, 26, 28, 30, 32, 36), 16: (100, 104, 107, 110, 116)}
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
        bank: whose test split's minimal puzzles are taken; a variant's too.
        count: puzzles at most.
        iterations: the most to make.
        methods: those whose name contains one of these; all if there is none.
        out: a JSON file for the figures; those of other parts and lists in it are kept.
        plot: a PNG to draw accuracy against iterations into.
        seed: of the wrong givens, and of the revealed ones.
        smoke: measure next to nothing, to see that the script runs.
    """

    parts: tuple[Part, ...] = ("accuracy", "contradictions", "time")
    puzzles: Path | None = None
    bank: str = "9x9"
    count: int = 1000
    iterations: int = 200
    methods: tuple[str, ...] = ()
    out: Path = Path("runs/belief-propagation.json")
    plot: Path | None = None
    seed: int = 0
    smoke: bool = False


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, args=argv, description=__doc__)
    if config.smoke:
        config = replace(config, count=3, iterations=20)
    results = Results(config.out, command_of(__file__, argv))
    chosen = choose_puzzles(config)[: config.count]
    name = config.puzzles.stem if config.puzzles else config.bank
    if "accuracy" in config.parts:
        accuracy(config, chosen, {"part": "accuracy", "puzzles": name}, results)
    if "givens" in config.parts:
        givens(config, name, results)
    if "contradictions" in config.parts:
        contradictions(config, chosen, name, results)
    if "time" in config.parts:
        times([4, 6] if config.smoke else [4, 6, 9, 12, 16, 20, 25], results)
    for title, text in tables(results.rows).items():
        print(f"\n{title}\n\n{text}")
    if config.plot is not None:
        draw(results.rows, config, name)


def choose_puzzles(config: Config) -> PuzzleSet:
    if config.puzzles is not None:
        return puzzles.read(config.puzzles)
    held_out = puzzles.load(config.bank, "test")
    return held_out[held_out.minimal]


def givens(config: Config, name: str, results: Results) -> None:
    """Play test puzzles with cells revealed until so many givens are there."""
    held_out = choose_puzzles(config)
    geometry, source = held_out.geometry, BankSource(held_out)
    for number in GIVENS[geometry.size]:
        rng = np.random.default_rng([config.seed, number])
        drawn = source.sample(config.count, geometry.num_cells - number, rng)
        key = {"part": "givens", "puzzles": name, "givens": number}
        accuracy(config, PuzzleSet(*drawn, geometry), key, results)


def accuracy(config: Config, chosen: PuzzleSet, base: Row, results: Results) -> None:
    limit = config.iterations
    for name, make in METHODS.items():
        key = base | {"iterations": limit, "method": name, "count": len(chosen)}
        is_wanted = not config.methods or any(part in name for part in config.methods)
        if not is_wanted or not results.lacks(key):
            continue
        solver = make(limit)
        solver.solve(chosen.puzzles[:1], chosen.geometry)  # compiles
        start = process_time()
        solved = is_right(solver.solve(chosen.puzzles, chosen.geometry), chosen)
        seconds = process_time() - start
        taken = solver.iterations[solved]
        marks = [mark for mark in MARKS if mark < limit] + [limit]
        results.add(
            {
                **key,
                "blanks": round(float(chosen.blanks.mean()), 1),
                **share_of(solved),
                "within": {str(mark): int((taken <= mark).sum()) for mark in marks},
                "solved by iteration": first_solved(taken),
                "contradictions": int((solver.status == "contradiction").sum()),
                "seconds": round(seconds, 1),
            }
        )


def first_solved(taken: NDArray[np.int64]) -> dict[str, int]:
    """Return how many puzzles took so many iterations, by that number."""
    numbers, counts = np.unique(taken, return_counts=True)
    return {str(number): int(count) for number, count in zip(numbers, counts, strict=True)}


def is_right(grids: NDArray[np.int8], puzzle_set: PuzzleSet) -> NDArray[np.bool_]:
    kept = ((puzzle_set.puzzles == 0) | (puzzle_set.puzzles == grids)).all((1, 2))
    return kept & board.is_solved(grids, puzzle_set.geometry)


def contradictions(config: Config, chosen: PuzzleSet, puzzle_list: str, results: Results) -> None:
    """Add one wrong given, legal by itself, to each puzzle: no solution is left."""
    spoilt = with_a_wrong_given(chosen, np.random.default_rng(config.seed))
    makers: dict[str, BeliefPropagation] = {
        "sum-product": sum_product(),
        "max-product": max_product(),
        "eq. 5": sum_product(rule="polynomial"),
        "sum-product with placements": sum_product(placement_weight=0.1),
        "fractional-bp": fractional_bp(),
    }
    for name, maker in makers.items():
        key = {"part": "contradictions", "puzzles": puzzle_list, "method": name}
        key["count"] = len(spoilt)
        if results.lacks(key):
            solver = BeliefPropagation(maker.config, iterations=config.iterations, check_every=0)
            solver.solve(spoilt, chosen.geometry)
            noticed = solver.status == "contradiction"
            early = int((noticed & (solver.iterations <= EARLY)).sum())
            results.add({**key, **share_of(noticed), f"by iteration {EARLY}": early})


def with_a_wrong_given(puzzle_set: PuzzleSet, rng: np.random.Generator) -> NDArray[np.int8]:
    spoilt = puzzle_set.puzzles.copy()
    wrong = board.candidates(spoilt, puzzle_set.geometry)
    np.put_along_axis(wrong, puzzle_set.solutions[..., None].astype(np.int64) - 1, False, 3)
    for b in range(len(spoilt)):
        row, column, digit = rng.choice(np.argwhere(wrong[b]))
        spoilt[b, row, column] = digit + 1
    return spoilt


def times(sizes: Iterable[int], results: Results) -> None:
    """Time iterations on the empty board, where no cell is known, by itself the worst case."""
    rules = ["sum-product", "max-product", "polynomial"]
    for size in sizes:
        if not results.lacks({"part": "time", "N": size}):
            continue
        seconds = {rule: time_rule(rule, size) for rule in rules}
        seconds["with placements"] = (  # there are too many of them on larger boards
            time_rule("polynomial", size, placement_weight=0.1) if size <= 16 else None
        )
        seconds["Sinkhorn round and check"] = fastest(Sinkhorn(1), size)
        told = {name: "-" if s is None else in_ms(s) for name, s in seconds.items()}
        results.add({"part": "time", "N": size, **told})


def time_rule(rule: Any, size: int, **changes: Any) -> float | None:
    if rule != "polynomial" and size > min(MAX_EXACT, 16):
        return None
    few, many = (
        fastest(BeliefPropagation(rule=rule, iterations=n, check_every=0, **changes), size)
        for n in (1, 3)
    )
    return (many - few) / 2


def fastest(solver: CountingSolver, size: int) -> float:
    geometry = Geometry.standard(size)
    empty = np.zeros((1, size, size), np.int8)
    solver.solve(empty, geometry)
    spent = []
    for _ in range(5):
        start = process_time()
        solver.solve(empty, geometry)
        spent.append(process_time() - start)
    return min(spent)


def of_part(rows: Sequence[Row], part: Part) -> list[Row]:
    return [row for row in rows if row["part"] == part]


def tables(rows: Sequence[Row]) -> dict[str, str]:
    """Return the Markdown tables of some rows, by title."""
    found = {}
    groups: dict[str, list[Row]] = {}
    for row in of_part(rows, "accuracy"):
        title = f"{row['puzzles']}, {row['count']:,} puzzles, {row['blanks']} blanks on average"
        groups.setdefault(title, []).append(row)
    for title, chosen in groups.items():
        marks = sorted({int(mark) for row in chosen for mark in row["within"]})
        shown = [
            {
                "method": row["method"],
                **{
                    str(mark): f"{100 * row['within'][str(mark)] / row['count']:.1f}"
                    for mark in marks
                    if str(mark) in row["within"]
                },
                "95 % interval at the end": f"{row['low']:.1f} to {row['high']:.1f}",
                "seconds": row["seconds"],
            }
            for row in chosen
        ]
        found[title] = table(shown, ["method", *map(str, marks), *list(shown[0])[-2:]])
    by_givens = of_part(rows, "givens")
    for name in dict.fromkeys(row["puzzles"] for row in by_givens):
        chosen = [row for row in by_givens if row["puzzles"] == name]
        title = f"{name} by givens, within {chosen[0]['iterations']:,} iterations"
        found[title] = pivot(chosen, "givens", "method", told_share)
    if chosen := of_part(rows, "contradictions"):
        noticed = [{**row, "noticed": percent(row["solved"] / row["count"])} for row in chosen]
        heads = ["method", "noticed", "95 % interval", f"by iteration {EARLY}"]
        found["one wrong given in each puzzle"] = table(noticed, heads)
    if chosen := of_part(rows, "time"):
        found["milliseconds an iteration"] = table(chosen, list(chosen[0])[1:])
    return found


def told_share(row: Row) -> str:
    return f"{100 * row['solved'] / row['count']:.1f} % ({row['low']:.1f} to {row['high']:.1f})"


def draw(rows: Sequence[Row], config: Config, puzzle_list: str) -> None:
    """Draw Figure 5: the share solved over iterations, and over the share of givens."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    axes, by_givens = figure.subplots(1, 2)
    steps = np.arange(1, config.iterations + 1)
    curves: dict[str, list[tuple[float, float]]] = {}
    for row in of_part(rows, "givens"):
        point = row["givens"] / (row["givens"] + row["blanks"]), row["solved"] / row["count"]
        label = f"{row['puzzles']}, within {row['iterations']:,} iterations"
        curves.setdefault(label, []).append(point)
    for label, points in curves.items():
        by_givens.plot(*100 * np.array(sorted(points)).T, marker="o", label=label)
    by_givens.set(xlabel="givens (% of cells)", title="eq. 5 + Sinkhorn every 2nd", ylim=(0, 101))
    by_givens.grid(alpha=0.3)
    by_givens.legend(loc="lower right", fontsize=8)
    for row in of_part(rows, "accuracy"):
        is_drawn = (row["puzzles"], row["iterations"]) == (puzzle_list, config.iterations)
        if not is_drawn or row["method"] not in FIGURE:
            continue
        by_iteration = row["solved by iteration"].items()
        solved = [sum(n for k, n in by_iteration if int(k) <= step) for step in steps]
        shares = 100 * np.array(solved) / row["count"]
        axes.plot(steps, shares, label=row["method"].removeprefix("+ "), drawstyle="steps-post")
    axes.set(xscale="log", xlabel="iterations", ylabel="puzzles solved (%)", ylim=(0, 101))
    axes.set_title(f"{puzzle_list}, minimal")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", fontsize=8)
    with atomic_write(config.plot) as temporary:
        figure.savefig(temporary, dpi=120, format="png")


if __name__ == "__main__":
    main()
