"""The picture of a search tree shows its moves, and which of them are refuted."""

import numpy as np
from matplotlib.colors import to_hex

from sudoku_agents.calphazero.search import BatchedSearch, SearchConfig
from sudoku_agents.calphazero.search.picture import COLOURS, draw_search
from sudoku_agents.calphazero.search.proofs import LOST
from sudoku_gym import board, puzzles


def test_every_node_is_drawn_and_refuted_moves_are_red():
    test = puzzles.load("4x4", "test")[40:41]
    masks = board.candidates(test.puzzles, test.geometry).reshape(1, -1)

    def uniform(boards, masks):
        priors = masks / masks.sum(1, keepdims=True, dtype=np.float32)
        return priors, np.full(len(boards), 0.5, np.float32)

    config = SearchConfig(simulations=20, root="gumbel", reward="sparse", branching="constraint")
    search = BatchedSearch(test.puzzles, test.geometry, config)
    found = search.search(np.arange(1), test.puzzles, masks, uniform)
    texts = draw_search(search).axes[0].texts
    assert len(texts) == search.trees.tree_size[0, 0] == 21
    red = [to_hex(each.get_bbox_patch().get_facecolor()) == COLOURS[LOST] for each in texts]
    moves = {
        each.get_text().split("\n")[0] for each, is_red in zip(texts, red, strict=True) if is_red
    }
    refuted = np.flatnonzero(found.refuted[0] & (found.visit_counts[0] > 0))
    assert len(refuted) and len(moves) < 20
    for action in refuted:
        row, column, digit = action // 16, action // 4 % 4, action % 4
        assert f"r{row + 1}c{column + 1} = {digit + 1}" in moves
    assert len(draw_search(search, nodes=5).axes[0].texts) == 5
