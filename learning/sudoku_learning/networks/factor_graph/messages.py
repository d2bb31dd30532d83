"""Messages between placements and constraints, and their derivatives, for one board at a time.

Rows of a board's placements and seats are counted from 0. Leaving one message out of a sum is done
by adding up what stands before it and what stands after it, not by subtraction: where one message
is a thousand times the others, the difference would be noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sudoku_learning.networks.factor_graph.reference import FLOOR, LARGEST_MESSAGE, REPLY_SCALE
from sudoku_learning.networks.factor_graph.vectors import (
    LANES,
    clamp,
    exp,
    inner,
    load,
    log,
    multiply_add,
    spread,
    store,
    where_between,
)

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,var-annotated,arg-type"

MOST_SEATS = 32  # of a constraint; boards have up to 25 digits


class Span(NamedTuple):
    """Where a board stands in its graph: its first and last plus one of each kind."""

    placement: int
    last_placement: int
    constraint: int
    last_constraint: int
    seat: int
    last_seat: int
    intersection: int
    last_intersection: int


@inner
def span_of(graph, board):
    """Return the span of a board."""
    first, last = graph.first_constraint[board], graph.first_constraint[board + 1]
    return Span(
        graph.first_placement[board],
        graph.first_placement[board + 1],
        first,
        last,
        np.int64(graph.first_seat[first]),
        np.int64(graph.first_seat[last]),
        graph.first_intersection[board],
        graph.first_intersection[board + 1],
    )


@inner
def send(graph, span, said, gamma, replies, messages):
    """Write the message on each seat: exp(clamp(said + gamma * reply))."""
    width = len(gamma)
    low, high = spread(-LARGEST_MESSAGE), spread(LARGEST_MESSAGE)
    for seat in range(span.last_seat - span.seat):
        said_at = (graph.occupants[span.seat + seat] - span.placement) * width
        for j in range(0, width, LANES):
            at = seat * width + j
            told = multiply_add(load(gamma, j), load(replies, at), load(said, said_at + j))
            store(messages, at, exp(clamp(told, low, high)))


@inner
def reply(graph, span, messages, replies, width):
    """Write what each constraint replies to each seat: log of the other messages' sum."""
    floor, nothing = spread(FLOOR), spread(0.0)
    for c in range(span.constraint, span.last_constraint):
        first, last = graph.first_seat[c] - span.seat, graph.first_seat[c + 1] - span.seat
        for j in range(0, width, LANES):
            before = floor
            for seat in range(first, last):
                at = seat * width + j
                store(replies, at, before)
                before = before + load(messages, at)
            after = nothing
            for seat in range(last - 1, first - 1, -1):
                at = seat * width + j
                store(replies, at, log(load(replies, at) + after))
                after = after + load(messages, at)


@inner
def add_up(graph, span, messages, totals, width):
    """Write the log of the sum of each constraint's messages to `totals [C H]`."""
    for c in range(span.constraint, span.last_constraint):
        first, last = graph.first_seat[c] - span.seat, graph.first_seat[c + 1] - span.seat
        for j in range(0, width, LANES):
            total = spread(FLOOR)
            for seat in range(first, last):
                total = total + load(messages, seat * width + j)
            store(totals, c * width + j, log(total))


@inner
def hear(graph, span, replies, x, x_width, width):
    """Write the scaled sum of each placement's replies into the second part of its row of `x`."""
    scale = spread(REPLY_SCALE)
    num_seats = len(graph.occupants)
    beyond = span.last_seat - span.seat - num_seats
    for p in range(span.placement, span.last_placement):
        for j in range(0, width, LANES):
            total = spread(0.0)
            for k in range(graph.seats_of.shape[1]):
                seat = graph.seats_of[p, k]
                row = seat - span.seat if seat < num_seats else seat + beyond
                total = total + load(replies, row * width + j)
            store(x, (p - span.placement) * x_width + width + j, total * scale)


@inner
def add_up_back(graph, span, messages, grad_totals, grad_messages, width):
    """Write the derivatives of the messages, given those of `add_up`'s result."""
    for c in range(span.constraint, span.last_constraint):
        first, last = graph.first_seat[c] - span.seat, graph.first_seat[c + 1] - span.seat
        for j in range(0, width, LANES):
            total = spread(FLOOR)
            for seat in range(first, last):
                total = total + load(messages, seat * width + j)
            grad = load(grad_totals, c * width + j) / total
            for seat in range(first, last):
                at = seat * width + j
                store(grad_messages, at, load(grad_messages, at) + grad)


@inner
def reply_back(graph, span, messages, grad_x, x_width, grad_replies, grad_messages, width):
    """Add the derivatives of the messages, given those of replies and of what was heard."""
    scale = spread(REPLY_SCALE)
    grads = np.empty(MOST_SEATS * LANES, np.float32)
    befores = np.empty(MOST_SEATS * LANES, np.float32)
    for c in range(span.constraint, span.last_constraint):
        first, last = graph.first_seat[c] - span.seat, graph.first_seat[c + 1] - span.seat
        for j in range(0, width, LANES):
            before = spread(FLOOR)
            for seat in range(first, last):
                store(befores, (seat - first) * LANES, before)
                before = before + load(messages, seat * width + j)
            after = grad_after = spread(0.0)
            for seat in range(last - 1, first - 1, -1):
                at, here = seat * width + j, (seat - first) * LANES
                p = graph.occupants[span.seat + seat] - span.placement
                heard = load(grad_x, p * x_width + width + j)
                grad = multiply_add(scale, heard, load(grad_replies, at))
                grad = grad / (load(befores, here) + after)
                after = after + load(messages, at)
                store(grads, here, grad)
                store(grad_messages, at, load(grad_messages, at) + grad_after)
                grad_after = grad_after + grad
            grad_before = spread(0.0)
            for seat in range(first, last):
                at = seat * width + j
                store(grad_messages, at, load(grad_messages, at) + grad_before)
                grad_before = grad_before + load(grads, (seat - first) * LANES)


@inner
def send_back(
    graph, span, messages, gamma, replies, grad_messages, grad_said, grad_gamma, grad_replies
):
    """Turn derivatives of messages into those of what was said, of gamma and of old replies."""
    width = len(gamma)
    least, most = exp(spread(-LARGEST_MESSAGE)), exp(spread(LARGEST_MESSAGE))
    for j in range(0, width, LANES):
        gain, grad_gain = load(gamma, j), load(grad_gamma, j)
        for seat in range(span.last_seat - span.seat):
            at = seat * width + j
            said_at = (graph.occupants[span.seat + seat] - span.placement) * width + j
            message = load(messages, at)
            grad = where_between(message, least, most, load(grad_messages, at) * message)
            store(grad_messages, at, spread(0.0))
            store(grad_said, said_at, load(grad_said, said_at) + grad)
            grad_gain = multiply_add(grad, load(replies, at), grad_gain)
            store(grad_replies, at, grad * gain)
        store(grad_gamma, j, grad_gain)
