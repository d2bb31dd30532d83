"""Belief propagation and Sinkhorn balancing as solvers, and marginals as a policy.

Paper: Khan, Jabbari, Jabbari and Ghanbarinejad, "Solving Sudoku using probabilistic graphical
models". The rules, flooding, Sinkhorn balancing and the solution check are the paper's; damping,
other schedules, fractional weights and placement factors are additions of ours. Cells
start with their candidates, as the paper's do.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sudoku_baselines.belief_propagation.engine import factor_tables, initial_support
from sudoku_baselines.belief_propagation.messages import MAX_EXACT, Rule
from sudoku_baselines.belief_propagation.passing import (
    OUTCOMES,
    VALID,
    Check,
    Schedule,
    propagate_batch,
    sinkhorn_batch,
)
from sudoku_gym import board, plugins
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import PredictorPolicy
from sudoku_gym.storage.checks import check_counts

CHUNK = 256  # boards a call: bounds the memory that their beliefs take


@dataclass(frozen=True)
class BeliefPropagationConfig:
    """How messages are passed."""

    rule: Rule = "sum-product"
    """the messages of a unit"""
    iterations: int = 200
    """the most to make on one puzzle"""
    exact_zeros: bool = True
    """a digit whose message is zero leaves its cell for good, and cells that are down to one digit
    leave the messages of their units; False takes equation 5 literally, and never finds a
    contradiction"""
    sinkhorn_every: int = 0
    """iterations between two balancings of the beliefs, which then are the priors; 0 for none"""
    sinkhorn_rounds: int = 300
    """rounds over the units at most in one balancing"""
    check: Check = "solution-check"
    """how a grid is derived from the beliefs: the paper's solution check, or the likeliest digit of
    each cell"""
    check_every: int = 1
    """iterations between two checks; the run ends with the first valid grid. With 0 only zero
    messages decide cells"""
    damping: float = 0.0
    """the share of its old value that each message keeps, in logarithms, in [0, 1)"""
    schedule: Schedule = "flooding"
    """`"flooding"` renews all messages from the same beliefs, as the paper does; `"residual"` those
    of the unit whose beliefs have changed the most, as many units an iteration"""
    weight: float = 1.0
    """how much of each unit's message counts in a belief; 1 is belief propagation"""
    placement_weight: float = 0.0
    """the same for the placement factors of the digits; 0 leaves them out"""

    def __post_init__(self) -> None:
        check_counts(self, "iterations", "sinkhorn_rounds")
        if min(self.sinkhorn_every, self.check_every) < 0:
            raise ValueError("sinkhorn_every and check_every must not be negative")
        if not 0 <= self.damping < 1:
            raise ValueError(f"damping must be at least 0 and below 1, not {self.damping}")
        if self.weight <= 0 or self.placement_weight < 0:
            raise ValueError("weight must be positive and placement_weight not negative")

    def as_numbers(self, size: int) -> Any:
        """Return what kernels need, for boards of N digits.

        Raises:
            ValueError: if an exact rule is asked for more cells than it can take.
        """
        if self.rule != "polynomial" and size > MAX_EXACT:
            raise ValueError(
                f"exact messages between {size} cells need 2^{size} sets of digits, and "
                f"{MAX_EXACT} cells are the limit: use the rule 'polynomial'"
            )
        values = vars(self) | {
            "rule": get_args(Rule).index(self.rule),
            "check": get_args(Check).index(self.check),
            "schedule": get_args(Schedule).index(self.schedule),
            "damping": float(self.damping),
            "weight": float(self.weight),
            "placement_weight": float(self.placement_weight),
            # 1e-15, or higher where a product of N of them would vanish
            "min_log_message": max(-15 * np.log(10), -280 * np.log(10) / size),
        }
        return _Numbers(**values)


# The configuration as kernels take it.
_Numbers: Any = namedtuple(  # type: ignore[misc]  # its fields are no literals
    "_Numbers", [*BeliefPropagationConfig.__dataclass_fields__, "min_log_message"]
)


class IterativeSolver:
    """A solver that keeps the statuses and iterations of its last batch."""

    status: NDArray[np.str_] = np.zeros(0, "U13")
    """`[B]`, one of `passing.OUTCOMES` for each puzzle"""
    iterations: NDArray[np.int64] = np.zeros(0, np.int64)
    """`[B]`, how many were made"""

    def _run(
        self,
        kernel: Callable[..., None],
        config: Any,
        puzzles: NDArray[np.int8],
        geometry: Geometry,
        with_placements: bool = False,
    ) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        """Return the boards, all zeros where no valid grid was found, and the last beliefs."""
        boards = board.as_boards(puzzles, geometry)
        tables = factor_tables(geometry, with_placements)
        count, cells, size = len(boards), geometry.num_cells, geometry.size
        grids = np.zeros((count, cells), np.int8)
        beliefs = np.zeros((count, cells, size))
        outcomes = np.zeros(count, np.int64)
        self.iterations = np.zeros(count, np.int64)
        for start in range(0, count, CHUNK):
            part = slice(start, start + CHUNK)
            support = initial_support(boards[part], geometry)
            outputs = (grids[part], beliefs[part], outcomes[part], self.iterations[part])
            kernel(support, tables, config, *outputs)
        self.status = np.array(OUTCOMES)[outcomes]
        grids[outcomes != VALID] = 0
        return grids.reshape(-1, size, size), beliefs.reshape(count, size, size, size)


class BeliefPropagation(IterativeSolver):
    """Message passing as a solver: the first valid grid derived from the beliefs is the answer.

    A run that decides every cell wrongly, or leaves a cell or a unit without a digit, ends as a
    contradiction (theorem 3.8). That proves the puzzle to have no solution, up to numerical
    underflow: only exact zeros count. `changes` are fields of the configuration in place of those
    in `config`; without either it is sum-product as in the paper.
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
        return self._propagate(puzzles, geometry, self.config)[0]

    def predict(self, boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.floating[Any]]:
        """Return the beliefs after all iterations, without checks on the way: the marginals.

        They are float64 `[B, N, N, N]`, the last axis digit - 1, sums to 1; as they were at the end
        where the run met a contradiction, zeros if that was before the first iteration.
        """
        return self._propagate(boards, geometry, replace(self.config, check_every=0))[1]

    def _propagate(
        self, puzzles: NDArray[np.int8], geometry: Geometry, config: BeliefPropagationConfig
    ) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        numbers = config.as_numbers(geometry.size)
        return self._run(propagate_batch, numbers, puzzles, geometry, config.placement_weight > 0)


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
        return self._run(sinkhorn_batch, self.iteration_limit, puzzles, geometry)[0]


def sum_product(**changes: Any) -> BeliefPropagation:
    """Make the solver with exact sum-product messages; the paper's settings otherwise."""
    return BeliefPropagation(**changes)


def max_product(**changes: Any) -> BeliefPropagation:
    """Make the solver with exact max-product messages."""
    return BeliefPropagation(BeliefPropagationConfig(rule="max-product"), **changes)


def bp_sinkhorn(**changes: Any) -> BeliefPropagation:
    """Make the paper's own solver: eq. 5, and Sinkhorn balancing every second iteration.

    The paper balances with "a small number of iterations"; here it is until nothing changes, 300
    at most (`sinkhorn_rounds`), which solves more. `exact_zeros=False` is eq. 5 to the letter.
    """
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


def marginal(iterations: int = 40, **changes: Any) -> PredictorPolicy:
    """Make the policy that plays the most probable placement, beliefs renewed at every move.

    Args:
        iterations: of `fractional_bp` before each move.
        changes: fields of `BeliefPropagationConfig`.
    """
    return PredictorPolicy(fractional_bp(iterations=iterations, **changes))
