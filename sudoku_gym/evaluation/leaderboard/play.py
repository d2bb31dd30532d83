"""Play the leaderboard: only what is missing or out of date.

Every finished cell is written at once, so a stopped run continues where it was. A cell is played
again if its puzzles or the weights of its policy have changed, or if it ran out of time and has a
larger budget now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from sudoku_gym import plugins
from sudoku_gym.evaluation.leaderboard import fixed_sets
from sudoku_gym.evaluation.leaderboard.cells import BATCH_CELLS, TIMED_PUZZLES, CellTask
from sudoku_gym.evaluation.leaderboard.fixed_sets import SEED, FixedSet
from sudoku_gym.evaluation.leaderboard.identity import current_run, package_of, weights_checksum
from sudoku_gym.evaluation.leaderboard.results import (
    LeaderboardCell,
    LeaderboardResults,
    LeaderboardRow,
    SetInfo,
    read_leaderboard,
    write_leaderboard,
)
from sudoku_gym.evaluation.leaderboard.workers import CellResult, perform
from sudoku_gym.policies import load_policy
from sudoku_gym.storage.lock import locked

PHASES = ("played", "timed")
ADDED = "added"  # the kind of a row that no installed package lists

OnStep: TypeAlias = Callable[[str, int, int, str], None]
"""Takes one of `PHASES`, the cells done and to do in it, and the last cell's result in a line."""
_RowAndSet: TypeAlias = tuple[LeaderboardRow, FixedSet]


@dataclass(frozen=True, kw_only=True)
class LeaderboardConfig:
    """Rows and sets to play, and their budgets."""

    add: tuple[str, ...] = ()
    """Policies to give a row: names, module:attribute, or folders of checkpoints, each with
    options, if any, as in 'my_package.agents:MyAgent?depth=3'."""
    remove: tuple[str, ...] = ()
    """Rows of added policies to remove."""
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
    budget: float = 40.0
    """Processor seconds per policy and set."""
    timing_budget: float = 5.0
    """Processor seconds for the ten puzzles whose times are measured."""

    def __post_init__(self) -> None:
        if not self.budget > 0 or not self.timing_budget > 0:
            raise ValueError(f"budgets must be above 0, not {self.budget}, {self.timing_budget}")
        if self.jobs < 1:
            raise ValueError(f"jobs must be at least 1, not {self.jobs}")


def play_leaderboard(
    path: Path,
    config: LeaderboardConfig,
    on_step: OnStep = lambda phase, done, total, text: None,
) -> tuple[LeaderboardResults, list[str]]:
    """Play what is missing, and write the leaderboard to the JSON file `path` after every cell.

    Returns:
        The leaderboard, and a line about each cell whose process died; the next run tries again.

    Raises:
        ValueError: if a name or a file is wrong, the checksum of a set differs, or another process
            plays into the same file.
        ModuleNotFoundError: if a policy needs an extra.
    """
    if not path.parent.is_dir():
        raise ValueError(
            f"{path}: there is no folder {path.parent}; start where the repository lies, or give "
            "--out"
        )
    sets = _all_sets(config)
    kinds = listed_rows()
    kinds |= {name: ADDED for name in config.add if name not in kinds}
    policies = _select(config.only, list(kinds), "row")
    names = _select(config.sets, [each.name for each in sets], "set")
    refusal = f"another leaderboard is being played into {path}: wait for it, or give another --out"
    with locked(path.with_name(f".{path.name}.lock"), refusal):
        old = read_leaderboard(path) if path.exists() else None
        _check_changes(config, list(kinds), {row.policy: row for row in old.rows} if old else {})
        results = _resume(old, sets, kinds, config.remove)
        run = current_run(config.jobs, config.timing_budget)
        if run not in results.runs:
            results.runs.append(run)
        cells = [
            (row, fixed)
            for row in results.rows
            if row.policy in policies
            for fixed in sets
            if fixed.name in names or fixed.is_file
        ]
        session = _Session(path, results, config, results.runs.index(run), on_step)
        games = list(session.games(cells))
        for policy in dict.fromkeys(task.policy for task in games):
            load_policy(policy)  # a wrong name or option raises before anything is played
        failures = session.perform(games, config.jobs)
        failures += session.perform(list(session.timings(cells)), 1)
        _drop_unused_runs(results)
        write_leaderboard(path, results)
        return results, failures


def listed_rows() -> dict[str, str]:
    """Return the policies that installed packages list for the leaderboard, and their kinds."""
    rows: dict[str, str] = {}
    for name in plugins.available(plugins.LEADERBOARD):
        rows |= plugins.load(plugins.LEADERBOARD, name)
    return rows


@dataclass(frozen=True)
class _Session:
    """One call of `play_leaderboard`."""

    path: Path
    results: LeaderboardResults
    config: LeaderboardConfig
    run: int  # index into `results.runs`
    on_step: OnStep

    def games(self, cells: Iterable[_RowAndSet]) -> Iterator[CellTask]:
        """Yield the cells to play: those not played, and those that have a larger budget now."""
        budget = self.config.budget
        for row, fixed in cells:
            if row.policy in self.config.again:
                row.cells.pop(fixed.name, None)
            cell = row.cells.get(fixed.name)
            if cell is None or (cell.state == "out of time" and cell.budget < budget):
                yield CellTask(row.policy, fixed, SEED, budget, self.run)

    def timings(self, cells: Iterable[_RowAndSet]) -> Iterator[CellTask]:
        """Yield the cells to time: those not timed, and those that have a larger budget now."""
        budget = self.config.timing_budget
        for row, fixed in cells:
            cell = row.cells.get(fixed.name)
            if fixed.timed and cell and cell.state != "cannot" and self._lacks_times(cell, fixed):
                yield CellTask(row.policy, fixed, SEED, budget, self.run, timing=True)

    def perform(self, tasks: Sequence[CellTask], jobs: int) -> list[str]:
        """Perform tasks of one phase; return a line about each whose process died."""
        failures = []
        for number, (task, result) in enumerate(perform(tasks, jobs), start=1):
            text = f"{task.policy} on {task.fixed.name}: {self._store(task, result)}"
            if result is None:
                failures.append(text)
            write_leaderboard(self.path, self.results)
            self.on_step(PHASES[task.timing], number, len(tasks), text)
        return failures

    def _store(self, task: CellTask, result: CellResult) -> str:
        """Store a result in its row; return a description."""
        row = self.results.row_of(task.policy)
        assert row is not None
        if result is None:
            return "its process died"
        name = task.fixed.name
        if isinstance(result, tuple):
            row.cells[name] = replace(row.cells[name], times=result, timing_run=task.run)
            return f"{len(result)} puzzles timed"
        row.cells[name] = result
        if result.state == "cannot":
            return f"cannot: {result.error}"
        text = f"{result.solved} of {result.played} solved in {result.seconds:.1f} s"
        if result.state == "out of time":
            text += f", did not finish its {self.results.sets[name].count} in {result.budget:g} s"
        return text

    def _lacks_times(self, cell: LeaderboardCell, fixed: FixedSet) -> bool:
        if cell.times is None or cell.timing_run is None:
            return True
        is_short = len(cell.times) < min(TIMED_PUZZLES, self.results.sets[fixed.name].count)
        had = self.results.runs[cell.timing_run].timing_budget
        return is_short and had < self.config.timing_budget


def _all_sets(config: LeaderboardConfig) -> list[FixedSet]:
    lists = [fixed_sets.set_of_file(path) for path in config.lists]
    names = [each.name for each in lists]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two lists are called {name}; rename one")
    return [*fixed_sets.fixed_sets(), *lists]


def _select(wanted: Sequence[str], known: Sequence[str], what: str) -> list[str]:
    for name in wanted:
        if name not in known:
            raise ValueError(f"no {what} is called {name!r}: use {', '.join(known)}")
    return [name for name in known if not wanted or name in wanted]


def _check_changes(
    config: LeaderboardConfig, known: Sequence[str], before: Mapping[str, LeaderboardRow]
) -> None:
    for name in config.add:
        load_policy(name)
    for name in config.again:
        if name not in known:
            raise ValueError(f"{name!r} can't be played again: use {', '.join(known)}, or --add it")
    for name in config.remove:
        if name not in before or before[name].kind != ADDED:
            raise ValueError(f"no row of {name!r} was added, so none can be removed")


def _resume(
    old: LeaderboardResults | None,
    sets: Sequence[FixedSet],
    kinds: Mapping[str, str],
    removed: Sequence[str],
) -> LeaderboardResults:
    """Return the sets and rows to come, with the cells of before that still hold.

    Files that are not given again and rows added before stay; no policy of theirs is loaded.
    """
    if old is None:
        old = LeaderboardResults(SEED, BATCH_CELLS, {}, [], [])
    infos = {each.name: _set_info(each) for each in sets}
    infos |= {n: each for n, each in old.sets.items() if each.is_file and n not in infos}
    before = {row.policy: row for row in old.rows}
    kept = {name for name, row in before.items() if row.kind == ADDED and name not in removed}
    names = [name for name in before if name in kinds or name in kept]
    rows = [
        _resume_row(name, kinds[name], before.get(name)) if name in kinds else before[name]
        for name in dict.fromkeys([*names, *kinds])
    ]
    is_same = (old.seed, old.batch_cells) == (SEED, BATCH_CELLS)
    for row in rows:
        row.cells = {
            name: row.cells[name]
            for name, info in infos.items()
            if is_same and name in row.cells and old.sets[name].sha256 == info.sha256
        }
    return LeaderboardResults(SEED, BATCH_CELLS, infos, list(old.runs), rows)


def _resume_row(policy: str, kind: str, before: LeaderboardRow | None) -> LeaderboardRow:
    """Return a row with the cells of before, unless the weights of the policy have changed."""
    try:
        weights = weights_checksum(policy)
    except ModuleNotFoundError:  # without its extra it can't be played, but its row can stay
        if before is None:
            raise
        weights = before.weights
    row = LeaderboardRow(policy, kind, package_of(policy), weights)
    if before and before.weights == weights:
        row.cells.update(before.cells)
    return row


def _set_info(fixed: FixedSet) -> SetInfo:
    puzzles = fixed.load(SEED)
    givens = puzzles.geometry.num_cells - puzzles.blanks
    return SetInfo(
        title=fixed.title,
        source=fixed.source,
        board=puzzles.geometry.name,
        count=len(puzzles),
        givens=(int(givens.min()), int(givens.max())),
        sha256=fixed_sets.checksum(puzzles),
    )


def _drop_unused_runs(results: LeaderboardResults) -> None:
    """Remove the runs that no cell refers to, and number the others anew."""
    used = {run for row in results.rows for cell in row.cells.values() for run in cell.runs}
    numbers = {old: new for new, old in enumerate(sorted(used))}
    for row in results.rows:
        for name, cell in row.cells.items():
            timing_run = None if cell.timing_run is None else numbers[cell.timing_run]
            row.cells[name] = replace(cell, run=numbers[cell.run], timing_run=timing_run)
    results.runs = [run for i, run in enumerate(results.runs) if i in used]
