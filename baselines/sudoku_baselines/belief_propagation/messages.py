"""Messages of one all-different constraint, and of a digit's placements on the whole board.

Paper: Khan, Jabbari, Jabbari and Ghanbarinejad, "Solving Sudoku using probabilistic graphical
models". Their exact messages cost N! terms; dynamic programming over sets of digits gives the same
numbers in O(N 2^N) for a whole constraint. A message is zero only where no assignment is left.

A *placement factor*, an addition of ours, sums over every way to put its digit N times so that each
unit holds it once (46,656 ways on an empty 9x9 board). Its zeros are exact: they include locked
candidates, X-wings and every larger fish. The ways are the paths of a layered graph: a layer is a
row, a node the set of other units used so far that reach on below, an edge a cell of the next row.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry

Rule = Literal["sum-product", "max-product", "polynomial"]
SUM_PRODUCT, MAX_PRODUCT, POLYNOMIAL = range(3)  # the same as numbers
MAX_EXACT = 20  # cells; 2^20 sets of digits take 16 MiB
MAX_EDGES = 200_000  # of a graph of placements


@njit(cache=True)
def popcounts(size):
    """Return how many digits each set of `size` digits holds: int64 `[2**size]`."""
    counts = np.zeros(1 << size, np.int64)
    for digits in range(1, len(counts)):
        counts[digits] = counts[digits >> 1] + (digits & 1)
    return counts


@njit(cache=True)
def exact_messages(incoming, cells, take_max, counts, forward, backward, outgoing):
    """Write the exact messages of the first `cells` rows and columns of `incoming`.

    `forward[S]` sums (or maximises) over the ways to give the digits S to the first |S| cells,
    `backward[S]` over the ways to give the digits outside S to the others. Cell k gets digit x
    where the k cells before it hold S and those after it the rest. `take_max` is for max-product,
    `counts` are the `popcounts` of at least `cells`, and both scratch arrays have 2**cells places.
    """
    full = (1 << cells) - 1
    forward[0] = 1.0
    for digits in range(1, full + 1):
        cell = counts[digits] - 1
        total = 0.0
        for digit in range(cells):
            if (digits >> digit) & 1:
                term = incoming[cell, digit] * forward[digits ^ (1 << digit)]
                total = max(total, term) if take_max else total + term
        forward[digits] = total
    for cell in range(cells):
        for digit in range(cells):
            outgoing[cell, digit] = 0.0
    backward[full] = 1.0
    for digits in range(full - 1, -1, -1):
        cell = counts[digits]
        total = 0.0
        before = forward[digits]
        for digit in range(cells):
            if not (digits >> digit) & 1:
                after = backward[digits | (1 << digit)]
                term = incoming[cell, digit] * after
                message = before * after
                if take_max:
                    total = max(total, term)
                    outgoing[cell, digit] = max(outgoing[cell, digit], message)
                else:
                    total += term
                    outgoing[cell, digit] += message
        backward[digits] = total


@njit(cache=True)
def polynomial_messages(incoming, cells, outgoing):
    """Write equation 5, prod over the other cells of (1 - incoming), in O(cells^2).

    The first `cells` rows of `incoming` sum to 1.
    """
    for digit in range(cells):
        product = 1.0
        for cell in range(cells):
            outgoing[cell, digit] = product
            product *= max(1.0 - incoming[cell, digit], 0.0)
        product = 1.0
        for cell in range(cells - 1, -1, -1):
            outgoing[cell, digit] *= product
            product *= max(1.0 - incoming[cell, digit], 0.0)


@cache
def placement_graph(geometry: Geometry) -> NDArray[np.int32]:
    """Return the edges of the layered graph in the order of their rows, int32 `[E, 3]`.

    Each is the node it leaves, the node it reaches, its cell. Node 0 is the first, the largest
    number the last. `[0, 3]` if there would be more than `MAX_EDGES`, as from 25x25 on.
    """
    size, units = geometry.size, len(geometry.units)
    # Rows are layers; all other units are bits, dropped after the last row they reach into.
    bits = [
        sum(1 << int(unit) for unit in own if size <= unit < units) for own in geometry.cell_units
    ]
    last_row = [int(unit.max()) // size for unit in geometry.units]
    edges: list[tuple[int, int, int]] = []
    layer, first = {0: 0}, 0
    for row in range(size):
        ending = sum(1 << unit for unit in range(size, units) if last_row[unit] == row)
        reached: dict[int, int] = {}
        for used, node in layer.items():
            for cell in range(row * size, (row + 1) * size):
                now = used | bits[cell]
                if used & bits[cell] or now & ending != ending:
                    continue
                target = reached.setdefault(now & ~ending, len(reached))
                edges.append((first + node, first + len(layer) + target, cell))
            if len(edges) > MAX_EDGES:
                return np.empty((0, 3), np.int32)
        first, layer = first + len(layer), reached
    return np.array(edges, np.int32).reshape(-1, 3)


@njit(cache=True)
def placement_messages(edges, first_edge, weights, forward, backward, messages):
    """Sum the weights of all placements of one digit through each cell, its own weight left out.

    Edges on no path of positive weight are dropped: zeros are exact, so they stay zero. The others
    move to the end of `edges`; returns where they begin now, `len(edges)` if no placement is left.
    """
    forward[:] = 0.0
    backward[:] = 0.0
    messages[:] = 0.0
    forward[0] = 1.0
    backward[-1] = 1.0
    for k in range(first_edge, len(edges)):
        forward[edges[k, 1]] += forward[edges[k, 0]] * weights[edges[k, 2]]
    kept = len(edges)
    for k in range(len(edges) - 1, first_edge - 1, -1):
        before, after, cell = edges[k, 0], edges[k, 1], edges[k, 2]
        rest = forward[before] * backward[after]
        if rest > 0 and weights[cell] > 0:
            backward[before] += weights[cell] * backward[after]
            kept -= 1
            edges[kept, 0], edges[kept, 1], edges[kept, 2] = before, after, cell
        if rest > 0:
            messages[cell] += rest
    return kept
