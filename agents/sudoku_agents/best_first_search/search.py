"""The best-first search: best-first search with backtracking over assumptions, guided by a network.

Placements are assumed together; a board at which a constraint has no placement left is refuted; the
search goes on at the likeliest open case, by the network's logits. It is complete: it solves each
board that has a solution, and proves where there is none or no second. docs/design.md has the
algorithm. Source: cAlphaZero (Agarwal et al.), section 6, proposes to play, fail and try again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.best_first_search.assumptions import (
    FULL,
    OPEN,
    assume,
    board_status,
    fail_first,
    propagate_singles,
)
from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.exact_cover import constraint_members, constraint_table
from sudoku_gym.policies import ModelCard
from sudoku_gym.solver import FoundSolutions
from sudoku_gym.storage.checks import check_counts, check_not_negative
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks import NO_RESTARTS, Network, Restarts, evaluate_boards

FULLEST_EVERY = 4  # evaluations between two choices of the fullest board in place of the likeliest
MAX_ASSUMPTIONS = 1_000  # with open cases; with more of them the search goes depth first


@dataclass(eq=False, slots=True)
class Assumption:
    """K placements that were assumed together, the likeliest first, and its K + 1 cases."""

    board: NDArray[np.int8]  # [N**2], before them
    mask_bits: NDArray[np.uint8]  # the mask before them, packed
    placements: NDArray[np.int16]  # [K]
    cases: NDArray[np.int16]  # [K + 1], likeliest first: 0 for all, k for all before the kth alone
    log_probabilities: NDArray[np.float64]  # [K + 1], of the cases
    num_blanks: int  # of the board
    num_entered: int = 0  # of the cases

    @property
    def log_probability(self) -> float:
        """That of the next case."""
        return self.log_probabilities.item(self.num_entered)


class Frontier:
    """The assumptions of one search that have open cases, at most `MAX_ASSUMPTIONS` + N**3.

    Best-first search keeps one for nearly each evaluation, depth-first search no more than a board
    has placements, for each case makes one or rules it out. So the search is best first while there
    are few, else depth first.
    """

    def __init__(self) -> None:
        self._open: list[Assumption] = []  # the one entered or added last comes last

    def __len__(self) -> int:
        return len(self._open)

    def add(self, assumption: Assumption) -> None:
        """Add an assumption, whose cases are all open."""
        self._open.append(assumption)

    def pop(self, evaluations: int) -> tuple[Assumption, int]:
        """Remove the next case after so many evaluations: its assumption and its rank there.

        Raises ValueError if there is none.
        """
        latest_first = reversed(self._open)
        if len(self._open) >= MAX_ASSUMPTIONS:
            assumption = next(latest_first)
        elif evaluations % FULLEST_EVERY:
            assumption = max(latest_first, key=lambda each: each.log_probability)
        else:
            assumption = min(latest_first, key=lambda each: each.num_blanks)
        rank = assumption.num_entered
        assumption.num_entered += 1
        self._open.remove(assumption)
        if assumption.num_entered < len(assumption.cases):
            self._open.append(assumption)
        return assumption, rank


LogitsFunction = Callable[[NDArray[np.int8], NDArray[np.bool_]], NDArray[np.float32]]
"""Evaluates boards, int8 `[B, N, N]` with masks bool `[B, N**3]`: logits float32 `[B, N**3]` of the
placements; those outside of the mask are not read."""


@registered("best-first-search")
@dataclass(frozen=True)
class BestFirstConfig:
    """Settings of the best-first search."""

    evaluations: int = 10_000
    """network evaluations to spend on one board before it is left undecided"""
    threshold: float = 3.0
    """placements with a logit above this are assumed together"""
    full_evaluations: int = 4
    """evaluations of a board with all rounds of a recurrent network; later ones, and those after a
    solution was found, take one segment"""
    propagate: bool = False
    """fill in naked and hidden singles before each evaluation, and refute what they refute"""

    def __post_init__(self) -> None:
        check_counts(self, "evaluations")
        check_not_negative(self, "full_evaluations")


def best_first_search(
    boards: NDArray[np.int8],
    geometry: Geometry,
    evaluate: LogitsFunction,
    config: BestFirstConfig,
    limit: int = 1,
    evaluate_fast: LogitsFunction | None = None,
) -> FoundSolutions:
    """Search each board for up to `limit` solutions, all of them in parallel.

    Args:
        boards: int8 `[B, N, N]`, 0 for a blank; givens may contradict each other (no solution).
        geometry: the boards' units.
        evaluate: the network.
        config: the settings.
        limit: stop at this many solutions of a board; 2 tells whether there is a second.
        evaluate_fast: takes the place of `evaluate` after `config.full_evaluations` of them, and
            once a solution is known.

    A board is decided if it has `limit` solutions, or if it is proven that there are no more than
    were found. The nodes of this search are evaluations of the network.

    Raises:
        ValueError: if the limit is below 1, or a logit that is read is not finite.
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    masks = board.candidates(boards, geometry).reshape(len(boards), geometry.num_placements)
    has_conflict = np.asarray(board.conflicts(boards, geometry).any((1, 2)))
    searches = [
        _Search(start, mask, geometry, config, limit)
        for start, mask in zip(boards, masks, strict=True)
    ]
    for search, is_over in zip(searches, has_conflict, strict=True):
        search.is_over = bool(is_over)
        search.skip_decided()
    running = [search for search in searches if not search.is_over]
    while running:
        parts: dict[LogitsFunction, list[_Search]] = {}
        for search in running:
            is_full = search.evaluations < config.full_evaluations and not search.solutions
            parts.setdefault(evaluate if is_full else evaluate_fast or evaluate, []).append(search)
        for function, part in parts.items():
            logits = function(
                np.stack([search.board for search in part]).reshape(-1, *boards.shape[1:]),
                np.stack([search.mask for search in part]),
            )
            for search, row in zip(part, logits, strict=True):
                if not np.isfinite(row[search.mask]).all():
                    raise ValueError("the logits of an evaluation are not finite")
                search.advance(row)
        running = [each for each in running if not each.is_over]
        running = [each for each in running if each.evaluations < config.evaluations]
    return FoundSolutions(
        np.array([search.first_solution for search in searches], np.int8).reshape(boards.shape),
        np.array([len(search.solutions) for search in searches], np.int64),
        np.array([search.is_over for search in searches], np.bool_),
        np.array([search.evaluations for search in searches], np.int64),
    )


class _Search:
    """The search on one board: `board [N**2]` and `mask [N**3]` of the case entered last."""

    def __init__(
        self,
        start: NDArray[np.int8],
        mask: NDArray[np.bool_],
        geometry: Geometry,
        config: BestFirstConfig,
        limit: int,
    ) -> None:
        self.board, self.mask = start.ravel().copy(), mask.copy()
        self.solutions: list[NDArray[np.int8]] = []
        self.is_over = False
        self.evaluations = 0
        self._log_probability = 0.0  # that the board is right so far
        self._frontier = Frontier()
        self._tables = constraint_table(geometry), constraint_members(geometry)
        self._threshold = config.threshold
        self._reduce = propagate_singles if config.propagate else board_status
        self._limit = limit

    @property
    def first_solution(self) -> NDArray[np.int8]:
        """The first solution, int8 `[N**2]`, or zeros."""
        return self.solutions[0] if self.solutions else np.zeros_like(self.board)

    def advance(self, logits: NDArray[np.float32]) -> None:
        """Assume what lies above the threshold, or fail first; go to the next undecided case.

        Once there is a solution the rest is to be refuted, unless the network reads another one.
        """
        self.evaluations += 1
        logits = np.where(self.mask, logits, -np.inf)
        chosen = np.flatnonzero(logits > self._threshold)
        chosen = chosen[np.argsort(-logits[chosen], kind="stable")]
        if not len(chosen) or (self.solutions and len(chosen) < (self.board == 0).sum()):
            chosen = np.array([fail_first(self.mask, logits, self._tables[1])])
        self._assume(chosen, logits)
        self._enter_next()
        self.skip_decided()

    def skip_decided(self) -> None:
        """Skip boards that are refuted or solved, until there is one to evaluate."""
        while not self.is_over:
            status = self._reduce(self.board, self.mask, *self._tables)
            if status == OPEN:
                return
            if status == FULL:
                self.solutions.append(self.board)
                self.is_over = len(self.solutions) == self._limit
            if not self.is_over:
                self._enter_next()

    def _assume(self, placements: NDArray[np.int64], logits: NDArray[np.float32]) -> None:
        made = assume(self.board.copy(), self.mask.copy(), placements, *self._tables)
        log_odds = np.maximum(logits[made].astype(np.float64), 0)  # what is assumed is likely
        right, wrong = -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds)
        before = np.concatenate([[0.0], np.cumsum(right)])
        found = self._log_probability + np.concatenate([before[-1:], before[:-1] + wrong])
        cases = np.argsort(-found, kind="stable")
        self._frontier.add(
            Assumption(
                self.board,
                np.packbits(self.mask),
                made.astype(np.int16),
                cases.astype(np.int16),
                found[cases],
                int((self.board == 0).sum()),
            )
        )

    def _enter_next(self) -> None:
        """Enter the next case of the frontier; without one it is over."""
        if self._frontier:
            self._enter(*self._frontier.pop(self.evaluations))
        else:
            self.is_over = True

    def _enter(self, assumption: Assumption, rank: int) -> None:
        """Restore the board of an assumption, and make the placements of one of its cases."""
        self._log_probability = assumption.log_probabilities[rank]
        self.board = assumption.board.copy()
        self.mask = np.unpackbits(assumption.mask_bits, count=len(self.mask)).astype(np.bool_)
        case, placements = assumption.cases[rank], assumption.placements
        right = placements if case == 0 else placements[: case - 1]
        assume(self.board, self.mask, right, *self._tables)
        if case > 0:
            self.mask[placements[case - 1]] = False


class BestFirstSolver:
    """Solves boards by the best-first search with a network's head `policy`: a `sudoku_gym.Solver`.

    Args:
        network: put in evaluation mode.
        config: the settings of the search.
        restarts: further starts of boards that have not converged, in evaluations with all rounds.

    Raises:
        ValueError: if there are restarts, but the network can't converge.
    """

    def __init__(
        self, network: Network, config: BestFirstConfig, restarts: Restarts = NO_RESTARTS
    ) -> None:
        network.check_restarts(restarts)
        self.network = network.eval()
        self.config = config
        self.restarts = restarts

    @property
    def model_card(self) -> ModelCard:
        """What stands beside its figures."""
        return self.network.model_card("search", restarts=self.restarts)

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Return completed boards, int8 `[B, N, N]`, all zeros where it found none."""
        return self.search(puzzles, geometry).solutions

    def search(
        self, puzzles: NDArray[np.int8], geometry: Geometry, limit: int = 1
    ) -> FoundSolutions:
        """Search for up to `limit` solutions, see `best_first_search`."""
        network, fast = self.network, None
        if network.can_converge:
            fast = logits_function(network, geometry, network.body.segments()[0])
        evaluate = logits_function(network, geometry, restarts=self.restarts)
        return best_first_search(puzzles, geometry, evaluate, self.config, limit, fast)


def logits_function(
    network: Network,
    geometry: Geometry,
    rounds: int | None = None,
    restarts: Restarts = NO_RESTARTS,
) -> LogitsFunction:
    """Return a network's head `policy` as a best-first search calls it.

    `rounds` of a start of a network that can converge, at most, are by default those it is set to.
    """

    def evaluate(boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        reading = evaluate_boards(network, boards, masks, geometry, ["policy"], rounds, restarts)
        return reading.outputs["policy"]

    return evaluate
