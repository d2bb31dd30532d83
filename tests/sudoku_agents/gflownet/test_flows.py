"""The network of a GFlowNet: what it says, what it can't see, and how walks help."""

import numpy as np
import pytest
import torch

from gflownet_exact import StateGraph, total_variation
from sudoku_agents.gflownet.flows import FlowNetwork, unique_boards
from sudoku_agents.gflownet.orders import ForwardMasks, forward_masks
from sudoku_gym import board, puzzles
from sudoku_gym.geometry import Geometry, symmetry
from sudoku_learning.networks import FactorGraphConfig, MLPConfig, seeded
from sudoku_learning.networks.factor_graph.graph import FactorGraph, constraint_table

FOUR = Geometry.standard(4)
CROSSING = board.parse("1234 34.. .... ....")  # a 1 next leaves 4 completions, a 2 leaves 2
NEXT = [24, 25]  # row 2, column 3: the digits 1 and 2


def network_of(body=None, walks=0, seed=0):
    body = body or FactorGraphConfig(16, 12, walks=walks)
    return seeded(seed, lambda: FlowNetwork(body, FOUR)).eval()


def some_boards(count=60):
    rng = np.random.default_rng(0)
    boards = puzzles.load("4x4", "train").puzzles
    return np.concatenate([boards[rng.integers(len(boards), size=count)], CROSSING[None]])


@pytest.mark.parametrize("body", [FactorGraphConfig(8, 4), MLPConfig((32,))])
@pytest.mark.parametrize("order", ["any", "rows"])
def test_the_policy_is_one_over_what_is_allowed(body, order):
    boards = some_boards()
    found = forward_masks(boards, FOUR, order)
    log_pf = network_of(body).log_policy(boards, found, FOUR)
    assert (np.isfinite(log_pf) == found.allowed).all()
    np.testing.assert_allclose(np.exp(log_pf).sum(1), 1, rtol=1e-5)


@pytest.mark.parametrize("walks", [0, 8])
def test_what_is_not_asked_is_what_would_be_answered(walks):
    boards = np.concatenate([some_boards(), some_boards()])
    found = forward_masks(boards, FOUR, "constrained")
    network = network_of(walks=walks)
    with torch.inference_mode():
        said = network.evaluate_states(boards, found, FOUR).log_pf[-1].numpy()
    np.testing.assert_allclose(network.log_policy(boards, found, FOUR), said, atol=1e-5)


def test_each_board_is_found_once():
    boards = np.concatenate([some_boards(), some_boards()])
    index, inverse = unique_boards(boards)
    np.testing.assert_array_equal(boards[index][inverse], boards)
    assert len(index) == len(np.unique(boards.reshape(len(boards), -1), axis=0))


@pytest.mark.parametrize("seed", range(3))
def test_message_passing_can_not_tell_two_choices_apart_and_walks_can(seed):
    """With 1 in row 2, column 3 there are 4 completions, with 2 there are 2."""
    found = forward_masks(CROSSING[None], FOUR, "rows")
    assert np.flatnonzero(found.allowed[0]).tolist() == NEXT
    blind = network_of(seed=seed).log_policy(CROSSING[None], found, FOUR)[0, NEXT]
    assert abs(blind[0] - blind[1]) < 1e-5
    seeing = network_of(walks=8, seed=seed).log_policy(CROSSING[None], found, FOUR)[0, NEXT]
    assert abs(seeing[0] - seeing[1]) > 1e-4


@pytest.mark.parametrize("walks", [0, 8])
def test_it_stays_equivariant(walks):
    boards = some_boards()
    found = forward_masks(boards, FOUR, "constrained")
    moves = symmetry.sample(FOUR, len(boards), np.random.default_rng(0))
    actions = moves.apply_to_policy
    moved = ForwardMasks(actions(found.candidates), actions(found.allowed))
    network = network_of(walks=walks)
    log_pf = network.log_policy(boards, found, FOUR)
    after = network.log_policy(moves.apply(boards), moved, FOUR)
    np.testing.assert_allclose(actions(np.exp(log_pf)), np.exp(after), atol=1e-5)


def best_policy(graph, looks):
    """The exact policy, averaged over the choices of each state that look alike."""
    flows = graph.log_flows(None, -30.0)
    policies = []
    for layer, following in zip(graph.layers, [*flows[1:], np.zeros(0)], strict=True):
        chances = np.exp(following[layer.children])
        chances /= np.bincount(layer.parents, chances, len(layer.boards))[layer.parents]
        for state in np.unique(layer.parents):
            steps = np.flatnonzero(layer.parents == state)
            if np.ptp(chances[steps]) < 1e-9:
                continue
            mask = layer.masks.candidates[state]
            look = looks(layer.boards[state], mask)
            alike = np.array([look[action] for action in layer.actions[steps]])
            for one in np.unique(alike, axis=0):
                same = steps[(alike == one).all(1)]
                chances[same] = chances[same].mean()
        policies.append(np.log(chances))
    return policies


def seen_by_messages(one, mask):
    """The colours of placements that no number of rounds of messages refines any more."""
    placements = np.flatnonzero(mask)
    constraints = constraint_table(FOUR)[placements]
    colours = np.zeros(len(placements), np.int64)
    for _ in range(len(placements)):
        heard = [
            [sorted(colours[(constraints == c).any(1)]) for c in constraints[p]]
            for p in range(len(placements))
        ]
        keys = [(colours[p], *map(tuple, sorted(heard[p]))) for p in range(len(placements))]
        refined = [sorted(set(keys)).index(key) for key in keys]
        if len(set(refined)) == len(set(colours)):
            break
        colours = np.array(refined)
    return {p: (colour,) for p, colour in zip(placements, colours, strict=True)}


def told_by_walks(one, mask):
    graph = FactorGraph.of(one[None], mask[None], FOUR, walks=6)
    return dict(zip(graph.positions, np.round(graph.walk_features, 4), strict=True))


@pytest.mark.parametrize("order", ["rows", "constrained"])
@pytest.mark.parametrize(("looks", "wanted"), [(seen_by_messages, 1 / 6), (told_by_walks, 0)])
def test_the_best_that_an_equivariant_network_can_do(order, looks, wanted):
    graph = StateGraph(np.zeros((4, 4), np.int8), FOUR, order)
    is_solution = board.is_solved(graph.terminal_boards())
    reached = graph.terminating_distribution(best_policy(graph, looks))
    found = total_variation(reached, is_solution / is_solution.sum())
    assert found == pytest.approx(wanted, abs=1e-6)
