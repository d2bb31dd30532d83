"""The retry search: play, and take a move back only when its end is proven to be lost.

cAlphaZero (section 6) proposes to play a single run and, where it fails, to set the value of the
failed end to zero and to return to the root. A failed end is a proof, though, and Sudoku lets it
reach far: a board at which some constraint has no placement left has no solution. So the search
goes back no further than that proof reaches, strikes out what was refuted, and asks again.

1. The network rates the placements that are still allowed. Those with a logit above `sure` are
   assumed together, or, if there are none, the best one alone.
2. If a constraint has no placement left, the latest assumption is refuted: not all of its
   placements are right. The least sure of them is struck out where the assumption was made, the
   others are assumed once more; if that is refuted too, the next one is struck out instead. The
   network sees the narrower mask.
3. Go on until the board is full, or nothing is left to take back: then there is no solution.

The boards with placements 1 to k are those with all of 1 to k, those with 1 to k - 1 without k,
..., and those without 1. So nothing is left out and nothing is searched twice: with enough
evaluations the search is complete. It solves each board that has a solution and proves where there
is none or, on request, that there is no second. No other solver takes part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.alphazero.retry.assumptions import (
    FULL,
    OPEN,
    assume,
    state_of,
)
from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_learning.configs import registered
from sudoku_learning.networks.exact_cover.graph import constraint_members, constraint_table

Ratings = Callable[[NDArray[np.int8], NDArray[np.bool_]], NDArray[np.float32]]
"""Rates the placements of boards, int8 `[B, N, N]` with masks bool `[B, N**3]`: logits, float32
`[B, N**3]`."""


@registered("alphazero/retry")
@dataclass(frozen=True)
class RetryConfig:
    """Settings of the retry search."""

    evaluations: int = 10_000
    """network evaluations to spend on one board before it is left undecided"""
    sure: float = 3.0
    """placements with a logit above this are assumed together"""

    def __post_init__(self) -> None:
        """Check the values."""
        if self.evaluations < 1:
            raise ValueError(f"evaluations must be at least 1, not {self.evaluations}")


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
) -> RetryResult:
    """Search each board for up to `limit` solutions, all of them in lock step.

    Args:
        boards: int8 `[B, N, N]`, 0 for a blank; givens may contradict each other (no solution).
        geometry: the boards' units.
        rate: maps boards int8 `[K, N, N]` and masks bool `[K, N**3]` to logits float32
            `[K, N**3]` of the placements; those outside of the mask are not looked at.
        config: the settings.
        limit: stop at this many solutions of a board; 2 tells whether there is a second.

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
        _Search(start, mask, geometry, config.sure, limit)
        for start, mask in zip(boards, masks, strict=True)
    ]
    for search, is_wrong in zip(searches, _hold_conflicts(boards, geometry), strict=True):
        if is_wrong:
            search.is_over = True
        else:
            search.look()
    running = [search for search in searches if not search.is_over]
    while running:
        logits = rate(
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


@dataclass(frozen=True)
class _Assumption:
    """Placements that were assumed together, surest first, and the board before them."""

    board: NDArray[np.int8]
    mask: NDArray[np.bool_]
    placements: NDArray[np.int64]


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
        sure: float,
        limit: int,
    ) -> None:
        self.board, self.mask = start.ravel().copy(), mask.copy()
        self.solutions: list[NDArray[np.int8]] = []
        self.is_over = False
        self.evaluations = 0
        self._assumptions: list[_Assumption] = []
        self._tables = constraint_table(geometry), constraint_members(geometry)
        self._sure = sure
        self._limit = limit

    @property
    def first_solution(self) -> NDArray[np.int8]:
        """The first solution, int8 `[N**2]`, or zeros."""
        return self.solutions[0] if self.solutions else np.zeros_like(self.board)

    def go_on(self, logits: NDArray[np.float32]) -> None:
        """Assume what the network is sure of, or its best; then see where that leads."""
        self.evaluations += 1
        logits = np.where(self.mask, logits, -np.inf)
        sure = np.flatnonzero(logits > self._sure)
        order = np.argsort(-logits[sure], kind="stable")
        self._assume(sure[order] if len(sure) else np.array([logits.argmax()]))
        self.look()

    def look(self) -> None:
        """Take back what is refuted, until there is a board to ask the network about."""
        while not self.is_over and (state := self._state()) != OPEN:
            if state == FULL:
                self.solutions.append(self.board)
                self.is_over = len(self.solutions) == self._limit
            if not self.is_over:
                self._take_back()

    def _state(self) -> int:
        return int(state_of(self.board, self.mask, *self._tables))

    def _assume(self, placements: NDArray[np.int64]) -> None:
        before = self.board, self.mask
        self.board, self.mask = self.board.copy(), self.mask.copy()
        placed = assume(self.board, self.mask, placements, *self._tables)
        self._assumptions.append(_Assumption(*before, placed))

    def _take_back(self) -> None:
        if not self._assumptions:
            self.is_over = True
            return
        latest = self._assumptions.pop()
        self.board, self.mask = latest.board, latest.mask
        *others, struck_out = latest.placements
        if others:
            self._assume(np.array(others))
        self.mask = self.mask.copy()
        self.mask[struck_out] = False
