"""The retry search: play, and where that proves to be lost, go on where the network sees most hope.

cAlphaZero (section 6) proposes to play a single run and, where it fails, to set the value of the
failed end to zero and to return to the root. A failed end is a proof, though, and Sudoku lets it
reach far: a board at which some constraint has no placement left has no solution. So the search
strikes out what was refuted, no more than that, and the network says where to go on.

1. The network rates the placements that are still allowed. Those with a logit above `threshold` are
   assumed together, surest first, or, if there are none, the best one alone.
2. Either all of these K placements are right, or for one k from 1 to K the first k - 1 are and the
   kth is not: K + 1 cases. The logistic function of the logits says how likely each of them is, if
   the board is right, and the chance of that is known from the cases that led there.
3. The likeliest case of all that are open is looked at next, wherever it lies (best-first search).
   Where a constraint has no placement left in it, the case is refuted at once. Where the board is
   full, it is solved. Else the network rates it in turn, and sees that what was struck out is not
   allowed.
4. After every fourth evaluation it is the fullest board's likeliest case instead: a network that is
   at a loss thinks the same of everything, and would fill all boards a little and none of them.
5. Go on until the board is full, or no case is left: then there is no solution.

Most boards fall to the first few evaluations, if the network thinks for long. Those that do not are
searched faster by many evaluations in which it thinks for a moment, since it is corrected soon.

The cases leave nothing out and overlap nowhere: with enough evaluations the search is complete. It
solves each board that has a solution and proves where there is none or, on request, that there is
no second. No other solver takes part.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.retry_search.assumptions import (
    FULL,
    OPEN,
    assume,
    state_of,
)
from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.exact_cover import constraint_members, constraint_table
from sudoku_gym.storage.configs import registered

Ratings = Callable[[NDArray[np.int8], NDArray[np.bool_]], NDArray[np.float32]]
"""Rates the placements of boards, int8 `[B, N, N]` with masks bool `[B, N**3]`: logits, float32
`[B, N**3]`."""

FULLEST_EVERY = 4  # evaluations


@registered("alphazero/retry")
@dataclass(frozen=True)
class RetryConfig:
    """Settings of the retry search."""

    evaluations: int = 10_000
    """network evaluations to spend on one board before it is left undecided"""
    threshold: float = 3.0
    """placements with a logit above this are assumed together"""
    thorough: int = 4
    """evaluations of a board after which the network thinks quickly, if it can"""

    def __post_init__(self) -> None:
        """Check the values."""
        if self.evaluations < 1:
            raise ValueError(f"evaluations must be at least 1, not {self.evaluations}")
        if self.thorough < 0:
            raise ValueError(f"thorough must not be negative, but is {self.thorough}")


@dataclass(frozen=True)
class RetryResult:
    """What a retry search found out about B boards.

    Attributes:
        solutions: int8 `[B, N, N]`, the first solution found, zeros where there is none.
        found: int64 `[B]`, the solutions found before the search ended.
        decided: bool `[B]`, False where the evaluations were spent first.
        evaluations: int64 `[B]`, of the network.
    """

    solutions: NDArray[np.int8]
    found: NDArray[np.int64]
    decided: NDArray[np.bool_]
    evaluations: NDArray[np.int64]


def retry_search(
    boards: NDArray[np.int8],
    geometry: Geometry,
    rate: Ratings,
    config: RetryConfig,
    limit: int = 1,
    quick: Ratings | None = None,
) -> RetryResult:
    """Search each board for up to `limit` solutions, all of them in lock step.

    Args:
        boards: int8 `[B, N, N]`, 0 for a blank; givens may contradict each other (no solution).
        geometry: the boards' units.
        rate: maps boards int8 `[K, N, N]` and masks bool `[K, N**3]` to logits float32
            `[K, N**3]` of the placements; those outside of the mask are not looked at.
        config: the settings.
        limit: stop at this many solutions of a board; 2 tells whether there is a second.
        quick: rates boards in less time, once `config.thorough` evaluations have not been enough;
            None goes on with `rate`.

    Returns:
        A `RetryResult`. A board is decided if it has `limit` solutions, or if it is proven that
        there are no more than were found.

    Raises:
        ValueError: if the limit is below 1.
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    masks = board.candidates(boards, geometry).reshape(len(boards), -1)
    searches = [
        _Search(start, mask, geometry, config.threshold, limit)
        for start, mask in zip(boards, masks, strict=True)
    ]
    for search, is_wrong in zip(searches, _hold_conflicts(boards, geometry), strict=True):
        if is_wrong:
            search.is_over = True
        else:
            search.look()
    running = [search for search in searches if not search.is_over]
    while running:
        asks = rate
        if quick is not None and running[0].evaluations >= config.thorough:  # all in lock step
            asks = quick
        logits = asks(
            np.stack([search.board for search in running]).reshape(-1, *boards.shape[1:]),
            np.stack([search.mask for search in running]),
        )
        for search, row in zip(running, logits, strict=True):
            search.go_on(row)
        running = [
            search
            for search in running
            if not search.is_over and search.evaluations < config.evaluations
        ]
    return RetryResult(
        np.array([search.first_solution for search in searches]).reshape(boards.shape),
        np.array([len(search.solutions) for search in searches], np.int64),
        np.array([search.is_over for search in searches], np.bool_),
        np.array([search.evaluations for search in searches], np.int64),
    )


def _hold_conflicts(boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.bool_]:
    return np.asarray(board.conflicts(boards, geometry).any((1, 2)))


@dataclass(eq=False)
class _Assumption:
    """K placements that were assumed together, surest first, and its K + 1 cases.

    Attributes:
        board: int8 `[N**2]`, before them.
        allowed: the mask before them, bits of uint8.
        placements: int64 `[K]`.
        cases: int64 `[K + 1]`, likeliest first: 0 for all of them, k for the first k - 1 without
            the kth.
        chances: float64 `[K + 1]`, the log of each case's chance.
        looked_at: how many of the cases were looked at.
    """

    board: NDArray[np.int8]
    allowed: NDArray[np.uint8]
    placements: NDArray[np.int64]
    cases: NDArray[np.int64]
    chances: NDArray[np.float64]
    looked_at: int = 0


_Case: TypeAlias = tuple[float, int, int, _Assumption]
"""Where it stands in its heap, of equals, among the cases of its assumption, and which that is."""


class _Search:
    """The search on one board.

    Attributes:
        board: int8 `[N**2]`, where the search stands.
        mask: bool `[N**3]`, the placements still allowed there.
        solutions: int8 `[N**2]` each, those found.
        is_over: whether nothing is left to do.
        evaluations: how often the network was asked.
    """

    def __init__(
        self,
        start: NDArray[np.int8],
        mask: NDArray[np.bool_],
        geometry: Geometry,
        threshold: float,
        limit: int,
    ) -> None:
        self.board, self.mask = start.ravel().copy(), mask.copy()
        self.solutions: list[NDArray[np.int8]] = []
        self.is_over = False
        self.evaluations = 0
        self._chance = 0.0  # the log of the chance that the board is right so far
        self._likeliest: list[_Case] = []  # heaps of the next case of each assumption
        self._fullest: list[_Case] = []
        self._opened = 0
        self._tables = constraint_table(geometry), constraint_members(geometry)
        self._threshold = threshold
        self._limit = limit

    @property
    def first_solution(self) -> NDArray[np.int8]:
        """The first solution, int8 `[N**2]`, or zeros."""
        return self.solutions[0] if self.solutions else np.zeros_like(self.board)

    def go_on(self, logits: NDArray[np.float32]) -> None:
        """Assume the placements above the threshold, or the best one; then see where that leads."""
        self.evaluations += 1
        logits = np.where(self.mask, logits, -np.inf)
        above = np.flatnonzero(logits > self._threshold)
        order = np.argsort(-logits[above], kind="stable")
        self._assume(above[order] if len(above) else np.array([logits.argmax()]), logits)
        self._take()
        self.look()

    def look(self) -> None:
        """Drop what is refuted, until there is a board to ask the network about."""
        while not self.is_over and (state := self._state()) != OPEN:
            if state == FULL:
                self.solutions.append(self.board)
                self.is_over = len(self.solutions) == self._limit
            if not self.is_over:
                self._take()

    def _state(self) -> int:
        return int(state_of(self.board, self.mask, *self._tables))

    def _assume(self, placements: NDArray[np.int64], logits: NDArray[np.float32]) -> None:
        made = assume(self.board.copy(), self.mask.copy(), placements, *self._tables)
        odds = np.maximum(logits[made].astype(np.float64), 0)  # what is assumed is likely
        right, wrong = -np.logaddexp(0, -odds), -np.logaddexp(0, odds)
        before = np.concatenate([[0.0], np.cumsum(right)])
        chances = self._chance + np.concatenate([before[-1:], before[:-1] + wrong])
        cases = np.argsort(-chances, kind="stable")
        allowed = np.packbits(self.mask)
        self._open(_Assumption(self.board, allowed, made, cases, chances[cases]))

    def _open(self, assumption: _Assumption) -> None:
        """Put an assumption's next case among the open ones, if it has one left."""
        rank = assumption.looked_at
        if rank < len(assumption.cases):
            self._opened += 1  # of equals the latest comes first
            blanks = int((assumption.board == 0).sum())
            heapq.heappush(
                self._likeliest, (-assumption.chances[rank], -self._opened, rank, assumption)
            )
            heapq.heappush(self._fullest, (blanks, -self._opened, rank, assumption))

    def _take(self) -> None:
        """Go to the likeliest case that is open, or the fullest; with none, the search is over."""
        is_likeliest = self.evaluations % FULLEST_EVERY != 0
        cases = self._likeliest if is_likeliest else self._fullest
        while cases:
            _, _, rank, assumption = heapq.heappop(cases)
            if rank == assumption.looked_at:  # else the other heap had it
                assumption.looked_at += 1
                self._open(assumption)
                self._enter(assumption, rank)
                return
        self.is_over = True

    def _enter(self, assumption: _Assumption, rank: int) -> None:
        """Stand on the board of a case."""
        self._chance = assumption.chances[rank]
        self.board = assumption.board.copy()
        self.mask = np.unpackbits(assumption.allowed, count=len(self.mask)).astype(np.bool_)
        case, placements = assumption.cases[rank], assumption.placements
        if case == 0:
            assume(self.board, self.mask, placements, *self._tables)
        else:
            assume(self.board, self.mask, placements[: case - 1], *self._tables)
            self.mask[placements[case - 1]] = False
