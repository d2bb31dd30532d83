"""What a leaderboard holds: who played which puzzles, when, where, and how it went."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from sudoku_gym.evaluation.intervals import wilson_interval

State = Literal["finished", "out of time", "cannot"]
_ROUNDING = 1e-5  # of the figures in a file


@dataclass(frozen=True)
class Played:
    """The puzzles of a set, played by a policy.

    Attributes:
        state: `"finished"`; `"out of time"` if the budget came first; `"cannot"` if the policy
            refused the boards or broke down.
        played: how many puzzles were played to their end, always the first ones of the set.
        solved: how many of them were solved.
        interval: the Wilson 95 % interval of the share solved.
        outcomes: for each puzzle played, `1` if it was solved and `0` if not.
        illegal: how many games were lost by an illegal answer.
        orbits: of how many orbits all puzzles were solved, and how many orbits there are; None
            where they are as many as the puzzles, or unknown.
        seconds: processor time that the policy took.
        budget: processor time that it was given, in seconds.
        run: when and where: an index into `Standings.runs`.
        why: what went wrong if it `"cannot"`.
        times: processor seconds that single puzzles took, one game at a time, alone on one core;
            None where that was not measured.
        timed: the run in which it was, None if it was not.
    """

    state: State
    played: int
    solved: int
    interval: tuple[float, float]
    outcomes: str
    illegal: int
    orbits: tuple[int, int] | None
    seconds: float
    budget: float
    run: int
    why: str = ""
    times: tuple[float, ...] | None = None
    timed: int | None = None

    def __post_init__(self) -> None:
        if self.played != len(self.outcomes) or set(self.outcomes) - {"0", "1"}:
            raise ValueError(f"outcomes must be {self.played} of the letters 0 and 1")
        if self.solved != self.outcomes.count("1"):
            raise ValueError(f"{self.solved} solved, but outcomes tell {self.outcomes.count('1')}")
        wanted = wilson_interval(self.solved, self.played)
        if any(abs(a - b) > _ROUNDING for a, b in zip(self.interval, wanted, strict=True)):
            raise ValueError(f"the interval of {self.solved} of {self.played} is {wanted}")
        if not 0 <= self.illegal <= self.played - self.solved:
            raise ValueError(f"illegal={self.illegal}: more games than were lost")
        if self.orbits is not None and not 0 <= self.orbits[0] <= self.orbits[1]:
            raise ValueError(f"{self.orbits[0]} of {self.orbits[1]} orbits")
        if min(self.seconds, self.budget, self.run, self.timed or 0, *(self.times or ())) < 0:
            raise ValueError("times and numbers of runs must not be negative")
        if (self.times is None) != (self.timed is None):
            raise ValueError("times and timed: both or neither")

    @property
    def share(self) -> float:
        """The share of the puzzles played that was solved; 0 where none was played."""
        return self.solved / self.played if self.played else 0.0

    @property
    def seconds_a_puzzle(self) -> float | None:
        """The mean of the times, None where there are none."""
        return fmean(self.times) if self.times else None


@dataclass
class Row:
    """A policy and what it has played.

    Attributes:
        policy: its name with its options.
        kind: what kind of player it is.
        package: name and version of what it comes from, empty if unknown.
        weights: SHA-256 of the files it plays by, empty if it plays by none.
        cells: its games by the names of the sets.
    """

    policy: str
    kind: str
    package: str
    weights: str
    cells: dict[str, Played] = field(default_factory=dict)


@dataclass(frozen=True)
class PuzzlesPlayed:
    """A set of puzzles, as it was played.

    Attributes:
        title: the head of its column.
        source: where the puzzles come from.
        board: the name of their geometry.
        count: how many.
        givens: the fewest and the most.
        sha256: their checksum.
    """

    title: str
    source: str
    board: str
    count: int
    givens: tuple[int, int]
    sha256: str


@dataclass(frozen=True)
class Run:
    """When and where some of the games were played.

    Attributes:
        date: of its begin, UTC.
        commit: of the repository; `+changes` follows if it had changes; empty if unknown.
        machine: processor and system.
        cores: how many the machine has.
        jobs: how many processes played side by side.
        timing_budget: processor time in which the times of a cell were measured, in seconds.
        versions: of Python and of packages.
    """

    date: str
    commit: str
    machine: str
    cores: int
    jobs: int
    timing_budget: float
    versions: dict[str, str]


@dataclass
class Standings:
    """A whole leaderboard.

    Attributes:
        seed: of the choice of puzzles and of the policies.
        batch_cells: of the boards played in lock step; a policy that draws random numbers plays
            otherwise with another number.
        sets: by name.
        runs: in which the games were played.
        rows: in order.

    Raises:
        ValueError: if the parts contradict each other.
    """

    seed: int
    batch_cells: int
    sets: dict[str, PuzzlesPlayed]
    runs: list[Run]
    rows: list[Row]

    def __post_init__(self) -> None:
        names = [row.policy for row in self.rows]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"there are two rows of {name}")
        for row in self.rows:
            for name, cell in row.cells.items():
                where = f"{row.policy} on {name}"
                if name not in self.sets:
                    raise ValueError(f"{where}: there is no such set")
                count = self.sets[name].count
                if cell.played > count or (cell.state == "finished" and cell.played < count):
                    raise ValueError(f"{where}: {cell.played} of {count}, {cell.state}")
                if max(cell.run, cell.timed or 0) >= len(self.runs):
                    raise ValueError(f"{where}: there is no run {max(cell.run, cell.timed or 0)}")

    def row_of(self, policy: str) -> Row | None:
        """Return the row of a policy, None if it has none."""
        return next((row for row in self.rows if row.policy == policy), None)
