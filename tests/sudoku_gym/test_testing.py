import numpy as np
import pytest

from sudoku_gym import board, solver
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.policies import PredictorPolicy, SolverPolicy
from sudoku_gym.puzzles import load
from sudoku_gym.puzzles.sources import BankSource
from sudoku_gym.testing import check_policy, check_solver, check_source

GEOMETRIES = [Geometry.standard(4), Geometry.boxes(3, 2), sudoku_x(9)]


class Exact:
    def solve(self, puzzles, geometry):
        return solver.solve(puzzles, geometry)

    def predict(self, boards, geometry):
        return (self.solve(boards, geometry)[..., None] == np.arange(1, geometry.size + 1)) * 1.0


class Random:
    """A good policy; the bad ones below each change one thing."""

    def reset(self, puzzles, geometry, rng):
        self.rng = rng

    def act(self, boards, action_masks):
        return np.where(action_masks, self.rng.random(action_masks.shape), -1).argmax(1)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=repr)
@pytest.mark.parametrize("erase", [False, True])
def test_good_policies_pass(geometry, erase):
    check_policy(Random(), geometry, erase=erase)
    check_policy(SolverPolicy(Exact()), geometry, erase=erase)
    check_policy(PredictorPolicy(Exact()), geometry, erase=erase)


def answering(change):
    """A policy whose actions int64 `[B]` are changed by `change(actions, boards, action_masks)`."""

    class Changed(Random):
        def act(self, boards, action_masks):
            actions = super().act(boards, action_masks)
            return change(actions, boards, action_masks)

    return Changed()


class OwnGenerator(Random):
    rng_of_its_own = np.random.default_rng(0)

    def reset(self, puzzles, geometry, rng):
        self.rng = self.rng_of_its_own


class Remembers(Random):
    first_game = True

    def reset(self, puzzles, geometry, rng):
        super().reset(puzzles, geometry, rng)
        self.rng = rng if self.first_game else np.random.default_rng(1)
        self.first_game = False


class WritesPuzzles(Random):
    def reset(self, puzzles, geometry, rng):
        super().reset(puzzles, geometry, rng)
        puzzles[:] = 1


@pytest.mark.parametrize(
    "policy, message",
    [
        (Random, "needs the methods reset"),
        (object(), "needs the methods reset"),
        (answering(lambda a, b, masks: masks.argmin(1)), "which the mask forbids"),
        (answering(lambda a, b, m: a.astype(np.int32)), r"int64 \[7\], not int32 \[7\]"),
        (answering(lambda a, b, m: a[:, None]), r"not int64 \[7, 1\]"),
        (answering(lambda a, b, m: a.tolist()), "not a list"),
        (answering(lambda a, b, masks: a[masks.any(1)]), r"not int64 \[6\]"),
        (OwnGenerator(), "draw only from the rng given to reset"),
        (Remembers(), "start afresh there"),
        (WritesPuzzles(), "reset changed its argument puzzles"),
        (answering(lambda a, boards, m: (boards.fill(1), a)[1]), "act changed its argument boards"),
        (answering(lambda a, b, masks: (masks.fill(0), a)[1]), "changed its argument action_masks"),
    ],
)
def test_bad_policies_are_told_what_to_do(policy, message):
    with pytest.raises(AssertionError, match=message):
        check_policy(policy)


def test_a_one_shot_predictor_passes_only_if_it_is_right():
    check_policy(PredictorPolicy(Exact(), "one-shot"))

    class Uniform:
        def predict(self, boards, geometry):
            return np.zeros((len(boards), 4, 4, 4))

    with pytest.raises(AssertionError, match="which the mask forbids"):
        check_policy(PredictorPolicy(Uniform(), "one-shot"))


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=repr)
def test_good_solvers_pass(geometry):
    check_solver(Exact(), geometry)

    class GivesUp:
        def solve(self, puzzles, geometry):
            return np.zeros_like(puzzles)

    check_solver(GivesUp(), geometry)


@pytest.mark.parametrize(
    "solve, message",
    [
        (lambda p, g: np.where(p == 0, 1, p).astype(np.int8), "breaks a rule or a given"),
        (lambda p, g: solver.solve(np.zeros_like(p)), "breaks a rule or a given"),
        (lambda p, g: p, "return all zeros where no solution was found"),
        (lambda p, g: solver.solve(p).astype(np.int64), r"must return int8 \[8, 4, 4\], not int64"),
        (lambda p, g: solver.solve(p)[0], r"not int8 \[4, 4\]"),
        (lambda p, g: None, "not a NoneType"),
        (lambda p, g: np.multiply(p, 0, out=p), "solve changed its argument puzzles"),
    ],
)
def test_bad_solvers_are_told_what_to_do(solve, message):
    class Bad:
        def solve(self, puzzles, geometry):
            return solve(puzzles, geometry)

    with pytest.raises(AssertionError, match=message):
        check_solver(Bad())


@pytest.mark.parametrize("name", ["4x4", "9x9", "x9x9"])
def test_good_sources_pass(name):
    source = BankSource(load(name))
    source.max_blanks = np.int64(source.max_blanks)
    check_source(source)


BANK = BankSource(load("4x4")[:5000])
OWN = np.random.default_rng(0)


class Bank:
    """A good source, but for what `change(count, blanks, rng)` does."""

    geometry, max_blanks = BANK.geometry, 12

    def __init__(self, change=BANK.sample):
        self.sample = change

    def sample(self, count, blanks, rng):
        raise NotImplementedError


def own_maximum(count, blanks, rng):
    return BANK.sample(count, min(blanks, 12) if isinstance(blanks, int) else blanks, rng)


def flat_boards(count, blanks, rng):
    puzzles, solutions = BANK.sample(count, blanks, rng)
    return puzzles.reshape(count, 16), solutions


def wrong_solutions(count, blanks, rng):
    puzzles, solutions = BANK.sample(count, blanks, rng)
    return puzzles, solutions[::-1]


class ManySolutions:
    geometry, max_blanks = BANK.geometry, 16

    def sample(self, count, blanks, rng):
        number = {None: 16}.get(blanks, blanks) if not isinstance(blanks, (tuple, dict)) else 1
        if number > 16:
            raise ValueError("at most 16 blanks")
        puzzles = np.repeat(board.parse("1234341221434321")[None], count, axis=0)
        solutions = puzzles.copy()
        puzzles.reshape(count, 16)[:, :number] = 0
        return puzzles, solutions


@pytest.mark.parametrize(
    "source, message",
    [
        (Bank, "needs geometry, max_blanks and sample"),
        (object(), "needs geometry, max_blanks and sample"),
        (type("G", (Bank,), {"geometry": "4x4"})(), "must be a sudoku_gym.geometry.Geometry"),
        (type("M", (Bank,), {"max_blanks": 17})(), "a whole number from 1 to 16, not 17"),
        (Bank(own_maximum), "must raise a ValueError: max_blanks is 12"),
        (
            Bank(lambda n, blanks, rng: BANK.sample(n, 5, rng)),
            r"gave puzzles with \[5\] blanks; give 12 to 12",
        ),
        (Bank(lambda n, blanks, rng: BANK.sample(n, blanks, OWN)), "draw only from rng"),
        (Bank(flat_boards), r"puzzles int8 \[1, 4, 4\], not int8 \[1, 16\]"),
        (Bank(wrong_solutions), "breaks a rule or a given of its puzzle"),
        (ManySolutions(), "several solutions"),
    ],
)
def test_bad_sources_are_told_what_to_do(source, message):
    with pytest.raises(AssertionError, match=message):
        check_source(source)


def test_sources_of_open_puzzles_may_pass():
    check_source(ManySolutions(), unique=False)
