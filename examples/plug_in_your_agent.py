"""Write an agent of your own, check it against the contract, and see how it compares.

python examples/plug_in_your_agent.py
sudoku-gym compare plug_in_your_agent:FewestCandidates   # in the folder examples
"""

import argparse

import numpy as np

from sudoku_gym import compare, load_policy, puzzles
from sudoku_gym.evaluation import to_markdown
from sudoku_gym.testing import check_policy


class FewestCandidates:
    """Plays a random candidate of the cell that has the fewest."""

    def reset(self, puzzles, geometry, rng):  # int8 [B, N, N]
        """Start B games."""
        self.size, self.rng = geometry.size, rng

    def act(self, boards, action_masks):  # int8 [B, N, N], bool [B, N**3] -> int64 [B]
        """Choose an action for each game."""
        legal = action_masks[:, : self.size**3].reshape(len(boards), -1, self.size)
        counts = legal.sum(2)  # [B, N**2]
        cells = np.where(counts > 0, counts, self.size + 1).argmin(1)
        candidates = legal[np.arange(len(boards)), cells]  # [B, N]
        digits = (candidates * (1 + self.rng.random(candidates.shape))).argmax(1)
        return cells * self.size + digits


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="a few puzzles only")
    smoke = parser.parse_args(argv).smoke

    check_policy(FewestCandidates())  # raises an AssertionError that says what to do

    policies = {"fewest-candidates": FewestCandidates()}
    policies |= {name: load_policy(name) for name in ("masked-random", "hidden-singles")}
    results = {}
    for bank in ("4x4", "9x9"):
        test = puzzles.load(bank, split="test")[:: 20 if smoke else 1]
        results[bank] = compare(policies, test, seed=0)
        print(f"{bank}, {len(test):,} puzzles of the test split\n\n{to_markdown(results[bank])}\n")
    return results


if __name__ == "__main__":
    main()
