"""The results of a leaderboard, and the JSON file that holds them.

Reading a file imports and loads nothing that it names.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.evaluation.leaderboard.fixed_sets import FILE
from sudoku_gym.storage.atomic import write_text
from sudoku_gym.storage.configs import decode_json
from sudoku_gym.storage.reading import read_json

FORMAT = "sudoku-gym leaderboard"
_LONGEST = 50_000_000  # bytes


@dataclass(frozen=True)
class LeaderboardCell:
    """The games of a policy on a set of puzzles."""

    state: Literal["finished", "out of time", "cannot"]  # it refused the boards, or failed
    outcomes: str  # 1 for each puzzle solved, 0 for others; always the first puzzles of the set
    illegal: int  # games lost by an illegal action
    orbits: tuple[int, int] | None  # solved whole, of all; None where most hold a single puzzle
    seconds: float  # processor time of the policy
    budget: float  # its limit
    run: int  # index into `LeaderboardResults.runs`
    error: str = ""  # why it `cannot`
    times: tuple[float, ...] | None = None  # seconds of single puzzles; None if not measured
    timing_run: int | None = None  # the run in which they were measured

    def __post_init__(self) -> None:
        numbers = (self.seconds, self.budget, self.run, self.timing_run or 0, *(self.times or ()))
        if set(self.outcomes) - {"0", "1"}:
            raise ValueError("outcomes must consist of 0 and 1")
        if not 0 <= self.illegal <= self.played - self.solved:
            raise ValueError(f"illegal={self.illegal}: more games than were lost")
        if self.orbits and not 0 <= self.orbits[0] <= self.orbits[1]:
            raise ValueError(f"{self.orbits[0]} of {self.orbits[1]} orbits")
        if min(numbers) < 0:
            raise ValueError("times and numbers of runs must not be negative")
        if (self.times is None) != (self.timing_run is None):
            raise ValueError("times and timing_run: both or neither")

    @property
    def played(self) -> int:
        """Number of puzzles played to their end."""
        return len(self.outcomes)

    @property
    def solved(self) -> int:
        """Number of puzzles solved."""
        return self.outcomes.count("1")

    @property
    def share(self) -> float:
        """Share of the puzzles played that was solved; 0 if none was played."""
        return self.solved / self.played if self.played else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson 95 % interval of the share."""
        return wilson_interval(self.solved, self.played)

    @property
    def seconds_per_puzzle(self) -> float | None:
        """Mean of the times; None if there are none."""
        return fmean(self.times) if self.times else None

    @property
    def runs(self) -> set[int]:
        """The runs in which it was played and timed."""
        return {self.run} if self.timing_run is None else {self.run, self.timing_run}


@dataclass
class LeaderboardRow:
    """A policy and its cells, by the names of the sets."""

    policy: str  # its name with its options
    kind: str  # kind of policy, a short description
    package: str  # name and version, empty if unknown
    weights: str  # checksum, empty if it has none
    cells: dict[str, LeaderboardCell] = field(default_factory=dict)


@dataclass(frozen=True)
class SetInfo:
    """A set of puzzles as it was played."""

    title: str
    source: str
    board: str  # the name of the geometry
    count: int
    givens: tuple[int, int]  # the fewest and the most
    sha256: str

    @property
    def is_file(self) -> bool:
        """Whether the puzzles come from a file, which is not shipped."""
        return self.source.startswith(FILE)


@dataclass(frozen=True)
class RunInfo:
    """When and where games were played."""

    date: str  # UTC
    commit: str  # of the repository, with `+changes` if it had any; empty if unknown
    machine: str
    cores: int
    jobs: int  # processes that played side by side
    timing_budget: float  # processor seconds to time a cell in
    versions: dict[str, str]


@dataclass
class LeaderboardResults:
    """A whole leaderboard.

    Raises:
        ValueError: if its parts contradict each other.
    """

    seed: int
    batch_cells: int  # cells of the boards played in parallel; random draws depend on it
    sets: dict[str, SetInfo]
    runs: list[RunInfo]
    rows: list[LeaderboardRow]

    def __post_init__(self) -> None:
        names = [row.policy for row in self.rows]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"there are two rows of {name}")
        for row in self.rows:
            for name, cell in row.cells.items():
                if problem := self._problem(name, cell):
                    raise ValueError(f"{row.policy} on {name}: {problem}")

    def _problem(self, name: str, cell: LeaderboardCell) -> str:
        if name not in self.sets:
            return "there is no such set"
        count, last = self.sets[name].count, max(cell.runs)
        if cell.played > count or (cell.state == "finished" and cell.played < count):
            return f"{cell.played} of {count}, {cell.state}"
        return f"there is no run {last}" if last >= len(self.runs) else ""

    def row_of(self, policy: str) -> LeaderboardRow | None:
        """Return the row of a policy, None if it has none."""
        return next((row for row in self.rows if row.policy == policy), None)


def read_leaderboard(path: Path) -> LeaderboardResults:
    """Read a leaderboard.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no sound leaderboard; the message names the file.
    """
    try:
        data = read_json(path, _LONGEST)
        if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
            raise ValueError(f'it has no "format": "{FORMAT}"')
        return decode_json(LeaderboardResults, data, "the leaderboard")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no sound leaderboard: {error}") from None


def write_leaderboard(path: Path, results: LeaderboardResults) -> None:
    """Write a leaderboard, each set and each cell on a line of its own."""
    write_text(path, _as_json({"format": FORMAT, **asdict(results)}) + "\n")


def _as_json(value: Any, indent: str = "") -> str:
    """Format JSON; values without nested objects stand on one line."""
    inner = f"{indent} "
    if isinstance(value, dict) and any(isinstance(each, dict) for each in value.values()):
        lines = [f"{inner}{json.dumps(key)}: {_as_json(value[key], inner)}" for key in value]
        return "{{\n{}\n{}}}".format(",\n".join(lines), indent)
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        lines = [f"{inner}{_as_json(each, inner)}" for each in value]
        return "[\n{}\n{}]".format(",\n".join(lines), indent)
    return json.dumps(value)
