"""The leaderboard: policies play fixed sets of puzzles, and the outcome of every puzzle is kept.

Plays what is missing in the file of results and writes the file after every cell, so a run that was
stopped goes on when the command is given again. A row is played again if the version of the
policy's package or the SHA-256 of its weights has changed. `make tables` makes the tables of
docs/leaderboard.md from the file.

A policy plays the first puzzles of a set, as many as its `subset` says, and then the rest unless
the whole set would take longer than the budget at that pace.

    python benchmarks/leaderboard.py --jobs 2
    python benchmarks/leaderboard.py --only expert-iteration --sets 9x9-hard
    python benchmarks/leaderboard.py --add my_package.agents:MyAgent
"""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from leaderboard_sets import SEED, SETS, FixedSet, puzzles_of
from sudoku_gym import board, evaluate, load_policy
from sudoku_gym.evaluation.games import count_orbits
from sudoku_gym.evaluation.tables import duration
from sudoku_gym.geometry import symmetry
from sudoku_gym.policies import Policy, model_card_of, weights_sha256
from sudoku_gym.storage.atomic import locked, write_text

Cell = dict[str, Any]
Results = dict[str, Any]

ROOT = Path(__file__).parent.parent
FORMAT = "sudoku-gym leaderboard"
BATCH_CELLS = 2048  # cells of the boards played in parallel: 25 boards of 9x9, 3 of 25x25
TIMED_PUZZLES = 10
ADDED = "added"  # the kind of a policy that `ROWS` does not list

_SPREAD = {"sets": 1, "runs": 1, "rows": 3}  # levels of objects with a line an entry in the file
_MIN_SECONDS = 0.5  # least time measured, unless `_MAX_LAPS` laps over the puzzles take less
_MAX_LAPS = 60
_DIGITS = 6  # decimals of the seconds in the file
_PACKAGES = ("sudoku-gym", "gymnasium", "numpy", "numba", "torch", "python-sat")
# Of the processes that play. That of numba can't be raised later, and our kernels have one thread.
_THREADS = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

ROWS = {
    "masked-random": "floor",
    "naked-singles": "floor",
    "hidden-singles": "floor",
    "backtracking?node_limit=1000000": "solver",
    "dlx?node_limit=1000000": "solver",
    "propagation?node_limit=100000": "solver",
    "solver": "solver",
    "sat": "solver",
    "sum-product": "message passing",
    "max-product": "message passing",
    "sinkhorn": "message passing",
    "bp-sinkhorn": "message passing",
    "fractional-bp": "message passing",
    "marginal": "message passing",
    "multiverse-m12": "supervised",
    "mlp": "supervised",
    "cnn": "supervised",
    "rrn": "supervised",
    "recurrent-transformer": "supervised",
    **dict.fromkeys(("rrn-9x9?mode=surest", "cnn-9x9", "recurrent-transformer-9x9"), "supervised"),
    "tiny-recursion": "supervised",
    "exact-cover-supervised?mode=one-shot": "supervised",
    "exact-cover-supervised": "supervised",
    "calphazero": "learned without solutions",
    "dqn": "learned without solutions",
    "gflownet": "learned without solutions",
    "gflownet?temperature=0.25": "learned without solutions",
    "expert-iteration": "learned without solutions",
    "calphazero?simulations=16": "search on top",
    "expert-iteration?simulations=16&rounds=32": "search on top",
    "expert-iteration?search=best-first": "search on top",
    "guissart": "search on top",
}
"""The policies that have a row, with their options, and their kinds."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """What to play.

    Attributes:
        add: policies to give a row: names, module:attribute, or folders of checkpoints, each with
            options, if any, as in 'my_package.agents:MyAgent?depth=3'.
        only: rows to play now; all if not given.
        sets: sets to play now; all if not given.
        lists: files of puzzles to play besides; at most 200 puzzles of each.
        again: play the chosen cells again although nothing has changed.
        jobs: parallel processes; times are measured in a single one.
        budget: processor seconds that a policy may take for a whole set, at the pace of its first
            puzzles; slower ones play only these.
        limit: processor seconds after which a cell is stopped; it says so in the file.
        out: the file of results.
    """

    add: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    lists: tuple[Path, ...] = ()
    again: bool = False
    jobs: int = 1
    budget: float = 120.0
    limit: float = 3600.0
    out: Path = ROOT / "docs/results/leaderboard.json"


Place = tuple[str, FixedSet]  # of a cell: its policy and its set
Task = Callable[[str, FixedSet, Config], Cell]


def main(argv: Sequence[str] | None = None) -> None:
    """Play what is missing, and write the results after every cell."""
    config = tyro.cli(Config, description=__doc__, args=argv)
    with locked(config.out.with_name(f".{config.out.name}.lock"), f"{config.out} is being played"):
        results = read(config.out)
        places = _places(config, results)
        run, info = current_run(config.jobs)
        results["runs"].setdefault(run, info)
        to_play = [place for place in places if not _is_played(results, *place)]
        for row, name, found in _perform(play, results, to_play, config, config.jobs):
            row["num_weights"] = found.pop("num_weights")
            row["cells"][name] = found | {"run": run}
            write(config.out, results)
        to_time = [place for place in places if _lacks_timing(results, *place)]
        for row, name, found in _perform(play_one_by_one, results, to_time, config, 1):
            row["cells"][name]["timing"] = found | {"run": run}
            write(config.out, results)


def read(path: Path) -> Results:
    """Read a file of results; empty results if there is none.

    Raises:
        ValueError: if the file is no leaderboard.
    """
    if not path.exists():
        parts: dict[str, Any] = {part: {} for part in _SPREAD}
        return {"format": FORMAT, "seed": SEED, "batch_cells": BATCH_CELLS, **parts}
    results = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(results, dict) or results.get("format") != FORMAT:
        raise ValueError(f"{path} is no leaderboard")
    return results


def write(path: Path, results: Results) -> None:
    """Write the results, a line each set, run and cell, without the runs that no cell names."""
    cells = [cell for row in results["rows"].values() for cell in row["cells"].values()]
    used = {each["run"] for cell in cells for each in (cell, cell.get("timing", cell))}
    runs = {name: run for name, run in results["runs"].items() if name in used}
    content = results | {"runs": runs}
    lines = [f" {json.dumps(key)}: {_spread(content[key], _SPREAD.get(key, 0))}" for key in content]
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")


def _spread(value: Any, levels: int, indent: str = " ") -> str:
    """Return JSON whose objects of the first levels have a line an entry."""
    if levels == 0 or not value or not isinstance(value, dict):
        return json.dumps(value)
    inner = f"{indent} "
    entries = (f"{inner}{json.dumps(k)}: {_spread(v, levels - 1, inner)}" for k, v in value.items())
    return "{\n" + ",\n".join(entries) + f"\n{indent}}}"


def _places(config: Config, results: Results) -> list[Place]:
    """Return the cells that are wanted; their rows and sets stand in the results afterwards."""
    sets = [_named(name, {each.name: each for each in SETS}) for name in config.sets] or [*SETS]
    sets += [FixedSet(name=p.stem, title=p.stem, bank=p, count=200) for p in config.lists]
    for fixed in sets:
        described = fixed.describe()
        before = results["sets"].setdefault(fixed.name, described)
        if before["sha256"] != described["sha256"]:
            raise ValueError(f"{config.out} has outcomes on other puzzles called {fixed.name}")
    kinds = {name: ADDED for name in config.add} | ROWS
    kinds = {name: row["kind"] for name, row in results["rows"].items()} | kinds
    for name in config.only:
        _named(name, kinds)
    names = dict.fromkeys([*config.add, *(config.only or ([] if config.add else kinds))])
    for name in names:
        row = results["rows"][name] = _resumed(name, kinds[name], results["rows"].get(name))
        for fixed in sets if config.again else ():
            row["cells"].pop(fixed.name, None)
    return [(name, fixed) for name in names for fixed in sets]


def _named(name: str, known: dict[str, Any]) -> Any:
    if name not in known:
        raise ValueError(f"{name!r} is not known: use {', '.join(known)}")
    return known[name]


def _resumed(name: str, kind: str, before: dict[str, Any] | None) -> dict[str, Any]:
    """Return a row with its cells of before, if its package and weights are the same."""
    made_of = {"package": _package_of(name), "weights": weights_sha256(name) or ""}
    if before is None or any(before[key] != value for key, value in made_of.items()):
        return {"kind": kind, **made_of, "num_weights": 0, "cells": {}}
    return before | {"kind": kind}


def _package_of(name: str) -> str:
    """Return name and version of the package that a policy comes from; empty if unknown."""
    name = name.partition("?")[0]
    for entry in metadata.entry_points(group="sudoku_gym.policies", name=name):
        return f"{entry.dist.name} {entry.dist.version}" if entry.dist else ""
    module = name.partition(".")[0].partition(":")[0] if ":" in name else ""
    for package in metadata.packages_distributions().get(module, []):
        return f"{package} {metadata.version(package)}"
    return ""


def _is_played(results: Results, name: str, fixed: FixedSet) -> bool:
    """Whether a cell is what the rule wants: the whole set, or the subset of a slow policy."""
    cell, info = results["rows"][name]["cells"].get(fixed.name), results["sets"][fixed.name]
    if cell is None:
        return False
    played = len(cell["outcomes"])
    is_slow = cell["seconds"] * info["count"] > cell["budget"] * info["subset"]
    return bool(
        cell.get("error") or played == info["count"] or (played == info["subset"] and is_slow)
    )


def _lacks_timing(results: Results, name: str, fixed: FixedSet) -> bool:
    """Whether a whole set that is to be timed has been played, and not been timed yet."""
    cell = results["rows"][name]["cells"].get(fixed.name, {"outcomes": ""})
    is_whole = len(cell["outcomes"]) == results["sets"][fixed.name]["count"]
    return fixed.timed and is_whole and "error" not in cell and "timing" not in cell


def _perform(
    what: Task, results: Results, places: Sequence[Place], config: Config, jobs: int
) -> Iterator[tuple[dict[str, Any], str, Cell]]:
    """Play, or time, cells in processes; yield each: its row, its set, and what `what` returns."""
    if not places:
        return
    os.environ.update(_THREADS)
    start = time.monotonic()
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
    try:
        futures = {pool.submit(what, *place, config): place for place in places}
        for number, future in enumerate(as_completed(futures), start=1):
            name, fixed = futures[future]
            yield results["rows"][name], fixed.name, future.result()
            left = (time.monotonic() - start) / number * (len(places) - number)
            print(f"{number} of {len(places)}: {name} on {fixed.name}; {duration(left)} left")
    finally:
        pool.shutdown(cancel_futures=True)


def play(name: str, fixed: FixedSet, config: Config) -> Cell:
    """Let a policy play a set, boards of `BATCH_CELLS` cells in parallel.

    It plays the subset first, and then the rest if the whole set will take no longer than the
    budget at that pace. An error of the policy is kept in the cell.

    Returns:
        The cell, with the number of the policy's weights as `num_weights`.
    """
    puzzles, policy = puzzles_of(fixed), _warm(name)
    count, subset = len(puzzles), min(fixed.subset, len(puzzles))
    batch = min(BATCH_CELLS // puzzles.geometry.num_cells, subset)
    starts = [*range(0, subset, batch), *range(subset, count, batch)]
    cell: Cell = {"budget": config.budget, "outcomes": "", "illegal": 0, "seconds": 0.0}
    solved = np.empty(0, np.bool_)
    try:
        with limited(config.limit):
            for start, end in pairwise([*starts, count]):
                if start == subset and cell["seconds"] * count > config.budget * subset:
                    break
                result = evaluate(policy, puzzles[start:end], seed=SEED + start)
                solved = np.append(solved, result.solved)
                cell["illegal"] += result.illegal
                cell["seconds"] += result.processor_seconds
    except (ValueError, TimeoutError) as error:
        cell["error"] = str(error)
    cell["outcomes"] = "".join(map(str, solved.astype(int)))
    cell["seconds"] = round(cell["seconds"], _DIGITS)
    orbits = count_orbits(puzzles.orbits[: len(solved)], solved)
    if orbits and 0 < 2 * orbits[1] <= len(solved):  # else most hold a single puzzle
        cell["orbits"] = list(orbits)
    card = model_card_of(policy)
    return cell | {"num_weights": card.weights if card else 0}


def play_one_by_one(name: str, fixed: FixedSet, config: Config) -> Cell:
    """Time a policy on each of the first `TIMED_PUZZLES` puzzles of a set, played one by one.

    They are turned, mirrored, exchanged and renamed as the symmetries of their geometry allow, so
    that no policy has seen them before. One is played before it counts. The clock of a process may
    tick every few milliseconds only, so short puzzles are played repeatedly, by other symmetries
    each time, and their mean is taken.

    Returns:
        The timing, with the processor seconds of each puzzle.
    """
    puzzles, policy = puzzles_of(fixed), _warm(name)
    boards, geometry = puzzles.puzzles[:TIMED_PUZZLES], puzzles.geometry
    rng = np.random.default_rng(SEED)
    laps = list[list[float]]()
    try:
        with limited(config.limit):
            first = symmetry.sample(geometry, 1, rng).apply(puzzles.puzzles[-1:])
            evaluate(policy, first, geometry=geometry, seed=SEED)
            while len(laps) < _MAX_LAPS and sum(map(sum, laps)) < _MIN_SECONDS:
                given = symmetry.sample(geometry, len(boards), rng).apply(boards)
                games = [
                    evaluate(policy, each[None], geometry=geometry, seed=SEED + i)
                    for i, each in enumerate(given)
                ]
                laps.append([game.processor_seconds for game in games])
    except (ValueError, TimeoutError) as error:
        return {"seconds": [], "error": str(error)}
    return {"seconds": [round(float(mean), _DIGITS) for mean in np.mean(laps, 0)]}


def _warm(name: str) -> Policy:
    """Load a policy, and let it play a small board, so that compilation is not timed."""
    policy = load_policy(name)
    with suppress(ValueError):  # it may not play 4x4 boards
        evaluate(policy, board.parse("1234....21.34..1")[None])
    return policy


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError once this process has computed for so long; on POSIX alone."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"it takes more than {seconds:g} s of processor time")

    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def current_run(jobs: int) -> tuple[str, dict[str, Any]]:
    """Describe the present run: its key in the file, and when and where it is."""
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    info = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": _commit(),
        "machine": f"{_processor()}, {platform.system()}",
        "cores": os.cpu_count() or 1,
        "jobs": jobs,
        "versions": versions,
    }
    return f"{info['date']} {sha256(repr(info).encode()).hexdigest()[:8]}", info


def _commit() -> str:
    """Return the commit of this repository, with `+changes` if it has any."""

    def git(*arguments: str) -> str:
        return subprocess.check_output(["git", "-C", str(ROOT), *arguments], text=True).strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ":/", ":!/docs")
    return git("rev-parse", "HEAD") + "+changes" * bool(changed)


def _processor() -> str:
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
