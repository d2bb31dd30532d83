"""Guissart: what a placement sees, when a board is wrong, how one is filled, tried, searched."""

import numpy as np
import pytest
import torch

from sudoku_baselines.neural import policies
from sudoku_baselines.neural.guissart.learner import GuissartLearner, GuissartTraining
from sudoku_baselines.neural.guissart.network import (
    MARGIN,
    SymmetricNetwork,
    feature_table,
    features,
)
from sudoku_baselines.neural.guissart.solver import (
    FillingPredictor,
    Guissart,
    Probes,
    RuleFiller,
    backtrack,
    boards_of,
    fill,
    is_full,
    is_wrong,
    solution_states,
    states_of,
)
from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_gym.geometry import Geometry, symmetry
from sudoku_gym.policies import PredictorPolicy
from sudoku_gym.puzzles.banks import named_geometry
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_learning.training import OptimizerConfig, Training

FOUR = Geometry.standard(4)
GEOMETRIES = ["4x4", "6x6", "9x9", "x9x9", "windows9x9", "jigsaw9x9", "latin9x9"]


def some_marks(geometry, count, rng):
    return rng.integers(-1, 2, (count, geometry.num_cells, geometry.size)).astype(np.int8)


def moved(states, moves):
    flat = moves.apply_to_policy(states.reshape(len(states), -1))
    return flat.reshape(states.shape)


@pytest.mark.parametrize("as_printed", [False, True])
@pytest.mark.parametrize("bank", GEOMETRIES)
def test_features_are_the_same_after_every_symmetry(bank, as_printed):
    geometry, rng = named_geometry(bank), np.random.default_rng(0)
    table = feature_table(geometry)
    states, moves = some_marks(geometry, 6, rng), symmetry.sample(geometry, 6, rng)
    before = features(torch.from_numpy(states), table, as_printed).numpy()
    after = features(torch.from_numpy(moved(states, moves)), table, as_printed).numpy()
    for number in range(before.shape[3]):
        swapped = number if table.swap is None else int(table.swap[number])
        wanted = moved(before[..., number], moves)
        other = moved(before[..., swapped], moves)
        expected = np.where(moves.transpose[:, None, None], other, wanted)
        np.testing.assert_allclose(after[..., number], expected, atol=1e-4)


def test_printed_features_are_sums_of_what_is_absent_and_present():
    states = states_of(board.parse("12..............")[None])
    states[0, 2, 0] = -1  # no 1 in r1c3
    found = SymmetricNetwork(FOUR, 2, as_printed=True).features_of(states)[0, 2].reshape(4, -1, 4)
    row = found[:, found[0, :, 1].argmax()]  # absent and present, of the same digit and of others
    assert row.tolist() == [[0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 0, 2], [0, 0, 0, 2]]
    assert found[:, -1].tolist() == [[1, 0, 0, 0], *[[0, 0, 1, 0]] * 3]  # the cell itself


@pytest.mark.parametrize(
    "change",
    [
        lambda states: states.__setitem__((0, 0, slice(0, 2)), 1),  # a cell with two digits
        lambda states: states.__setitem__((0, 0), -1),  # a cell without any
        lambda states: states.__setitem__((0, [0, 3], 2), 1),  # a digit twice in a row
        lambda states: states.__setitem__((0, [0, 1, 4, 5], 2), -1),  # nowhere in a box
    ],
)
def test_what_breaks_a_rule(change):
    states = np.zeros((2, 16, 4), np.int8)
    change(states)
    assert is_wrong(states, FOUR).tolist() == [True, False]


def test_thresholds_clear_every_wrong_answer():
    network = SymmetricNetwork(FOUR, 4)
    rng = np.random.default_rng(0)
    truth = torch.from_numpy(solution_states(puzzles.load("4x4", "test")[:3].solutions))
    states = torch.where(torch.from_numpy(rng.random(truth.shape) < 0.3), truth, 0).to(torch.int8)
    logits = torch.from_numpy(rng.normal(size=(*truth.shape, 2)).astype(np.float32))
    network.raise_thresholds(logits, states, truth)
    accepted = network.accept(logits, states)
    assert ((accepted == 0) | (accepted == truth)).all()
    wrong = logits[..., 1][(states == 0) & (truth < 0)].max()
    assert network.thresholds[1].item() == pytest.approx(wrong.item() + MARGIN)


def test_what_trials_decide():
    nothing, full = np.zeros((4, 16, 4), np.int8), np.ones((4, 16, 4), np.int8)
    present, absent = nothing.copy(), nothing.copy()
    present[:, 0, 0], absent[:, 0, 0] = 1, -1
    present[2] = full[2]
    fails = np.array([True, False, False, False]), np.array([False, True, False, False])
    trials = Probes(present, absent, *fails)
    assert trials.decides.tolist() == [True, True, True, False]
    known = trials.outcome(nothing)
    np.testing.assert_array_equal(known, [absent[0], present[1], full[2], nothing[3]])


def never(geometry):
    """A network that sets no state."""
    network = SymmetricNetwork(geometry, 2)
    network.thresholds = torch.full((2,), 1e9)
    return network


def test_backtracking_needs_no_network_that_knows():
    chosen = puzzles.load("4x4", "test")[:4]
    states = solution_states(chosen.solutions)
    states[:, [0, 1, 5]] = 0
    found, assumptions = backtrack(states, [never(FOUR)], never(FOUR), FOUR, limit=200)
    assert (assumptions > 0).all()
    np.testing.assert_array_equal(boards_of(found), chosen.solutions)
    stopped, none = backtrack(states, [never(FOUR)], never(FOUR), FOUR, limit=1)
    assert not none.any()
    np.testing.assert_array_equal(stopped, states)


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


def test_the_network_that_proposes_is_trained_too(tmp_path):
    with pytest.raises(ValueError, match="iterations=16 leaves none for the network that proposes"):
        small(tmp_path / "run", iterations=16)


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
    networks, truth = trained.learner.networks, solution_states(test.solutions)
    shown = np.random.default_rng(0).random(test.puzzles.shape) < 0.5
    easier = np.where(shown, test.solutions, test.puzzles)
    for boards, known, full in ((test.puzzles, 0.5, 0.0), (easier, 0.9, 0.2)):
        found = fill(states_of(boards), networks.first(2), test.geometry)
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
    filling = FillingPredictor(solver.networks, 2).predict(test.puzzles, test.geometry)
    filled = board.is_solved((filling.argmax(3) + 1).astype(np.int8), test.geometry)
    assert filled.sum() == solver.filled
    nothing_to_do = solver.solve(test.solutions, test.geometry)  # nothing is left to try
    np.testing.assert_array_equal(nothing_to_do, test.solutions)
    assert solver.solve(test.puzzles[:0], test.geometry).shape == (0, 6, 6)
    with pytest.raises(ValueError, match="trained on 6x6, these boards are 9x9"):
        solver.solve(np.zeros((1, 9, 9), np.int8), Geometry.standard(9))
    with pytest.raises(ValueError, match="holds the training of another agent"):
        policies.load(run)
    with pytest.raises(ValueError, match="has no option rounds"):
        load_policy(f"{run}?rounds=3")


def test_as_printed_thresholds_stay_above_what_was_wrong_in_validation(tmp_path):
    config = small(tmp_path / "run", grids=24, fillers=1, epochs=2, iterations=3, as_printed=True)
    training = Training(config, GuissartLearner)
    training.run()
    thresholds = training.learner.networks.fillers[0].thresholds
    assert ((thresholds > -10) & (thresholds < 1e6)).all()
    assert isinstance(load_policy(config.run).solver, Guissart)


def test_the_networks_that_come_with_the_package():
    """They fill what singles solve, and search the rest."""
    test = puzzles.load("9x9", "test")[:40]
    solver = policies.guissart()
    found = solver.solve(test.puzzles, test.geometry)
    np.testing.assert_array_equal(found, test.solutions)
    assert solver.filled >= 0.8 * (test.grades <= GRADES.index("hidden singles")).sum()


def test_rules_deduce_singles_and_nothing_else():
    boards = puzzles.load("9x9", "test")[:60]
    found = fill(states_of(boards.puzzles), [RuleFiller(boards.geometry)], boards.geometry)
    truth = solution_states(boards.solutions)
    assert ((found == 0) | (found == truth)).all()
    by_singles = boards.grades <= GRADES.index("hidden singles")
    np.testing.assert_array_equal(is_full(found), by_singles)
    first = RuleFiller(FOUR).step(states_of(board.parse("1...............")[None]))[0]
    assert (first[0] == [1, -1, -1, -1]).all() and (first[[1, 5, 12], 0] == -1).all()
    assert (first[[6, 11], 0] == 0).all()
