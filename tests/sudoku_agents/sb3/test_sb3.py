"""Policies of Stable-Baselines3 that know the rules: forms of the board, PPO, play, saving."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.vec_env import VecMonitor

from sudoku_agents.sb3 import (
    FactorGraphPolicy,
    MaskedDQN,
    MaskedDQNPolicy,
    SB3Policy,
    make_vec_env,
)
from sudoku_agents.sb3.observations import decode, encode, legal_placement_tensor
from sudoku_gym import board, evaluate, load_policy
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.puzzles import load
from sudoku_gym.puzzles.generator import generate
from sudoku_gym.puzzles.sources import resolve_source
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import FactorGraphConfig, ValueConfig
from sudoku_learning.training import HeldOut

FORMS = ("board", "flat", "one-hot")


def ppo(env, **options):
    defaults = {"n_steps": 8, "batch_size": 32, "n_epochs": 1, "seed": 0, "device": "cpu"}
    return MaskablePPO(FactorGraphPolicy, env, **{**defaults, **options})


@pytest.mark.parametrize("geometry", [Geometry.standard(4), Geometry.standard(6), sudoku_x(9)])
def test_legal_placements_are_the_candidates(geometry):
    rng = np.random.default_rng(0)
    size = geometry.size
    boards = rng.integers(0, size + 1, (50, size, size), dtype=np.int8)
    boards[rng.random(boards.shape) < 0.7] = 0
    legal = legal_placement_tensor(torch.from_numpy(boards), geometry).numpy()
    np.testing.assert_array_equal(legal, board.candidates(boards, geometry).reshape(50, -1))
    assert legal.any() and not legal.all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [torch.int8, torch.float32])
def test_observations_are_read_back(form, dtype):
    env = make_vec_env("Sudoku9x9-v0", 4, observation=form, blanks=30)
    env.seed(0)
    observations = env.reset()
    boards = decode(torch.from_numpy(observations).to(dtype), 9).numpy()
    assert ((boards == 0).sum((1, 2)) == 30).all()
    np.testing.assert_array_equal(encode(boards, env.observation_space), observations)


def test_the_form_of_the_board_does_not_matter():
    answers = []
    for form in FORMS:
        env = make_vec_env("Sudoku4x4-v0", 6, observation=form, blanks=8)
        env.seed(0)
        observations = torch.from_numpy(env.reset())
        policy = ppo(env).policy
        with torch.no_grad():
            answers.append(
                (
                    policy.get_distribution(observations).distribution.logits,
                    policy.predict_values(observations),
                )
            )
    for logits, values in answers[1:]:
        torch.testing.assert_close(logits, answers[0][0])
        torch.testing.assert_close(values, answers[0][1])


def test_the_policy_puts_no_weight_on_illegal_placements():
    env = make_vec_env("Sudoku4x4-v0", 6, blanks=8)
    env.seed(0)
    observations = torch.from_numpy(env.reset())
    policy = ppo(env, policy_kwargs={"value": ValueConfig(-2.0, -1.0)}).policy
    masks = np.stack(env.env_method("action_masks"))
    with torch.no_grad():
        probs = policy.get_distribution(observations).distribution.probs.numpy()
        actions, values, log_probs = policy(observations, action_masks=masks)
        again, same, entropy = policy.evaluate_actions(observations, actions, torch.tensor(masks))
    assert (probs[~masks] == 0).all() and (probs[masks] > 0).all()
    assert masks[np.arange(6), actions].all()
    np.testing.assert_allclose(log_probs.exp(), probs[np.arange(6), actions], rtol=1e-5)
    assert ((values > -2) & (values < -1)).all()
    torch.testing.assert_close(values, again)
    torch.testing.assert_close(log_probs, same)
    np.testing.assert_allclose(
        entropy, [-(p[p > 0] * np.log(p[p > 0])).sum() for p in probs], rtol=1e-5
    )


def test_what_is_no_board_is_refused():
    with pytest.raises(ValueError, match="80 actions: need N\\*\\*3"):
        ppo(make_vec_env("Sudoku4x4-v0", 2, erase=True))
    with pytest.raises(ValueError, match="need 9\\*\\*3"):
        ppo(make_vec_env("Sudoku4x4-v0", 2), policy_kwargs={"geometry": sudoku_x(9)})
    with pytest.raises(ValueError, match="holds no 4x4 board"):
        encode(np.zeros((1, 4, 4), np.int8), spaces.MultiBinary(9))


def test_a_model_of_larger_boards_is_refused():
    """64 numbers are an 8x8 board, or the bits of one of 4x4."""
    geometry = Geometry.boxes(2, 4)
    source = generate(2, geometry, rng=np.random.default_rng(0))
    model = ppo(make_vec_env("Sudoku-v0", 2, source=source))
    with pytest.raises(ValueError, match=r"Discrete\(512\) was trained on other boards than 4x4"):
        evaluate(SB3Policy(model), load("4x4", "test")[:1])


def test_the_geometry_of_a_variant_counts():
    env = make_vec_env("SudokuX9x9-v0", 3, blanks=40)
    env.seed(0)
    observations = torch.from_numpy(env.reset())
    policy = ppo(env, policy_kwargs={"geometry": sudoku_x(9)}).policy
    masks = np.stack(env.env_method("action_masks"))
    probs = policy.get_distribution(observations).distribution.probs.detach().numpy()
    np.testing.assert_array_equal(probs > 0, masks)


@pytest.mark.slow
def test_ppo_learns_to_complete_boards_it_has_not_seen():
    env = VecMonitor(make_vec_env("Sudoku4x4-v0", 64, blanks=7, reward="sparse"))
    model = ppo(env, n_steps=32, batch_size=512, n_epochs=4, gamma=1.0, learning_rate=1e-3)
    rng = np.random.default_rng(0)
    held_out = HeldOut(SB3Policy(model), resolve_source("4x4", "validation"), 256, rng)
    model.learn(14_000)
    solved, count = held_out(7)
    floor = evaluate(
        load_policy("masked-random"),
        resolve_source("4x4", "validation").sample(256, 7, np.random.default_rng(0))[0],
    ).completion_rate
    assert count == 256
    assert solved / count > 0.9 > 0.7 > floor


def test_a_saved_model_plays_on_as_a_policy(tmp_path):
    model = ppo(make_vec_env("Sudoku4x4-v0", 4), policy_kwargs={"network": FactorGraphConfig(8, 1)})
    model.save(tmp_path / "model.zip")
    policy = SB3Policy(MaskablePPO.load(tmp_path / "model.zip", device="cpu"))
    assert policy.model.policy.network_config == FactorGraphConfig(8, 1)
    puzzles = load("4x4", split="test")[::400]
    first, second = (evaluate(p, puzzles) for p in (SB3Policy(model), policy))
    np.testing.assert_array_equal(first.solved, second.solved)
    assert first.illegal == second.illegal == 0


def test_a_saved_policy_keeps_its_shape(tmp_path):
    env = make_vec_env("Sudoku4x4-v0", 4)
    policy = ppo(
        env, policy_kwargs={"network": FactorGraphConfig(8, 1), "value": ValueConfig(-1, 1)}
    ).policy
    policy.save(tmp_path / "policy")
    again = FactorGraphPolicy.load(tmp_path / "policy", device="cpu")
    assert (again.network_config, again.value_config) == (
        FactorGraphConfig(8, 1),
        ValueConfig(-1, 1),
    )
    observations = torch.from_numpy(env.reset())
    torch.testing.assert_close(
        again.predict_values(observations), policy.predict_values(observations)
    )


def test_the_policy_keeps_the_contract():
    env = make_vec_env("Sudoku4x4-v0", 4)
    check_policy(SB3Policy(ppo(env)), Geometry.standard(4))


@pytest.mark.parametrize("algorithm", [MaskablePPO, PPO, DQN])
def test_a_model_that_may_erase_is_a_policy(algorithm):
    """Placements are chosen by the policy alone; one without masks may answer with an erasure."""
    env = make_vec_env("Sudoku4x4-v0", 4, observation="flat", erase=True)
    policy = SB3Policy(algorithm("MlpPolicy", env, seed=0, device="cpu"))
    if algorithm is MaskablePPO:
        for erase in (False, True):
            check_policy(policy, Geometry.standard(4), erase=erase)
    evaluate(policy, load("4x4", "test")[::400], erase=True)


@pytest.mark.parametrize("algorithm", [MaskablePPO, PPO, DQN, MaskedDQN])
def test_what_is_drawn_depends_on_the_seed_alone(algorithm):
    env = make_vec_env("Sudoku4x4-v0", 4)
    kinds = {MaskablePPO: FactorGraphPolicy, MaskedDQN: MaskedDQNPolicy}
    model = algorithm(kinds.get(algorithm, "MlpPolicy"), env, seed=0, device="cpu")
    model.exploration_rate = 0.5
    policy = SB3Policy(model, deterministic=False)
    if algorithm in kinds:  # the others choose illegal actions
        check_policy(policy, Geometry.standard(4))
    puzzles = load("4x4", "test")[::400]
    torch_state, space = torch.get_rng_state(), model.action_space
    first, again, other = (evaluate(policy, puzzles, seed=seed) for seed in (0, 0, 1))
    assert (first.solved == again.solved).all() and first.illegal == again.illegal
    assert first.constraint_fraction == again.constraint_fraction != other.constraint_fraction
    assert torch.equal(torch.get_rng_state(), torch_state) and model.action_space is space


@pytest.mark.parametrize("algorithm", [PPO, A2C, DQN], ids=lambda algorithm: algorithm.__name__)
@pytest.mark.parametrize("form", ["flat", "one-hot"])
def test_plain_algorithms_run_and_lose_games_by_illegal_answers(algorithm, form):
    env = VecMonitor(
        make_vec_env("Sudoku4x4-v0", 4, observation=form, blanks=2, illegal_reward=-0.1)
    )
    options = {"seed": 0, "device": "cpu"} | ({"n_steps": 16} if algorithm is not DQN else {})
    if algorithm is PPO:
        options["batch_size"] = 32
    model = algorithm("MlpPolicy", env, **options).learn(256)
    result = evaluate(SB3Policy(model), load("4x4", split="test")[::400])
    assert result.illegal > 0


@pytest.mark.parametrize(
    ("module", "missing"),
    [("sudoku_agents.sb3", "sb3_contrib"), ("sudoku_curricula.sb3", "stable_baselines3")],
)
def test_a_missing_extra_is_named(module, missing):
    code = f"import sys; sys.modules[{missing!r}] = None; import {module}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install -c constraints.txt '.[sb3]'" in result.stderr.splitlines()[-1]
