"""Intersections of units: what they see of the messages, and who reads them; with derivatives.

Rows of `views` hold three parts: an intersection's state, then the scaled logs of the messages
inside it and of those outside it (`see` writes both).
"""

from __future__ import annotations

from sudoku_gym.kernels.compiler import njit

from sudoku_learning.networks.exact_cover.reference import FLOOR, REPLY_SCALE
from sudoku_learning.networks.exact_cover.vectors import LANES, load, log, spread, store

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


@njit()
def see(graph, span, messages, views, width):
    """Write each intersection's view of its two units: who claims a place inside, who outside."""
    scale = spread(REPLY_SCALE)
    for q in range(span.intersection, span.last_intersection):
        for outside in range(2):
            for j in range(0, width, LANES):
                a = _sum_part(graph, span, messages, 4 * q + outside, width, j)
                b = _sum_part(graph, span, messages, 4 * q + 2 + outside, width, j)
                at = (3 * (q - span.intersection) + 1 + outside) * width + j
                store(views, at, scale * log(a * b))


@njit()
def see_back(graph, span, messages, grad_views, grad_messages, width):
    """Add the derivatives of the messages, given those of the views."""
    scale = spread(REPLY_SCALE)
    for q in range(span.intersection, span.last_intersection):
        for outside in range(2):
            for j in range(0, width, LANES):
                a = _sum_part(graph, span, messages, 4 * q + outside, width, j)
                b = _sum_part(graph, span, messages, 4 * q + 2 + outside, width, j)
                at = (3 * (q - span.intersection) + 1 + outside) * width + j
                grad = scale * load(grad_views, at) / (a * b)
                _add_to_part(graph, span, grad_messages, 4 * q + outside, width, j, grad * b)
                _add_to_part(graph, span, grad_messages, 4 * q + 2 + outside, width, j, grad * a)


@njit()
def read(graph, span, views, x, width):
    """Write the sum of the states of each placement's intersections to its row's third part."""
    for p in range(span.placement, span.last_placement):
        for j in range(0, width, LANES):
            total = spread(0.0)
            for k in range(graph.intersections_of.shape[1]):
                q = graph.intersections_of[p, k]
                if q < span.last_intersection:
                    total = total + load(views, 3 * (q - span.intersection) * width + j)
            store(x, (3 * (p - span.placement) + 2) * width + j, total)


@njit()
def read_back(graph, span, grad_x, grad_views, width):
    """Add the derivatives of the states of intersections, given those of what was read."""
    for p in range(span.placement, span.last_placement):
        for k in range(graph.intersections_of.shape[1]):
            q = graph.intersections_of[p, k]
            if q < span.last_intersection:
                for j in range(0, width, LANES):
                    at = 3 * (q - span.intersection) * width + j
                    heard = load(grad_x, (3 * (p - span.placement) + 2) * width + j)
                    store(grad_views, at, load(grad_views, at) + heard)


@njit()
def _sum_part(graph, span, messages, part, width, j):
    total = spread(FLOOR)
    for i in range(graph.first_part[part], graph.first_part[part + 1]):
        total = total + load(messages, (graph.parts[i] - span.seat) * width + j)
    return total


@njit()
def _add_to_part(graph, span, grad_messages, part, width, j, grad):
    for i in range(graph.first_part[part], graph.first_part[part + 1]):
        at = (graph.parts[i] - span.seat) * width + j
        store(grad_messages, at, load(grad_messages, at) + grad)
