import json

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_gym import board, puzzles, solver
from sudoku_gym.compiler.random_stream import new_stream
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.evaluation import evaluate
from sudoku_gym.geometry import Geometry, latin_square, symmetry, windows
from sudoku_gym.policies import load_policy
from sudoku_gym.puzzles import files
from sudoku_gym.puzzles.generator import generate
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import (
    BankSource,
    EmptySource,
    PuzzleSource,
    blanks_cdf,
    draw_puzzles,
    resolve_source,
)

SOURCES = {name: resolve_source(name, "train") for name in ("4x4", "6x6", "9x9", "16x16", "x9x9")}


def rng(seed=0):
    return np.random.default_rng(seed)


def drawn(source, blanks, count, augment=True, seed=0):
    size = source.geometry.size
    found = np.empty((count, size * size), np.int8)
    solutions = np.empty_like(found)
    table = tuple(source.table(blanks))
    group = symmetry.group_of(source.geometry)
    draw_puzzles(new_stream(rng(seed)), (source.bank, table, augment, group), found, solutions)
    return found.reshape(-1, size, size), solutions.reshape(-1, size, size)


@given(st.sampled_from(sorted(SOURCES)), st.data())
@settings(deadline=None, max_examples=60)
def test_any_number_of_blanks_and_still_one_solution(name, data):
    source = SOURCES[name]
    blanks = data.draw(st.integers(1, source.max_blanks))
    found, solutions = drawn(source, blanks, 5, data.draw(st.booleans()), data.draw(st.integers(0)))
    assert ((found == 0).sum((1, 2)) == blanks).all()
    assert ((found == 0) | (found == solutions)).all()
    assert board.is_solved(solutions, source.geometry).all()
    counts = solver.count_solutions(found, 2, source.geometry, node_limit=20_000)
    assert np.isin(counts, [1] if source.geometry.size <= 9 else [1, -1]).all()


@pytest.mark.parametrize("name", SOURCES)
def test_drawn_puzzles_come_from_the_bank_up_to_symmetry(name):
    source = SOURCES[name]
    part = puzzles.load(name, "train")
    as_stored, _ = source.sample(20, None, rng())
    stored = {puzzle.tobytes() for puzzle in part.puzzles}
    assert all(puzzle.tobytes() in stored for puzzle in as_stored)
    moved, solutions = drawn(source, None, 3)
    assert puzzles.find_in_training(PuzzleSet(moved, solutions, source.geometry)).all()
    assert name == "4x4" or not any(puzzle.tobytes() in stored for puzzle in moved)


def test_every_set_of_blanks_is_equally_likely():
    part = puzzles.load("4x4")[:1]
    source = BankSource(part)
    cells = np.flatnonzero(part.puzzles[0].ravel() == 0)
    found, _ = source.sample(30_000, 2, rng())
    pairs = found.reshape(len(found), -1)[:, cells] == 0
    counts = np.bincount(pairs @ (1 << np.arange(len(cells))))
    counts = counts[counts > 0]
    expected = len(found) / len(counts)
    assert len(counts) == len(cells) * (len(cells) - 1) // 2
    assert abs(counts - expected).max() < 6 * np.sqrt(expected)


def test_weights_decide_how_many_blanks():
    source = SOURCES["4x4"]
    found, _ = source.sample(8_000, {3: 1, "7": 3}, rng())
    numbers, counts = np.unique((found == 0).sum((1, 2)), return_counts=True)
    assert numbers.tolist() == [3, 7]
    assert abs(counts[1] - 6_000) < 200
    found, _ = source.sample(4_000, (2, 5), rng())
    assert (abs(np.bincount((found == 0).sum((1, 2)))[2:] - 1_000) < 150).all()


@pytest.mark.parametrize("blanks", [None, 5, (3, 9), [3, 9], {4: 1.0}, np.int64(5)])
def test_samples_repeat_with_the_seed(blanks):
    source = SOURCES["4x4"]
    first, again = source.sample(9, blanks, rng(3)), source.sample(9, blanks, rng(3))
    assert (first[0] == again[0]).all()
    assert (first[1] == again[1]).all()
    assert (first[0] != source.sample(9, blanks, rng(4))[0]).any()


def test_weights_survive_json():
    weights = {3: 0.25, 12: 0.75}
    assert (blanks_cdf(json.loads(json.dumps(weights)), 12) == blanks_cdf(weights, 12)).all()
    assert blanks_cdf(weights, 12)[[2, 3, 11, 12]].tolist() == [0, 0.25, 0.25, 1]
    assert blanks_cdf({1: 1, 2: 0}, 12)[1] == 1
    assert blanks_cdf(None, 12).shape == (0,)


@pytest.mark.parametrize(
    ("blanks", "error", "message"),
    [
        (13, ValueError, "blanks=13: this source serves 1 to 12 blanks"),
        (0, ValueError, "serves 1 to 12 blanks"),
        ((5, 10**9), ValueError, "serves 1 to 12 blanks"),
        ((6, 5), ValueError, "the lower end of the pair comes first"),
        ({"14": 1}, ValueError, "serves 1 to 12"),
        ({}, ValueError, "not all zero"),
        ({3: -1, 4: 2}, ValueError, "none negative"),
        ("8", ValueError, "is no factor"),
        ((1, 2, 3), TypeError, "give None, a whole number"),
    ],
)
def test_wrong_blanks(blanks, error, message):
    with pytest.raises(error, match=message):
        SOURCES["4x4"].sample(1, blanks, rng())


class Mine:
    """A source of a user's own."""

    geometry = puzzles.load("4x4").geometry
    max_blanks = 12

    def sample(self, count, blanks, rng):
        return SOURCES["4x4"].sample(count, blanks, rng)


def test_objects():
    mine = Mine()
    assert isinstance(mine, PuzzleSource)
    assert resolve_source(mine) is mine
    assert resolve_source("6x6", "test") is resolve_source("6x6", "test")  # megabytes, of a bank
    assert isinstance(resolve_source(puzzles.load("6x6")), BankSource)
    with pytest.raises(TypeError, match="it needs `geometry`, `max_blanks` and"):
        resolve_source(7)


def test_given_puzzles_are_not_drawn():
    source = EmptySource(Geometry.standard(12))
    assert isinstance(source, PuzzleSource) and source.max_blanks == 144
    env = SudokuEnv(source)
    with pytest.raises(RuntimeError, match="give one at reset"):
        env.reset(seed=0)
    shown, _ = env.reset(options={"puzzle": np.zeros((12, 12), np.int8)})
    assert shown.shape == (12, 12)


def test_files_and_attributes(tmp_path, monkeypatch):
    path = tmp_path / "mine.csv"
    files.write(path, puzzles.load("6x6")[:9])
    assert len(resolve_source(str(path)).bank[0]) == len(resolve_source(path).bank[0]) == 9
    (tmp_path / "own_sources.py").write_text(
        "from sudoku_gym import puzzles\n"
        "few = puzzles.load('4x4')[:5]\n"
        "def make():\n    return few[:2]\n"
        "class Box:\n    inner = few[:3]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name, count in (("few", 5), ("make", 2), ("Box.inner", 3)):
        assert len(resolve_source(f"own_sources:{name}").bank[0]) == count
    with pytest.raises(ValueError, match="own_sources:many"):
        resolve_source("own_sources:many")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        resolve_source("no_such_module:thing")
    with pytest.raises(ValueError, match=r"is called '5x5': use one of 4x4, .* or 'module:attri"):
        resolve_source("5x5")


def test_a_group_too_large_to_list_is_played_without_augmentation():
    latin = latin_square(9)
    one = Geometry("latin9x9 with a diagonal", latin.regions, np.arange(0, 81, 10)[None])
    found = solver.find_solutions(np.zeros((1, 9, 9), np.int8), 1, one).solutions.reshape(1, 9, 9)
    puzzle = found.copy()
    puzzle[0, 0, 0] = 0
    mine = PuzzleSet(puzzle, found, one, "mine")
    env = gym.make("Sudoku-v0", source=mine, augment=False)
    assert (env.reset(seed=0)[0] == puzzle[0]).all()
    assert evaluate(load_policy("naked-singles"), puzzle, geometry=one).solved.all()
    with pytest.raises(ValueError, match="augment=False"):
        gym.make("Sudoku-v0", source=mine)


def test_empty_and_full_sets_are_refused():
    part = puzzles.load("4x4")[:3]
    with pytest.raises(ValueError, match="no puzzle to draw from"):
        BankSource(part[:0])
    part.puzzles[1] = part.solutions[1]
    with pytest.raises(ValueError, match="puzzle 1 has no blank"):
        BankSource(part)


def test_a_geometry_whose_symmetries_are_too_many_can_be_sampled():
    hyper = windows(16)
    made = generate(1, hyper, rng(), givens=200)
    found, solutions = BankSource(made).sample(3, 20, rng())
    assert ((found == 0).sum((1, 2)) == 20).all()
    assert board.is_solved(solutions, hyper).all()
