"""Guissart: what a placement sees, when a board is wrong, how one is filled, tried, searched."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from sudoku_baselines.neural import policies
from sudoku_baselines.neural.guissart.features import feature_table, features
from sudoku_baselines.neural.guissart.learner import GuissartLearner, GuissartTraining, certainty
from sudoku_baselines.neural.guissart.marks import (
    RuleFiller,
    boards_of,
    fill,
    is_full,
    is_wrong,
    marks_of,
    solution_marks,
)
from sudoku_baselines.neural.guissart.network import MARGIN, SymmetricNetwork
from sudoku_baselines.neural.guissart.solver import FillingPredictor, Guissart, GuissartNetworks
from sudoku_baselines.neural.guissart.trials import (
    Trials,
    backtrack,
    best_placements,
    try_both_ways,
)
from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_gym.geometry import Geometry, symmetry
from sudoku_gym.policies import PredictorPolicy
from sudoku_gym.puzzles.banks import named_geometry
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_learning.networks import seeded
from sudoku_learning.training import OptimizerConfig, Training

FOUR = Geometry.standard(4)
GEOMETRIES = ["4x4", "6x6", "9x9", "x9x9", "windows9x9", "jigsaw9x9", "latin9x9"]


def some_marks(geometry, count, rng):
    return rng.integers(-1, 2, (count, geometry.num_cells, geometry.size)).astype(np.int8)


def moved(marks, moves):
    flat = moves.apply_to_policy(marks.reshape(len(marks), -1))
    return flat.reshape(marks.shape)


@pytest.mark.parametrize("bank", GEOMETRIES)
def test_features_are_the_same_after_every_symmetry(bank):
    geometry, rng = named_geometry(bank), np.random.default_rng(0)
    table = feature_table(geometry)
    marks, moves = some_marks(geometry, 6, rng), symmetry.sample(geometry, 6, rng)
    before = features(torch.from_numpy(marks), table).numpy()
    after = features(torch.from_numpy(moved(marks, moves)), table).numpy()
    for number in range(before.shape[3]):
        swapped = number if table.swap is None else int(table.swap[number])
        wanted = moved(before[..., number], moves)
        other = moved(before[..., swapped], moves)
        expected = np.where(moves.transpose[:, None, None], other, wanted)
        np.testing.assert_allclose(after[..., number], expected, atol=1e-4)


@pytest.mark.parametrize("bank", GEOMETRIES)
def test_answers_move_with_the_board(bank):
    geometry, rng = named_geometry(bank), np.random.default_rng(1)
    network = seeded(0, lambda: SymmetricNetwork(geometry, 8))
    marks, moves = some_marks(geometry, 6, rng), symmetry.sample(geometry, 6, rng)
    before, after = network.logits_of(marks), network.logits_of(moved(marks, moves))
    for answer in range(2):
        np.testing.assert_allclose(after[..., answer], moved(before[..., answer], moves), atol=1e-5)


def test_there_are_seven_groups_of_cells_and_five_hundred_weights():
    network = SymmetricNetwork(Geometry.standard(9), 16)
    assert network.table.groups.shape == (7, 81, 81)
    counts = sorted(network.table.groups[:, 0].sum(1).tolist())
    assert counts == [1, 2, 2, 8, 8, 8, 60]  # itself, two units, one, none
    assert sum(weight.numel() for weight in network.parameters()) == 498


def test_marks_and_boards():
    chosen = puzzles.load("6x6", "test")[:5]
    np.testing.assert_array_equal(boards_of(marks_of(chosen.puzzles)), chosen.puzzles)
    truth = solution_marks(chosen.solutions)
    np.testing.assert_array_equal(boards_of(truth), chosen.solutions)
    assert is_full(truth).all() and not is_wrong(truth, chosen.geometry).any()
    assert not is_full(marks_of(chosen.puzzles)).any()


@pytest.mark.parametrize(
    "change",
    [
        lambda marks: marks.__setitem__((0, 0, slice(0, 2)), 1),  # a cell with two digits
        lambda marks: marks.__setitem__((0, 0), -1),  # a cell without any
        lambda marks: marks.__setitem__((0, [0, 3], 2), 1),  # a digit twice in a row
        lambda marks: marks.__setitem__((0, [0, 1, 4, 5], 2), -1),  # nowhere in a box
    ],
)
def test_what_breaks_a_rule(change):
    marks = np.zeros((2, 16, 4), np.int8)
    change(marks)
    assert is_wrong(marks, FOUR).tolist() == [True, False]


def test_thresholds_clear_every_wrong_answer():
    network = SymmetricNetwork(FOUR, 4)
    rng = np.random.default_rng(0)
    truth = torch.from_numpy(solution_marks(puzzles.load("4x4", "test")[:3].solutions))
    marks = torch.where(torch.from_numpy(rng.random(truth.shape) < 0.3), truth, 0).to(torch.int8)
    logits = torch.from_numpy(rng.normal(size=(*truth.shape, 2)).astype(np.float32))
    network.raise_thresholds(logits, marks, truth)
    accepted = network.accept(logits, marks)
    assert ((accepted == 0) | (accepted == truth)).all()
    wrong = logits[..., 1][(marks == 0) & (truth < 0)].max()
    assert network.thresholds[1].item() == pytest.approx(wrong.item() + MARGIN)


def test_sums_are_shown_where_they_are_nearly_nothing():
    """A hidden single: no other unknown in the row, hence the highest of all values there."""
    table = feature_table(Geometry.standard(9))
    marks = np.zeros((1, 81, 9), np.int8)
    before = features(torch.from_numpy(marks), table)[0, 0, 3]
    marks[0, 1:9, 3] = -1
    after = features(torch.from_numpy(marks), table)[0, 0, 3]
    row = 4 * int(np.flatnonzero((table.groups[:, 0, 8] == 1) & (table.groups[:, 0, 9] == 0))[0])
    assert before[row].item() == pytest.approx(4 / 9) and after[row].item() == 4.0
    unlike = np.flatnonzero((before != after).numpy()) % 4
    assert set(unlike.tolist()) == {0}  # nothing is said of other digits, nor of what is present


def test_certainty_counts_what_exceeds_all_wrong_answers():
    logits = torch.tensor([[9.0, -9.0], [0.0, 30.0], [-30.0, 0.0], [-30.0, -30.0]])
    targets = torch.tensor([[True, False], [False, True], [False, True], [True, False]])
    # absent: 9 beats 0 and -30, which is not above them; present: 30 and 0 beat -9 and -30
    assert certainty(logits, targets).item() == pytest.approx(3 / 4, abs=1e-3)
    assert certainty(logits, targets[:, [1, 0]]).item() < 0.6
    everything = torch.ones(4, 2, dtype=torch.bool)
    assert certainty(logits, everything).item() == 0.0


def test_what_trials_decide():
    nothing, full = np.zeros((4, 16, 4), np.int8), np.ones((4, 16, 4), np.int8)
    present, absent = nothing.copy(), nothing.copy()
    present[:, 0, 0], absent[:, 0, 0] = 1, -1
    present[2] = full[2]
    fails = np.array([True, False, False, False]), np.array([False, True, False, False])
    trials = Trials(present, absent, *fails)
    assert trials.decides.tolist() == [True, True, True, False]
    known = trials.outcome(nothing)
    np.testing.assert_array_equal(known, [absent[0], present[1], full[2], nothing[3]])


def never(geometry):
    """A network that sets no mark."""
    network = SymmetricNetwork(geometry, 2)
    network.thresholds = torch.full((2,), 1e9)
    return network


def test_an_assumption_that_fails_proves_the_contrary():
    chosen = puzzles.load("4x4", "test")[:4]
    truth = solution_marks(chosen.solutions)
    marks = truth.copy()
    marks[:, 0] = 0  # one open cell
    wrong = (truth[:, 0] < 0).argmax(1)
    found = try_both_ways(marks, wrong.astype(np.int64), [never(FOUR)], FOUR)
    assert found.present_fails.all() and not found.absent_fails.any()
    np.testing.assert_array_equal(found.outcome(marks)[:, 0].min(1), -1)


def test_backtracking_needs_no_network_that_knows():
    chosen = puzzles.load("4x4", "test")[:4]
    marks = solution_marks(chosen.solutions)
    marks[:, [0, 1, 5]] = 0
    found, assumptions = backtrack(marks, [never(FOUR)], never(FOUR), FOUR, limit=200)
    assert (assumptions > 0).all()
    np.testing.assert_array_equal(boards_of(found), chosen.solutions)
    stopped, none = backtrack(marks, [never(FOUR)], never(FOUR), FOUR, limit=1)
    assert not none.any()
    np.testing.assert_array_equal(stopped, marks)


def test_placements_that_are_left():
    marks = np.ones((2, 16, 4), np.int8)
    marks[0, 3, 2] = 0
    assert best_placements(marks, never(FOUR)).tolist() == [14, -1]
    tried = np.zeros((2, 64), np.bool_)
    tried[0, 14] = True
    assert best_placements(marks, never(FOUR), tried).tolist() == [-1, -1]


def small(run, **changes):
    options = {
        "env": "Sudoku6x6-v0",
        "grids": 128,
        "fillers": 2,
        "epochs": 8,
        "iterations": 20,
        "optimizer": OptimizerConfig(2e-2, 8, constant_share=0.3),
        "trials": 3,
        "validation_games": 8,
        "evaluate_every": 20,
    }
    return GuissartTraining(run=run, **{**options, **changes})


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    torch.set_num_threads(1)
    training = Training(small(tmp_path_factory.mktemp("guissart") / "run"), GuissartLearner)
    training.run()
    return training


@pytest.mark.slow
def test_what_it_fills_is_right(trained):
    """It is trained for seconds: it says little of minimal puzzles, and of easier ones more."""
    test = puzzles.load("6x6", "test")[:200]
    networks, truth = trained.learner.networks, solution_marks(test.solutions)
    shown = np.random.default_rng(0).random(test.puzzles.shape) < 0.5
    easier = np.where(shown, test.solutions, test.puzzles)
    for boards, known, full in ((test.puzzles, 0.5, 0.0), (easier, 0.9, 0.2)):
        found = fill(marks_of(boards), networks.first(2), test.geometry)
        sound = ((found == 0) | (found == truth)).all((1, 2))
        assert sound.mean() > 0.95  # thresholds are fitted on 128 boards
        assert (found != 0).mean() > known and is_full(found).mean() >= full
    policy = PredictorPolicy(FillingPredictor(networks, 2), "one-shot")
    filled = evaluate(policy, easier, geometry=test.geometry).completion_rate
    assert filled == (is_full(found) & sound).mean()


@pytest.mark.slow
def test_trial_and_error_and_backtracking_solve_the_rest(trained):
    run = trained.config.run
    test = puzzles.load("6x6", "test")[:60]
    solver = load_policy(run).solver
    assert isinstance(solver, Guissart)
    found = solver.solve(test.puzzles, test.geometry)
    solved = board.is_solved(found, test.geometry)
    assert solved.mean() > 0.9 and solver.tried > 0
    assert solved.sum() == solver.filled + solver.tried + solver.searched
    assert (found[~solved] == 0).all()
    plain = Guissart(solver.networks, trial_and_error=False, backtracking=0)
    found = plain.solve(test.puzzles, test.geometry)
    assert board.is_solved(found, test.geometry).sum() == solver.filled == plain.filled
    nothing_to_do = solver.solve(test.solutions, test.geometry)  # nothing is left to try
    np.testing.assert_array_equal(nothing_to_do, test.solutions)
    assert solver.solve(test.puzzles[:0], test.geometry).shape == (0, 6, 6)
    with pytest.raises(ValueError, match="trained on 6x6, these boards are 9x9"):
        solver.solve(np.zeros((1, 9, 9), np.int8), Geometry.standard(9))
    with pytest.raises(ValueError, match="is the training of another agent"):
        policies.load(run)
    with pytest.raises(ValueError, match="has no option rounds"):
        load_policy(f"{run}?rounds=3")


def test_an_interrupted_run_continues_to_the_bit(tmp_path):
    few = {"env": "Sudoku4x4-v0", "grids": 12, "epochs": 1, "iterations": 4}
    few["optimizer"] = OptimizerConfig(2e-2, 6, constant_share=0.3)
    whole = Training(small(tmp_path / "whole", **few), GuissartLearner)
    whole.run()
    part = small(tmp_path / "part", **few)
    Training(replace(part, iterations=2), GuissartLearner).run()
    resumed = Training(replace(part, resume=True), GuissartLearner)
    resumed.run()
    found, wanted = resumed.learner.state(), whole.learner.state()
    assert found.numbers == wanted.numbers == {"begun": 2}
    assert all(torch.equal(found.weights[name], wanted.weights[name]) for name in wanted.weights)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grids": 0}, "grids must be at least 1"),
        ({"fillers": 0}, "fillers must be at least 1"),
        ({"epochs": 0}, "epochs must be at least 1"),
    ],
)
def test_settings_that_make_no_sense(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        small(tmp_path, **changes)


def test_the_networks_that_come_with_the_package():
    """They fill what singles solve, and search the rest."""
    test = puzzles.load("9x9", "test")[:40]
    solver = policies.load_guissart()
    found = solver.solve(test.puzzles, test.geometry)
    np.testing.assert_array_equal(found, test.solutions)
    assert solver.filled >= 0.8 * (test.grades <= GRADES.index("hidden singles")).sum()
    assert policies.load_guissart(backtracking=0).backtracking == 0


def test_networks_are_made_for_one_geometry():
    networks = GuissartNetworks(FOUR, 3, 4)
    assert len(networks.first(2)) == 2
    with pytest.raises(ValueError, match="trained on 4x4"):
        FillingPredictor(networks, 1).predict(np.zeros((1, 6, 6), np.int8), Geometry.standard(6))


def test_rules_deduce_singles_and_nothing_else():
    boards = puzzles.load("9x9", "test")[:60]
    found = fill(marks_of(boards.puzzles), [RuleFiller(boards.geometry)], boards.geometry)
    truth = solution_marks(boards.solutions)
    assert ((found == 0) | (found == truth)).all()
    by_singles = boards.grades <= GRADES.index("hidden singles")
    np.testing.assert_array_equal(is_full(found), by_singles)
    first = RuleFiller(FOUR).step(marks_of(board.parse("1...............")[None]))[0]
    assert (first[0] == [1, -1, -1, -1]).all() and (first[[1, 5, 12], 0] == -1).all()
    assert (first[[6, 11], 0] == 0).all()
