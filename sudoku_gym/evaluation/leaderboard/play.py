"""Play the leaderboard: only what is missing or out of date.

Every policy plays every set whole; one that would take longer than a budget for it, at the pace of
its first games, plays the first puzzles of the set, as many as any other such policy. Every
finished cell is written at once, so a stopped run continues where it was. A cell is played again if
its puzzles, or the weights, the code or the version of its policy, have changed, or if a larger
budget now has room for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from sudoku_gym.evaluation.leaderboard.cells import BATCH_CELLS, TIMED_PUZZLES, CellTask
from sudoku_gym.evaluation.leaderboard.fixed_sets import SEED, FixedSet, fixed_sets
from sudoku_gym.evaluation.leaderboard.listing import own_rows
from sudoku_gym.evaluation.leaderboard.results import (
    MOST_SECONDS,
    LeaderboardCell,
    LeaderboardResults,
    LeaderboardRow,
    SetInfo,
    Timing,
    read_leaderboard,
    write_leaderboard,
)
from sudoku_gym.evaluation.leaderboard.runs import current_run
from sudoku_gym.evaluation.leaderboard.workers import (
    Description,
    describe_policies,
    listed_rows,
    perform,
)
from sudoku_gym.evaluation.tables import duration
from sudoku_gym.storage.checks import check_counts, check_positive
from sudoku_gym.storage.lock import locked
from sudoku_gym.storage.watched_file import WatchedFile

ADDED = "added"  # the kind of a row that no installed package lists

_Place: TypeAlias = tuple[str, FixedSet]  # of a cell: its policy and its set


@dataclass(frozen=True, kw_only=True)
class LeaderboardConfig:
    """Rows and sets to play, and their budgets."""

    add: tuple[str, ...] = ()
    """Policies to give a row: names, module:attribute, or folders of checkpoints, each with
    options, if any, as in 'my_package.agents:MyAgent?depth=3'."""
    remove: tuple[str, ...] = ()
    """Rows to remove, of policies that no installed package lists."""
    again: tuple[str, ...] = ()
    """Rows to play again although nothing has changed."""
    only: tuple[str, ...] = ()
    """Rows to play now; all if not given."""
    sets: tuple[str, ...] = ()
    """Sets to play now; all if not given."""
    lists: tuple[Path, ...] = ()
    """Additional files of puzzles; at most 200 puzzles of each are played."""
    jobs: int = 1
    """Number of parallel processes; times are measured in a single one."""
    budget: float = 120.0
    """Processor seconds that a policy may take for a whole set, at the pace of its first puzzles;
    slower ones play only these, as many as the set says."""
    limit: float = 3600.0
    """Processor seconds after which a policy is stopped that is not even through with these; its
    cell says so until it is played `again`."""
    out: Path = Path("docs/results/leaderboard.json")
    """Output file; existing results are kept."""

    def __post_init__(self) -> None:
        check_positive(self, "budget", "limit")
        if max(self.budget, self.limit) > MOST_SECONDS:
            raise ValueError(f"budget and limit must be at most {MOST_SECONDS:g} s")
        check_counts(self, "jobs")
        if both := {*self.add, *self.only, *self.again} & {*self.remove}:
            raise ValueError(f"{min(both)!r} is to be played and removed: leave out one of the two")
        if self.only and (others := {*self.again} - {*self.only}):
            raise ValueError(f"{min(others)!r} is to be played again, but not among --only: add it")


def play_leaderboard(
    config: LeaderboardConfig, report: Callable[[str], None]
) -> tuple[LeaderboardResults, list[str]]:
    """Play what is missing, and write the leaderboard after every cell.

    `report` is called with a line about each cell, which says how long the others will take at the
    pace so far, and one before the first.

    Returns:
        The leaderboard, and the lines about the cells, and the rows, that were lost, since their
        processes died or their policies' files changed; the next run tries them again.

    Raises:
        ValueError: if a name or a file is wrong, the checksum of a set differs, another process
            plays into the same file, or another program writes it.
        ModuleNotFoundError: if a policy needs an extra.
    """
    out = config.out
    if not out.parent.is_dir():
        raise ValueError(f"{out}: there is no folder {out.parent}; work in a clone, or give --out")
    refusal = f"another leaderboard is being played into {out}: wait for it, or give another --out"
    with locked(out.with_name(f".{out.name}.lock"), refusal):
        sets = all_sets(config)
        listed = listed_rows()
        kinds = listed | {policy: ADDED for policy in config.add if policy not in listed}
        file = WatchedFile(out)
        old, infos = _standing(config, sets, listed)
        rows = [*config.only, *config.again]
        kinds |= {row: ADDED for row in rows if row in old.rows and row not in kinds}
        check_names("row listed, in the file, or given with --add", rows, kinds)
        # A wrong name or option raises here: the caller's own come first, since all take seconds.
        named = {*config.add, *rows}
        needed = dict.fromkeys((*config.add, *(config.only or kinds)))
        described, lost = describe(needed, config.limit, named)
        failures = [f"{row}: {said}" for row, said in lost.items() if row in (config.only or kinds)]
        kinds = {policy: kind for policy, kind in kinds.items() if policy in described}
        chosen = chosen_sets(config, sets)
        places = [(row, s) for row in kinds if row in (config.only or kinds) for s in chosen]
        results = _resume(config, old, infos, kinds, described)
        for line in _left_out(config, old, results, places):
            report(line)
        run = current_run(config.jobs)
        results.runs.setdefault(run.key, run)
        for phase, to_do, jobs in (("played", _games, config.jobs), ("timed", _timings, 1)):
            tasks = []
            for task in to_do(config, results, places, run.key):
                what = described[task.policy]
                if isinstance(what, ModuleNotFoundError):
                    raise what
                tasks.append(replace(task, described=what))
            if tasks and phase == "played":
                report(
                    f"{len(tasks)} to play: up to {duration(config.budget)} of processor time "
                    f"each, and up to {duration(config.limit)} if a policy is slow"
                )
            for count, task, cell in counted(phase, tasks, jobs):
                line = f"{task.policy} on {task.fixed.name}: {cell}"
                if isinstance(cell, str):
                    failures.append(line)
                else:
                    results.rows[task.policy].cells[task.fixed.name] = cell
                file.write(partial(write_leaderboard, results=results))
                report(f"{count}: {line}")
        file.write(partial(write_leaderboard, results=results))
        return results, failures


def counted(
    done: str, tasks: Sequence[CellTask], jobs: int
) -> Iterator[tuple[str, CellTask, LeaderboardCell | str]]:
    """Perform tasks; yield with each which one it is, and how long the others will take."""
    start = time.monotonic()
    for number, (task, cell) in enumerate(perform(tasks, jobs), start=1):
        left = (time.monotonic() - start) / number * (len(tasks) - number)
        more = f", {duration(left)} left" if number < len(tasks) else ""
        yield f"{done} {number} of {len(tasks)}{more}", task, cell


def describe(
    policies: Collection[str], limit: float, named: Collection[str]
) -> tuple[dict[str, Description], dict[str, str]]:
    """Describe policies; one of another's can't change what others are.

    Returns:
        What is said of each, or that it needs an extra; and why the others are lost. One that can't
        be made is, and one of another's that needs an extra, unless the caller has named it.

    Raises:
        ValueError: if one that the caller has named can't be made.
    """
    own, found, lost = own_rows(), dict[str, Description](), dict[str, str]()
    groups = [[policy] for policy in policies if policy not in own]
    for group in [*groups, [policy for policy in policies if policy in own]]:
        described, not_loaded = describe_policies(group, limit) if group else ({}, {})
        lost |= not_loaded
        for policy, what in described.items():
            if isinstance(what, ValueError):
                if policy in named:
                    raise what
                lost[policy] = str(what)
            elif isinstance(what, ModuleNotFoundError) and policy not in {*own, *named}:
                lost[policy] = str(what)
            else:
                found[policy] = what
    return found, lost


def all_sets(config: LeaderboardConfig) -> list[FixedSet]:
    """Return the sets of the package and of the files; ValueError for a wrong name."""
    lists = [FixedSet(name=path.stem, title=path.stem, bank=path) for path in config.lists]
    sets = [*fixed_sets(), *lists]
    names = [each.name for each in sets]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"two sets are called {twice[0]}: rename the file")
    check_names("set", config.sets, names)
    return sets


def chosen_sets(config: LeaderboardConfig, sets: Iterable[FixedSet]) -> list[FixedSet]:
    """Return the sets that are played or compared: those of `sets`, and every file of `lists`."""
    return [s for s in sets if s.is_file or not config.sets or s.name in config.sets]


def check_names(what: str, wanted: Iterable[str], known: Collection[str]) -> None:
    """Raise ValueError if one of the wanted names is not known; `what` says of what."""
    for name in wanted:
        if name not in known:
            raise ValueError(f"no {what} is called {name!r}: use {', '.join(known) or 'none'}")


def _standing(
    config: LeaderboardConfig, sets: Sequence[FixedSet], listed: Collection[str]
) -> tuple[LeaderboardResults, dict[str, SetInfo]]:
    """Return the leaderboard of before, empty if there is none, and the sets to come.

    Files that are not given again stay.
    """
    old = LeaderboardResults("sudoku-gym leaderboard", SEED, BATCH_CELLS, {}, {}, {})
    if config.out.exists():
        old = read_leaderboard(config.out)
    unlisted = [policy for policy in old.rows if policy not in listed]
    check_names("row that no installed package lists", config.remove, unlisted)
    infos = {each.name: each.info() for each in sets}
    infos |= {n: each for n, each in old.sets.items() if each.is_file and n not in infos}
    return old, infos


def _resume(
    config: LeaderboardConfig,
    old: LeaderboardResults,
    infos: dict[str, SetInfo],
    kinds: Mapping[str, str],
    described: Mapping[str, Description],
) -> LeaderboardResults:
    """Return the rows to come, with the cells of before that still hold.

    Rows that were added before, or that packages list which are not installed here, stay, and no
    policy of theirs is loaded; so do those that are not played now.
    """
    removed = {*config.remove} - {*kinds}
    rows = {policy: row for policy, row in old.rows.items() if policy not in removed}
    for policy, kind in kinds.items():
        what, before = described[policy], rows.get(policy)
        if not config.only or policy in config.only:
            rows[policy] = _resume_row(what, kind, before)
        elif before is None and not isinstance(what, ModuleNotFoundError):
            rows[policy] = _resume_row(what, kind, None)
    is_same = (old.seed, old.batch_cells) == (SEED, BATCH_CELLS)
    same = {
        name: info.count
        for name, info in infos.items()
        if is_same and name in old.sets and old.sets[name].sha256 == info.sha256
    }
    rows = {
        policy: replace(
            row,
            cells={
                name: row.cells[name]
                for name, count in same.items()
                if name in row.cells and row.cells[name].played <= count
            },
        )
        for policy, row in rows.items()
    }
    return replace(old, seed=SEED, batch_cells=BATCH_CELLS, sets=infos, rows=rows)


def _left_out(
    config: LeaderboardConfig,
    old: LeaderboardResults,
    results: LeaderboardResults,
    places: Iterable[_Place],
) -> Iterator[str]:
    """Yield a line about each row with cells that do not hold, and are not played again now.

    Raises:
        ValueError: if a part of the leaderboard is played, and a row beside it has such cells.
    """
    played = {(policy, fixed.name) for policy, fixed in places}
    for policy, row in results.rows.items():
        before = old.rows[policy].cells if policy in old.rows else {}
        lost = [n for n in before if n not in row.cells and (policy, n) not in played]
        if not lost:
            continue
        on = f"{policy} on {', '.join(lost)}"
        if config.only and policy not in config.only:
            raise ValueError(
                f"{config.out} has outcomes of {on} with other puzzles, which would be lost: "
                "rename the list, play all rows (without --only), or give another --out"
            )
        yield f"left out, since it was played before something changed: {on}"


def _resume_row(described: Description, kind: str, before: LeaderboardRow | None) -> LeaderboardRow:
    """Return a row with the cells of before, unless version, code or weights have changed."""
    if isinstance(described, ModuleNotFoundError):
        if before is None:
            raise described
        return replace(before, kind=kind)  # it can't be played, but its row can stay
    row = LeaderboardRow(
        kind,
        str(described["package"]),
        str(described["weights"]),
        {},
        int(described["num_weights"]),
        str(described["code"]),
    )
    if before and _made_of(before) == _made_of(row):
        row.cells = before.cells
    return row


def _made_of(row: LeaderboardRow) -> tuple[str, str, str]:
    return row.package, row.code, row.weights


def _games(
    config: LeaderboardConfig, results: LeaderboardResults, places: Iterable[_Place], run: str
) -> Iterator[CellTask]:
    """Yield the cells to play: those not played, and those that have room for the whole set now.

    One that is played again stays until the new one is there.
    """
    for policy, fixed in places:
        cell, info = results.rows[policy].cells.get(fixed.name), results.sets[fixed.name]
        if cell is None or policy in config.again or not is_done(cell, info, config.budget):
            empty = LeaderboardCell(config.budget, run)
            yield CellTask(policy, fixed, fixed.load(), empty, config.limit)


def is_done(cell: LeaderboardCell, info: SetInfo, budget: float) -> bool:
    """Say whether a cell is what the rule wants: the whole set, or the subset of a slow policy."""
    is_slow = cell.seconds * info.count > budget * info.subset
    return bool(cell.error) or cell.played == info.count or (cell.played == info.subset and is_slow)


def _timings(
    config: LeaderboardConfig, results: LeaderboardResults, places: Iterable[_Place], run: str
) -> Iterator[CellTask]:
    """Yield the cells to time: those of whole sets that are not timed yet."""
    for policy, fixed in places:
        cell = results.rows[policy].cells.get(fixed.name)
        count = results.sets[fixed.name].count
        if fixed.timed and cell and not cell.error and cell.played == count:
            timing = cell.timing or Timing((), run)
            if not timing.error and len(timing.seconds) < min(TIMED_PUZZLES, count):
                task_cell = replace(cell, timing=Timing((), run))
                yield CellTask(policy, fixed, fixed.load(), task_cell, config.limit)
