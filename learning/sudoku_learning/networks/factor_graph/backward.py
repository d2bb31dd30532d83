"""The backward pass of all rounds, compiled, board by board.

It runs the rounds of a board again and keeps them only until it has walked back: to store those of
a whole batch takes as long (fresh memory has to be cleared and written) and megabytes a board.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import njit
from sudoku_learning.networks.factor_graph.forward import (
    advance,
    new_trace,
    padded,
    row_width,
    set_out,
    speak,
)
from sudoku_learning.networks.factor_graph.gates import turn_back
from sudoku_learning.networks.factor_graph.intersections import (
    add_up_parts_back,
    read_back,
    see_back,
)
from sudoku_learning.networks.factor_graph.messages import (
    add_up_back,
    reply_back,
    send_back,
    span_of,
)
from sudoku_learning.networks.factor_graph.products import (
    add_outer_products,
    add_product,
    add_rows,
)
from sudoku_learning.networks.factor_graph.vectors import LANES, inner, load, store

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,var-annotated"

_Floats = NDArray[np.float32]


class _Slopes(NamedTuple):
    """Derivatives of the loss by what one round left behind, in the layout of `Trace`."""

    x: _Floats
    said: _Floats
    messages: _Floats
    replies: _Floats
    views: _Floats


@njit(cache=True, nogil=True)
def backward(
    graph, weights, transposed, beginning, rounds, all_rounds, placements, constraints, grads
):
    """Add the derivatives of the loss by the weights to `grads`.

    They are given by the results of `forward`: `placements [R, P H]` and `constraints [R, C H]`,
    or `[R, 0]` where the loss does not depend on them. `transposed` holds the matrices of
    `weights` with a row for each output. Where the rounds of a board begin with a memory, the
    derivatives end there.
    """
    width, x_width = len(weights.start), row_width(weights)
    trace = new_trace(graph, weights, rounds + 1)
    slopes = _Slopes(
        np.empty_like(trace.x[0]),
        np.zeros_like(trace.said),
        np.zeros_like(trace.messages[0]),
        np.empty_like(trace.replies[0]),
        np.empty_like(trace.views[0]),
    )
    for board in range(len(graph.first_placement) - 1):
        span = span_of(graph, board)
        set_out(span, weights, beginning, board, trace)
        for step in range(rounds):
            speak(graph, span, weights, trace, step)
            advance(graph, span, weights, trace, step, step + 1)
        speak(graph, span, weights, trace, rounds)
        slopes.x[:] = 0
        slopes.replies[:] = 0
        slopes.views[:] = 0
        for step in range(rounds, -1, -1):
            if step < rounds:
                _retreat(graph, span, transposed, trace, step, slopes, grads)
            if step and (all_rounds or step == rounds):
                kept = step - 1 if all_rounds else 0
                if placements.shape[1]:
                    _add_states(span, placements[kept], slopes.x, x_width, width)
                if constraints.shape[1]:
                    slope = constraints[kept]
                    add_up_back(graph, span, trace.messages[step], slope, slopes.messages, width)
            _speak_back(graph, span, weights, transposed, trace, step, slopes, grads)
        if len(beginning[0]) == 0 or beginning[0][board]:
            rows = padded(span.last_placement - span.placement)
            _add_starts(slopes.x, x_width, grads.start, rows)
            rows = padded(span.last_intersection - span.intersection)
            _add_starts(slopes.views, 3 * width, grads.view_start, rows)


@inner
def _retreat(graph, span, transposed, trace, step, slopes, grads):
    """Undo `advance`: from slopes of the states and replies after a step to those before it."""
    width, x_width = len(grads.start), row_width(grads)
    messages = trace.messages[step]
    turn_back(
        trace.x[step],
        trace.gates[step],
        transposed.gate,
        slopes.x,
        grads.gate,
        grads.gate_bias,
        padded(span.last_placement - span.placement),
        x_width,
    )
    if x_width > 2 * width:
        read_back(graph, span, slopes.x, slopes.views, width)
        turn_back(
            trace.views[step],
            trace.view_gates[step],
            transposed.view_gate,
            slopes.views,
            grads.view_gate,
            grads.view_gate_bias,
            padded(span.last_intersection - span.intersection),
            3 * width,
        )
        see_back(graph, span, trace.parts[step], slopes.views, width)
        add_up_parts_back(graph, span, trace.parts[step], slopes.messages, width)
    reply_back(graph, span, messages, slopes.x, x_width, slopes.replies, slopes.messages, width)


@inner
def _speak_back(graph, span, weights, transposed, trace, step, slopes, grads):
    """Undo `speak`: from slopes of the messages to those of the states and old replies."""
    width, x_width = len(weights.start), row_width(weights)
    rows = padded(span.last_placement - span.placement)
    send_back(
        graph,
        span,
        trace.messages[step],
        weights.gamma,
        trace.replies[step],
        slopes.messages,
        slopes.said,
        grads.gamma,
        slopes.replies,
    )
    add_product(slopes.said, width, transposed.message, width, width, slopes.x, x_width, rows)
    add_outer_products(
        trace.x[step], x_width, slopes.said, width, width, width, grads.message, rows
    )
    add_rows(slopes.said, width, grads.message_bias, rows)
    slopes.said[: rows * width] = 0


@inner
def _add_states(span, added, x, x_width, width):
    for row in range(span.last_placement - span.placement):
        for j in range(0, width, LANES):
            at = row * x_width + j
            store(x, at, load(x, at) + load(added, (span.placement + row) * width + j))


@inner
def _add_starts(x, x_width, start, num_rows):
    for row in range(num_rows):
        for j in range(0, len(start), LANES):
            store(start, j, load(start, j) + load(x, row * x_width + j))
