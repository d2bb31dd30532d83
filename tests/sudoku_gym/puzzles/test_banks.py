import hashlib
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import build_banks
import hardest_bank
from sudoku_gym import puzzles, solver
from sudoku_gym.geometry import symmetry
from sudoku_gym.puzzles import banks
from sudoku_gym.puzzles.difficulty import grade, rate
from sudoku_gym.puzzles.orbits import canonical_keys

STORED = [name for name in puzzles.NAMES if name != "named"]
WITH_SPLITS = banks.SPLIT_NAMES


@pytest.mark.parametrize("name", puzzles.NAMES)
def test_every_puzzle_has_its_one_solution(name):
    whole = puzzles.load(name)
    assert whole.geometry == banks.named_geometry(name)
    some = whole if whole.geometry.size <= 9 else whole[:10]
    some.check()
    assert (grade(some.puzzles, some.geometry) == some.grades).all()
    if whole.geometry.size <= 9 and name in banks.SPLIT_NAMES:
        assert whole.minimal.all()


@pytest.mark.parametrize("name", WITH_SPLITS)
def test_splits_share_no_orbit_and_make_up_the_bank(name):
    parts = {split: puzzles.load(name, split) for split in puzzles.SPLITS}
    assert sum(map(len, parts.values())) == len(puzzles.load(name))
    for split, part in parts.items():
        assert len(part)
        assert part.split == split
    for first, second in combinations(parts.values(), 2):
        assert not set(first.orbits) & set(second.orbits)


@pytest.mark.parametrize(
    "name",
    [
        name if name in ("4x4", "9x9") else pytest.param(name, marks=pytest.mark.nightly)
        for name in WITH_SPLITS
    ],
)
def test_orbit_numbers_are_orbits(name):
    whole = puzzles.load(name)
    whole = whole[:: max(1, len(whole) // 400)]
    by_solution = whole.geometry.size >= 9
    boards = whole.solutions if by_solution else whole.puzzles
    moved = symmetry.sample(whole.geometry, len(whole), np.random.default_rng(0)).apply(boards)
    keys = canonical_keys(moved, whole.geometry)
    pairs = set(zip(keys.tolist(), whole.orbits.tolist(), strict=True))
    assert len(pairs) == len(set(keys.tolist())) == len(set(whole.orbits.tolist()))


@pytest.mark.parametrize("name", WITH_SPLITS)
def test_a_moved_puzzle_is_found_in_training_if_it_is_of_that_split(name):
    for split in puzzles.SPLITS:
        part = puzzles.load(name, split)[-1:]
        moves = symmetry.sample(part.geometry, 1, np.random.default_rng(1))
        boards, solutions = moves.apply(part.puzzles), moves.apply(part.solutions)
        moved = replace(part, puzzles=boards, solutions=solutions)
        assert puzzles.find_in_training(moved).tolist() == [split == "train"]
    assert not puzzles.find_in_training(puzzles.load("named")).any()


@pytest.mark.parametrize("name", ["4x4", "9x9", "x9x9"])
def test_same_orbit(name):
    part = puzzles.load(name, "test")
    moved = symmetry.sample(part.geometry, 1, np.random.default_rng(2)).apply(part.puzzles[:1])[0]
    assert puzzles.same_orbit(part.puzzles[0], moved, part.geometry)
    changed = moved.copy()
    changed[tuple(np.argwhere(moved)[0])] = 0
    assert not puzzles.same_orbit(part.puzzles[0], changed, part.geometry)


def test_no_solved_grid_is_in_different_splits_of_two_banks():
    """These banks split by the key of the solved grid alone, and their keys can be compared."""
    stored = [banks.orbits_of(name) for name in ("9x9", "9x9-hard", "9x9-hardest")]
    for _, splits, keys in stored:
        rule = build_banks.split_orbits(keys, np.random.default_rng(0), always_by_key=True)
        assert (rule == splits).all()
    # Another igraph may label otherwise than the one that built the banks, but then all of them.
    labelled = [(canonical_keys(boards[::500]) == keys[::500]) for boards, _, keys in stored]
    assert all(map(np.all, labelled)) or not any(map(np.any, labelled))
    keys = [set(keys.tolist()) for _, _, keys in stored]
    assert not keys[2] & (keys[0] | keys[1])


def test_the_hard_bank_is_hard_and_varied():
    hard = puzzles.load("9x9-hard")
    assert len(hard) >= 5_000 and len(np.unique(hard.orbits)) == len(hard)
    ratings = {
        name: rate(puzzles.load(name, "test").puzzles, np.random.default_rng(0))
        for name in ("9x9", "9x9-hard")
    }
    assert np.median(ratings["9x9-hard"]) > 2 * np.quantile(ratings["9x9"], 0.95)
    assert (ratings["9x9-hard"] > ratings["9x9"].max()).mean() > 0.3


def test_the_hardest_bank_is_harder_still_and_varied():
    hardest = puzzles.load("9x9-hardest")
    assert len(hardest) >= 2_000 and len(np.unique(hardest.orbits)) == len(hardest)
    ratings = rate(hardest.puzzles, np.random.default_rng(0))
    assert ratings.mean() >= 40 and ratings.min() >= 20
    assert (hardest.grades == puzzles.GRADES.index("search")).mean() > 0.9
    givens = (hardest.puzzles[..., None] == np.arange(1, 10)).reshape(len(hardest), -1)
    shared = givens.astype(np.float32) @ givens.T.astype(np.float32)
    np.fill_diagonal(shared, 0)
    assert shared.max() <= 12


def test_the_hardest_bank_is_chosen_by_rating_and_for_variety(monkeypatch):
    hardest, easy = puzzles.load("9x9-hardest")[:6], puzzles.load("9x9")[:3]
    alike = hardest.puzzles[0].copy()
    alike[tuple(np.argwhere(alike)[0])] = 0
    is_chosen = hardest_bank.different(np.stack([*hardest.puzzles, alike]))
    assert is_chosen.tolist() == [True] * 6 + [False]
    parts = [easy, hardest, hardest[:2]]
    boards, solutions = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("puzzles", "solutions")
    )
    made = puzzles.PuzzleSet(boards, solutions, hardest.geometry)

    def chosen(kept):
        return hardest_bank.choose(made, kept, np.random.default_rng(0)).puzzles

    assert (chosen(9) == hardest.puzzles).all()  # the easy ones are known
    monkeypatch.setattr(hardest_bank, "OTHER_BANKS", ("9x9-hard",))
    assert (chosen(9) == boards[:9]).all()
    assert (chosen(6) == hardest.puzzles).all()


def test_loading_gives_arrays_of_your_own():
    first = puzzles.load("6x6", "test")
    first.puzzles[:] = 0
    assert puzzles.load("6x6", "test").puzzles.any()


def test_unknown_names():
    with pytest.raises(ValueError, match="no bank is called '7x7': use one of 4x4, 6x6, 9x9"):
        puzzles.load("7x7")
    with pytest.raises(
        ValueError, match="4x4 has no split 'dev': use train, validation, test or all"
    ):
        puzzles.load("4x4", "dev")
    with pytest.raises(ValueError, match="named has no split 'test': use all"):
        puzzles.load("named", "test")


STAGES = (hardest_bank.Stage(8, steps=20), hardest_bank.Stage(3, steps=40))


@pytest.mark.parametrize(
    ("name", "recipe"),
    [
        ("6x6", build_banks.Recipe(60, seed=3, steps=5)),
        pytest.param(
            "9x9-hardest",
            build_banks.Recipe(8, seed=3, stages=STAGES, batches=2, kept=2),
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_a_bank_is_built_the_same_again(tmp_path, monkeypatch, name, recipe):
    monkeypatch.setattr(build_banks, "DATA", tmp_path)
    monkeypatch.setattr(build_banks, "RECIPES", {name: recipe})
    digests = set()
    for _ in range(2):
        build_banks.main([name])
        digests.add(hashlib.sha256((tmp_path / f"{name}.npz").read_bytes()).hexdigest())
    assert len(digests) == 1
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.npz", "SHA256SUMS"}
    assert (tmp_path / "SHA256SUMS").read_text() == f"{digests.pop()}  {name}.npz\n"


def test_the_files_are_those_that_were_built():
    lines = (build_banks.DATA / "SHA256SUMS").read_text().splitlines()
    assert sorted(line.split()[1] for line in lines) == sorted(f"{name}.npz" for name in STORED)
    for digest, name in map(str.split, lines):
        assert hashlib.sha256((build_banks.DATA / name).read_bytes()).hexdigest() == digest


@pytest.mark.parametrize("name", ["12x12", "12", "9", "named", *banks.VARIANTS])
def test_boards_have_names(name):
    assert banks.named_geometry(name).size == (12 if name.startswith("12") else 9)


@pytest.mark.parametrize("name", ["", "x", "9x", "x9", "9x8", "-9", "9x9x9", "09x9", "5", "26x26"])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match=r"no board is called|no standard board"):
        banks.named_geometry(name)


EXTREME = puzzles.load("extreme-like")


def test_the_mix_and_the_ratings_of_extreme_like():
    kinds, counts = np.unique(EXTREME.sources, return_counts=True)
    shares = dict(zip(kinds.tolist(), (counts / len(EXTREME)).tolist(), strict=True))
    wanted = {"hardest": 0.48, "hard": 0.24, "random": 0.23, "easy": 0.02, "few givens": 0.01}
    assert shares == pytest.approx(wanted, abs=0.011) and len(EXTREME) == 2000
    means = [EXTREME.ratings[EXTREME.sources == kind].mean() for kind in list(wanted)[:3]]
    assert means[0] > 1.5 * means[1] > 3 * means[2]
    nodes = solver.find_solutions(EXTREME.puzzles, 2).nodes
    assert (EXTREME.ratings == nodes).mean() > 0.9  # an own search may change, the list does not


def test_nothing_is_trained_on_extreme_like():
    assert len(puzzles.load("extreme-like", "test")) == len(EXTREME)
    with pytest.raises(ValueError, match="extreme-like has no split 'train': use test or all"):
        puzzles.load("extreme-like", "train")
    known = {
        grid.tobytes()
        for name in ("9x9", "9x9-hard")
        for split in ("validation", "test")
        for grid in puzzles.load(name, split).solutions
    }
    assert all(grid.tobytes() in known for grid in EXTREME.solutions)
    some = np.random.default_rng(0).permutation(len(EXTREME))[:40]
    assert not puzzles.find_in_training(EXTREME[some]).any()
