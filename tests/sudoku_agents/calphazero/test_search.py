"""The batched search against a plain one in Python, and what a search must do in any case."""

import math

import gymnasium as gym
import numpy as np
import pytest

from sudoku_agents.calphazero.search import SearchConfig, tree_search
from sudoku_gym import board, puzzles
from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import BankSource

FOUR = Geometry.standard(4)


def roots(count, blanks, seed=0):
    source = BankSource(puzzles.load("4x4", "train"))
    boards, solutions = source.sample(count, blanks, np.random.default_rng(seed))
    return boards, solutions, board.candidates(boards).reshape(count, -1)


def uniform(boards, masks):
    return (masks / masks.sum(1, keepdims=True)).astype(np.float32), np.full(
        len(boards), 0.5, np.float32
    )


def arbitrary(boards, masks):
    """A fixed function of the board that looks random."""
    priors, values = np.zeros(masks.shape, np.float32), np.zeros(len(boards), np.float32)
    for i, (one, mask) in enumerate(zip(boards, masks, strict=True)):
        rng = np.random.default_rng(int.from_bytes(one.tobytes(), "little"))
        weights = rng.random(len(mask)) * mask
        priors[i], values[i] = weights / weights.sum(), rng.random()
    return priors, values


class PlainSearch:
    """PUCT for one board, written for reading: nested dictionaries and recursion."""

    def __init__(self, config, evaluate):
        self.config, self.evaluate = config, evaluate

    def node(self, cells):
        mask = board.candidates(cells[None]).reshape(1, -1)
        dead = ((cells.ravel() == 0) & ~mask.reshape(16, 4).any(1)).any()
        if not mask.any() or (dead and self.config.end_at_dead_end):
            solved = bool(board.is_solved(cells[None])[0])
            fraction = float(board.constraint_fraction(cells[None])[0])
            return {"value": float(solved) if self.config.reward == "sparse" else fraction}
        priors, values = self.evaluate(cells[None], mask)
        edges = {
            int(a): {"prior": priors[0, a], "visits": 0, "total": np.float32(0), "node": None}
            for a in np.flatnonzero(mask[0])
        }
        return {"cells": cells, "edges": edges, "first_value": float(values[0])}

    def simulate(self, node):
        if "value" in node:
            return node["value"]
        visits = sum(edge["visits"] for edge in node["edges"].values())

        def score(edge):
            explore = self.config.c_puct * math.sqrt(max(visits, 1))
            explore *= float(edge["prior"]) / (1 + edge["visits"])
            if edge["visits"]:
                return float(edge["total"]) / edge["visits"] + explore
            return explore + self.config.unvisited_bonus

        action, edge = max(node["edges"].items(), key=lambda item: score(item[1]))
        if edge["node"] is None:
            cells = node["cells"].copy()
            cells.ravel()[action // 4] = action % 4 + 1
            edge["node"] = self.node(cells)
            value = edge["node"].get("first_value", edge["node"].get("value"))
        else:
            value = self.simulate(edge["node"])
        edge["visits"] += 1
        edge["total"] += np.float32(value)
        return value

    def visit_counts(self, root):
        while sum(edge["visits"] for edge in root["edges"].values()) < self.config.simulations:
            self.simulate(root)
        counts = np.zeros(64, np.int64)
        for action, edge in root["edges"].items():
            counts[action] = edge["visits"]
        return counts


@pytest.mark.parametrize("reward", ["terminal", "sparse"])
@pytest.mark.parametrize("end_at_dead_end", [True, False])
@pytest.mark.parametrize("bonus", [0.0, 0.5])
def test_equals_the_plain_search(reward, end_at_dead_end, bonus):
    config = SearchConfig(
        simulations=60,
        c_puct=1.3,
        unvisited_bonus=bonus,
        reward=reward,
        end_at_dead_end=end_at_dead_end,
        proofs=False,
    )
    boards, _, masks = roots(6, (3, 9))
    found = tree_search(boards, masks, FOUR, arbitrary, config)
    plain = PlainSearch(config, arbitrary)
    for i, cells in enumerate(boards):
        np.testing.assert_array_equal(found.visit_counts[i], plain.visit_counts(plain.node(cells)))


def test_the_bonus_tries_every_action_first():
    boards, _, masks = roots(8, 6)
    most = int(masks.sum(1).max())
    config = SearchConfig(simulations=most, unvisited_bonus=10.0)
    found = tree_search(boards, masks, FOUR, uniform, config)
    assert (found.visit_counts[masks] >= 1).all()


@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize(("prior", "value"), [(np.nan, 0.5), (0, 0.5), (np.inf, 0.5), (1, np.nan)])
def test_an_evaluator_whose_numbers_are_damaged_ends_it(root, prior, value):
    boards, _, masks = roots(2, 6)

    def evaluate(boards, masks):
        return np.full(masks.shape, prior, np.float32), np.full(len(boards), value, np.float32)

    with pytest.raises(ValueError, match="are damaged"):
        tree_search(boards, masks, FOUR, evaluate, SearchConfig(simulations=8, root=root))


class OneMove:
    """An evaluator that makes a search of one simulation try a given action in each game."""

    def __init__(self, actions, num_actions):
        self.actions, self.num_actions, self.leaves = actions, num_actions, None

    def __call__(self, boards, masks):
        if self.actions is None:
            self.leaves = boards.copy(), masks.copy()
            return masks / masks.sum(1, keepdims=True, dtype=np.float32), np.full(len(boards), -2)
        priors = np.eye(self.num_actions, dtype=np.float32)[self.actions]
        self.actions = None
        return priors, np.zeros(len(boards))


@pytest.mark.parametrize("actions", ["legal", "blank"])
@pytest.mark.parametrize("reward", ["terminal", "sparse"])
@pytest.mark.parametrize("end_at_dead_end", [True, False])
@pytest.mark.parametrize(("name", "many"), [("Sudoku4x4-v0", 9), ("SudokuX9x9-v0", 45)])
def test_the_games_are_those_of_the_environment(name, many, end_at_dead_end, reward, actions):
    rules = {"actions": actions, "reward": reward, "end_at_dead_end": end_at_dead_end}
    blanks = {1: 2, 2: 1, many: 2}  # so that some games are won and some lost
    envs = gym.make_vec(name, num_envs=64, blanks=blanks, **rules)
    config = SearchConfig(simulations=1, proofs=False, **rules)
    rng = np.random.default_rng(5)
    boards, info = envs.reset(seed=2)
    running, ends = np.ones(64, np.bool_), []
    while running.any():
        games, masks = np.flatnonzero(running), info["action_mask"].view(np.bool_)
        allowed = legal_placements(boards[games], envs.geometry, actions)
        np.testing.assert_array_equal(allowed, masks[games])
        moves = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks[games]])
        one_move = OneMove(moves, masks.shape[1])
        found = tree_search(boards[games], masks[games], envs.geometry, one_move, config)
        played = masks.argmax(1)  # boards whose game is over go on with other puzzles, unwatched
        played[games] = moves
        boards, rewards, terminated, truncated, info = envs.step(played)
        goes_on = ~(terminated | truncated)[games]
        np.testing.assert_array_equal(found.values[~goes_on], rewards[games][~goes_on].astype("f4"))
        assert (found.values[goes_on] == -2).all()
        np.testing.assert_array_equal(found.solved.any(1), info["is_success"][games])
        if goes_on.any():
            np.testing.assert_array_equal(one_move.leaves[0], boards[games][goes_on])
            np.testing.assert_array_equal(one_move.leaves[1], info["action_mask"][games][goes_on])
        ends += rewards[games][~goes_on].tolist()
        running[games] = goes_on
    assert len(ends) == 64 and len(set(ends)) > 1
