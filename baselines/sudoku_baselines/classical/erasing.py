"""A depth-first search as a player: it places digits, and clears cells where a board is dead.

Paper: Panchal, "Sudoku solving AI agents", whose agent assigns digits and clears cells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.exact_cover import constraint_members


class ErasingSearch:
    """Plays the constraint with the fewest placements left; each step of the search is a move.

    Where a constraint has no placement left it clears the cells that it filled last, until one of
    them has a placement that was not tried. It solves every puzzle, if games have `erase` and steps
    enough. Without `erase` it plays on at a dead end, and loses.

    Attributes:
        placed, erased: moves of each game of the last batch, int64 `[B]`.
    """

    def __init__(self) -> None:
        self.reset(np.zeros((0, 4, 4), np.int8), Geometry.standard(4))

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator | None = None
    ) -> None:
        """Start a batch of games."""
        self._geometry = geometry
        # Of each game what it tries in turn, from the first cell it filled to the last: the
        # placement that is on the board, and those of the same constraint that come after it.
        self._paths: list[list[list[int]]] = [[] for _ in puzzles]
        self.placed, self.erased = np.zeros((2, len(puzzles)), np.int64)

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Place the next digit to try in each game, or clear the cell that was filled last."""
        size, members = self._geometry.size, constraint_members(self._geometry)
        actions = np.zeros(len(boards), np.int64)
        games = np.flatnonzero(action_masks.any(1))
        flat, legal = boards[games].reshape(len(games), -1), action_masks[games, : size**3]
        is_there = (flat[:, :, None] == np.arange(1, size + 1)).reshape(legal.shape)
        options = legal[:, members]  # [B, C, N]
        fewest = np.where(is_there[:, members].any(2), size + 1, options.sum(2)).argmin(1)
        for row, game in enumerate(games):
            path = self._paths[game]
            if path and flat[row, path[-1][0] // size] == 0:  # it was cleared
                untried = path.pop()[1:]
            else:
                untried = members[fewest[row]][options[row, fewest[row]]].tolist()
            if untried:
                path.append(untried)
                actions[game] = untried[0]
            elif path and action_masks.shape[1] > size**3:
                actions[game] = size**3 + path[-1][0] // size
            else:
                actions[game] = action_masks[game].argmax()
        self.placed[games] += actions[games] < size**3
        self.erased[games] += actions[games] >= size**3
        return actions
