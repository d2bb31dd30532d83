"""The forward pass of all rounds, compiled, board by board while it sits in the cache.

Rows of channels are padded to whole vectors; padded channels have zero weights, stay at zero and
are heard by nobody. Numbers of rows are padded to whole blocks of the matrix products.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import njit
from sudoku_learning.networks.factor_graph.gates import turn
from sudoku_learning.networks.factor_graph.intersections import add_up_parts, read, see
from sudoku_learning.networks.factor_graph.messages import add_up, hear, reply, send, span_of
from sudoku_learning.networks.factor_graph.products import ROWS, add_product, fill_rows
from sudoku_learning.networks.factor_graph.recurrent_state import recall, remember
from sudoku_learning.networks.factor_graph.reference import LARGEST_MESSAGE
from sudoku_learning.networks.factor_graph.vectors import LANES, inner, load, store

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,var-annotated"

_Floats = NDArray[np.float32]


class Arrays(NamedTuple):
    """The weights (or their derivatives) as flat float32 arrays; their width H is in whole vectors.

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
    """What the rounds of a board leave behind, `[depth, ...]`; with depth 1 only the last does.

    Attributes:
        x: rows of placements: state, what it heard, and with intersections what it read of them.
        gates: rows of placements: z and n.
        said: rows of placements: what they say in all their constraints, of the last round only.
        messages: rows of seats.
        replies: rows of seats, then a row of zeros and one of the largest message.
        views: rows of intersections: state, view inside, view outside.
        view_gates: rows of intersections: z and n.
        parts: rows of four an intersection: the sums that it sees.
    """

    x: _Floats
    gates: _Floats
    said: _Floats
    messages: _Floats
    replies: _Floats
    views: _Floats
    view_gates: _Floats
    parts: _Floats


@njit(cache=True, nogil=True)
def forward(graph, weights, beginning, rounds, all_rounds, placements, constraints, memory):
    """Write the states of placements `[R, P H]` and constraints `[R, C H]`, R = 1 or `rounds`.

    Where the rounds begin, and where to keep the memory of their end (if there is room at all),
    are tuples of flat arrays, see `memory`.
    """
    width = len(weights.start)
    x_width = row_width(weights)
    trace = new_trace(graph, weights, 1)
    for board in range(len(graph.first_placement) - 1):
        span = span_of(graph, board)
        set_out(span, weights, beginning, board, trace)
        speak(graph, span, weights, trace, 0)
        for step in range(rounds):
            advance(graph, span, weights, trace, 0, 0)
            speak(graph, span, weights, trace, 0)
            if all_rounds or step == rounds - 1:
                kept = step if all_rounds else 0
                add_up(graph, span, trace.messages[0], constraints[kept], width)
                states, first = placements[kept], span.placement
                for row in range(span.last_placement - first):
                    for j in range(0, width, LANES):
                        state = load(trace.x[0], row * x_width + j)
                        store(states, (first + row) * width + j, state)
        if len(memory[0]):
            remember(memory, span, trace.x[0], x_width, trace.replies[0], trace.views[0], width)


@inner
def row_width(weights):
    """Return the width of what gates read: two or three parts."""
    return len(weights.gate) // len(weights.gate_bias)


@inner
def padded(count):
    """Return the number of rows to compute for so many."""
    return (count + ROWS - 1) // ROWS * ROWS


@inner
def new_trace(graph, weights, depth):
    """Return a trace with room for the largest of the boards."""
    width = len(weights.start)
    rows = seats = views = 0
    for board in range(len(graph.first_placement) - 1):
        span = span_of(graph, board)
        rows = max(rows, padded(span.last_placement - span.placement))
        seats = max(seats, span.last_seat - span.seat)
        views = max(views, padded(span.last_intersection - span.intersection))
    return Trace(
        np.zeros((depth, rows * row_width(weights)), np.float32),
        np.empty((depth, rows * 2 * width), np.float32),
        np.empty(rows * width, np.float32),
        np.empty((depth, seats * width), np.float32),
        np.empty((depth, (seats + 2) * width), np.float32),
        np.zeros((depth, views * 3 * width), np.float32),
        np.empty((depth, views * 2 * width), np.float32),
        np.empty((depth, views * 4 * width), np.float32),
    )


@inner
def set_out(span, weights, beginning, board, trace):
    """Write the states before the first round, and the two rows of replies beyond the seats."""
    width, x_width = len(weights.start), row_width(weights)
    for j in range(0, width, LANES):
        for row in range(padded(span.last_placement - span.placement)):
            store(trace.x[0], row * x_width + j, load(weights.start, j))
        for row in range(padded(span.last_intersection - span.intersection)):
            store(trace.views[0], 3 * row * width + j, load(weights.view_start, j))
    end = (span.last_seat - span.seat) * width
    trace.replies[0, :end] = 0
    recall(beginning, board, span, trace.x[0], x_width, trace.replies[0], trace.views[0], width)
    for step in range(len(trace.replies)):
        trace.replies[step, end : end + width] = 0
        trace.replies[step, end + width : end + 2 * width] = LARGEST_MESSAGE


@inner
def speak(graph, span, weights, trace, step):
    """Turn the states of a step into the messages on all seats."""
    width = len(weights.start)
    rows = padded(span.last_placement - span.placement)
    fill_rows(weights.message_bias, trace.said, rows, width)
    add_product(
        trace.x[step], row_width(weights), weights.message, width, width, trace.said, width, rows
    )
    send(graph, span, trace.said, weights.gamma, trace.replies[step], trace.messages[step])


@inner
def advance(graph, span, weights, trace, now, then):
    """Run a round: replies to the messages, then new states of intersections and placements."""
    width, x_width = len(weights.start), row_width(weights)
    reply(graph, span, trace.messages[now], trace.replies[then], width)
    hear(graph, span, trace.replies[then], trace.x[now], x_width, width)
    for row in range(span.last_placement - span.placement):
        for j in range(graph.returns.shape[1]):
            trace.x[now, row * x_width + width + j] += graph.returns[span.placement + row, j]
    if x_width > 2 * width:
        add_up_parts(graph, span, trace.messages[now], trace.parts[now], width)
        see(graph, span, trace.parts[now], trace.views[now], width)
        turn(
            trace.views[now],
            trace.views[then],
            trace.view_gates[now],
            weights.view_gate,
            weights.view_gate_bias,
            padded(span.last_intersection - span.intersection),
            3 * width,
        )
        read(graph, span, trace.views[then], trace.x[now], width)
    turn(
        trace.x[now],
        trace.x[then],
        trace.gates[now],
        weights.gate,
        weights.gate_bias,
        padded(span.last_placement - span.placement),
        x_width,
    )
