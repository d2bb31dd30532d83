"""How the puzzles of the bank `9x9-hardest` are found: selection between rounds of local search.

A stage keeps the hardest puzzles and lets each go on. The last choice is made by ratings, under
other symmetries than those of the search: its own scores are the luckiest of many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import process_time

import numpy as np
from numpy.typing import NDArray

from lane_hardening import harden_in_lanes
from sudoku_gym.puzzles import banks
from sudoku_gym.puzzles.difficulty import grade, rate
from sudoku_gym.puzzles.orbits import canonical_keys
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

MOST_SHARED = 12  # givens that two puzzles have in common, at most
OTHER_BANKS = ("9x9", "9x9-hard")


@dataclass(frozen=True)
class Stage:
    """A round of local search.

    Attributes:
        count: how many of the puzzles go on, those with the highest scores.
        steps: changes that are tried on each.
    """

    count: int
    steps: int


def search_hardest(
    parents: PuzzleSet, stages: Sequence[Stage], kept: int, rng: np.random.Generator
) -> PuzzleSet:
    """Go through all stages from standard 9x9 puzzles; choose at most `kept` of what is found."""
    puzzles = parents.puzzles.reshape(len(parents), -1)
    solutions = parents.solutions.reshape(puzzles.shape)
    minimal, scores = parents.minimal, np.zeros(len(parents))
    for stage in stages:
        start = process_time()
        chosen = np.sort(np.argsort(-scores, kind="stable")[: stage.count])
        puzzles, solutions = puzzles[chosen], solutions[chosen]
        scores, minimal = harden_in_lanes(puzzles, solutions, rng, steps=stage.steps)
        seconds = process_time() - start
        print(f"{stage}: mean score {scores.mean():.1f}, {seconds:.0f} s of CPU time", flush=True)
    made = PuzzleSet(
        puzzles.reshape(-1, 9, 9), solutions.reshape(-1, 9, 9), parents.geometry, minimal=minimal
    )
    return choose(made, kept, rng)


def choose(made: PuzzleSet, kept: int, rng: np.random.Generator) -> PuzzleSet:
    """Choose the hardest that are unlike harder ones, and whose grid is in no other bank."""
    known = np.concatenate([banks.orbits_of(name)[2] for name in OTHER_BANKS])
    made = made[~np.isin(canonical_keys(made.solutions, made.geometry), known)]
    order = np.argsort(-rate(made.puzzles, rng), kind="stable")
    chosen = np.sort(order[different(made.puzzles[order])][:kept])
    return replace(made[chosen], grades=grade(made.puzzles[chosen], made.geometry))


def different(boards: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Choose boards, int8 `[B, 9, 9]`, one after the other, unlike those chosen before: bool `[B]`.

    Two share at most `MOST_SHARED` givens. Boards moved by a symmetry are not recognised, but local
    search moves none.
    """
    givens = (boards[..., None] == np.arange(1, 10)).reshape(len(boards), -1).astype(np.float32)
    is_chosen = np.zeros(len(boards), np.bool_)
    for index, shared in enumerate(givens @ givens.T):
        is_chosen[index] = not (shared[:index][is_chosen[:index]] > MOST_SHARED).any()
    return is_chosen
