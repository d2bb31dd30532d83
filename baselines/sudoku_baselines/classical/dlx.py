"""Algorithm X with dancing links: Sudoku as an exact cover, over any unit table.

*Items* (columns in the older literature) are blank cells, and digits that a unit still lacks; each
must be covered once, by *options* (rows): a candidate covers its cell and its digit in each unit.

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
from numpy.typing import NDArray

from sudoku_baselines.classical.tree_search import FOUND, LIMIT_REACHED, NO_SOLUTION, TreeSearch
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry
from sudoku_gym.kernels.rules import used_digits

ItemRule = Literal["failures", "fewest", "first"]
ITEM_RULES: tuple[ItemRule, ...] = get_args(ItemRule)
_FAILURES, _FEWEST, _FIRST = range(3)
_ONE = np.uint32(1)


@njit(cache=True)
def _clear(links, num_items):
    """Link the heads of so many items, without options; return the node of the first spacer."""
    left, right, up, down, top, size, _ = links
    for item in range(num_items + 1):
        left[item], right[item] = item - 1, item + 1
        up[item] = down[item] = top[item] = item
        size[item] = 0
    left[0], right[num_items] = num_items, 0
    spacer = num_items + 1
    top[spacer] = 0
    return spacer


@njit(cache=True)
def _append_option(links, spacer, items, count, name):
    """Put `items[:count]` below the options of these items; return the spacer behind the option."""
    _, _, up, down, top, size, names = links
    node = spacer
    for i in range(count):
        item = items[i]
        node += 1
        top[node], names[node] = item, name
        above = up[item]
        up[node], down[node] = above, item
        down[above] = up[item] = node
        size[item] += 1
    down[spacer] = node
    node += 1
    top[node], up[node] = 0, spacer + 1
    return node


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
    the head of its item once all options of the item were tried. The caller chooses the first item.
    """
    _, right, _, down, top, _, _ = links
    nodes, depth = counts.nodes, counts.depth
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


@njit(cache=True)
def _link_board(links, grid, tables, work):
    """Write the exact cover of a board (line 6)."""
    units, cell_units, _ = tables
    used, head_of, items = work
    size, cells = units.shape[1], len(grid)
    used_digits(grid, units, used)
    spacer = _clear(links, _number_items(grid, used, head_of, size))
    for cell in range(cells):
        if grid[cell] > 0:
            continue
        items[0] = head_of[cell]
        taken = np.uint32(0)
        for k in range(cell_units.shape[1]):
            taken |= used[cell_units[cell, k]]
        for digit in range(size):
            if (taken >> np.uint32(digit)) & _ONE == 0:
                count = 1
                for k in range(cell_units.shape[1]):
                    unit = cell_units[cell, k]
                    if unit < len(units):
                        items[count] = head_of[cells + unit * size + digit]
                        count += 1
                spacer = _append_option(links, spacer, items, count, cell * size + digit)


@njit(cache=True)
def _number_items(grid, used, head_of, size):
    """Number what is to be covered from 1: blank cells, and digits that a unit lacks."""
    number = 0
    for cell in range(len(grid)):
        if grid[cell] == 0:
            number += 1
            head_of[cell] = number
    for unit in range(len(used) - 1):
        for digit in range(size):
            if (used[unit] >> np.uint32(digit)) & _ONE == 0:
                number += 1
                head_of[len(grid) + unit * size + digit] = number
    return number


@njit(cache=True, nogil=True)
def _search_all(grids, outcomes, counts, node_limit, tables, space):
    links, chosen, failures, work = space
    _, right, _, _, _, _, names = links
    units, _, rule = tables
    size = units.shape[1]
    for b in range(len(grids)):
        failures[:] = 0
        _link_board(links, grids[b], tables, work)
        if right[0] == 0:  # line 7
            outcomes[b] = FOUND
            continue
        chosen[0] = _choose_item(links, failures, rule)
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
        items = geometry.num_cells + geometry.units.size
        per_option = 1 + geometry.cell_units.shape[1]
        used = np.zeros(len(geometry.units) + 1, np.uint32)
        work = (used, np.zeros(items, np.uint32), np.zeros(per_option, np.uint32))
        links = _new_links(items, geometry.num_placements, per_option)
        chosen = np.zeros(geometry.num_cells + 1, np.uint32)
        failures = np.zeros(items + 1, np.int64)
        tables = (geometry.units, geometry.cell_units, self._rule)
        return tables, (links, chosen, failures, work)


def _new_links(items: int, options: int, per_option: int) -> tuple[NDArray[np.uint32], ...]:
    """Allocate links: left, right, up, down, top, size, names."""
    heads = items + 1
    nodes = heads + 1 + options * (per_option + 1)
    return tuple(np.zeros(n, np.uint32) for n in (heads, heads, nodes, nodes, nodes, heads, nodes))
