"""Proofs against the exact solver, and what they do to a search."""

import numpy as np
import pytest

from sudoku_agents.calphazero.search import BatchedSearch, SearchConfig, tree_search
from sudoku_gym import board, puzzles, sample_actions, solver
from sudoku_gym.board.actions import legal_placements
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
@pytest.mark.parametrize(("name", "blanks", "moves"), [("4x4", (6, 10), 2), ("6x6", (4, 14), 2)])
def test_what_is_proven_is_true(name, blanks, moves, end_at_dead_end, actions, reward, root):
    boards, masks, geometry = wrong_or_right(name, 300, blanks, moves, 1, actions)
    config = SearchConfig(
        simulations=100, root=root, reward=reward, actions=actions, end_at_dead_end=end_at_dead_end
    )
    found = tree_search(boards, masks, geometry, uniform, config)
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


@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize("reward", ["terminal", "sparse"])
@pytest.mark.parametrize("actions", ["legal", "blank"])
@pytest.mark.parametrize("simulations", [1, 9, 40])
def test_policies_are_shares_of_legal_moves_that_are_left(root, reward, actions, simulations):
    boards, masks, geometry = wrong_or_right("4x4", 200, (2, 10), 1, 3, actions)
    config = SearchConfig(simulations=simulations, root=root, reward=reward, actions=actions)
    found = tree_search(boards, masks, geometry, uniform, config, rng=np.random.default_rng(0))
    policy, rows = found.action_weights, np.arange(len(boards))
    np.testing.assert_allclose(policy.sum(1), 1, rtol=1e-5)
    assert not policy[~masks].any() and (policy >= 0).all()
    left = (masks & ~found.refuted).any(1)
    assert left.any() and not left.all()
    assert not policy[left][found.refuted[left]].any()
    best = found.best_actions()
    assert masks[rows, best].all() and not found.refuted[rows, best][left].any()
    won = found.solved.any(1)
    assert won.any() and found.solved[rows, best][won].all()
    np.testing.assert_allclose((policy * found.solved).sum(1)[won], 1, rtol=1e-5)


def dead_after_any_digit(boards):
    """Yield boards that are no dead ends, with a cell each digit of which makes a dead end."""
    for cells in boards:
        candidates = board.candidates(cells[None])[0].reshape(16, 4)
        blank = cells.ravel() == 0
        if (blank & ~candidates.any(1)).any():
            continue
        for cell in np.flatnonzero(blank & (candidates.sum(1) == 2)):
            made = np.repeat(cells[None], 2, 0)
            made.reshape(2, -1)[:, cell] = np.flatnonzero(candidates[cell]) + 1
            stuck = ~board.candidates(made).reshape(2, 16, 4).any(2) & (made.reshape(2, -1) == 0)
            if stuck.any(1).all():
                yield cells, cell


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_one_cell_without_a_good_digit_is_enough(root):
    boards, _, _ = wrong_or_right("4x4", 3000, 10, 3, 5)
    cases = list(dead_after_any_digit(boards))
    assert len(cases) > 5
    for cells, cell in cases:
        masks = board.candidates(cells[None]).reshape(1, -1)

        def evaluate(boards, masks, cell=cell):
            of_cell = np.arange(64) // 4 == cell
            return uniform(boards, masks & of_cell if (masks & of_cell).any() else masks)

        config = SearchConfig(simulations=50, root=root, reward="sparse")
        found = tree_search(cells[None], masks, FOUR, evaluate, config)
        assert found.visit_counts.sum() <= 2 < masks.sum()
        assert (found.refuted == masks).all() and found.values == 0


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_the_next_search_knows_what_the_last_one_proved(root):
    boards, masks, geometry = wrong_or_right("4x4", 100, 4, 0, 7)
    config = SearchConfig(simulations=200, root=root, reward="sparse")
    trees, games = BatchedSearch(boards, geometry, config), np.arange(len(boards))
    found = trees.search(games, boards, masks, uniform)
    assert found.solved.any(1).mean() > 0.5
    games = games[found.solved.any(1)]
    moves = found.solved[games].argmax(1)  # not the moves on the way to the solved boards
    boards.reshape(len(boards), -1)[games, moves // 4] = moves % 4 + 1
    masks = legal_placements(boards, geometry, "legal")
    again = trees.search(games, boards[games], masks[games], uniform)
    np.testing.assert_array_equal(again.solutions, found.solutions[games])
    assert again.solved.any(1).all() and not again.solved[~masks[games]].any()
    fresh = BatchedSearch(boards[games], geometry, config).search(
        np.arange(len(games)), boards[games], masks[games], uniform
    )
    assert again.visit_counts.sum() < fresh.visit_counts.sum()


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_a_solved_board_is_played_only_where_that_is_allowed(root):
    boards, masks, geometry = wrong_or_right("4x4", 300, 3, 0, 9)
    config = SearchConfig(simulations=100, root=root, reward="sparse")
    trees, games = BatchedSearch(boards, geometry, config), np.arange(len(boards))
    found = trees.search(games, boards, masks, uniform, rng=np.random.default_rng(0))
    assert found.solved.any(1).all()
    assert found.solved[games, found.best_actions()].all()
    wrong = masks & ~found.solved
    some = np.flatnonzero(wrong.any(1))
    assert len(some) > 5
    narrow = trees.search(some, boards[some], wrong[some], uniform)
    np.testing.assert_allclose(narrow.action_weights.sum(1), 1, rtol=1e-5)
    assert not narrow.action_weights[~wrong[some]].any() and not narrow.solved.any()
    again = trees.search(some, boards[some], masks[some], uniform)
    assert again.solved.any(1).all()  # that all moves allowed were bad says nothing of the others
