"""The models: what they answer, that they learn, and that runs of them are resumed and played."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from sudoku_baselines.neural.cnn import CNNModelConfig, CNNTraining
from sudoku_baselines.neural.learner import CELL_LOSS, HALTING_LOSS, SupervisedLearner
from sudoku_baselines.neural.masked_diffusion import MaskedDiffusionTraining
from sudoku_baselines.neural.mlp import MLPModelConfig, MLPTraining
from sudoku_baselines.neural.model import cell_loss, solved_boards
from sudoku_baselines.neural.multiverse import MultiverseConfig, MultiverseTraining
from sudoku_baselines.neural.recurrent_transformer import (
    RecurrentTransformerConfig,
    RecurrentTransformerTraining,
)
from sudoku_baselines.neural.rrn import RRNModelConfig, RRNTraining
from sudoku_baselines.neural.symbol_equivariant import (
    SymbolEquivariantConfig,
    SymbolEquivariantTraining,
)
from sudoku_baselines.neural.tiny_recursion import TinyRecursionConfig, TinyRecursionTraining
from sudoku_curricula.curves import COMPLETION_RATE, TRAINING_COMPLETION, read_curves
from sudoku_gym import evaluate, load_policy, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import PredictorPolicy
from sudoku_gym.puzzles.banks import named_geometry
from sudoku_gym.puzzles.sources import BankSource
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import seeded
from sudoku_learning.training import OptimizerConfig, Progress, RayConfig, RunGenerators, Training

FOUR = Geometry.standard(4)
MODELS = {
    "multiverse": (MultiverseTraining, MultiverseConfig(4)),
    "recurrent-transformer": (RecurrentTransformerTraining, RecurrentTransformerConfig(32, 4)),
    "mlp": (MLPTraining, MLPModelConfig((128, 128))),
    "cnn": (CNNTraining, CNNModelConfig(32, 4)),
    "rrn": (RRNTraining, RRNModelConfig(24, 1, 4)),
    "tiny-recursion": (TinyRecursionTraining, TinyRecursionConfig(32, 1, 2, 2, 4)),
    "symbol-equivariant": (SymbolEquivariantTraining, SymbolEquivariantConfig(16, 2, 2, 8)),
    "masked-diffusion": (MaskedDiffusionTraining, SymbolEquivariantConfig(16, 2, 2, 8)),
}
SOLVED = dict.fromkeys(MODELS, 0.5) | {"mlp": 0.25, "recurrent-transformer": 0.7}


def small(name, run, **changes):
    training, model = MODELS[name]
    options = {
        "env": "Sudoku4x4-v0",
        "model": model,
        "iterations": 2,
        "updates": 100,
        "revealed": 1.0,
        "augment": True,
        "cells": "blanks",
        "segments": 4 if training.segments > 1 else 1,
        "average": 0.9 if name == "tiny-recursion" else 0.0,
        "optimizer": OptimizerConfig(3e-3, 32),
        "mode": "surest",
        "validation_games": 16,
        "evaluate_every": 1,
    }
    return training(run=run, **{**options, **changes})


def some_boards(bank="4x4", count=5):
    chosen = puzzles.load(bank, "train")[:count]
    return torch.from_numpy(chosen.puzzles), chosen


@pytest.mark.parametrize("bank", ["4x4", "6x6", "x9x9"])
@pytest.mark.parametrize("name", MODELS)
def test_answers_are_probabilities_and_every_weight_has_a_gradient(name, bank):
    boards, chosen = some_boards(bank)
    model = MODELS[name][1].build(chosen.geometry)
    output = model(boards)
    found = output.log_probabilities
    assert found.shape[1:] == (5, chosen.geometry.num_cells, chosen.geometry.size)
    sums = found.exp().sum(3)
    if name == "multiverse":  # which may also say that a cell is blank
        assert (sums < 1).all() and (sums > 0).all()
    else:
        torch.testing.assert_close(sums, torch.ones_like(sums))
    counts = torch.ones_like(boards, dtype=torch.bool)
    loss = cell_loss(found, torch.from_numpy(chosen.solutions), counts)
    if output.halting is not None:
        assert output.halting.shape == found.shape[:2]
        loss = loss + output.halting.mean()
    loss.backward()
    assert all(weight.grad.abs().sum() > 0 for weight in model.parameters())


def test_a_segment_of_the_relational_network_goes_on_where_the_last_one_stopped():
    boards, chosen = some_boards()
    model = RRNModelConfig(16, 1, 4, training_rounds=2).build(chosen.geometry)
    state = model(boards).state
    second = model(boards, state).log_probabilities
    assert second.shape[0] == 2 and not state.requires_grad
    whole = model.eval()(boards).log_probabilities
    torch.testing.assert_close(second[-1:], whole)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_every_model_learns(name, tmp_path):
    training = Training(small(name, tmp_path / "run"), SupervisedLearner)
    held_out = puzzles.load("4x4", "validation")[::40]  # orbits that it never sees
    before = evaluate(training.learner.policy(), held_out).completion_rate
    training.run()
    policy = load_policy(tmp_path / "run")
    after = evaluate(policy, held_out).completion_rate
    assert after > max(SOLVED[name], before + 0.1)
    assert {CELL_LOSS, TRAINING_COMPLETION, COMPLETION_RATE} <= read_curves(tmp_path / "run").keys()
    check_policy(policy)
    check_policy(load_policy(f"{tmp_path / 'run'}?mode=random"))


def test_a_random_order_takes_the_best_digit_of_any_cell():
    class Sums:
        def predict(self, boards, geometry):
            cell = np.arange(16.0).reshape(4, 4, 1)
            return np.broadcast_to(cell + np.array([0, 0.2, 0.1, 0]), (len(boards), 4, 4, 4))

    boards, legal = np.zeros((3_200, 4, 4), np.int8), np.ones((3_200, 64), np.bool_)
    boards[:, 3], legal[:, 1] = 1, False
    cells = {}
    for mode in ("surest", "random"):
        policy = PredictorPolicy(Sums(), mode)
        policy.reset(boards, FOUR, np.random.default_rng(0))
        cell, digit = np.divmod(policy.act(boards, legal), 4)
        assert (digit == np.where(cell == 0, 2, 1)).all()
        cells[mode] = np.bincount(cell, minlength=16)
    assert cells["surest"].tolist() == [*[0] * 15, 3_200]
    assert (abs(cells["random"][:12] - 3_200 / 12) < 80).all() and not cells["random"][12:].any()


@pytest.mark.parametrize("bank", ["4x4", "9x9", "16x16", "25x25"])
def test_a_permutation_of_the_symbols_permutes_the_answer(bank):
    boards, chosen = some_boards(bank, 2)
    size = chosen.geometry.size
    model = seeded(0, lambda: SymbolEquivariantConfig(8, 1, 2, 3).build(chosen.geometry)).eval()
    images = np.append(0, np.random.default_rng(0).permutation(size) + 1).astype(np.int8)
    with torch.no_grad():
        found = model(boards).log_probabilities[0]
        moved = model(torch.from_numpy(images[boards.numpy()])).log_probabilities[0]
    torch.testing.assert_close(moved[:, :, images[1:] - 1], found)
    assert found.std(2).mean() > 1e-3  # the symbols differ, and so do the cells
    assert found.std(1).mean() > 1e-3


def test_the_loss():
    solutions = torch.tensor([[[1, 2], [2, 1]]], dtype=torch.int8)
    chances = torch.full((2, 1, 4, 2), 0.5)
    chances[1, 0, 0] = torch.tensor([0.8, 0.2])
    counts = torch.tensor([[[True, True], [False, False]]])
    wanted = -(3 * np.log(0.5) + np.log(0.8)) / 4
    assert cell_loss(chances.log(), solutions, counts).item() == pytest.approx(wanted)


def test_the_state_is_where_it_stopped():
    boards, _ = some_boards()
    model = seeded(0, lambda: TinyRecursionConfig(16, 1, 2, 2, 5).build(FOUR)).eval()
    whole = model(boards)
    model.rounds = 2
    first = model(boards)
    model.rounds = 3
    second = model(boards, first.state)
    torch.testing.assert_close(second.log_probabilities, whole.log_probabilities)
    assert (first.log_probabilities != second.log_probabilities).any()
    assert not second.state.requires_grad


def test_a_network_that_halts_learns_where_it_is_right(tmp_path):
    """Its boards are replaced by its own word, and the word comes to agree with the truth."""
    changes = {"updates": 60, "average": 0.0, "stay_probability": 0.0}
    training = Training(small("tiny-recursion", tmp_path, **changes), SupervisedLearner)
    training.run()
    assert HALTING_LOSS in read_curves(tmp_path)
    boards, chosen = some_boards(count=200)
    model = training.learner.model
    with torch.no_grad():
        output = model(boards)
    counts = torch.ones_like(boards, dtype=torch.bool)
    is_right = solved_boards(output.log_probabilities, torch.from_numpy(chosen.solutions), counts)
    chances = output.halting.sigmoid()
    assert chances[is_right].mean() > chances[~is_right].mean()


def test_the_average_of_the_weights_plays(tmp_path):
    config = small("mlp", tmp_path / "run", updates=3, iterations=1, average=0.75)
    learner = SupervisedLearner(config, RunGenerators(0))
    seen = []
    learner.optimizer.adam.register_step_post_hook(
        lambda *_: seen.append([p.detach().clone() for p in learner.model.parameters()])
    )
    learner.learn({8: 1.0}, RunGenerators(1), Progress())
    first, second, third = seen
    played = learner.policy().predictor.model
    for a, b, c, found in zip(first, second, third, played.parameters(), strict=True):
        wanted = 0.75 * (0.75 * a + 0.25 * b) + 0.25 * c
        torch.testing.assert_close(found.detach(), wanted)
    other = SupervisedLearner(config, RunGenerators(5))
    other.restore(learner.state())
    for found, wanted in zip(other.model.parameters(), third, strict=True):
        assert torch.equal(found, wanted)


def test_relations_follow_the_unit_table():
    """Digits that share no unit do not reach each other in one step."""
    geometry = named_geometry("x9x9")
    model = seeded(0, lambda: RRNModelConfig(16, 1, 1).build(geometry)).eval()
    board = np.zeros((1, 9, 9), np.int8)
    changed = board.copy()
    changed[0, 0, 0] = 5
    one, other = (
        model(torch.from_numpy(each)).log_probabilities[0, 0] for each in (board, changed)
    )
    moved = (one != other).any(1).numpy()
    peers = set(geometry.peers[0].tolist()) | {0}
    assert set(np.flatnonzero(moved).tolist()) == peers and 80 in peers  # along the diagonal


def test_an_interrupted_run_continues_to_the_bit(tmp_path):
    few = {"updates": 6, "iterations": 3, "optimizer": OptimizerConfig(3e-3, 8)}
    whole = Training(small("tiny-recursion", tmp_path / "whole", **few), SupervisedLearner)
    whole.run()
    part = small("tiny-recursion", tmp_path / "part", **few)
    Training(replace(part, iterations=2), SupervisedLearner).run()
    resumed = Training(replace(part, resume=True), SupervisedLearner)
    assert resumed.iteration == 2
    resumed.run()
    assert resumed.learner.state().numbers == whole.learner.state().numbers
    for kind in ("weights", "tensors"):
        found, wanted = (getattr(run.learner.state(), kind) for run in (resumed, whole))
        assert found.keys() == wanted.keys()
        assert all(torch.equal(found[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"updates": 0}, "updates must be at least 1"),
        ({"segments": 0}, "segments must be at least 1"),
        ({"revealed": 1.5}, "revealed must lie in"),
        ({"as_stored": -1.0}, "as_stored must lie in"),
        ({"stay_probability": 2.0}, "stay_probability must lie in"),
        ({"average": 1.0}, "average must lie in"),
        ({"halting_weight": -1.0}, "halting_weight must be at least 0"),
        ({"ray": RayConfig(actors=2)}, "nothing to sample"),
    ],
)
def test_settings_that_make_no_sense(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        small("mlp", tmp_path, **changes)


def test_shipped_networks_solve_puzzles_of_orbits_that_they_never_saw():
    four, nine = puzzles.load("4x4", "test")[::120], puzzles.load("9x9", "test")[::40]
    assert 0.7 < evaluate(load_policy("multiverse-m12"), four).completion_rate < 0.95
    surest = evaluate(load_policy("multiverse-m12?mode=surest"), four).completion_rate
    assert surest > evaluate(load_policy("multiverse-m12"), four).completion_rate
    assert evaluate(load_policy("exact-cover-supervised"), nine).completion_rate > 0.95
    at_once = load_policy("exact-cover-supervised?mode=one-shot&rounds=256")
    assert evaluate(at_once, nine).completion_rate > 0.9


@pytest.mark.parametrize(
    ("name", "blanks", "better"),
    [
        ("mlp", None, 0.3),
        ("cnn", None, 0.3),
        ("rrn", None, 0.8),
        ("recurrent-transformer", None, 0.3),
        ("tiny-recursion", 40, 0.3),
        *((f"{name}-9x9", 40, 0.3) for name in ("cnn", "rrn", "recurrent-transformer")),
    ],
)
def test_small_networks_that_come_with_the_package(name, blanks, better):
    """Each plays boards of its size, by name, better than chance and never with a wrong shape."""
    bank = "4x4" if blanks is None else "9x9"
    test, draw = puzzles.load(bank, "test"), np.random.default_rng(0)
    chosen = test[::120] if blanks is None else BankSource(test).sample(30, blanks, draw)[0]
    policy = load_policy(name)
    chance = evaluate(load_policy("masked-random"), chosen, seed=0).completion_rate
    assert evaluate(policy, chosen).completion_rate > chance + better
    with pytest.raises(ValueError, match=f"made for {bank} boards, these are 6x6"):
        evaluate(policy, puzzles.load("6x6", "test")[:2])
