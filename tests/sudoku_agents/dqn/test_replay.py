"""The replay drops the oldest, samples by priority, and continues to the bit."""

from dataclasses import replace

import numpy as np
import pytest

from sudoku_agents.dqn.learner import transitions_of
from sudoku_agents.dqn.replay import TransitionReplay, Transitions


def some_transitions(count, first=0):
    """Transitions that are told apart by their returns: first, first + 1, ..."""
    blank = Transitions.none(count, 4)
    return replace(blank, returns=np.arange(first, first + count, dtype=np.float32))


def test_the_oldest_moves_are_forgotten():
    replay = TransitionReplay(10, 4)
    for first in (0, 4, 8):
        replay.add(some_transitions(4, first))
    assert len(replay) == 10
    assert sorted(replay.arrays()["returns"]) == list(range(2, 12))
    replay.add(some_transitions(25, 100))
    assert sorted(replay.arrays()["returns"]) == list(range(115, 125))


def test_all_alike_without_priorities():
    replay = TransitionReplay(50, 4)
    replay.add(some_transitions(20))
    rows = replay.sample(20_000, np.random.default_rng(0))
    counts = np.bincount(replay[rows].returns.astype(int), minlength=20)
    assert counts.min() > 850 and counts.max() < 1150


def test_draws_follow_priorities():
    replay = TransitionReplay(50, 4, priority=0.5)
    replay.add(some_transitions(20))
    replay.set_priorities(np.arange(20), np.linspace(0, 1.9, 20, dtype=np.float32))
    replay.add(some_transitions(1, 20))  # comes with the highest priority
    wanted = np.append(np.maximum(np.linspace(0, 1.9, 20), 1e-3), 1.9) ** 0.5
    rows = replay.sample(40_000, np.random.default_rng(0))
    drawn = replay[rows].returns.astype(int)
    np.testing.assert_array_equal(drawn, rows)
    shares = np.bincount(drawn, minlength=21) / 40_000
    np.testing.assert_allclose(shares, wanted / wanted.sum(), atol=2e-3)


@pytest.mark.parametrize("priority", [0.0, 0.7])
@pytest.mark.parametrize("count", [6, 10, 23])
def test_a_restored_replay_goes_on_to_the_bit(priority, count):
    replay = TransitionReplay(10, 4, priority)
    replay.add(some_transitions(count))
    replay.set_priorities(np.arange(3), np.array([0.3, 1.7, 0.01], np.float32))
    copy = TransitionReplay(10, 4, priority)
    copy.restore(replay.arrays())
    for one in (replay, copy):
        one.add(some_transitions(3, 50))
        one.set_priorities(np.array([2, 4]), np.array([0.4, 0.6], np.float32))
    first, second = (one.sample(64, np.random.default_rng(3)) for one in (replay, copy))
    np.testing.assert_array_equal(first, second)
    for name, array in replay.arrays().items():
        np.testing.assert_array_equal(array, copy.arrays()[name], strict=True)


def test_the_transitions_of_games():
    """Games of different lengths, move by move."""
    rng = np.random.default_rng(0)
    lengths = np.array([5, 1, 3, 5])
    over = np.arange(5)[:, None] >= lengths
    boards = rng.integers(0, 5, (6, 4, 4, 4)).astype(np.int8)
    actions = np.where(over, -1, rng.integers(0, 64, (5, 4)))
    rewards = np.where(over, 0, rng.random((5, 4))).astype(np.float32)
    solved = np.array([True, False, True, False])
    transitions = transitions_of(boards, actions, rewards, lengths, solved, 0.9)
    moves = [(t, g) for t in range(5) for g in np.flatnonzero(t < lengths)]
    assert len(transitions) == len(moves) == lengths.sum()
    for row, (t, g) in enumerate(moves):
        assert transitions.returns[row] == rewards[t, g]
        is_over = t + 1 == lengths[g]
        assert transitions.discounts[row] == pytest.approx(0 if is_over else 0.9)
        np.testing.assert_array_equal(transitions.boards[row], boards[t, g])
        np.testing.assert_array_equal(transitions.next_boards[row], boards[t + 1, g])
        assert transitions.actions[row] == actions[t, g]
        final = boards[lengths[g], g] if solved[g] else np.zeros((4, 4))
        np.testing.assert_array_equal(transitions.solutions[row], final)
