"""Proofs against the exact solver, and what they do to a search."""

import numpy as np
import pytest

from sudoku_agents.alphazero.search import SearchConfig, legal_placements, search
from sudoku_gym import board, puzzles, sample_actions, solver
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import BankSource

FOUR = Geometry.standard(4)


def uniform(boards, masks):
    values = np.full(len(boards), 0.5, np.float32)
    return masks / masks.sum(1, keepdims=True, dtype=np.float32), values


def wrong_or_right(name, count, blanks, moves, seed, actions="legal"):
    """Boards on the way of random games, most of which can't be solved any more."""
    source, rng = BankSource(puzzles.load(name, "train")), np.random.default_rng(seed)
    boards, _ = source.sample(count, blanks, rng)
    for _ in range(moves):
        masks = legal_placements(boards, source.geometry, actions)
        goes_on = masks.any(1)
        played = sample_actions(masks[goes_on], rng)
        cells, digits = np.divmod(played, source.geometry.size)
        boards.reshape(count, -1)[np.flatnonzero(goes_on), cells] = digits + 1
    masks = legal_placements(boards, source.geometry, actions)
    some = masks.any(1)
    return boards[some], masks[some], source.geometry


def solvable(boards, geometry):
    """Whether boards can be completed; digits may clash in them."""
    clash = board.conflicts(boards, geometry).any((1, 2))
    counts = np.zeros(len(boards), np.int64)
    counts[~clash] = solver.count_solutions(boards[~clash], 1, geometry)
    assert (counts >= 0).all()
    return counts > 0


def after(boards, which, actions, size):
    b, played = np.nonzero(which) if actions is None else (which, actions)
    made = boards[b].copy()
    made.reshape(len(b), -1)[np.arange(len(b)), played // size] = played % size + 1
    return made


@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize("reward", ["terminal", "sparse"])
@pytest.mark.parametrize("actions", ["legal", "blank"])
@pytest.mark.parametrize("end_at_dead_end", [True, False])
@pytest.mark.parametrize(
    ("name", "blanks", "moves"), [("4x4", (6, 10), 2), ("6x6", (4, 14), 2)]
)
def test_what_is_proven_is_true(name, blanks, moves, end_at_dead_end, actions, reward, root):
    boards, masks, geometry = wrong_or_right(name, 300, blanks, moves, 1, actions)
    config = SearchConfig(
        simulations=100, root=root, reward=reward, actions=actions, end_at_dead_end=end_at_dead_end
    )
    found = search(boards, masks, geometry, uniform, config)
    can_be_solved = solvable(boards, geometry)
    assert not (found.solved & ~masks).any() and not (found.refuted & ~masks).any()
    for claim, truth in ((found.solved, True), (found.refuted, False)):
        assert claim.any()
        made = after(boards, claim, None, geometry.size)
        np.testing.assert_array_equal(solvable(made, geometry), truth)
    lost = (found.refuted == masks).all(1)
    assert lost.any() and not can_be_solved[lost].any()
    won = found.solved.any(1)
    assert won.any()
    solutions = found.solutions[won]
    assert board.is_solved(solutions, geometry).all()
    assert ((boards[won] == 0) | (boards[won] == solutions)).all()
    assert not found.solutions[~won].any()
    assert (found.values[won] == 1).all()
    if reward == "sparse":
        assert (found.values[lost] == 0).all()
