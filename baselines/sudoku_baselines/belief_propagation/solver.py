"""Belief propagation and Sinkhorn balancing as solvers, and marginals as policies.

Paper: Khan, Jabbari, Jabbari and Ghanbarinejad, "Solving Sudoku using probabilistic graphical
models". The rules, flooding, Sinkhorn balancing and the solution check are the paper's; damping,
other schedules, decimation, fractional weights and placement factors are additions of ours. Cells
start with their candidates, where the paper's start with all digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sudoku_baselines.belief_propagation import messages
from sudoku_baselines.belief_propagation.engine import (
    NumericConfig,
    factor_tables,
    initial_support,
    min_log_message,
)
from sudoku_baselines.belief_propagation.passing import (
    CHECKS,
    MESSAGE_SCHEDULES,
    OUTCOMES,
    VALID,
    propagate_batch,
    sinkhorn_batch,
)
from sudoku_gym import board, plugins
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Policy, PredictorPolicy
from sudoku_gym.storage.checks import check_counts

CHUNK = 256  # boards a call: bounds the memory that their beliefs take


@dataclass(frozen=True)
class BeliefPropagationConfig:
    """How messages are passed."""

    rule: Literal["sum-product", "max-product", "polynomial"] = "sum-product"
    """the messages of a unit"""
    iterations: int = 200
    """the most to make on one puzzle"""
    sinkhorn_every: int = 0
    """iterations between two balancings of the beliefs, which then are the priors; 0 for none"""
    sinkhorn_rounds: int = 300
    """rounds over the units at most in one balancing"""
    check: Literal["solution-check", "cover-check", "arg-max"] = "solution-check"
    """how a grid is derived from the beliefs: the paper's solution check; the same with each cell
    as one more constraint (`"cover-check"`); or the likeliest digit of each cell"""
    check_every: int = 1
    """iterations between two checks; the run ends with the first valid grid. With 0 only zero
    messages and decimation decide cells"""
    damping: float = 0.0
    """the share of its old value that each message keeps, in logarithms, in [0, 1)"""
    schedule: Literal["flooding", "serial-zeros", "residual"] = "flooding"
    """`"flooding"` renews all messages from the same beliefs, as the paper does; `"serial-zeros"`
    too, but a digit with an exact zero is gone at once for the units that follow in the iteration;
    `"residual"` renews those of the unit whose beliefs have changed the most, as many units an
    iteration"""
    decimate_after: int = 0
    """from here on the cell of highest belief gets its digit every `decimate_every` iterations"""
    decimate_every: int = 0
    """0 for never"""
    weight: float = 1.0
    """how much of each unit's message counts in a belief; 1 is belief propagation"""
    placement_weight: float = 0.0
    """the same for the placement factors of the digits; 0 leaves them out"""

    def __post_init__(self) -> None:
        check_counts(self, "iterations", "sinkhorn_rounds")
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
            ("schedule", MESSAGE_SCHEDULES),
            ("rule", messages.RULES),
        ):
            if getattr(self, name) not in known:
                raise ValueError(f"no {name} is called {getattr(self, name)!r}: use {known}")

    def as_numbers(self, size: int) -> NumericConfig:
        """Return what kernels need, for boards of N digits."""
        return NumericConfig(
            messages.rule_number(self.rule, size),
            self.iterations,
            float(self.weight),
            float(self.placement_weight),
            float(self.damping),
            MESSAGE_SCHEDULES.index(self.schedule),
            self.sinkhorn_every,
            self.sinkhorn_rounds,
            self.check_every,
            CHECKS.index(self.check),
            self.decimate_after,
            self.decimate_every,
            min_log_message(size),
        )


class IterativeSolver:
    """A solver that keeps the statuses and iterations of its last batch."""

    status: NDArray[np.str_] = np.zeros(0, "U13")
    """`[B]`, one of `passing.OUTCOMES` for each puzzle"""
    iterations: NDArray[np.int64] = np.zeros(0, np.int64)
    """`[B]`, how many were made"""

    def _solutions(
        self, grids: NDArray[np.int8], outcomes: NDArray[np.int64], geometry: Geometry
    ) -> NDArray[np.int8]:
        """Keep the statuses; return the boards, all zeros where no valid grid was found."""
        self.status = np.array(OUTCOMES)[outcomes]
        grids[outcomes != VALID] = 0
        return grids.reshape(-1, geometry.size, geometry.size)


class BeliefPropagation(IterativeSolver):
    """Message passing as a solver: the first valid grid derived from the beliefs is the answer.

    A run that decides every cell wrongly, or leaves a cell or a unit without a digit, ends as a
    contradiction (theorem 3.8). Without decimation that proves the puzzle to have no solution, up
    to numerical underflow: only exact zeros count. `changes` are fields of the configuration in
    place of those in `config`; without either it is sum-product as in the paper.
    """

    def __init__(self, config: BeliefPropagationConfig | None = None, /, **changes: Any) -> None:
        kind = BeliefPropagationConfig
        changes = plugins.checked_options(kind, "belief propagation", changes, {})
        self.config = replace(config or kind(), **changes)

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Return solved puzzles, int8 `[B, N, N]`, all zeros where no valid grid was found.

        Raises:
            ValueError: if the boards don't fit the geometry, or an exact rule is asked for more
                cells than it can take.
        """
        grids, _ = self._run(puzzles, geometry, self.config.as_numbers(geometry.size))
        return grids

    def marginals(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.float64]:
        """Return the beliefs after all iterations, without checks on the way.

        They are float64 `[B, N, N, N]`, the last axis digit - 1, sums to 1; as they were at the end
        where the run met a contradiction.
        """
        config = self.config.as_numbers(geometry.size)._replace(check_every=0)
        _, beliefs = self._run(puzzles, geometry, config)
        return beliefs

    def _run(
        self, puzzles: NDArray[np.int8], geometry: Geometry, config: NumericConfig
    ) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        boards = board.as_boards(puzzles, geometry)
        tables = factor_tables(geometry, config.placement_weight > 0)
        count, cells, size = len(boards), geometry.num_cells, geometry.size
        grids = np.zeros((count, cells), np.int8)
        beliefs = np.zeros((count, cells, size))
        outcomes = np.zeros(count, np.int64)
        self.iterations = np.zeros(count, np.int64)
        for start in range(0, count, CHUNK):
            part = slice(start, start + CHUNK)
            support = initial_support(boards[part], geometry)
            outputs = (grids[part], beliefs[part], outcomes[part], self.iterations[part])
            propagate_batch(support, tables, config, *outputs)
        grids = self._solutions(grids, outcomes, geometry)
        return grids, beliefs.reshape(count, size, size, size)


class Sinkhorn(IterativeSolver):
    """Sinkhorn balancing alone, after Moon and Gunther (2006): no messages are passed.

    All units are balanced in turn, with the solution check after every round. A contradiction is a
    cell, or a digit of a unit, without any probability. ValueError if `iterations`, the rounds at
    most, are below 1.
    """

    def __init__(self, iterations: int = 200) -> None:
        if iterations < 1:
            raise ValueError(f"iterations must be at least 1, not {iterations}")
        self.iteration_limit = iterations

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Balance each puzzle; see `BeliefPropagation.solve`."""
        boards = board.as_boards(puzzles, geometry)
        grids = np.zeros((len(boards), geometry.num_cells), np.int8)
        outcomes = np.zeros(len(boards), np.int64)
        self.iterations = np.zeros(len(boards), np.int64)
        support, tables = initial_support(boards, geometry), factor_tables(geometry, False)
        outputs = grids, outcomes, self.iterations
        sinkhorn_batch(support, tables, self.iteration_limit, *outputs)
        return self._solutions(grids, outcomes, geometry)


def sum_product(**changes: Any) -> BeliefPropagation:
    """Make the solver with exact sum-product messages; the paper's settings otherwise."""
    return BeliefPropagation(**changes)


def max_product(**changes: Any) -> BeliefPropagation:
    """Make the solver with exact max-product messages."""
    return BeliefPropagation(BeliefPropagationConfig(rule="max-product"), **changes)


def bp_sinkhorn(**changes: Any) -> BeliefPropagation:
    """Make the paper's own solver: eq. 5, and Sinkhorn balancing every second iteration."""
    config = BeliefPropagationConfig(rule="polynomial", sinkhorn_every=2, check_every=2)
    return BeliefPropagation(config, **changes)


def fractional_bp(**changes: Any) -> BeliefPropagation:
    """Make the best solver here: exact messages of units and digits, with fractional weights.

    With weight 1 for every factor, beliefs count the same evidence once for each short loop and
    become certain of wrong digits; weights below 1 and the residual schedule prevent that.
    Placement factors add deductions that no unit alone can make.
    """
    config = BeliefPropagationConfig(
        schedule="residual", damping=0.2, weight=0.45, placement_weight=0.1
    )
    return BeliefPropagation(config, **changes)


class Marginals:
    """The beliefs of a message-passing solver, which runs without checks, as a predictor."""

    def __init__(self, solver: BeliefPropagation) -> None:
        self.solver = solver

    def predict(self, boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.floating[Any]]:
        """Return the probability of each digit in each cell, float64 `[B, N, N, N]`.

        Zeros for a board on which the solver finds a contradiction before the first iteration.
        """
        return self.solver.marginals(boards, geometry)


class StochasticMarginals:
    """Plays the blank cell of highest belief with a digit drawn from its marginal."""

    def __init__(self, solver: BeliefPropagation) -> None:
        self.solver = solver
        self._geometry: Geometry | None = None
        self._rng = np.random.default_rng(0)

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games."""
        self._geometry, self._rng = geometry, rng

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Draw a legal digit; the first legal action where no placement has any probability."""
        if self._geometry is None:
            raise RuntimeError("call reset(puzzles, geometry, rng) before act")
        size, cells = self._geometry.size, self._geometry.num_cells
        legal = action_masks[:, : self._geometry.num_placements].reshape(-1, cells, size)
        beliefs = self.solver.marginals(boards, self._geometry).reshape(-1, cells, size)
        rows = np.arange(len(boards))
        beliefs = np.where(legal, beliefs, 0.0)
        best_cells = beliefs.max(2).argmax(1)
        cumulative = beliefs[rows, best_cells].cumsum(1)  # [B, N]
        draws = self._rng.random(len(boards)) * cumulative[:, -1]
        digits = (cumulative <= draws[:, None]).sum(1)
        possible = cumulative[:, -1] > 0
        return np.where(possible, best_cells * size + digits, action_masks.argmax(1))


def marginal(
    mode: Literal["argmax", "sample"] = "argmax", iterations: int = 40, **changes: Any
) -> Policy:
    """Make the policy that fills the blank cell of highest belief, beliefs renewed at every move.

    Args:
        mode: `"argmax"` plays the most probable placement, `"sample"` draws the digit of the cell.
        iterations: of `fractional_bp` before each move.
        changes: fields of `BeliefPropagationConfig`.

    Raises:
        ValueError: if the mode is unknown.
    """
    solver = fractional_bp(iterations=iterations, **changes)
    if mode == "sample":
        return StochasticMarginals(solver)
    if mode != "argmax":
        raise ValueError(f"no mode is called {mode!r}: use 'argmax' or 'sample'")
    return PredictorPolicy(Marginals(solver))
