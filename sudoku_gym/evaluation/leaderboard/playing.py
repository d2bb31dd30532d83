"""Play the leaderboard: what is missing or out of date, nothing else.

Every finished cell is written at once, so a run that was killed goes on where it was. A cell is
played again if its puzzles or the files that its policy plays by have changed, or if it ran out of
time and has more now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sudoku_gym.evaluation.leaderboard import games, standings_file
from sudoku_gym.evaluation.leaderboard.fixed_sets import (
    FILE,
    FixedSet,
    Listed,
    checksum,
    givens_of,
    list_of_puzzles,
    programme,
)
from sudoku_gym.evaluation.leaderboard.identity import package_of, this_run, weights_of
from sudoku_gym.evaluation.leaderboard.standings import Played, PuzzlesPlayed, Row, Standings
from sudoku_gym.evaluation.leaderboard.workers import Answer, Task, perform
from sudoku_gym.policies import load_policy
from sudoku_gym.storage.lock import locked

VERBS = ("played", "timed")  # what is done to cells, in this order
ADDED = "added"  # the kind of a row that the package does not come with


@dataclass(frozen=True, kw_only=True)
class Order:
    """What to play.

    Attributes:
        add: policies to give a row.
        remove: rows to leave out, of policies that were added.
        again: rows to play anew, though nothing has changed.
        only: rows to play; none means all that the package comes with, and those added now.
        sets: sets to play; none means all.
        lists: files of puzzles, each a further set.
        budget: processor time of a cell, in seconds.
        timing_budget: processor time to measure the times of a cell in, in seconds.
        jobs: processes that play side by side.
    """

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    lists: tuple[Path, ...] = ()
    budget: float = 40.0
    timing_budget: float = 5.0
    jobs: int = 1

    def __post_init__(self) -> None:
        if not self.budget > 0 or not self.timing_budget > 0:
            raise ValueError(f"budgets must be above 0, not {self.budget}, {self.timing_budget}")
        if self.jobs < 1:
            raise ValueError(f"jobs must be at least 1, not {self.jobs}")


@dataclass(frozen=True)
class Step:
    """What has just been done, and how much there is.

    Attributes:
        verb: what is done to cells at present, one of `VERBS`.
        done: cells done, this one included.
        total: cells to do.
        text: what it was, in a line.
    """

    verb: str
    done: int
    total: int
    text: str


def play_leaderboard(
    path: Path, order: Order, on_step: Callable[[Step], None] = lambda step: None
) -> tuple[Standings, list[str]]:
    """Play what is missing, and write the leaderboard after every cell.

    Args:
        path: of the JSON file; made if it is missing.
        order: what to play.
        on_step: is called after each cell.

    Returns:
        The leaderboard, and a line about each cell whose process died; the next run tries again.

    Raises:
        ValueError: if a name or a file is wrong, a set of puzzles is not what it was, or another
            process plays into the same file.
        ModuleNotFoundError: if a policy needs an extra.
    """
    if not path.parent.is_dir():
        raise ValueError(
            f"{path}: there is no folder {path.parent}; start where the repository lies, or give "
            "--out"
        )
    sets = _sets(order)
    names = _names(order.only, [each.policy for each in _listed(order)], "row")
    chosen = [each for each in sets if each.name in _chosen_sets(order, sets)]
    refusal = f"another leaderboard is being played into {path}: wait, or give another --out"
    with locked(path.with_name(f".{path.name}.lock"), refusal):
        old = standings_file.read(path) if path.exists() else None
        standings = _begun(old, sets, order)
        run = this_run(order.jobs, order.timing_budget)
        if run not in standings.runs:
            standings.runs.append(run)
        plan = _Plan(standings, names, chosen, order, standings.runs.index(run))
        journal = _Journal(path, standings, on_step)
        plan.forget()
        games_to_play = list(plan.games())
        for name in dict.fromkeys(task.policy for task in games_to_play):
            load_policy(name)  # what is wrong with a name is said before anything is played
        journal.take(VERBS[0], games_to_play, order.jobs)
        journal.take(VERBS[1], list(plan.timings()), 1, on_one_core=True)
        _drop_unused_runs(standings)
        standings_file.write(path, standings)
        return standings, journal.lost


@dataclass(frozen=True)
class _Plan:
    """What is to be done in a run."""

    standings: Standings
    names: Sequence[str]
    sets: Sequence[FixedSet]
    order: Order
    run: int

    def forget(self) -> None:
        """Forget the games that are to be played anew."""
        for row, fixed, _ in self._cells():
            if row.policy in self.order.again:
                row.cells.pop(fixed.name, None)

    def games(self) -> Iterator[Task]:
        """Yield the cells to play: those not played, and those that have more time now."""
        for row, fixed, cell in self._cells():
            budget = self.order.budget
            if cell is None or (cell.state == "out of time" and cell.budget < budget):
                yield Task(row.policy, fixed, self.standings.seed, budget, self.run)

    def timings(self) -> Iterator[Task]:
        """Yield the cells to time: those played that are not timed, or have more time now."""
        for row, fixed, cell in self._cells():
            if fixed.timed and cell and cell.state != "cannot" and self._lacks_times(cell, fixed):
                budget = self.order.timing_budget
                yield Task(row.policy, fixed, self.standings.seed, budget, self.run, timing=True)

    def _lacks_times(self, cell: Played, fixed: FixedSet) -> bool:
        if cell.times is None or cell.timed is None:
            return True
        had = self.standings.runs[cell.timed].timing_budget
        is_short = len(cell.times) < min(games.TIMED, self.standings.sets[fixed.name].count)
        return is_short and had < self.order.timing_budget

    def _cells(self) -> Iterator[tuple[Row, FixedSet, Played | None]]:
        for row in self.standings.rows:
            if row.policy in self.names:
                for fixed in self.sets:
                    yield row, fixed, row.cells.get(fixed.name)


class _Journal:
    """Has tasks done, and writes down each that is.

    Attributes:
        lost: a line about each cell whose process died.
    """

    def __init__(self, path: Path, standings: Standings, on_step: Callable[[Step], None]) -> None:
        self.lost: list[str] = []
        self._path = path
        self._standings = standings
        self._on_step = on_step

    def take(self, verb: str, tasks: Sequence[Task], jobs: int, on_one_core: bool = False) -> None:
        """Have tasks done in so many processes."""
        answers = perform(tasks, jobs, on_one_core=on_one_core)
        for done, (task, answer) in enumerate(answers, start=1):
            where = f"{task.policy} on {task.fixed.name}"
            text = f"{where}: {self._enter(task, answer)}"
            if answer is None:
                self.lost.append(text)
            standings_file.write(self._path, self._standings)
            self._on_step(Step(verb, done, len(tasks), text))

    def _enter(self, task: Task, answer: Answer) -> str:
        """Enter an answer into its row; return it in words."""
        row = self._standings.row_of(task.policy)
        assert row is not None
        if answer is None:
            return "its process died"
        if isinstance(answer, Played):
            row.cells[task.fixed.name] = answer
            return in_words(answer, self._standings.sets[task.fixed.name].count)
        cell = row.cells[task.fixed.name]
        row.cells[task.fixed.name] = replace(cell, times=answer, timed=task.run)
        return f"{len(answer)} puzzles timed"


def in_words(cell: Played, count: int) -> str:
    """Say how a cell went."""
    if cell.state == "cannot":
        return f"cannot: {cell.why}"
    text = f"{cell.solved} of {cell.played} solved in {cell.seconds:.1f} s"
    if cell.state == "out of time":
        text += f", did not finish its {count} in {cell.budget:g} s"
    return text


def _listed(order: Order) -> list[Listed]:
    """Return who has a row: those of the package, and those added now."""
    ours = list(programme().rows)
    names = [each.policy for each in ours]
    new = [name for name in dict.fromkeys(order.add) if name not in names]
    return ours + [Listed(name, ADDED) for name in new]


def _sets(order: Order) -> list[FixedSet]:
    lists = [list_of_puzzles(path) for path in order.lists]
    names = [each.name for each in lists]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two lists are called {name}; rename one")
    return [*programme().sets, *lists]


def _chosen_sets(order: Order, sets: Sequence[FixedSet]) -> list[str]:
    lists = [each.name for each in sets if each.is_file]
    return _names(order.sets, [each.name for each in sets], "set") + lists


def _names(wanted: Sequence[str], known: Sequence[str], what: str) -> list[str]:
    for name in wanted:
        if name not in known:
            raise ValueError(f"no {what} is called {name!r}: use {', '.join(known)}")
    return [name for name in known if not wanted or name in wanted]


def _begun(old: Standings | None, sets: Sequence[FixedSet], order: Order) -> Standings:
    """Return the rows and sets to come, with what still holds of the games played before."""
    seed = programme().seed
    before = {row.policy: row for row in old.rows} if old else {}
    _check_changes(order, before)
    played = {each.name: _described(each, seed) for each in sets}
    # Lists that are not at hand and rows of others stay; nothing of theirs is ever loaded.
    lists = {name: each for name, each in (old.sets if old else {}).items() if name not in played}
    played |= {name: each for name, each in lists.items() if each.source.startswith(FILE)}
    rows = [_row(each, before.get(each.policy)) for each in _listed(order)]
    names = [row.policy for row in rows]
    rows += [
        row
        for row in before.values()
        if row.kind == ADDED and row.policy not in (*names, *order.remove)
    ]
    for row in rows:
        row.cells = {
            name: row.cells[name]
            for name, puzzles in played.items()
            if name in row.cells and old and old.sets[name].sha256 == puzzles.sha256
            if (old.seed, old.batch_cells) == (seed, games.BATCH_CELLS)
        }
    return Standings(seed, games.BATCH_CELLS, played, list(old.runs) if old else [], rows)


def _row(listed: Listed, before: Row | None) -> Row:
    """Return a row with the games of before, unless the policy plays by other files now."""
    try:
        weights = weights_of(listed.policy)
    except ModuleNotFoundError:  # without its extra it can't be played, but it can stay
        if before is None:
            raise
        weights = before.weights
    row = Row(listed.policy, listed.kind, package_of(listed.policy), weights)
    if before and before.weights == weights:
        row.cells.update(before.cells)
    return row


def _check_changes(order: Order, before: dict[str, Row]) -> None:
    known = [each.policy for each in _listed(order)]
    for name in order.add:
        load_policy(name)
    for name in order.again:
        if name not in known:
            raise ValueError(f"{name!r} can't be played again: use {', '.join(known)}, or --add it")
    for name in order.remove:
        if name not in before or before[name].kind != ADDED:
            raise ValueError(f"no row of {name!r} was added, so none can be removed")


def _described(fixed: FixedSet, seed: int) -> PuzzlesPlayed:
    puzzles = fixed.load(seed)
    givens = givens_of(puzzles)
    return PuzzlesPlayed(
        fixed.title,
        fixed.source,
        puzzles.geometry.name,
        len(puzzles),
        (int(givens.min()), int(givens.max())),
        checksum(puzzles),
    )


def _drop_unused_runs(standings: Standings) -> None:
    """Forget runs of which no cell is left, and number the others anew."""
    cells = [cell for row in standings.rows for cell in row.cells.values()]
    used = {cell.run for cell in cells} | {cell.timed for cell in cells if cell.timed is not None}
    numbers = {old: new for new, old in enumerate(sorted(used))}
    for row in standings.rows:
        for name, cell in row.cells.items():
            timed = None if cell.timed is None else numbers[cell.timed]
            row.cells[name] = replace(cell, run=numbers[cell.run], timed=timed)
    standings.runs = [run for i, run in enumerate(standings.runs) if i in used]
