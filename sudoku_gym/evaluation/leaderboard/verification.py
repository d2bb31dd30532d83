"""Play the games of a leaderboard again, and compare them with what its file says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sudoku_gym.evaluation.leaderboard.cells import (
    BATCH_CELLS,
    OUT_OF_TIME,
    CellTask,
    orbits_solved,
)
from sudoku_gym.evaluation.leaderboard.fixed_sets import SEED, FixedSet
from sudoku_gym.evaluation.leaderboard.play import (
    ADDED,
    LeaderboardConfig,
    all_sets,
    check_names,
    chosen_sets,
    counted,
    describe,
    is_done,
)
from sudoku_gym.evaluation.leaderboard.results import (
    MOST_SECONDS,
    LeaderboardCell,
    SetInfo,
    read_leaderboard,
)
from sudoku_gym.evaluation.leaderboard.workers import listed_rows
from sudoku_gym.evaluation.tables import duration

_FASTER = 10  # times as fast a machine may be as that on which a policy was too slow for a set


def verify_leaderboard(config: LeaderboardConfig, report: Callable[[str], None]) -> list[str]:
    """Play the cells of a leaderboard again, and compare; nothing is written.

    A policy that has played a whole set plays it whole here, however slow it is, up to the `limit`;
    one that was too slow for it plays the first puzzles, and the others too if it is fast here.

    Args:
        config: its `out` is the file, and `only` names the rows, by default those that installed
            packages list; `sets`, `lists`, `jobs` and `limit` count too.
        report: called with a line about each cell, which says how long the others will take at
            the pace so far, and one before the first.

    Returns:
        The lines about the cells that differ.

    Raises:
        ValueError: as `play_leaderboard`, or if there is no sound file, or nothing to compare.
        ModuleNotFoundError: if a policy needs an extra.
    """
    standing = read_leaderboard(config.out)
    if (standing.seed, standing.batch_cells) != (SEED, BATCH_CELLS):
        raise ValueError(
            f"{config.out}: played with seed {standing.seed}, {standing.batch_cells} cells at a "
            f"time, and this version plays with seed {SEED}, {BATCH_CELLS} at a time: other games"
        )
    every = all_sets(config)
    here = {each.name for each in every}
    sets = {each.name: each for each in chosen_sets(config, every)}
    check_names("row of the file", config.only, standing.rows)
    # What a file names is not imported unless an installed package lists it, or the caller does.
    listed = listed_rows()
    names = config.only or [name for name in standing.rows if name in listed]
    for name in () if config.only else [name for name in standing.rows if name not in listed]:
        report(f"not compared: {name}, which no installed package lists")
    for name in [name for name in standing.sets if name not in here]:
        report(f"not compared: {name}, a set that is not here")
    for name in [name for name in sets if name not in standing.sets]:
        report(f"not compared: {name}, a set that the file does not have")
    for name in [] if config.only else [name for name in listed if name not in standing.rows]:
        report(f"not compared: {name}, of which the file has no row")
    chosen = {name: standing.rows[name] for name in names}
    tasks, differing, seconds = [], [], 0.0
    present, lost = describe(chosen, config.limit, config.only)
    differing += [f"{policy}: {said}" for policy, said in lost.items()]
    for policy, described in present.items():
        if isinstance(described, ModuleNotFoundError):
            raise described
        row = chosen[policy]
        here_and_there = {
            "code": (described["code"], row.code),
            "weights": (
                (described["weights"], described["num_weights"]),
                (row.weights, row.num_weights),
            ),
            "kind": (listed.get(policy, ADDED), row.kind),
        }
        others = [what for what, (here, there) in here_and_there.items() if here != there]
        if not others and described["package"] != row.package:
            report(f"{policy}: played with {row.package!r}, here it is {described['package']!r}")
        if others:
            differing.append(f"{policy}: other {' and other '.join(others)} here than there")
            continue
        for name in sorted(sets.keys() & standing.sets.keys() - row.cells.keys()):
            report(f"not compared: {policy} on {name}, which the file does not have")
        for name in row.cells.keys() & sets.keys():
            cell, info, there = row.cells[name], sets[name].info(), standing.sets[name]
            if there.is_file and info.bank != there.bank:  # the file may have another name
                report(f"{name}: called {there.bank!r} there, here it is {info.bank!r}")
                info = replace(info, bank=there.bank)
            if info != there:
                differing.append(f"{policy} on {name}: its puzzles are others here")
            elif cell.played or cell.error:
                is_whole = bool(cell.error) or cell.played == there.count
                budget = MOST_SECONDS if is_whole else max(cell.budget, config.budget) / _FASTER
                empty = LeaderboardCell(budget, "")
                fixed = sets[name]
                task = CellTask(policy, fixed, fixed.load(), empty, config.limit, described)
                tasks.append(task)
                seconds += cell.seconds
            else:
                report(f"not compared: {policy} on {name}, which it has not played")
    if not tasks and not differing:
        raise ValueError(f"{config.out}: no games of these rows on these puzzles to compare")
    if tasks:
        report(f"{len(tasks)} to verify, which took {duration(seconds)} of processor time")
    for count, task, again in counted("verified", tasks, config.jobs):
        cell, info = chosen[task.policy].cells[task.fixed.name], standing.sets[task.fixed.name]
        is_same, found = _compare(cell, again, info, task.fixed, config.budget)
        line = f"{task.policy} on {task.fixed.name}: {found}"
        report(f"{count}: {line}")
        differing += [] if is_same else [line]
    return differing


def _compare(
    before: LeaderboardCell,
    again: LeaderboardCell | str,
    info: SetInfo,
    fixed: FixedSet,
    budget: float,
) -> tuple[bool, str]:
    """Say whether games played again are those of before, in words too."""
    if isinstance(again, str):
        return False, again
    count = min(before.played, again.played)
    pairs = zip(before.outcomes[:count], again.outcomes[:count], strict=True)
    if others := sum(one != other for one, other in pairs):
        return False, f"{others} of {count} outcomes differ"
    if before.error != again.error:
        there, here = (cell.error or "none" for cell in (before, again))
        return False, f"error {there!r}, not {here!r}"
    solved = np.array([outcome == "1" for outcome in before.outcomes], np.bool_)
    if before.orbits != (orbits := orbits_solved(fixed.load(), solved)):
        return False, f"orbits differ: {before.orbits}, not {orbits}"
    if not is_done(before, info, max(before.budget, budget)):
        return False, f"{count} outcomes of {info.count}, though its time has room for all of them"
    if before.error.startswith(OUT_OF_TIME) and before.played != again.played:
        # A limit comes sooner on one machine; what was solved before it counts for nothing.
        return True, f"{count} outcomes are the same, of {before.played}; now {again.played}"
    if before.played != again.played:
        return False, f"{before.played} outcomes, of a set of which {again.played} are played"
    if before.illegal != again.illegal:
        return False, f"illegal differ: {before.illegal}, not {again.illegal}"
    return True, f"all {count} outcomes are the same" if count else f"error {before.error!r} again"
