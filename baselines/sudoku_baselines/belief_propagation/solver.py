"""Belief propagation and Sinkhorn balancing as solvers, and their marginals as predictors.

Paper: Khan, Jabbari, Jabbari and Ghanbarinejad, "Solving Sudoku using probabilistic graphical
models". The rules, Sinkhorn balancing and the solution check are the paper's; damping, the residual
schedule, decimation, fractional weights and placement factors are additions of ours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sudoku_baselines.belief_propagation import engine, messages, passing
from sudoku_gym import board, plugins
from sudoku_gym.geometry import Geometry

STATUSES = ("solved", "contradiction", "unsolved")  # by their numbers in `passing`
CHECKS = ("solution-check", "cover-check", "arg-max")  # the same
CHUNK = 256  # boards a call: bounds the memory that their beliefs take


@dataclass(frozen=True)
class Settings:
    """How messages are passed.

    Attributes:
        rule: the message of a constraint, one of `messages.RULES`.
        iterations: the most to make on one puzzle.
        sinkhorn_every: iterations between two balancings of the beliefs, which then are the
            priors of their cells; 0 for none.
        sinkhorn_rounds: rounds over the constraints at most in one balancing.
        check: how a grid is read off the beliefs: the paper's solution check; the same with each
            cell as one more constraint (`"cover-check"`); or the likeliest digit of each cell.
        check_every: iterations between two readings; the run ends with the first valid grid. 0
            leaves it to hard zeros and decimation to decide every cell.
        damping: the share of its old value that each message keeps, in logarithms, in [0, 1).
        schedule: `"flooding"` renews all messages from the same beliefs; `"residual"` those of
            the unit whose beliefs have changed the most, as many units an iteration.
        decimate_after: from this iteration on the cell of highest belief is given its digit, for
            good, every `decimate_every` iterations.
        decimate_every: 0 for never.
        weight: how much of each unit's message counts in a belief; 1 is belief propagation.
        placement_weight: the same for the placement factors of the digits; 0 leaves them out.
    """

    rule: Literal["sum-product", "max-product", "polynomial"] = "sum-product"
    iterations: int = 200
    sinkhorn_every: int = 0
    sinkhorn_rounds: int = 300
    check: Literal["solution-check", "cover-check", "arg-max"] = "solution-check"
    check_every: int = 1
    damping: float = 0.0
    schedule: Literal["flooding", "residual"] = "flooding"
    decimate_after: int = 0
    decimate_every: int = 0
    weight: float = 1.0
    placement_weight: float = 0.0

    def __post_init__(self) -> None:
        for name in ("iterations", "sinkhorn_rounds"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("sinkhorn_every", "check_every", "decimate_after", "decimate_every"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, as {getattr(self, name)} is")
        if not 0 <= self.damping < 1:
            raise ValueError(f"damping must be at least 0 and below 1, not {self.damping}")
        if self.weight <= 0 or self.placement_weight < 0:
            raise ValueError(
                f"weight must be positive and placement_weight not negative, not {self.weight} "
                f"and {self.placement_weight}"
            )
        for name, known in (
            ("check", CHECKS),
            ("schedule", ("flooding", "residual")),
            ("rule", messages.RULES),
        ):
            if getattr(self, name) not in known:
                raise ValueError(f"no {name} is called {getattr(self, name)!r}: use {known}")

    def plan(self, size: int) -> passing.Plan:
        """Return the settings as numbers, for boards of N digits."""
        return passing.Plan(
            messages.rule_number(self.rule, size),
            self.iterations,
            float(self.weight),
            float(self.placement_weight),
            float(self.damping),
            self.schedule == "residual",
            self.sinkhorn_every,
            self.sinkhorn_rounds,
            self.check_every,
            CHECKS.index(self.check),
            self.decimate_after,
            self.decimate_every,
            engine.log_floor(size),
        )


class BeliefPropagation:
    """Message passing as a solver: a puzzle is solved by the first valid grid that is read.

    A run that decides every cell wrongly, or leaves a cell or a unit without a digit, ends as a
    contradiction (theorem 3.8). Without decimation that proves the puzzle to have no solution,
    as far as the floor of the messages goes: only exact zeros count.

    Args:
        settings: of type `Settings`; None for sum-product as in the paper.
        **changes: fields of `Settings` by name, in place of those in `settings`.

    Attributes:
        settings: as given.
        status: `[B]`, one of `STATUSES` for each puzzle of the last batch.
        iterations: int64 `[B]`, how many were made.
    """

    def __init__(self, settings: Settings | None = None, **changes: Any) -> None:
        changes = plugins.checked_options(Settings, "belief propagation", changes, {})
        self.settings = replace(settings or Settings(), **changes)
        self.status: NDArray[np.str_] = np.zeros(0, "U13")
        self.iterations: NDArray[np.int64] = np.zeros(0, np.int64)

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Run on each puzzle.

        Args:
            puzzles: int8 `[B, N, N]`.
            geometry: the shape of the boards.

        Returns:
            int8 `[B, N, N]`, all zeros where no valid grid was read.

        Raises:
            ValueError: if the boards don't fit the geometry, or an exact rule is asked for more
                cells than it can take.
        """
        grids, _ = self._run(puzzles, geometry, self.settings.plan(geometry.size))
        return grids

    def marginals(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.float64]:
        """Return the beliefs after all iterations, no grid being read on the way.

        Args:
            puzzles: int8 `[B, N, N]`.
            geometry: the shape of the boards.

        Returns:
            float64 `[B, N, N, N]`, the last axis digit - 1, sums to 1; as they were at the end
            where the run met a contradiction.
        """
        plan = self.settings.plan(geometry.size)._replace(check_every=0)
        _, beliefs = self._run(puzzles, geometry, plan)
        return beliefs

    def _run(
        self, puzzles: NDArray[np.int8], geometry: Geometry, plan: passing.Plan
    ) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        boards = board.as_boards(puzzles, geometry)
        tables = passing.tables_of(geometry, plan.placement_weight > 0)
        count, cells, size = len(boards), geometry.num_cells, geometry.size
        grids = np.zeros((count, cells), np.int8)
        beliefs = np.zeros((count, cells, size))
        outcomes = np.zeros(count, np.int64)
        self.iterations = np.zeros(count, np.int64)
        for start in range(0, count, CHUNK):
            part = slice(start, start + CHUNK)
            passing.run_batch(
                engine.initial_support(boards[part], geometry),
                tables,
                plan,
                grids[part],
                beliefs[part],
                outcomes[part],
                self.iterations[part],
            )
        self.status = np.array(STATUSES)[outcomes]
        grids[outcomes != passing.SOLVED] = 0
        return grids.reshape(boards.shape), beliefs.reshape(count, size, size, size)


def sum_product(**changes: Any) -> BeliefPropagation:
    """Make the solver with exact sum-product messages; the paper's settings otherwise."""
    return BeliefPropagation(Settings(), **changes)


def max_product(**changes: Any) -> BeliefPropagation:
    """Make the solver with exact max-product messages."""
    return BeliefPropagation(Settings(rule="max-product"), **changes)


def bp_sinkhorn(**changes: Any) -> BeliefPropagation:
    """Make the paper's own solver: eq. 5, and Sinkhorn balancing every second iteration."""
    settings = Settings(rule="polynomial", sinkhorn_every=2, check_every=2)
    return BeliefPropagation(settings, **changes)


def fractional_bp(**changes: Any) -> BeliefPropagation:
    """Make the best solver here: exact messages of units and digits, each counted as a part.

    With weight 1 for every factor, beliefs count the same evidence once for each short loop it
    comes back on, and grow sure of wrong digits. Weights below 1 and the residual schedule end
    that; placement factors see what units can't.
    """
    settings = Settings(schedule="residual", damping=0.2, weight=0.45, placement_weight=0.1)
    return BeliefPropagation(settings, **changes)
