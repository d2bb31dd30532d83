"""Our solver beside its peers, on one core, in one process, on the same puzzles.

Every solver proves that each puzzle has exactly one solution. Ours is timed with its compiled cache
present; the time to compile without it comes last. Peers stop when their time is up and
are rated by what they did until then; a puzzle that takes longer than the limit counts as unsolved,
for ours too.
exact_cover (a C extension of that name on PyPI) and OR-tools are left out with a word where they
are not installed. Times are CPU times, so other work on the machine hardly matters.

    python benchmarks/solvers.py --out docs/results/speed.json
    python benchmarks/solvers.py --lists top95.txt seventeen.txt --budget 30
    python benchmarks/solvers.py --banks 16x16 25x25 --peers python-sat CP-SAT --budget 60
    python benchmarks/solvers.py --banks 9x9 9x9-hard --dug 0 --peers --native tdoku-avx2
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from threading import Timer
from time import perf_counter, process_time
from typing import Literal, get_args

import numpy as np
import tyro
from numpy.typing import NDArray

import native_solver
from results import Row, command_of, in_ms, keep
from sudoku_baselines.classical.solvers import clauses_of, literals_of
from sudoku_gym import board, puzzles, solver
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.generator import generate
from sudoku_gym.puzzles.sources import BankSource

IsUnique = Callable[[NDArray[np.int8]], bool]
Peer = Literal["python-sat", "CP-SAT", "exact_cover", "Norvig"]
SAMPLE = 50  # puzzles of a list that is drawn or made here
DIG_NODES = 20_000  # of a proof that a given may go
PART = "solvers on "
OURS = "ours"
IN_TURNS = "ours and a native solver in turns"
SHARE = "proven within the limit, %"
COMPILE = "from sudoku_gym import solver; import numpy as n; solver.solve(n.zeros((1, 9, 9), int))"


@dataclass(frozen=True)
class Config:
    """What to measure.

    Attributes:
        lists: files with one puzzle a line, beside the shipped banks.
        banks: shipped banks; `25x25:330` is 50 of its puzzles, with random cells revealed until
            330 blanks are left.
        dug: givens of 50 new 25x25 puzzles, made with long searches, so that they are hard (takes
            a minute); 0 leaves them out.
        peers: whom to measure beside ours.
        budget: seconds a peer may spend on each list.
        limit: seconds for one puzzle.
        native: a program to measure in turns with ours on 9x9 lists, see `native_solver.py`.
        turns: how often.
        most: puzzles taken of each list.
        seed: of the cells to reveal and of the new puzzles.
        smoke: measure next to nothing, to see that the script runs.
        out: a JSON file; the figures of other parts in it stay.
    """

    lists: tuple[Path, ...] = ()
    banks: tuple[str, ...] = ("named", "9x9", "16x16", "25x25", "25x25:330")
    dug: int = 295
    peers: tuple[Peer, ...] = get_args(Peer)
    budget: float = 15.0
    limit: float = 10.0
    native: Path | None = None
    turns: int = 7
    most: int = 2_000
    seed: int = 0
    smoke: bool = False
    out: Path | None = None


def sat(geometry: Geometry, limit: float) -> IsUnique:
    """One incremental Glucose for all puzzles; givens as assumptions."""
    from pysat.solvers import Solver

    glucose = Solver("glucose4", bootstrap_with=clauses_of(geometry))
    variables = geometry.num_placements + geometry.size
    selector = [variables]

    def is_unique(cells: NDArray[np.int8]) -> bool:
        selector[0] += 1
        givens = literals_of(cells, geometry)
        timer = Timer(limit, glucose.interrupt)
        timer.start()
        found = glucose.solve_limited(assumptions=givens, expect_interrupt=True)
        second = None
        if found:
            model = [literal for literal in glucose.get_model() if 0 < literal <= variables]
            glucose.add_clause([-selector[0], *(-literal for literal in model)])
            assumptions = [*givens, selector[0]]
            second = glucose.solve_limited(assumptions=assumptions, expect_interrupt=True)
        timer.cancel()
        glucose.clear_interrupt()
        return second is False

    return is_unique


def cp_sat(geometry: Geometry, limit: float) -> IsUnique:
    """OR-tools CP-SAT, one worker: all-different on each unit, then the same without the first."""
    from ortools.sat.python import cp_model

    def is_unique(cells: NDArray[np.int8]) -> bool:
        model = cp_model.CpModel()
        digits = [
            model.new_constant(int(d)) if d else model.new_int_var(1, geometry.size, "")
            for d in cells
        ]
        for unit in geometry.units:
            model.add_all_different([digits[cell] for cell in unit])
        search = cp_model.CpSolver()
        search.parameters.num_workers = 1
        search.parameters.max_time_in_seconds = limit
        if search.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return False
        differs = []
        for cell in np.flatnonzero(cells == 0):
            differs.append(model.new_bool_var(""))
            known = search.value(digits[cell])
            model.add(digits[cell] != known).only_enforce_if(differs[-1])
        model.add_bool_or(differs)
        return search.solve(model) == cp_model.INFEASIBLE

    return is_unique


def dancing_links(geometry: Geometry, limit: float) -> IsUnique:
    """The exact_cover package: dancing links in C, the matrix built for each puzzle."""
    import exact_cover

    size, cells_count = geometry.size, geometry.num_cells
    columns = np.zeros((geometry.num_placements, cells_count + geometry.units.size), np.int32)
    for cell in range(cells_count):
        for digit in range(size):
            columns[cell * size + digit, cell] = 1
    for unit, its_cells in enumerate(geometry.units):
        for digit in range(size):
            columns[its_cells * size + digit, cells_count + unit * size + digit] = 1

    def count(cells: NDArray[np.int8]) -> bool:
        allowed = (cells[:, None] == 0) | (cells[:, None] == np.arange(1, size + 1))
        return bool(exact_cover.get_solution_count(columns[allowed.ravel()]) == 1)

    return count if size <= 9 else _in_child(count, limit)


def _in_child(function: IsUnique, limit: float) -> IsUnique:
    """Run what cannot be interrupted in a child process, which is ended at the limit."""

    def answer(cells: NDArray[np.int8]) -> bool:
        context = get_context("fork")
        child = context.Process(target=lambda: os._exit(0 if function(cells) else 1))
        child.start()
        child.join(limit)
        if child.is_alive():
            child.kill()
            child.join()
        return child.exitcode == 0

    return answer


def plain_python(geometry: Geometry, limit: float) -> IsUnique:
    """Norvig's way in plain Python: propagate singles on bit masks, branch on the fewest."""
    full = (1 << geometry.size) - 1
    units = [unit.tolist() for unit in geometry.units]
    units_of = [[unit for unit in units if cell in unit] for cell in range(geometry.num_cells)]
    peers = [{c for unit in of for c in unit} - {cell} for cell, of in enumerate(units_of)]

    def assign(masks: list[int], cell: int, bit: int) -> bool:
        return all(remove(masks, cell, other) for other in _bits(masks[cell] & ~bit))

    def remove(masks: list[int], cell: int, bit: int) -> bool:
        if not masks[cell] & bit:
            return True
        masks[cell] ^= bit
        left = masks[cell]
        if not left:
            return False
        if not left & (left - 1) and not all(remove(masks, peer, left) for peer in peers[cell]):
            return False
        for unit in units_of[cell]:
            places = [c for c in unit if masks[c] & bit]
            if not places or (len(places) == 1 and not assign(masks, places[0], bit)):
                return False
        return True

    def count(masks: list[int], end: float) -> int:
        if perf_counter() > end:
            return 2
        open_cells = [cell for cell, mask in enumerate(masks) if mask & (mask - 1)]
        if not open_cells:
            return 1
        cell = min(open_cells, key=lambda c: masks[c].bit_count())
        found = 0
        for bit in _bits(masks[cell]):
            copy = masks.copy()
            if found < 2 and assign(copy, cell, bit):
                found += count(copy, end)
        return found

    def is_unique(cells: NDArray[np.int8]) -> bool:
        masks = [full] * geometry.num_cells
        filled = [(c, 1 << (d - 1)) for c, d in enumerate(cells.tolist()) if d]
        return all(assign(masks, *f) for f in filled) and count(masks, perf_counter() + limit) == 1

    return is_unique


def _bits(mask: int) -> list[int]:
    return [1 << i for i in range(mask.bit_length()) if mask >> i & 1]


PEERS: dict[Peer, tuple[str, Callable[[Geometry, float], IsUnique]]] = {
    "python-sat": ("python-sat, incremental", sat),
    "CP-SAT": ("OR-tools CP-SAT", cp_sat),
    "exact_cover": ("exact_cover (C)", dancing_links),
    "Norvig": ("Norvig-style Python", plain_python),
}


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its finished children."""
    usages = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure_ours(boards: NDArray[np.int8], geometry: Geometry, config: Config) -> Row:
    """Time the batch as a whole for the rate (best of three), and each puzzle for the rest."""
    times, proven = [], []
    for cells in boards:
        start = process_time()
        proven.append(solver.count_solutions(cells[None], 2, geometry, node_limit=10**7)[0] == 1)
        times.append(process_time() - start)
    batch = np.tile(boards, (max(1, round(0.3 / sum(times))), 1, 1))
    best = np.inf
    for _ in range(1 if config.smoke else 3):
        start = process_time()
        solver.count_solutions(batch, 2, geometry, node_limit=10**7)
        best = min(best, process_time() - start)
    return _row(np.array(times), proven, len(batch) / best, config)


def measure_peer(is_unique: IsUnique, boards: NDArray[np.int8], config: Config) -> Row:
    """Time puzzle after puzzle until the budget is spent."""
    times: list[float] = []
    proven = []
    end = perf_counter() + config.budget
    for cells in boards.reshape(len(boards), -1):
        start = cpu_seconds()
        proven.append(is_unique(cells))
        times.append(cpu_seconds() - start)
        if perf_counter() > end:
            break
    return _row(np.array(times), proven, len(times) / sum(times), config)


def _row(times: NDArray[np.float64], proven: list[bool], rate: float, config: Config) -> Row:
    return {
        "count": len(times),
        "a second": float(f"{rate:.3g}") if rate < 100 else round(rate),
        "median ms": in_ms(float(np.median(times))),
        "slowest ms": in_ms(float(times.max())),
        SHARE: round(100 * float(np.mean(np.array(proven) & (times <= config.limit))), 1),
    }


def lists_of(config: Config) -> dict[str, tuple[NDArray[np.int8], Geometry]]:
    """Return the lists to measure on: files, banks, new puzzles."""
    lists = {}
    for path in config.lists:
        with path.open(encoding="utf-8") as lines:
            boards = board.parse_many(lines)
        lists[path.stem] = (boards, Geometry.standard(boards.shape[1]))
    for name in config.banks:
        bank_name, colon, blanks = name.partition(":")
        bank = puzzles.load(bank_name, "test" if bank_name == "9x9" else "all")
        boards = bank.puzzles
        if colon:
            rng = np.random.default_rng(config.seed)
            boards, _ = BankSource(bank).sample(SAMPLE, int(blanks), rng)
        lists[f"bank {name}"] = (boards, bank.geometry)
    if config.dug and not config.smoke:
        geometry, rng = Geometry.standard(25), np.random.default_rng(config.seed)
        made = generate(SAMPLE, geometry, rng, givens=config.dug, node_limit=DIG_NODES)
        lists[f"new 25x25, {config.dug} givens"] = (made.puzzles, geometry)
    most = 2 if config.smoke else config.most
    return {name: (boards[:most], geometry) for name, (boards, geometry) in lists.items()}


def compile_seconds() -> float:
    """Return the seconds a first call takes in a new process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        start = cpu_seconds()
        subprocess.run([sys.executable, "-c", COMPILE], env=environment, check=True)
        return cpu_seconds() - start


def main(argv: Sequence[str] | None = None) -> None:
    """Measure every list, then the generator and the compile time."""
    config = tyro.cli(Config, args=argv, description=__doc__)
    command = command_of(__file__, argv)
    for name, (boards, geometry) in lists_of(config).items():
        measure_ours(boards[:1], geometry, config)  # loads the compiled code
        rows = [{"puzzles": name, "solver": OURS} | measure_ours(boards, geometry, config)]
        for key in config.peers:
            peer, make = PEERS[key]
            try:
                is_unique = make(geometry, 0.5 if config.smoke else config.limit)
            except ModuleNotFoundError as error:
                print(f"{peer} is left out: {error.name} is not installed")
                continue
            figures = measure_peer(is_unique, boards, config)
            rows.append({"puzzles": name, "solver": peer} | figures)
        keep(config.out, f"{PART}{name}", command, rows, names=2)
    if config.native is not None:
        keep(config.out, IN_TURNS, command, measure_native(config.native, config))
    keep(config.out, "the generator and the first call", command, [measure_generator(config)])


def measure_native(program: Path, config: Config) -> list[Row]:
    """Measure ours and a native program in turns on every 9x9 list."""
    seconds = 0.01 if config.smoke else 0.5
    return [
        row
        for name, (boards, geometry) in lists_of(config).items()
        if geometry == Geometry.standard(9)
        for row in native_solver.compare(name, boards, program, config.turns, seconds)
    ]


def measure_generator(config: Config) -> Row:
    """Return the rate of the generator and the compile time."""
    count = 20 if config.smoke else 4_000
    generate(1, Geometry.standard(9), np.random.default_rng(0))
    start = process_time()
    generate(count, Geometry.standard(9), np.random.default_rng(1))
    rate = round(count / (process_time() - start))
    row: Row = {"minimal 9x9 puzzles a second, graded": rate, "puzzles made": count}
    if not config.smoke:
        row["first call with an empty cache, s"] = round(compile_seconds(), 1)
    return row


if __name__ == "__main__":
    main()
