"""Algorithm X with dancing links: Sudoku as an exact cover, over any unit table.

*Items* (columns in the older literature) are the constraints of `sudoku_gym.geometry.exact_cover`
that a board leaves open; each must be covered once, by *options* (rows), its candidates.

The links are index arrays. Nodes 1 to I are the heads of the items, in a circular list through
node 0; each head starts the circular list of its options, up and down. The nodes of one option
stand side by side between two *spacers*: a spacer's `up` is the first node of the option before
it, its `down` the last node of the option behind it.

Papers: Panchal, "Sudoku solving AI agents", Algorithm 2; Knuth, "Dancing links" (2000), and The Art
of Computer Programming 7.2.2.1, Algorithm X, for the layout; Boussemart et al., "Boosting
systematic search by weighting constraints" (2004), for dom/wdeg.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from sudoku_baselines.classical.tree_search import FOUND, LIMIT_REACHED, NO_SOLUTION, TreeSearch
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.exact_cover import constraint_table

ItemRule = Literal["failures", "fewest", "first"]
ITEM_RULES: tuple[ItemRule, ...] = get_args(ItemRule)
_FAILURES, _FEWEST, _FIRST = range(3)
_ONE = np.uint32(1)


@njit(cache=True)
def _link(links, table, is_covered):
    """Link the items that are not covered, and the options int32 `[P, K]` that cover none that is.

    Items are counted from 0 in the table and in bool `[I + 1]`, whose last one pads the table.
    """
    left, right, up, down, top, size, names = links
    items = len(is_covered) - 1
    before = node = 0
    for item in range(1, items + 1):
        up[item] = down[item] = top[item] = item
        size[item] = 0
        if not is_covered[item - 1]:
            left[item], right[before] = before, item
            before = item
    left[0], right[before] = before, 0
    node = items + 1
    top[node] = 0
    for name in range(len(table)):
        is_open = True
        for k in range(table.shape[1]):
            is_open &= not is_covered[table[name, k]]
        if not is_open:
            continue
        spacer = node
        for k in range(table.shape[1]):
            item = table[name, k] + 1
            if item <= items:
                node += 1
                top[node], names[node] = item, name
                above = up[item]
                up[node], down[node] = above, item
                down[above] = up[item] = node
                size[item] += 1
        down[spacer] = node
        node += 1
        top[node], up[node] = 0, spacer + 1


@njit(cache=True)
def _cover(links, item):
    """Take an item out of the list of items, and its options out of all other lists."""
    left, right, up, down, top, size, _ = links
    node = down[item]
    while node != item:
        other = node + _ONE
        while other != node:
            if top[other] == 0:
                other = up[other]
            else:
                above, below = up[other], down[other]
                down[above], up[below] = below, above
                size[top[other]] -= _ONE
                other += _ONE
        node = down[node]
    before, behind = left[item], right[item]
    right[before], left[behind] = behind, before


@njit(cache=True)
def _uncover(links, item):
    """Undo `_cover`, step by step in the opposite order."""
    left, right, up, down, top, size, _ = links
    right[left[item]] = left[right[item]] = item
    node = up[item]
    while node != item:
        other = node - _ONE
        while other != node:
            if top[other] == 0:
                other = down[other]
            else:
                down[up[other]] = up[down[other]] = other
                size[top[other]] += _ONE
                other -= _ONE
        node = up[node]


@njit(cache=True)
def _choose_option(links, node):
    """Cover the other items of a node's option."""
    _, _, up, _, top, _, _ = links
    other = node + _ONE
    while other != node:
        if top[other] == 0:
            other = up[other]
        else:
            _cover(links, top[other])
            other += _ONE


@njit(cache=True)
def _undo_option(links, node):
    """Undo `_choose_option`, in the opposite order."""
    _, _, _, down, top, _, _ = links
    other = node - _ONE
    while other != node:
        if top[other] == 0:
            other = down[other]
        else:
            _uncover(links, top[other])
            other -= _ONE


@njit(cache=True)
def _choose_item(links, failures, rule):
    """Cover an item chosen by the rule; return its first option's node, or its head."""
    _, right, _, down, _, size, _ = links
    best = item = right[0]
    while rule != _FIRST and item != 0 and size[best] > _ONE:
        fewer = size[item] < size[best]
        tied = rule == _FAILURES and size[item] == size[best]
        if fewer or (tied and failures[item] > failures[best]):
            best = item
        item = right[item]
    _cover(links, best)
    return down[best]


@njit(cache=True)
def _search(links, chosen, failures, rule, counts, node_limit):
    """Cover all items; return the outcome.

    `chosen[:depth]` holds a node of each option in use, `chosen[depth]` the node to be tried next:
    the head of its item once all options of the item were tried.
    """
    _, right, _, down, top, _, _ = links
    nodes, depth = counts.nodes, counts.depth
    if right[0] == 0:  # line 7
        return FOUND
    chosen[0] = _choose_item(links, failures, rule)
    while True:
        node = chosen[depth]
        if node == top[node]:
            failures[node] += 1
            _uncover(links, node)
            if depth == 0:
                outcome = NO_SOLUTION  # line 18
                break
            depth -= 1
            _undo_option(links, chosen[depth])  # line 16
            chosen[depth] = down[chosen[depth]]
            continue
        if nodes == node_limit:
            outcome = LIMIT_REACHED
            break
        nodes += 1
        _choose_option(links, node)  # line 12
        depth += 1
        if right[0] == 0:  # line 13
            outcome = FOUND
            break
        chosen[depth] = _choose_item(links, failures, rule)  # lines 10-11
    counts.nodes, counts.depth, counts.assignments = nodes, depth, nodes
    return outcome


@njit(cache=True, nogil=True)
def _search_all(grids, outcomes, counts, node_limit, tables, space):
    table, rule = tables
    links, is_covered, chosen, failures = space
    size, names = len(table) // grids.shape[1], links[-1]
    for b in range(len(grids)):
        failures[:] = 0
        is_covered[:] = False
        for cell in np.flatnonzero(grids[b]):
            for item in table[cell * size + grids[b, cell] - 1]:
                is_covered[item] = True
        is_covered[-1] = False
        _link(links, table, is_covered)  # line 6
        outcomes[b] = _search(links, chosen, failures, rule, counts[b], node_limit)
        if outcomes[b] == FOUND:
            for node in chosen[: counts[b].depth]:
                grids[b, names[node] // size] = names[node] % size + 1


class DancingLinks(TreeSearch):
    """Algorithm 2 as a solver; every option it tries is an assignment. See `TreeSearch`.

    `item_rule` is which open item is branched on next. `"first"`: the first one, Algorithm X
    without any rule; `"fewest"`: the first one with the fewest options, Knuth's rule; `"failures"`,
    ours: of those with the fewest options the one that ran out of options most often so far
    (dom/wdeg with the weights as tie-breaker), which matters from 16x16 up. ValueError if unknown.
    """

    _kernel = staticmethod(_search_all)

    def __init__(self, node_limit: int | None = None, item_rule: ItemRule = "failures") -> None:
        super().__init__(node_limit)
        self._rule = ITEM_RULES.index(item_rule)

    def _prepare(self, geometry: Geometry) -> tuple[Any, Any]:
        table, heads = constraint_table(geometry), geometry.num_cells + geometry.units.size + 1
        nodes = heads + len(table) * (table.shape[1] + 1) + 1
        sizes = heads, heads, nodes, nodes, nodes, heads, nodes  # left, right, up, down, top, ...
        links = tuple(np.zeros(count, np.uint32) for count in sizes)
        chosen, failures = np.zeros(geometry.num_cells + 1, np.uint32), np.zeros(heads, np.int64)
        return (table, self._rule), (links, np.zeros(heads, np.bool_), chosen, failures)
