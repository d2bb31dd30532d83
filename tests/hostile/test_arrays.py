"""Arrays of wrong values, shapes and types: each public constructor refuses them, or is sound."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from gymnasium.error import InvalidAction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sudoku_curricula import Curriculum, make_schedule
from sudoku_gym import board, compare, evaluate, puzzles, solver, wrappers
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource
from sudoku_gym.text import ScriptedModel, describe_rules, format_board
from sudoku_gym.wrappers import MaskedObservation

FOUR = Geometry.standard(4)
PART = puzzles.load("4x4")[::20_000]
ALL = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
DTYPES = ["i1", "u1", ">i2", "i4", "i8", "u8", "f4", "f8", "?", "c8", "O", "U3", "M8[s]"]
ANYTHING = st.one_of(
    st.none(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=20),
    st.lists(st.integers(-300, 300) | st.floats() | st.none(), max_size=6),
    arrays.arrays(
        st.sampled_from([np.dtype(kind) for kind in DTYPES if kind != "O"]),
        arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5),
    ),
)


@st.composite
def nearly(draw, array):
    """Return the array, with a value, its shape or its type changed."""
    if draw(st.booleans()):
        return draw(ANYTHING)
    changed = array.astype(draw(st.sampled_from(["i1", "i2", ">i4", "i8", "f8", "O"])))
    if changed.size and draw(st.booleans()):
        value = draw(st.sampled_from([-128, -96, -1, 0, 1, 4, 5, 26, 105, 120, 127]))
        changed.flat[draw(st.integers(0, changed.size - 1))] = value
    kind = draw(st.sampled_from(["", "T", "cut", "more"]))
    if kind == "cut":
        return changed[: len(changed) - 1]
    return {"": changed, "T": changed.T, "more": changed[None]}[kind]


@cache
def bank_source():
    """All 4x4 puzzles: to read them takes longer than to make an environment."""
    return BankSource(puzzles.load("4x4"))


def attempt(make):
    """Return what is made, or None if it is refused in words."""
    try:
        return make()
    except (ValueError, TypeError) as error:
        assert len(str(error)) > 10
        return None


def check_source_is_sound(source):
    found, solutions = source.sample(8, None, np.random.default_rng(0))
    assert found.min() >= 0 and found.max() <= source.geometry.size
    assert board.is_solved(solutions, source.geometry).all()
    assert ((found == 0) | (found == solutions)).all()


def check_boards(boards, geometry):
    assert ((boards >= 0) & (boards <= geometry.size)).all()
    assert not board.conflicts(boards, geometry).any()


@given(st.data())
@ALL
def test_puzzle_sets_and_banks(data):
    given_arrays = [data.draw(nearly(array)) for array in (PART.puzzles, PART.solutions)]
    columns = {
        name: data.draw(st.one_of(st.just(getattr(PART, name)), nearly(getattr(PART, name))))
        for name in data.draw(
            st.lists(st.sampled_from(["grades", "orbits", "minimal"]), unique=True)
        )
    }
    made = attempt(lambda: PuzzleSet(*given_arrays, FOUR, **columns))
    if made is not None:
        source = attempt(lambda: BankSource(made))
        if source is not None:
            check_source_is_sound(source)
            env = SudokuEnv(source)
            check_boards(env.reset(seed=0)[0][None], FOUR)


@given(st.data())
@ALL
def test_geometries(data):
    regions = data.draw(nearly(FOUR.regions))
    extra = data.draw(st.none() | nearly(np.array([[0, 5, 10, 15]])))
    shape = data.draw(st.sampled_from([None, (2, 2), (1, 4), (4, 1), (2, 3), 4, (2.0, 2.0), "22"]))
    made = attempt(lambda: Geometry("mine", regions, extra, shape))
    if made is not None:
        assert made.units.min() >= 0 and made.units.max() < made.num_cells
        assert all(len(set(unit)) == made.size for unit in made.units.tolist())


@given(st.data())
@ALL
def test_puzzles_to_reset_to_and_states(data):
    count = data.draw(st.sampled_from([1, 3]))
    envs = SudokuVectorEnv(count, bank_source())
    boards, _ = envs.reset(seed=0)
    puzzle = data.draw(nearly(boards))
    if puzzle is not None:
        attempt(lambda: envs.reset(options={"puzzle": puzzle}))
    check_boards(envs.get_state().rows[:, :16].reshape(-1, 4, 4), FOUR)
    state = envs.get_state()
    name = data.draw(st.sampled_from(["rows", "candidates", "counts", "streams"]))
    wrong = replace(state, **{name: data.draw(nearly(getattr(state, name)))})
    attempt(lambda: envs.set_state(wrong))
    check_boards(envs.get_state().rows[:, :16].reshape(-1, 4, 4), FOUR)
    assert envs.action_masks().shape == (count, 64)


@given(st.data())
@ALL
def test_options_of_environments_and_wrappers(data):
    names = ["board", "blanks", "augment", "actions", "erase", "illegal_reward", "propagation"]
    names += ["end_at_dead_end", "max_episode_steps", "with_mask", "with_info", "reward", "source"]
    options = {data.draw(st.sampled_from(names)): data.draw(ANYTHING)}
    source = options.pop("source", "4x4")
    env = attempt(lambda: SudokuEnv(source, **options))
    if env is not None:
        check_boards(env.reset(seed=0)[0][None], env.geometry)
        attempt(lambda: MaskedObservation(env))


@given(ANYTHING)
@ALL
def test_seeds_options_and_actions(value):
    for env in (SudokuEnv(bank_source()), SudokuVectorEnv(2, bank_source())):
        env.reset(seed=0)
        attempt(lambda env=env: env.reset(options=value))
        attempt(lambda env=env: env.reset(options={"blanks": value}))
        attempt(lambda env=env: env.set_blanks(value))
        check_boards(env.get_state().rows[:, :16].reshape(-1, 4, 4), FOUR)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"erase": "yes"}, "erase='yes': use True or False"),
        ({"augment": 2}, "augment=2: use True or False"),
        ({"blanks": {2.7: 1}}, "weights map whole numbers to numbers"),
        ({"blanks": (2, 10**18)}, "serves 1 to 12 blanks, not 13"),
        ({"board": 4}, "board=4: give a name such as '9x9', a Geometry, or None"),
        ({"max_episode_steps": 10**30}, "max_episode_steps=1000"),
        ({"num_envs": 2.5}, "num_envs=2.5"),
        ({"num_envs": "3"}, "num_envs='3'"),
    ],
)
def test_single_options(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        SudokuVectorEnv(source="4x4", **options)


@pytest.mark.parametrize("env", [SudokuEnv("4x4"), SudokuVectorEnv(2, "4x4")])
def test_options_of_reset_are_a_mapping(env):
    for options in (5, 0, "blanks", [("blanks", 5)]):
        with pytest.raises(TypeError, match=r"reset takes a mapping such as {'blanks': 5}"):
            env.reset(options=options)


class Raises:
    """A source with a mistake in it."""

    geometry, max_blanks = FOUR, 12

    def __init__(self, error):
        self.error = error

    def sample(self, count, blanks, rng):
        raise self.error

    def __repr__(self):
        return "Raises()"


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (KeyError("digits"), RuntimeError, r"source Raises\(\): KeyError: 'digits'"),
        (ValueError("no such level"), ValueError, r"source Raises\(\): no such level"),
    ],
)
def test_a_source_that_raises_is_named(error, kind, message):
    with pytest.raises(kind, match=message):
        SudokuEnv(Raises(error)).reset(seed=0)


def test_a_source_of_other_attributes_is_named(monkeypatch):
    monkeypatch.setattr(Raises, "max_blanks", "many")
    with pytest.raises(ValueError, match=r"source Raises\(\): max_blanks must be a whole number"):
        SudokuEnv(Raises(None))
    monkeypatch.setattr(Raises, "geometry", "4x4")
    with pytest.raises(TypeError, match=r"source Raises\(\): geometry must be a Geometry"):
        SudokuEnv(Raises(None))


@pytest.mark.parametrize(
    ("low", "high"), [(-(2**31) - 1, 2**63), (-(10**30), 3), (-5, -1)], ids=["wide", "deep", "none"]
)
def test_a_range_of_blanks_takes_no_memory(low, high):
    with pytest.raises(ValueError, match=r"serves 1 to \d+ blanks"):
        bank_source().sample(1, (low, high), np.random.default_rng(0))


WRAPPERS = [wrappers.CanonicalCell, wrappers.SymmetryAugmentation, wrappers.MaskedObservation]
WRAPPERS += [wrappers.VectorCanonicalCell, wrappers.VectorSymmetryAugmentation]


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    "action", [10**30, -(10**30), float("nan"), 1.5, "3", None, [1, 2], np.ones((2, 2)), 0.0]
)
def test_actions_that_are_none(wrapper, action):
    is_vector = wrapper.__name__.startswith("Vector")
    env = wrapper(SudokuVectorEnv(3, bank_source()) if is_vector else SudokuEnv(bank_source()))
    env.reset(seed=0)
    with pytest.raises(InvalidAction, match="action"):
        env.step(action)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"givens": 2.5}, "float"),
        ({"givens": 10**30}, "givens be 0 to 16"),
        ({"node_limit": 2**63}, "node_limit at least 1, of 64 bits"),
        ({"node_limit": np.zeros(3)}, "integer"),
        ({"geometry": "4x4"}, "geometry='4x4': give a Geometry"),
    ],
)
def test_arguments_of_the_generator(options, message):
    arguments = {"count": 1, "geometry": FOUR, "rng": np.random.default_rng(0), **options}
    with pytest.raises((ValueError, TypeError), match=message):
        puzzles.generate(**arguments)


def test_puzzles_of_two_kinds_at_reset():
    with pytest.raises(TypeError, match="give texts alone, or boards alone"):
        SudokuVectorEnv(2, bank_source()).reset(options={"puzzle": ["1" + "." * 15, (1, 2)]})


@pytest.mark.parametrize("schedule", ["constant", "success-rate"])
def test_a_state_of_a_schedule_that_lacks_something(schedule):
    curriculum = make_schedule(schedule)
    for key in curriculum.state_dict():
        state = {name: value for name, value in curriculum.state_dict().items() if name != key}
        with pytest.raises(ValueError, match=f"lacks '{key}'"):
            curriculum.load_state_dict(state)


def test_a_geometry_of_another_type():
    with pytest.raises(TypeError, match="geometry='4x4': give a Geometry"):
        board.candidates(PART.puzzles, "4x4")


RNG = np.random.default_rng(0)
SIX = puzzles.load("6x6", "test")[:1]
FUNCTIONS = {
    "random_grids geometry": (lambda: puzzles.random_grids(1, 4, RNG), "give a Geometry"),
    "random_grids rng": (lambda: puzzles.random_grids(1, FOUR, 0), "give a Generator"),
    "generate rng": (lambda: puzzles.generate(1, FOUR, None), "give a Generator"),
    "find_in_training": (lambda: puzzles.find_in_training(np.zeros((1, 4, 4))), "no PuzzleSet"),
    "harden": (lambda: puzzles.harden(np.zeros((1, 4, 4)), RNG), "no PuzzleSet"),
    "write": (lambda: puzzles.write("never.csv", np.zeros((1, 4, 4))), "no PuzzleSet"),
    "harden limit": (lambda: puzzles.harden(SIX, RNG, node_limit=10**30), "of 64 bits"),
    "rate limit": (lambda: puzzles.rate(SIX.puzzles, RNG, node_limit=10**30), "of 64 bits"),
    "rate symmetries": (lambda: puzzles.rate(SIX.puzzles, RNG, symmetries=10**9 + 1), "up to 9999"),
    "find_solutions": (
        lambda: solver.find_solutions(SIX.puzzles, node_limit=2**64),
        "of 64 bits",
    ),
    "count_solutions": (lambda: solver.count_solutions(SIX.puzzles, 10**30), "of 64 bits"),
    "parse": (lambda: board.parse("." * 16, 4), "give a Geometry"),
    "to_line": (lambda: board.to_line([[1, -1], [0, 0]]), "digits from 0 to 25"),
    "to_text": (lambda: board.to_text([[1, 30], [0, 0]]), "digits from 0 to 25"),
    "to_text shape": (lambda: board.to_text([1, 2, 3]), r"\[N, N\]"),
    "sample_actions": (lambda: sample_actions([[1, 0]], RNG), "int8 or bool"),
    "compare": (lambda: compare("dlx", SIX), "dictionary of policies"),
    "evaluate": (lambda: evaluate("dlx", SIX), "is no policy"),
    "describe_rules": (lambda: describe_rules("4x4"), "give a Geometry"),
    "format_board": (lambda: format_board(b"\x01" * 15, FOUR), "15 cells"),
    "format_board digit": (lambda: format_board(b"\x05" * 16, FOUR), "up to 5"),
    "format_board style": (lambda: format_board(b"\x00" * 16, FOUR, "fine"), "no style"),
    "scripted": (lambda: ScriptedModel("dlx", FOUR), "give a policy"),
    "curriculum": (lambda: Curriculum("success-rate", print), "give a Schedule"),
}


@pytest.mark.parametrize(("call", "why"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_what_a_function_is_not_made_for_is_refused_in_words(call, why):
    with pytest.raises((ValueError, TypeError), match=why):
        call()
