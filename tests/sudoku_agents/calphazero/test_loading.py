"""What the policy tells about the moves that it plays."""

import numpy as np

from sudoku_gym import board, load_policy
from sudoku_gym.geometry import Geometry


def test_a_search_tells_what_it_looked_at_and_a_planned_move_that_there_was_none():
    state = board.parse(".1.....24......3")
    policy = load_policy("calphazero?simulations=16")
    policy.reset(state[None].copy(), Geometry.standard(4), np.random.default_rng(0))
    searched = []
    while (mask := board.candidates(state[None]).reshape(1, -1)).any():
        action = int(policy.act(state[None].copy(), mask)[0])
        found = policy.searched
        if found is not None:
            assert found.visit_counts.shape == (1, 64) and found.visit_counts[0, action] > 0
            assert not found.visit_counts[~mask].any() and 0 <= found.values[0] <= 1
        searched.append(found is not None)
        state.ravel()[action // 4] = action % 4 + 1
    assert searched[0] and not searched[-1]  # the first searches, one of them meets the solution
