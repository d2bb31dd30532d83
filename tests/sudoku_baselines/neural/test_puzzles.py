"""Which puzzles are trained on, and how boards of them are drawn."""

import gymnasium as gym
import numpy as np
import pytest

import sudoku_gym
from sudoku_baselines.neural.learner import BoardSampler
from sudoku_baselines.neural.mlp import MLPTraining
from sudoku_baselines.neural.puzzles import PuzzlesConfig
from sudoku_gym import puzzles, solver
from sudoku_gym.puzzles.sources import resolve_source

FOUR = "Sudoku4x4-v0"


def lines(puzzle_set):
    return {each.tobytes() for each in puzzle_set.puzzles}


def test_the_random_division_is_the_papers():
    parts = PuzzlesConfig("random").divide(FOUR)
    assert (len(parts.train), len(parts.test)) == (77_069, 8_563)
    assert not lines(parts.train) & lines(parts.test)
    assert set(parts.train.orbits) >= set(parts.test.orbits)  # and this is why it leaks
    assert lines(parts.validation) == lines(parts.test)


def test_nine_folds_leave_the_tenth_part_out():
    parts = [PuzzlesConfig("random", fold=fold).divide(FOUR) for fold in range(9)]
    tests = [lines(part.test) for part in parts]
    out = lines(PuzzlesConfig("random").divide(FOUR).test)
    assert len(set().union(*tests)) == sum(map(len, tests)) == 77_069
    for part, test in zip(parts, tests, strict=True):
        assert not lines(part.train) & (test | out) and len(part.train) + len(test) == 77_069


def test_orbits_are_not_shared_by_default():
    parts = PuzzlesConfig().divide(FOUR)
    orbits = [set(part.orbits.tolist()) for part in parts]
    assert not orbits[0] & orbits[1] and not orbits[0] & orbits[2] and not orbits[1] & orbits[2]


def test_fewer_puzzles_are_among_more():
    few, more = (PuzzlesConfig(distinct=count).divide("Sudoku9x9-v0").train for count in (10, 50))
    assert len(few) == len(lines(few)) == 10 and lines(few) < lines(more)
    assert lines(more) <= lines(puzzles.load("9x9", "train"))
    with pytest.raises(ValueError, match=r"distinct=999999: 9x9 has [\d,]+ training puzzles"):
        PuzzlesConfig(distinct=999_999).divide("Sudoku9x9-v0")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distinct": 0}, "distinct must be at least 1"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"fold": 0}, "fold=0: 0 to 8, and with division=random"),
        ({"division": "random", "fold": 9}, "fold=9: 0 to 8, and with division=random"),
    ],
)
def test_divisions_that_make_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        PuzzlesConfig(**options)


def sampler(count=40, blanks=None, **options):
    chosen = puzzles.load("6x6", "train")[:count]
    config = MLPTraining(env="Sudoku6x6-v0", **{"revealed": 0.0, **options})
    return chosen, BoardSampler(chosen, config, blanks or {8: 1.0}, np.random.default_rng(0))


def test_revealed_boards_keep_their_solutions_and_a_blank():
    chosen, source = sampler(revealed=1.0)
    boards, solutions = source.draw(400)
    np.testing.assert_array_equal(solver.solve(boards, chosen.geometry), solutions)
    blanks = (boards == 0).sum((1, 2))
    assert blanks.min() == 1 and blanks.max() > 20 and len(set(blanks.tolist())) > 15


class Draws:
    """A generator of somebody else's, with two parts; `==` is its own, so it can't be hashed."""

    def __init__(self, split="all"):
        self.inner = resolve_source("4x4", split)
        self.geometry, self.max_blanks = self.inner.geometry, self.inner.max_blanks

    def __eq__(self, other):
        return False

    def sample(self, count, blanks, rng):
        return self.inner.sample(count, blanks, rng)

    def split(self, name):
        return Draws(name)


@pytest.mark.parametrize("division", ["orbits", "random"])
@pytest.mark.parametrize("source", [Draws(), puzzles.load("4x4")[::500]], ids=["draws", "list"])
@pytest.mark.filterwarnings("ignore:.*says no split")
def test_sources_of_ones_own_are_divided(source, division):
    sudoku_gym.register("Own4x4-v0", source, board="4x4")
    try:
        config = PuzzlesConfig(division, distinct=40)
        parts = config.divide("Own4x4-v0")
        assert config.divide("Own4x4-v0") is parts
    finally:
        gym.registry.pop("Own4x4-v0")
    assert len(parts.train) == len(lines(parts.train)) == 40 and len(parts.validation) > 3
    assert not lines(parts.train) & lines(parts.validation)
