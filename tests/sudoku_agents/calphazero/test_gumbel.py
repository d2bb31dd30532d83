"""Gumbel at the root against a plain search in Python, and what it promises."""

import math

import numpy as np
import pytest

from sudoku_agents.calphazero.search import SearchConfig, tree_search
from sudoku_gym import board, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import BankSource

FOUR = Geometry.standard(4)


def roots(count, blanks, seed=0):
    source = BankSource(puzzles.load("4x4", "train"))
    boards, solutions = source.sample(count, blanks, np.random.default_rng(seed))
    return boards, solutions, board.candidates(boards).reshape(count, -1)


def arbitrary(boards, masks):
    """A fixed function of the board that looks random."""
    priors, values = np.zeros(masks.shape, np.float32), np.zeros(len(boards), np.float32)
    for i, (one, mask) in enumerate(zip(boards, masks, strict=True)):
        rng = np.random.default_rng(int.from_bytes(one.tobytes(), "little"))
        weights = rng.random(len(mask)) ** 3 * mask
        priors[i], values[i] = weights / weights.sum(), rng.random()
    return priors, values


def order_of_visits(considered, simulations):
    """How many visits the move of each simulation has had: Algorithm 2 as a list."""
    if considered == 1:
        return list(range(simulations))
    phases, visits, order = math.ceil(math.log2(considered)), [0] * considered, []
    while len(order) < simulations:
        for _ in range(max(1, simulations // (phases * considered))):
            order += visits[:considered]
            visits[:considered] = [count + 1 for count in visits[:considered]]
        considered = max(2, considered // 2)
    return order[:simulations]


class PlainGumbel:
    """Gumbel MuZero's search for one board: nested dictionaries, recursion, all moves each time."""

    def __init__(self, config, evaluate):
        self.config, self.evaluate = config, evaluate

    def node(self, cells):
        mask = board.candidates(cells[None]).reshape(1, -1)
        dead = ((cells.ravel() == 0) & ~mask.reshape(16, 4).any(1)).any()
        if not mask.any() or dead:
            solved = bool(board.is_solved(cells[None])[0])
            fraction = float(np.float32(board.constraint_fraction(cells[None])[0]))
            return {"end": float(solved) if self.config.reward == "sparse" else fraction}
        priors, values = self.evaluate(cells[None], mask)
        return {
            "cells": cells,
            "value": float(values[0]),
            "prior": {int(a): float(priors[0, a]) for a in np.flatnonzero(mask[0])},
            "visits": {},
            "total": {},
            "next": {},
        }

    def q(self, node):
        """The completed Q of every move, equation 33, and sigma's factor."""
        visits = node["visits"]
        found = {a: node["total"][a] / n for a, n in visits.items()}
        mixed = node["value"]
        if visits:
            mass = sum(node["prior"][a] for a in visits)
            mean = sum(node["prior"][a] * found[a] for a in visits) / mass
            count = sum(visits.values())
            mixed = (mixed + count * mean) / (1 + count)
        scale = (self.config.c_visit + max(visits.values(), default=0)) * self.config.c_scale
        return {a: found.get(a, mixed) for a in node["prior"]}, scale

    def improved(self, node):
        q, scale = self.q(node)
        logits = {a: math.log(p) + scale * q[a] for a, p in node["prior"].items()}
        top = max(logits.values())
        total = sum(math.exp(value - top) for value in logits.values())
        return {a: math.exp(value - top) / total for a, value in logits.items()}

    def simulate(self, node, choose):
        if "end" in node:
            return node["end"]
        action = choose(node)
        if action in node["next"]:
            value = self.simulate(node["next"][action], self.inner)
        else:
            cells = node["cells"].copy()
            cells.ravel()[action // 4] = action % 4 + 1
            leaf = node["next"][action] = self.node(cells)
            value = leaf.get("end", leaf.get("value"))
        node["visits"][action] = node["visits"].get(action, 0) + 1
        node["total"][action] = node["total"].get(action, 0.0) + value
        return value

    def inner(self, node):
        policy, count = self.improved(node), sum(node["visits"].values())
        return max(policy, key=lambda a: policy[a] - node["visits"].get(a, 0) / (1 + count))

    def run(self, cells, noise):
        root = self.node(cells)
        considered = min(self.config.considered, len(root["prior"]))
        for visits in [*order_of_visits(considered, self.config.simulations), None]:
            if visits is None:  # the choice of the move to play
                visits = max(root["visits"].values())
            q, scale = self.q(root)
            scores = {
                a: noise[a] + math.log(p) + scale * q[a]
                for a, p in root["prior"].items()
                if root["visits"].get(a, 0) == visits
            }
            best = max(scores, key=scores.get)
            if sum(root["visits"].values()) < self.config.simulations:
                self.simulate(root, lambda _, best=best: best)
        counts, policy = np.zeros(64, np.int64), np.zeros(64)
        for action, count in root["visits"].items():
            counts[action] = count
        for action, share in self.improved(root).items():
            policy[action] = share
        return counts, policy, best


@pytest.mark.parametrize("reward", ["terminal", "sparse"])
@pytest.mark.parametrize("simulations", [1, 8, 13, 60])
@pytest.mark.parametrize("considered", [1, 5, 16])
def test_equals_the_plain_search(considered, simulations, reward):
    config = SearchConfig(
        root="gumbel", simulations=simulations, considered=considered, reward=reward, proofs=False
    )
    boards, _, masks = roots(8, (3, 9))
    found = tree_search(boards, masks, FOUR, arbitrary, config, rng=np.random.default_rng(7))
    noise = np.random.default_rng(7).gumbel(size=masks.shape)
    for i, cells in enumerate(boards):
        counts, policy, best = PlainGumbel(config, arbitrary).run(cells, noise[i])
        np.testing.assert_array_equal(found.visit_counts[i], counts)
        np.testing.assert_allclose(found.action_weights[i], policy, atol=1e-5)
        if not found.solved[i].any():
            assert found.best_actions()[i] == best


def test_moves_that_fell_out_go_on_where_all_others_of_a_round_are_refuted():
    """The last picks of a round are refuted here: no move has had as many visits as it asks for."""
    nine = Geometry.standard(9)
    boards = puzzles.load("9x9", "test").puzzles[:4]
    masks = board.candidates(boards).reshape(4, -1)

    def uniform(boards, masks):
        priors = masks / masks.sum(1, keepdims=True, dtype=np.float32)
        return priors, np.full(len(boards), 0.5, np.float32)

    config = SearchConfig(simulations=40, root="gumbel", reward="sparse", considered=3)
    found = tree_search(boards, masks, nine, uniform, config)
    assert (found.visit_counts.sum(1) <= 40).all()
    assert not found.refuted[np.arange(4), found.best_actions()].any()
