"""Section 6 of cAlphaZero to the letter: play once; where that fails, begin at the root again."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from sudoku_agents.calphazero.search import SearchConfig
from sudoku_gym import board
from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import ModelCard
from sudoku_gym.solver import FoundSolutions
from sudoku_learning.networks import Network, evaluate_boards


class _Scores:
    """The scores of a board's K legal placements, equations 1 and 2; all values are 0 so far."""

    def __init__(self, mask: NDArray[np.bool_], priors: NDArray[np.float32]) -> None:
        self.actions = np.flatnonzero(mask)
        self.priors = priors[self.actions]
        self.visits, self.is_zero = np.zeros((2, len(self.actions)), np.int64)

    def best(self, config: SearchConfig) -> int:
        """Return the placement to play, by its rank; where all tie, the prior decides."""
        scores = config.c_puct * self.priors * self.visits.sum().clip(1) ** 0.5 / (1 + self.visits)
        scores = scores + config.unvisited_bonus * (self.visits == 0)
        return int(np.where(self.is_zero, -1, scores).argmax())


class RetrySolver:
    """Plays down to an end state, again and again from the root: a `sudoku_gym.Solver`.

    An end state is a solved board, or one with a blank that has no candidate. The score of the
    placement that led to an unsolved one is zero from then on, and so is one behind which all are.
    Visits count on, so that runs part anywhere. A board is evaluated once, however it is reached.

    Args:
        network: with the heads `policy` and `value`; it is put in evaluation mode.
        runs: of a puzzle, at most.
    """

    def __init__(self, network: Network, runs: int = 100) -> None:
        self.network, self.runs, self.config = network.eval(), runs, SearchConfig()

    @property
    def model_card(self) -> ModelCard:
        """What stands beside its figures."""
        return self.network.model_card("search")

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Return completed boards, int8 `[B, N, N]`, all zeros where it found none."""
        return self.search(puzzles, geometry).solutions

    def search(self, puzzles: NDArray[np.int8], geometry: Geometry) -> FoundSolutions:
        """Search each puzzle; nodes are evaluations. Decided: solved, or all at its root zero."""
        count, size, boards = len(puzzles), geometry.size, puzzles.copy()
        known: list[dict[bytes, _Scores]] = [{} for _ in range(count)]
        paths: list[list[tuple[_Scores, int]]] = [[] for _ in range(count)]
        (solved, decided), runs = np.zeros((2, count), np.bool_), np.zeros(count, np.int64)
        while len(running := np.flatnonzero(~decided & (runs < self.runs))):
            part = boards[running]
            solved[running] = decided[running] = board.is_solved(part, geometry)
            masks = legal_placements(part, geometry, "legal")
            has_candidate = masks.reshape(*part.shape, size).any(3)
            is_open = np.asarray((has_candidate | (part > 0)).all((1, 2)) & masks.any(1))
            keys = [each.tobytes() for each in part]
            new = [i for i, game in enumerate(running) if is_open[i] and keys[i] not in known[game]]
            if new:
                found = evaluate_boards(self.network, part[new], masks[new], geometry).outputs
                priors = torch.softmax(torch.from_numpy(found["policy"]), 1).numpy()
                for i, prior in zip(new, priors, strict=True):
                    known[running[i]][keys[i]] = _Scores(masks[i], prior)
            for i, game in enumerate(running):
                scores = known[game].get(keys[i])
                if scores is not None and not scores.is_zero.all():
                    rank = scores.best(self.config)
                    scores.visits[rank] += 1
                    paths[game].append((scores, rank))
                    cell, digit = divmod(scores.actions[rank], size)
                    boards[game].reshape(-1)[cell] = digit + 1
                elif not decided[game]:
                    decided[game] = not _set_to_zero(paths[game])
                    boards[game] = puzzles[game]
                    runs[game] += 1
        boards[~solved] = 0
        return FoundSolutions(
            boards, solved.astype(np.int64), decided, np.array([*map(len, known)])
        )


def _set_to_zero(path: list[tuple[_Scores, int]]) -> bool:
    """Set the scores that lead to an unsolved end state to zero; False if none is left at all."""
    is_left = False
    while path:
        scores, rank = path.pop()
        scores.is_zero[rank] |= not is_left
        is_left |= not scores.is_zero.all()
    return is_left
