"""The results of a leaderboard, and the JSON file that holds them.

Reading a file imports and loads nothing that it names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass, replace
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.geometry import MAX_SIZE
from sudoku_gym.storage.atomic import write_json
from sudoku_gym.storage.configs import decode_json
from sudoku_gym.storage.reading import error_context, read_json

_LONGEST = 10_000_000  # bytes; a policy takes 9,000
MOST_SECONDS = 1e9
"""The longest time that is believed."""

_MOST_KINDS, _LONGEST_KIND = 40, 100  # a plot has a panel for each, and its letters in a legend
_MOST_ROWS, _MOST_SETS, _MOST_RUNS = 1_000, 1_000, 10_000
_LONGEST_TEXT = 1_000  # letters of a name, an error and the like; a page shows them many times
_MOST_TIMED, _MOST_PUZZLES = 1_000, 10**7


@dataclass(frozen=True)
class Timing:
    """Processor times of the first puzzles of a set, played one by one."""

    seconds: tuple[float, ...]  # a puzzle each
    run: str  # key in `LeaderboardResults.runs`
    error: str = ""  # why its times say nothing of its games

    def __post_init__(self) -> None:
        if min(self.seconds, default=0) < 0 or len(self.seconds) > _MOST_TIMED:
            raise ValueError(f"seconds must not be negative, nor more than {_MOST_TIMED} of them")

    @property
    def mean(self) -> float | None:
        """Mean processor seconds of a puzzle; None if none was timed."""
        return fmean(self.seconds) if self.seconds else None


@dataclass(frozen=True)
class LeaderboardCell:
    """The games of a policy on a set of puzzles."""

    budget: float  # processor seconds for the whole set; a slower policy played its subset
    run: str  # key in `LeaderboardResults.runs`
    outcomes: str = (
        ""  # 1 for each puzzle solved, 0 for others; always the first puzzles of the set
    )
    illegal: int = 0  # games lost by an illegal action
    orbits: tuple[int, int] | None = None  # solved whole, of all; None if most hold a single puzzle
    seconds: float = 0.0  # processor time of the policy
    error: str = ""  # why it could not play on: it refused the boards, or failed
    timing: Timing | None = None  # None if not measured

    def __post_init__(self) -> None:
        if set(self.outcomes) - {"0", "1"}:
            raise ValueError("outcomes must consist of 0 and 1")
        if not 0 <= self.illegal <= self.played - self.solved:
            raise ValueError(f"illegal={self.illegal}: more games than were lost")
        if self.orbits and not 0 <= self.orbits[0] <= self.orbits[1] <= self.played:
            raise ValueError(f"{self.orbits[0]} of {self.orbits[1]} orbits")
        if min(self.seconds, self.budget) < 0:
            raise ValueError("seconds and budget must not be negative")

    def __str__(self) -> str:
        if self.timing:
            return self.timing.error or f"{len(self.timing.seconds)} puzzles timed"
        return (
            f"{self.solved} of {self.played} solved in {self.seconds:.1f} s {self.error}".rstrip()
        )

    @property
    def played(self) -> int:
        """Number of puzzles played to their end."""
        return len(self.outcomes)

    @property
    def solved(self) -> int:
        """Number of puzzles solved."""
        return self.outcomes.count("1")

    @property
    def stands(self) -> bool:
        """Whether games were played, and no error has stopped them: else nothing is shown."""
        return self.played > 0 and not self.error

    @property
    def share(self) -> float:
        """Share of the puzzles played that was solved; 0 if none was played."""
        return self.solved / self.played if self.played else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson 95 % interval of the share."""
        return wilson_interval(self.solved, self.played)

    @property
    def puzzle_seconds(self) -> float | None:
        """Processor seconds a puzzle: as timed one by one, else of the games; None without any."""
        if self.timing and self.timing.mean is not None:
            return self.timing.mean
        return self.seconds / self.played if self.played else None

    @property
    def runs(self) -> set[str]:
        """Keys of the runs in which it was played and timed."""
        return {self.run, self.timing.run} if self.timing else {self.run}


@dataclass
class LeaderboardRow:
    """The cells of a policy, by the names of the sets."""

    kind: str  # kind of policy, a short description
    package: str  # name and version, empty if unknown
    weights: str  # checksum, empty if it has none
    cells: dict[str, LeaderboardCell]
    num_weights: int = 0  # trained numbers of its networks; 0 if it has none, or can't tell
    code: str = ""  # checksum of the code of another's policy, empty for those of this project

    def __post_init__(self) -> None:
        if self.num_weights < 0:
            raise ValueError(f"num_weights must not be negative, but is {self.num_weights}")


@dataclass(frozen=True)
class SetInfo:
    """A set of puzzles as it was played."""

    title: str
    bank: str  # name of a bank, whose test split is used, or of a file of puzzles
    is_file: bool  # whether the puzzles come from a file, which is not shipped
    board: str  # the name of the geometry
    count: int
    givens: tuple[int, int]  # the fewest and the most
    sha256: str
    subset: int = 0  # how many puzzles, the first ones, are played by policies that are slow

    def __post_init__(self) -> None:
        if not 0 <= self.subset <= self.count <= _MOST_PUZZLES:
            raise ValueError(f"subset={self.subset:.6g} of {self.count:.6g} puzzles")
        if not 0 <= self.givens[0] <= self.givens[1] <= MAX_SIZE**2:
            raise ValueError(f"givens={self.givens!s:.60}: the fewest and the most of a board")


@dataclass(frozen=True)
class RunInfo:
    """When and where games were played."""

    date: str  # UTC
    commit: str  # of the repository, with `+changes` if it had any; empty if unknown
    machine: str
    cores: int
    jobs: int  # processes that played side by side
    versions: dict[str, str]

    @property
    def key(self) -> str:
        """The date and a short checksum of everything: the key that the run is stored under."""
        return f"{self.date} {sha256(repr(self).encode()).hexdigest()[:8]}"


@dataclass
class LeaderboardResults:
    """A whole leaderboard.

    Raises:
        ValueError: if its parts contradict each other.
    """

    format: Literal["sudoku-gym leaderboard"]
    seed: int
    batch_cells: int  # cells of the boards played in parallel; random draws depend on it
    sets: dict[str, SetInfo]
    runs: dict[str, RunInfo]
    rows: dict[str, LeaderboardRow]  # by policies: names with their options

    def __post_init__(self) -> None:
        for name, most in (("rows", _MOST_ROWS), ("sets", _MOST_SETS), ("runs", _MOST_RUNS)):
            if (count := len(getattr(self, name))) > most:
                raise ValueError(f"{count:,} {name}, more than {most:,}")
        check_kinds({policy: row.kind for policy, row in self.rows.items()})
        check_shown(self.sets)
        for policy, row in self.rows.items():
            for name, cell in row.cells.items():
                if name not in self.sets:
                    raise ValueError(f"{policy} on {name}: there is no such set")
                if cell.played > (count := self.sets[name].count):
                    raise ValueError(
                        f"{policy} on {name}: {cell.played} outcomes of {count} puzzles"
                    )
                if missing := cell.runs - self.runs.keys():
                    raise ValueError(f"{policy} on {name}: there is no run {min(missing)!r:.60}")
        _check_texts(self)


def check_kinds(kinds: Mapping[str, str]) -> None:
    """Raise ValueError if policies, or their kinds, are called as can't be shown in a table."""
    if (count := len({*kinds.values()})) > _MOST_KINDS:
        raise ValueError(f"{count:,} kinds of rows, more than {_MOST_KINDS:,}")
    if (longest := max(map(len, kinds.values()), default=0)) > _LONGEST_KIND:
        raise ValueError(f"a kind of {longest:,} letters, more than {_LONGEST_KIND:,}")
    check_shown((*kinds, *kinds.values()))


def check_shown(names: Iterable[str]) -> None:
    """Raise ValueError if a name has letters that can't be shown."""
    for each in names:
        if not each.isprintable():
            raise ValueError(f"{each!r:.60} has letters that can't be shown: rename it")


def _check_texts(part: Any) -> None:
    """Raise ValueError for a text that no table has room for; the outcomes of games are none."""
    if isinstance(part, str):
        if len(part) > _LONGEST_TEXT:
            raise ValueError(f"{part!r:.60}: a text of more than {_LONGEST_TEXT:,} letters")
        part.encode()  # half of a pair, which JSON can hold, can be written nowhere
    elif isinstance(part, dict):
        for key, each in part.items():
            _check_texts(key)
            _check_texts(each)
    elif is_dataclass(part):
        _check_texts({key: each for key, each in vars(part).items() if key != "outcomes"})


def read_leaderboard(path: Path) -> LeaderboardResults:
    """Read a leaderboard; ValueError if it is no sound one, in a message that names the file."""
    with error_context(path, "it is no sound leaderboard"):
        return decode_json(LeaderboardResults, read_json(path, _LONGEST), "the leaderboard")


def write_leaderboard(path: Path, results: LeaderboardResults) -> None:
    """Write a leaderboard, without the runs that no cell refers to.

    Raises:
        ValueError: if it could not be read again; the file stays as it was.
    """
    used = {
        run for row in results.rows.values() for cell in row.cells.values() for run in cell.runs
    }
    runs = {key: run for key, run in results.runs.items() if key in used}
    content = asdict(replace(results, runs=runs))
    with error_context(path, "what would be written is no sound leaderboard"):
        decode_json(LeaderboardResults, json.loads(json.dumps(content)), "the leaderboard")
    write_json(path, content, indent=1)
