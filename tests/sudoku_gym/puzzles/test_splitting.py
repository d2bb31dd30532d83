"""Sources of one's own never hold out what they train on."""

import sys
from typing import ClassVar

import numpy as np
import pytest

from sudoku_gym import puzzles
from sudoku_gym.puzzles.orbits import canonical_keys
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource, resolve_source
from sudoku_gym.puzzles.splitting import training_and_held_out

WARNS = pytest.warns(UserWarning, match="says no split: divided by ")


def unlabelled(name="9x9", count=60):
    whole = puzzles.load(name)[:count]
    return PuzzleSet(whole.puzzles, whole.solutions, whole.geometry, "mine")


class Draws:
    """A generator of puzzles, here from the 9x9 bank."""

    def __init__(self, count=40):
        self._bank = BankSource(unlabelled(count=count))
        self.geometry, self.max_blanks = self._bank.geometry, self._bank.max_blanks

    def sample(self, count, blanks, rng):
        return self._bank.sample(count, blanks, rng)

    def __repr__(self):
        return "Draws"


class Split(Draws):
    """A source that says its parts."""

    parts: ClassVar = {"train": unlabelled()[:30], "validation": unlabelled()[30:]}

    def split(self, name):
        return self.parts[name]


def solved_orbits(source, count=200):
    _, solutions = source.sample(count, None, np.random.default_rng(0))
    distinct = np.unique(solutions, axis=0)
    return set(canonical_keys(distinct, source.geometry).tolist())


def test_a_list_is_divided_by_orbit_and_says_so():
    pytest.importorskip("igraph")
    mine = unlabelled()
    moved = mine.puzzles[:, ::-1].copy(), mine.solutions[:, ::-1].copy()  # the same orbits
    both = PuzzleSet(
        np.concatenate([mine.puzzles, moved[0]]),
        np.concatenate([mine.solutions, moved[1]]),
        mine.geometry,
        "mine",
    )
    with pytest.warns(UserWarning, match=r"mine says no split: divided by orbit with seed 0, \d+"):
        training, held_out = training_and_held_out(both)
    assert len(training.puzzle_set) + len(held_out.puzzle_set) == 120
    assert not solved_orbits(training, 2_000) & solved_orbits(held_out, 2_000)
    with WARNS:
        _, again = training_and_held_out(both)
    np.testing.assert_array_equal(again.puzzle_set.puzzles, held_out.puzzle_set.puzzles)


def test_known_orbits_are_taken():
    whole = puzzles.load("4x4")
    with WARNS:
        training, held_out = training_and_held_out(whole)
    first, second = set(training.puzzle_set.orbits), set(held_out.puzzle_set.orbits)
    assert len(first) == 32 and len(second) == 4 and not first & second


def test_without_igraph_equal_boards_stay_together(monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    mine = unlabelled()
    twice = mine[np.arange(len(mine)).repeat(2)]
    with pytest.warns(UserWarning, match="divided by equal boards"):
        training, held_out = training_and_held_out(twice)
    first, second = (
        {solution.tobytes() for solution in part.puzzle_set.solutions}
        for part in (training, held_out)
    )
    assert len(first) == 54 and len(second) == 6 and not first & second


def test_a_source_says_its_split():
    training, held_out = training_and_held_out(Split())
    assert len(training.puzzle_set) == len(held_out.puzzle_set) == 30
    assert len(resolve_source(Split(), "validation").puzzle_set) == 30
    assert isinstance(resolve_source(Split(), "all"), Split)


def test_too_few_puzzles_to_hold_one_out():
    with pytest.raises(ValueError, match="so that none can be held out from training; use more"):
        training_and_held_out(unlabelled(count=1))


def test_a_generator_must_say_what_is_held_out():
    with pytest.raises(ValueError, match=r"Draws does not say .*: give the source a method split"):
        training_and_held_out(Draws())


def test_banks_keep_their_splits():
    training, held_out = training_and_held_out("6x6")
    assert (training.puzzle_set.split, held_out.puzzle_set.split) == ("train", "validation")
