"""Forward and backward passes of all rounds, compiled, board by board while it sits in the cache.

Rows of channels are padded to whole vectors; padded channels have zero weights, stay at zero and
are heard by nobody. Numbers of rows are padded to whole blocks of the matrix products.

The backward pass runs the rounds again and keeps them for one board at a time: storing the rounds
of a whole batch takes as long (fresh memory has to be cleared and written) and 1.8 MB a board.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sudoku_gym.kernels.compiler import njit
from numpy.typing import NDArray

from sudoku_learning.networks.exact_cover.intersections import read, read_back, see, see_back
from sudoku_learning.networks.exact_cover.messages import (
    add_up,
    add_up_back,
    hear,
    reply,
    reply_back,
    send,
    send_back,
    span_of,
)
from sudoku_learning.networks.exact_cover.products import (
    ROWS,
    add_outer_products,
    add_product,
    add_rows,
    fill_rows,
)
from sudoku_learning.networks.exact_cover.reference import LARGEST_MESSAGE
from sudoku_learning.networks.exact_cover.vectors import (
    LANES,
    load,
    multiply_add,
    sigmoid_and_tanh,
    spread,
    store,
)

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

_Floats = NDArray[np.float32]


class Arrays(NamedTuple):
    """The weights (or their derivatives) as flat float32 arrays of padded width H, H a multiple of 8.

    Matrices stand row by row with a row for each input: `message [H, H]`, `gate [F H, 2 H]`,
    `view_gate [3 H, 2 H]`, where F is 3 with intersections and 2 without.
    """

    start: _Floats
    gamma: _Floats
    message: _Floats
    message_bias: _Floats
    gate: _Floats
    gate_bias: _Floats
    view_start: _Floats
    view_gate: _Floats
    view_gate_bias: _Floats


class Trace(NamedTuple):
    """What the rounds of a board leave behind, `[depth, ...]`: depth 1 keeps the last round only.

    Attributes:
        x: rows of placements: state, what it heard, and with intersections what it read of them.
        gates: rows of placements: z and n.
        replies: rows of seats, then one of zeros and one of the largest message.
        views: rows of intersections: state, view inside, view outside.
        view_gates: rows of intersections: z and n.
    """

    x: _Floats
    gates: _Floats
    replies: _Floats
    views: _Floats
    view_gates: _Floats


@njit(cache=True, nogil=True)
def forward(graph, weights, rounds, every_round, placements, constraints):
    """Write the states of placements `[R, P H]` and constraints `[R, C H]`, R = 1 or `rounds`."""
    width = len(weights.start)
    x_width = len(weights.gate) // len(weights.gate_bias)
    trace = _new_trace(graph, width, x_width, 1)
    said = np.empty(trace.gates.shape[1] // 2, np.float32)
    messages = np.empty(trace.replies.shape[1], np.float32)
    for board in range(len(graph.first_placement) - 1):
        span = span_of(graph, board)
        _set_out(span, weights, trace)
        _speak(graph, span, weights, trace, 0, said, messages)
        for step in range(rounds):
            _advance(graph, span, weights, trace, 0, 0, messages)
            _speak(graph, span, weights, trace, 0, said, messages)
            if every_round or step == rounds - 1:
                kept = step if every_round else 0
                num_rows = span.last_placement - span.placement
                _copy_rows(trace.x[0], x_width, placements[kept], span.placement, num_rows, width)
                add_up(graph, span, messages, constraints[kept], 0, width)


@njit(cache=True, nogil=True)
def backward(graph, weights, transposed, rounds, every_round, grads_of_placements, grads_of_constraints, grads):
    """Add the derivatives of the weights to `grads`, given those of `forward`'s results."""
    width = len(weights.start)
    x_width = len(weights.gate) // len(weights.gate_bias)
    trace = _new_trace(graph, width, x_width, rounds + 1)
    said = np.empty(trace.gates.shape[1] // 2, np.float32)
    messages = np.empty(trace.replies.shape[1], np.float32)
    grad_said = np.zeros_like(said)
    grad_messages = np.zeros_like(messages)
    grad_replies = np.empty_like(messages)
    grad_x = np.empty(trace.x.shape[1], np.float32)
    grad_views = np.empty(trace.views.shape[1], np.float32)
    for board in range(len(graph.first_placement) - 1):
        span = span_of(graph, board)
        _set_out(span, weights, trace)
        for step in range(rounds):
            _speak(graph, span, weights, trace, step, said, messages)
            _advance(graph, span, weights, trace, step, step + 1, messages)
        grad_x[:] = 0
        grad_views[:] = 0
        grad_replies[:] = 0
        for step in range(rounds, -1, -1):
            _speak(graph, span, weights, trace, step, said, messages)
            if step < rounds:
                _retreat_gates(graph, span, transposed, trace, step, messages, grad_x, grad_views, grad_messages, grads)
                reply_back(graph, span, messages, grad_x, x_width, grad_replies, grad_messages, width)
            if step and (every_round or step == rounds):
                kept = step - 1 if every_round else 0
                if grads_of_constraints.shape[1]:
                    add_up_back(graph, span, messages, grads_of_constraints[kept], 0, grad_messages, width)
            send_back(graph, span, messages, weights.gamma, trace.replies[step], grad_messages, grad_said, grads.gamma, grad_replies)
            num_rows = _padded(span.last_placement - span.placement)
            _speak_back(transposed, trace.x[step], x_width, grad_said, grad_x, grads, num_rows, width)
            if step and (every_round or step == rounds) and grads_of_placements.shape[1]:
                _add_rows_of(grads_of_placements[kept], span.placement, grad_x, x_width, span.last_placement - span.placement, width)
        _sum_states(grad_x, x_width, grads.start, _padded(span.last_placement - span.placement), width)
        _sum_states(grad_views, 3 * width, grads.view_start, _padded(span.last_intersection - span.intersection), width)


@njit()
def _padded(count):
    return (count + ROWS - 1) // ROWS * ROWS


@njit()
def _new_trace(graph, width, x_width, depth):
    rows = seats = views = 0
    for board in range(len(graph.first_placement) - 1):
        span = span_of(graph, board)
        rows = max(rows, _padded(span.last_placement - span.placement))
        seats = max(seats, span.last_seat - span.seat)
        views = max(views, _padded(span.last_intersection - span.intersection))
    return Trace(
        np.zeros((depth, rows * x_width), np.float32),
        np.empty((depth, rows * 2 * width), np.float32),
        np.empty((depth, (seats + 2) * width), np.float32),
        np.zeros((depth, views * 3 * width), np.float32),
        np.empty((depth, views * 2 * width), np.float32),
    )


@njit()
def _set_out(span, weights, trace):
    """Write the states before the first round, and the replies of the two rows beyond the seats."""
    width = len(weights.start)
    num_rows = _padded(span.last_placement - span.placement)
    x_width = len(weights.gate) // len(weights.gate_bias)
    for row in range(num_rows):
        trace.x[0, row * x_width : row * x_width + width] = weights.start
    for row in range(_padded(span.last_intersection - span.intersection)):
        trace.views[0, 3 * row * width : (3 * row + 1) * width] = weights.view_start
    end = (span.last_seat - span.seat) * width
    trace.replies[0, :end] = 0
    for step in range(len(trace.replies)):
        trace.replies[step, end : end + width] = 0
        trace.replies[step, end + width : end + 2 * width] = LARGEST_MESSAGE


@njit()
def _speak(graph, span, weights, trace, step, said, messages):
    """Turn the states of a step into the messages on all seats."""
    width = len(weights.start)
    x_width = len(weights.gate) // len(weights.gate_bias)
    num_rows = _padded(span.last_placement - span.placement)
    fill_rows(weights.message_bias, said, num_rows, width)
    add_product(trace.x[step], x_width, weights.message, width, width, said, width, num_rows)
    send(graph, span, said, weights.gamma, trace.replies[step], messages)


@njit()
def _advance(graph, span, weights, trace, now, then, messages):
    """Run a round: replies to the messages, then new states of intersections and placements."""
    width = len(weights.start)
    x_width = len(weights.gate) // len(weights.gate_bias)
    reply(graph, span, messages, trace.replies[then], width)
    hear(graph, span, trace.replies[then], trace.x[now], x_width, width)
    if x_width > 2 * width:
        see(graph, span, messages, trace.views[now], width)
        rows = _padded(span.last_intersection - span.intersection)
        _turn(trace.views, trace.view_gates[now], weights.view_gate, weights.view_gate_bias, now, then, rows, 3 * width)
        read(graph, span, trace.views[then], trace.x[now], width)
    rows = _padded(span.last_placement - span.placement)
    _turn(trace.x, trace.gates[now], weights.gate, weights.gate_bias, now, then, rows, x_width)


@njit()
def _turn(x, gates, weights, bias, now, then, num_rows, x_width):
    """Write the new states: h + z * (n - h)."""
    width = len(bias) // 2
    fill_rows(bias, gates, num_rows, 2 * width)
    add_product(x[now], x_width, weights, x_width, 2 * width, gates, 2 * width, num_rows)
    old, new = x[now], x[then]
    for row in range(num_rows):
        for j in range(0, width, LANES):
            at = row * 2 * width + j
            z, n = sigmoid_and_tanh(load(gates, at), load(gates, at + width))
            h = load(old, row * x_width + j)
            store(new, row * x_width + j, multiply_add(z, n - h, h))
            store(gates, at, z)
            store(gates, at + width, n)


@njit()
def _turn_back(x, gates, transposed, grad_x, grad_weights, grad_bias, num_rows, x_width):
    """Replace derivatives of new states in `grad_x` by those of old states and of the other parts."""
    width = len(grad_bias) // 2
    one = spread(1.0)
    for row in range(num_rows):
        for j in range(0, width, LANES):
            at, state = row * 2 * width + j, row * x_width + j
            z, n = load(gates, at), load(gates, at + width)
            grad = load(grad_x, state)
            kept = grad * (one - z)
            store(grad_x, state, kept)
            store(gates, at, kept * z * (n - load(x, state)))
            store(gates, at + width, grad * z * (one - n * n))
            for part in range(width, x_width, width):
                store(grad_x, state + part, spread(0.0))
    add_product(gates, 2 * width, transposed, 2 * width, x_width, grad_x, x_width, num_rows)
    add_outer_products(x, x_width, gates, 2 * width, x_width, 2 * width, grad_weights, num_rows)
    add_rows(gates, 2 * width, grad_bias, num_rows)


@njit()
def _retreat_gates(graph, span, transposed, trace, step, messages, grad_x, grad_views, grad_messages, grads):
    width = len(grads.start)
    x_width = len(grads.gate) // len(grads.gate_bias)
    rows = _padded(span.last_placement - span.placement)
    _turn_back(trace.x[step], trace.gates[step], transposed.gate, grad_x, grads.gate, grads.gate_bias, rows, x_width)
    if x_width > 2 * width:
        rows = _padded(span.last_intersection - span.intersection)
        read_back(graph, span, grad_x, grad_views, width)
        _turn_back(trace.views[step], trace.view_gates[step], transposed.view_gate, grad_views, grads.view_gate, grads.view_gate_bias, rows, 3 * width)
        see_back(graph, span, messages, grad_views, grad_messages, width)


@njit()
def _speak_back(transposed, x, x_width, grad_said, grad_x, grads, num_rows, width):
    add_product(grad_said, width, transposed.message, width, width, grad_x, x_width, num_rows)
    add_outer_products(x, x_width, grad_said, width, width, width, grads.message, num_rows)
    add_rows(grad_said, width, grads.message_bias, num_rows)
    grad_said[: num_rows * width] = 0


@njit()
def _copy_rows(x, x_width, out, first, num_rows, width):
    for row in range(num_rows):
        for j in range(0, width, LANES):
            store(out, (first + row) * width + j, load(x, row * x_width + j))


@njit()
def _add_rows_of(added, first, x, x_width, num_rows, width):
    for row in range(num_rows):
        for j in range(0, width, LANES):
            at = row * x_width + j
            store(x, at, load(x, at) + load(added, (first + row) * width + j))


@njit()
def _sum_states(x, x_width, out, num_rows, width):
    for row in range(num_rows):
        for j in range(0, width, LANES):
            store(out, j, load(out, j) + load(x, row * x_width + j))
