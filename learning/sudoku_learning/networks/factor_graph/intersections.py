"""Intersections of units: what they see of the messages, and who reads them; with derivatives.

Rows of `views` hold three parts: an intersection's state, then the scaled logs of the messages
inside it and of those outside it, which `see` writes. Sums are taken list by list in the order of
their lengths, then combined.
"""

from __future__ import annotations

from sudoku_learning.networks.factor_graph.reference import FLOOR, REPLY_SCALE
from sudoku_learning.networks.factor_graph.vectors import LANES, inner, load, log, spread, store

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,var-annotated"


@inner
def add_up_parts(graph, span, messages, parts, width):
    """Write the sum of the messages on each list of seats, rows `[4 Q]`."""
    first = 4 * span.intersection
    for row in range(first, 4 * span.last_intersection):
        for j in range(0, width, LANES):
            total = spread(FLOOR)
            for i in range(graph.first_part[row], graph.first_part[row + 1]):
                total = total + load(messages, (graph.parts[i] - span.seat) * width + j)
            store(parts, (row - first) * width + j, total)


@inner
def see(graph, span, parts, views, width):
    """Write each intersection's view of its two units: who claims a place inside, who outside."""
    scale = spread(REPLY_SCALE)
    first = 4 * span.intersection
    for q in range(span.intersection, span.last_intersection):
        for outside in range(2):
            a = (graph.parts_of[q, outside] - first) * width
            b = (graph.parts_of[q, 2 + outside] - first) * width
            at = (3 * (q - span.intersection) + 1 + outside) * width
            for j in range(0, width, LANES):
                store(views, at + j, scale * log(load(parts, a + j) * load(parts, b + j)))


@inner
def see_back(graph, span, parts, grad_views, width):
    """Replace the sums in `parts` by their derivatives, given those of the views."""
    scale = spread(REPLY_SCALE)
    first = 4 * span.intersection
    for q in range(span.intersection, span.last_intersection):
        for outside in range(2):
            a = (graph.parts_of[q, outside] - first) * width
            b = (graph.parts_of[q, 2 + outside] - first) * width
            at = (3 * (q - span.intersection) + 1 + outside) * width
            for j in range(0, width, LANES):
                left, right = load(parts, a + j), load(parts, b + j)
                grad = scale * load(grad_views, at + j) / (left * right)
                store(parts, a + j, grad * right)
                store(parts, b + j, grad * left)


@inner
def add_up_parts_back(graph, span, grad_parts, grad_messages, width):
    """Add the derivatives of the messages, given those of the sums."""
    first = 4 * span.intersection
    for row in range(first, 4 * span.last_intersection):
        for j in range(0, width, LANES):
            grad = load(grad_parts, (row - first) * width + j)
            for i in range(graph.first_part[row], graph.first_part[row + 1]):
                at = (graph.parts[i] - span.seat) * width + j
                store(grad_messages, at, load(grad_messages, at) + grad)


@inner
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


@inner
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
