"""The backward pass of all rounds, compiled, board by board.

It runs the rounds of a board again and keeps them only for its own backward pass: to store those
of a whole batch takes as long (fresh memory has to be cleared and written) and megabytes a board.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import njit
from sudoku_learning.networks.factor_graph.forward import (
    initialise,
    new_trace,
    padded,
    row_width,
    run_round,
    send_to_factors,
)
from sudoku_learning.networks.factor_graph.graph import span_of
from sudoku_learning.networks.factor_graph.messages import (
    aggregate_factors_backward,
    aggregate_intersections_backward,
    factor_to_variable_backward,
    intersection_messages_backward,
    sum_lists_backward,
    variable_to_factor_backward,
)
from sudoku_learning.networks.factor_graph.products import add_product, add_rows, gru_backward
from sudoku_learning.networks.factor_graph.vectors import LANES, inner, load, store

# mypy: disable-error-code="no-untyped-def,call-arg"

_Floats = NDArray[np.float32]


class _TraceGrads(NamedTuple):
    """Derivatives of the loss by what one round computed, in the layout of `Trace`."""

    x: _Floats
    unary: _Floats
    to_factor: _Floats
    to_variable: _Floats
    intersection_x: _Floats


@njit(cache=True, nogil=True)
def backward(graph, weights, transposed, initial, rounds, output_grads, grads):
    """Add the derivatives of the loss by the weights to `grads`.

    The arguments of `forward` are the same; `transposed` are the matrices of `weights` with a row
    for each output, `output_grads` the derivatives by its `Outputs`, `[R, 0]` where the loss does
    not depend on them, and `grads` `PackedWeights`. They end at the initial state of a board that
    is not new.
    """
    width, x_width = len(weights.start), row_width(weights)
    trace = new_trace(graph, weights, rounds + 1, 0, len(graph.board_variable_ptr) - 1)
    step_grads = _TraceGrads(
        np.empty_like(trace.x[0]),
        np.zeros_like(trace.unary),
        np.zeros_like(trace.to_factor[0]),
        np.empty_like(trace.to_variable[0]),
        np.empty_like(trace.intersection_x[0]),
    )
    depth = len(output_grads.variables)
    for board in range(len(graph.board_variable_ptr) - 1):
        span = span_of(graph, board)
        initialise(span, weights, initial, board, trace)
        for step in range(rounds):
            send_to_factors(graph, span, weights, trace, step)
            run_round(graph, span, weights, trace, step, step + 1)
        send_to_factors(graph, span, weights, trace, rounds)
        step_grads.x[:] = 0
        step_grads.to_variable[:] = 0
        step_grads.intersection_x[:] = 0
        for step in range(rounds, -1, -1):
            if step < rounds:
                _run_round_backward(graph, span, transposed, trace, step, step_grads, grads)
            kept = step - 1 - rounds + depth
            if step and kept >= 0:
                if output_grads.variables.shape[1]:
                    _add_states(span, output_grads.variables[kept], step_grads.x, x_width, width)
                if output_grads.factors.shape[1]:
                    factors, messages = output_grads.factors[kept], trace.to_factor[step]
                    aggregate_factors_backward(
                        graph, span, messages, factors, step_grads.to_factor, width
                    )
            _send_to_factors_backward(
                graph, span, weights, transposed.message, trace, step, step_grads, grads
            )
        if len(initial[0]) == 0 or initial[0][board]:
            rows = padded(span.end_variable - span.first_variable)
            _add_starts(step_grads.x, x_width, grads.start, rows)
            rows = padded(span.end_intersection - span.first_intersection)
            _add_starts(step_grads.intersection_x, 3 * width, grads.intersection_start, rows)


@inner
def _run_round_backward(graph, span, transposed, trace, step, step_grads, grads):
    """Turn derivatives by states and messages after a step into those before it."""
    width, x_width = len(grads.start), row_width(grads)
    gru_backward(
        trace.x[step],
        trace.gates[step],
        transposed.gate,
        step_grads.x,
        grads.gate,
        grads.gate_bias,
        padded(span.end_variable - span.first_variable),
    )
    if x_width > 2 * width:
        list_sums, grad_x = trace.list_sums[step], step_grads.intersection_x
        aggregate_intersections_backward(graph, span, step_grads.x, grad_x, width)
        gru_backward(
            trace.intersection_x[step],
            trace.intersection_gates[step],
            transposed.intersection_gate,
            grad_x,
            grads.intersection_gate,
            grads.intersection_gate_bias,
            padded(span.end_intersection - span.first_intersection),
        )
        intersection_messages_backward(graph, span, list_sums, grad_x, width)
        sum_lists_backward(graph, span, list_sums, step_grads.to_factor, width)
    factor_to_variable_backward(graph, span, trace.to_factor[step], step_grads, x_width, width)


@inner
def _send_to_factors_backward(graph, span, weights, transposed, trace, step, step_grads, grads):
    """Turn derivatives by messages to factors into those by states and by older messages."""
    width, x_width = len(weights.start), row_width(weights)
    rows = padded(span.end_variable - span.first_variable)
    to_factor, to_variable = trace.to_factor[step], trace.to_variable[step]
    variable_to_factor_backward(
        graph, span, to_factor, to_variable, weights.gamma, step_grads, grads.gamma
    )
    unary = step_grads.unary
    add_product(unary, width, 1, width, transposed, width, step_grads.x, x_width, rows)
    add_product(trace.x[step], 1, x_width, rows, unary, width, grads.message, width, width)
    add_rows(unary, width, grads.message_bias, rows)
    unary[: rows * width] = 0


@inner
def _add_states(span, added, x, x_width, width):
    for row in range(span.end_variable - span.first_variable):
        for j in range(0, width, LANES):
            at = row * x_width + j
            store(x, at, load(x, at) + load(added, (span.first_variable + row) * width + j))


@inner
def _add_starts(x, x_width, start, num_rows):
    for row in range(num_rows):
        for j in range(0, len(start), LANES):
            store(start, j, load(start, j) + load(x, row * x_width + j))
