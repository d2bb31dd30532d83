"""Symmetry augmentation and the one-hot board, single against vector."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from sudoku_gym import board, solver
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.envs import SudokuEnv, SudokuVectorEnv
from sudoku_gym.wrappers import (
    CanonicalCell,
    FlatObservation,
    MaskedObservation,
    OneHotBoard,
    SymmetryAugmentation,
    VectorCanonicalCell,
    VectorFlatObservation,
    VectorMaskedObservation,
    VectorOneHotBoard,
    VectorSymmetryAugmentation,
)

COUNT = 3
PUZZLE = "12....4.2......1"


def masked_bits(env):
    return MaskedObservation(FlatObservation(OneHotBoard(env)))


def vector_masked_bits(envs):
    return VectorMaskedObservation(VectorFlatObservation(VectorOneHotBoard(envs)))


def masked_digits(env):
    return MaskedObservation(CanonicalCell(SymmetryAugmentation(env)))


def vector_masked_digits(envs):
    return VectorMaskedObservation(VectorCanonicalCell(VectorSymmetryAugmentation(envs)))


def assert_same(ours, theirs):
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for key in ours:
            assert_same(ours[key], theirs[key])
    elif isinstance(ours, tuple) or (isinstance(ours, np.ndarray) and ours.dtype.hasobject):
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b)
    elif isinstance(ours, np.ndarray):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    else:
        assert ours == theirs


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)
@pytest.mark.parametrize(
    ("wrap", "wrap_vector"),
    [
        (OneHotBoard, VectorOneHotBoard),
        (SymmetryAugmentation, VectorSymmetryAugmentation),
        (masked_bits, vector_masked_bits),
        (CanonicalCell, VectorCanonicalCell),
        (masked_digits, vector_masked_digits),
    ],
    ids=lambda value: value.__name__,
)
@pytest.mark.parametrize("erase", [False, True])
def test_vector_twin_equals_the_single_wrapper(mode, wrap, wrap_vector, erase):
    if erase and wrap in (CanonicalCell, masked_digits):
        pytest.skip("there is no erasing with this wrapper")
    settings = {"source": "4x4", "erase": erase, "max_steps": 9}
    ours = wrap_vector(SudokuVectorEnv(COUNT, autoreset_mode=mode, **settings))
    theirs = SyncVectorEnv([lambda: wrap(SudokuEnv(**settings))] * COUNT, autoreset_mode=mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.single_observation_space == theirs.single_observation_space
    assert_same(ours.reset(seed=4), theirs.reset(seed=4))
    rng = np.random.default_rng(0)
    episodes = 0
    for _ in range(40):
        masks = np.array(theirs.call("action_masks"))
        assert_same(ours.action_masks(), masks)
        wild = rng.integers(0, masks.shape[1], COUNT)
        actions = np.where(rng.random(COUNT) < 0.2, wild, sample_actions(masks, rng))
        result = ours.step(actions)
        assert_same(result, theirs.step(actions))
        over = result[2] | result[3]
        episodes += over.sum()
        if mode is AutoresetMode.DISABLED and over.any():
            assert_same(*(env.reset(options={"reset_mask": over}) for env in (ours, theirs)))
    assert episodes > COUNT


@pytest.mark.parametrize("source", ["4x4", "6x6", "x9x9"])
def test_the_agent_plays_the_same_game_under_every_symmetry(source):
    """Following a solution of what is shown solves the board below, by legal actions only."""
    env = SymmetryAugmentation(SudokuEnv(source, blanks=10, augment=False))
    for seed in range(4):
        shown, info = env.reset(seed=seed)
        terminated = False
        while not terminated:
            geometry = env.unwrapped.geometry
            free = board.candidates(shown[None], geometry).reshape(-1)
            np.testing.assert_array_equal(info["action_mask"], free)
            np.testing.assert_array_equal(env.action_masks(), free)
            solution = solver.solve(shown[None], geometry)[0].reshape(-1)
            cell = int((shown.reshape(-1) == 0).argmax())
            action = cell * geometry.size + int(solution[cell]) - 1
            shown, _, terminated, _, info = env.step(action)
            assert not info["illegal_action"]
        assert info["is_success"]


def test_boards_given_at_reset_are_shown_in_many_ways():
    env = SymmetryAugmentation(SudokuEnv("4x4"))
    env.reset(seed=0)
    shown = {env.reset(options={"puzzle": PUZZLE})[0].tobytes() for _ in range(20)}
    assert len(shown) > 10


def test_one_hot_bits_are_placements():
    env = OneHotBoard(SudokuEnv("6x6"))
    bits, _ = env.reset(options={"puzzle": "." * 35 + "5"})
    assert bits.dtype == np.int8
    assert bits.reshape(-1).nonzero()[0].tolist() == [35 * 6 + 4]
    assert env.step(7)[0].reshape(-1).nonzero()[0].tolist() == [7, 35 * 6 + 4]


def test_one_hot_needs_a_board():
    with pytest.raises(ValueError, match="needs boards \\[N, N\\]"):
        OneHotBoard(gym.wrappers.FlattenObservation(SudokuEnv("4x4")))


def test_flat_observations_keep_their_order():
    env = FlatObservation(SudokuEnv("6x6"))
    grid = np.zeros((6, 6), np.int8)
    grid[1, 2] = 5
    flat, _ = env.reset(options={"puzzle": grid})
    assert flat.tolist() == [0] * 8 + [5] + [0] * 27
    assert env.observation_space == gym.spaces.Box(0, 6, (36,), np.int8)
    with pytest.raises(ValueError, match="only arrays"):
        FlatObservation(MaskedObservation(SudokuEnv("4x4")))


def test_the_canonical_cell_is_the_most_constrained():
    env = CanonicalCell(SudokuEnv("9x9", blanks=45))
    shown, info = env.reset(seed=0)
    rng, terminated = np.random.default_rng(0), False
    while not terminated:
        grid, cell = shown["observations"], int(shown["cell"])
        counts = board.candidates(grid[None])[0].sum(-1)
        assert counts.flat[cell] == counts[counts > 0].min()
        assert counts.ravel()[:cell].tolist().count(counts.flat[cell]) == 0
        np.testing.assert_array_equal(env.action_masks(), info["action_mask"])
        digit = rng.choice(np.flatnonzero(info["action_mask"]))
        shown, _, terminated, _, info = env.step(digit)
        assert shown["observations"].flat[cell] == digit + 1
    assert not info["action_mask"].any()


def test_the_canonical_cell_is_that_of_a_state_which_was_set():
    env = CanonicalCell(SudokuEnv("9x9", blanks=45))
    shown, info = env.reset(seed=0)
    state, first = env.unwrapped.get_state(), int(shown["cell"])
    shown, *_ = env.step(np.flatnonzero(info["action_mask"])[0])
    assert shown["cell"] != first
    env.unwrapped.set_state(state)
    digit = np.flatnonzero(env.action_masks())[0]
    shown, *_ = env.step(digit)
    assert shown["observations"].flat[first] == digit + 1


def test_wrong_uses_of_the_canonical_cell_are_named():
    with pytest.raises(ValueError, match="needs erase=False"):
        CanonicalCell(SudokuEnv("4x4", erase=True))
    env, envs = CanonicalCell(SudokuEnv("4x4")), VectorCanonicalCell(SudokuVectorEnv(2, "4x4"))
    env.reset(seed=0)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match="use 0 to 3"):
        env.step(4)
    with pytest.raises(ValueError, match="board 1"):
        envs.step([0, -1])


@pytest.mark.parametrize(
    ("wrap", "wrap_vector"),
    [
        (MaskedObservation, VectorMaskedObservation),
        (CanonicalCell, VectorCanonicalCell),
        (SymmetryAugmentation, VectorSymmetryAugmentation),
    ],
)
def test_some_wrappers_need_a_mask(wrap, wrap_vector):
    with pytest.raises(ValueError, match="with_mask=True"):
        wrap(SudokuEnv("4x4", with_mask=False)).reset(seed=0)
    with pytest.raises(ValueError, match="with_mask=True"):
        wrap_vector(SudokuVectorEnv(2, "4x4", with_mask=False)).reset(seed=0)


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version:UserWarning")
@pytest.mark.parametrize(
    "wrap", [OneHotBoard, SymmetryAugmentation, FlatObservation, MaskedObservation, CanonicalCell]
)
def test_gymnasium_checks_a_wrapped_environment(wrap):
    env = gym.make("Sudoku4x4-v0")
    check_env(wrap(env.unwrapped), skip_render_check=True)
    wrapped = wrap(env)
    observation, _ = wrapped.reset(seed=0)
    assert observation in wrapped.observation_space
    again = gym.make(gym.envs.registration.EnvSpec.from_json(wrapped.spec.to_json()))
    assert_same(again.reset(seed=0)[0], observation)


def test_levels_pass_through_wrappers():
    env = gym.wrappers.FlattenObservation(
        OneHotBoard(SymmetryAugmentation(gym.make("Sudoku4x4-v0")))
    )
    env.get_wrapper_attr("set_blanks")(3)
    assert env.reset(seed=0)[1]["level"] == 3
    envs = gym.make_vec("Sudoku4x4-v0", num_envs=2)
    envs = VectorOneHotBoard(
        gym.wrappers.vector.RecordEpisodeStatistics(VectorSymmetryAugmentation(envs))
    )
    envs.set_blanks(3)
    _, infos = envs.reset(seed=0)
    assert infos["level"].tolist() == [3, 3]
    np.testing.assert_array_equal(envs.action_masks(), infos["action_mask"])


@pytest.mark.parametrize(
    ("encode", "encode_many"),
    [
        (OneHotBoard, VectorOneHotBoard),
        (MaskedObservation, VectorMaskedObservation),
        (CanonicalCell, VectorCanonicalCell),
    ],
)
def test_a_symmetry_moves_boards_only(encode, encode_many):
    with pytest.raises(ValueError, match=r"a symmetry (moves boards of 4 x 4|maps the 64)"):
        SymmetryAugmentation(encode(SudokuEnv("4x4")))
    with pytest.raises(ValueError, match=r"a symmetry (moves boards of 4 x 4|maps the 64)"):
        VectorSymmetryAugmentation(encode_many(SudokuVectorEnv(2, "4x4")))
    stacked = gym.wrappers.FrameStackObservation(SudokuEnv("4x4"), 2)
    with pytest.raises(ValueError, match="a symmetry moves boards"):
        SymmetryAugmentation(stacked)
