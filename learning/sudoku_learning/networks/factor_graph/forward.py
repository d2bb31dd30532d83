"""The forward pass of all rounds, compiled, board by board while it fits into the cache.

Rows of channels are padded to whole vectors; padded channels have zero weights and stay at zero.
Numbers of rows are padded to whole blocks of the matrix products.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import njit
from sudoku_learning.networks.factor_graph.graph import span_of
from sudoku_learning.networks.factor_graph.messages import (
    MAX_LOG_MESSAGE,
    aggregate_factors,
    aggregate_intersections,
    aggregate_variables,
    factor_to_variable,
    intersection_messages,
    sum_lists,
    variable_to_factor,
)
from sudoku_learning.networks.factor_graph.products import ROWS, add_product, fill_rows, gru_step
from sudoku_learning.networks.factor_graph.recurrent_state import copy_state
from sudoku_learning.networks.factor_graph.vectors import (
    LANES,
    inner,
    load,
    multiply_add,
    spread,
    store,
)

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

_Floats = NDArray[np.float32]


class PackedWeights(NamedTuple):
    """`reference.LayerWeights` (or their derivatives) as flat float32 arrays of padded width H.

    Matrices have a row for each input: `message [H, H]`, `gate [P H, 2 H]` and
    `intersection_gate [3 H, 2 H]`, where P is 3 with intersections and 2 without.
    """

    start: _Floats
    gamma: _Floats
    message: _Floats
    message_bias: _Floats
    gate: _Floats
    gate_bias: _Floats
    intersection_start: _Floats
    intersection_gate: _Floats
    intersection_gate_bias: _Floats


class Outputs(NamedTuple):
    """Results of the rounds, R = 1 or all rounds, or their derivatives: `[R, V H]`, `[R, F H]`."""

    variables: _Floats
    factors: _Floats


class Until(NamedTuple):
    """When the rounds of a board stop: once no logit of a variable is closer to 0 than a margin."""

    readout: _Floats  # [H] of padded width, the weights of the logits; empty: all rounds are run
    bias: np.float32  # of the logits
    margin: np.float32
    segment: int  # rounds between two looks at the logits


class RoundsOutcome(NamedTuple):
    """What the rounds of B boards have led to, int64 `[B]` each; only with `Until`."""

    rounds: NDArray[np.int64]  # that were run
    undecided: NDArray[np.int64]  # variables whose logits are within the margin; 0: converged


class Trace(NamedTuple):
    """Arrays of the rounds of a board, `[depth, ...]`; with depth 1 only the last is kept.

    Logs of messages to variables are followed by a row of zeros and one of the largest message,
    for the edge numbers E and E + 1.
    """

    x: _Floats  # rows of variables: state, sum of messages, and sum of intersection states
    gates: _Floats  # rows of variables: z and n
    unary: _Floats  # rows of variables: what all their messages begin with, of the last round only
    to_factor: _Floats  # rows of edges, the messages to factors
    to_variable: _Floats  # rows of edges, the logs of the messages to variables
    intersection_x: _Floats  # rows of intersections: state, message from inside and from outside
    intersection_gates: _Floats  # rows of intersections: z and n
    list_sums: _Floats  # rows of four an intersection: sums of messages to factors


@njit(cache=True, nogil=True)
def forward(graph, weights, initial, rounds, outputs, states, until, outcome, first, end):
    """Write the outputs of the boards `first` to `end`, and their states if there is room for them.

    `initial` and `states` are the arrays of `InitialStates` and `RecurrentState`, flat and of
    padded width; empty `states` are not written. `outputs` are of all rounds or of the last. With
    a readout in `until`, a board stops once it has converged, and its `outcome` is written.
    """
    width, x_width = len(weights.start), row_width(weights)
    trace = new_trace(graph, weights, 1, first, end)
    depth = len(outputs.variables)
    for board in range(first, end):
        span = span_of(graph, board)
        initialise(span, weights, initial, board, trace)
        send_to_factors(graph, span, weights, trace, 0)
        for step in range(rounds):
            run_round(graph, span, weights, trace, 0, 0)
            send_to_factors(graph, span, weights, trace, 0)
            is_last = step + 1 == rounds
            if len(until.readout) and (is_last or (step + 1) % until.segment == 0):
                outcome.rounds[board] = step + 1
                outcome.undecided[board] = _count_undecided(span, trace.x[0], x_width, until)
                is_last |= outcome.undecided[board] == 0
            if is_last or step - rounds + depth >= 0:
                kept = depth - 1 if is_last else step - rounds + depth
                _write_outputs(graph, span, trace, outputs, kept, x_width, width)
            if is_last:
                break
        if len(states[0]):
            copy_state(states, span, trace, x_width, width, False)


@inner
def _count_undecided(span, x, x_width, until):
    """Return how many variables have a logit within the margin."""
    lanes = np.empty(LANES, np.float32)
    count = 0
    for row in range(span.end_variable - span.first_variable):
        total = spread(0.0)
        for j in range(0, len(until.readout), LANES):
            total = multiply_add(load(x, row * x_width + j), load(until.readout, j), total)
        store(lanes, 0, total)
        count += abs(until.bias + lanes.sum()) < until.margin
    return count


@inner
def _write_outputs(graph, span, trace, outputs, kept, x_width, width):
    """Write a board's states of variables, and what its factors receive, of the latest round."""
    aggregate_factors(graph, span, trace.to_factor[0], outputs.factors[kept], width)
    variables, first = outputs.variables[kept], span.first_variable
    for row in range(span.end_variable - first):
        for j in range(0, width, LANES):
            store(variables, (first + row) * width + j, load(trace.x[0], row * x_width + j))


@inner
def row_width(weights):
    """Return the width of a variable's row of x: two or three parts."""
    return len(weights.gate) // len(weights.gate_bias)


@inner
def padded(count):
    """Return `count` rounded up to a multiple of `ROWS`."""
    return (count + ROWS - 1) // ROWS * ROWS


@inner
def new_trace(graph, weights, depth, first, end):
    """Return a trace with room for the largest of the boards `first` to `end`."""
    width = len(weights.start)
    rows = edges = intersections = 0
    for board in range(first, end):
        span = span_of(graph, board)
        rows = max(rows, padded(span.end_variable - span.first_variable))
        edges = max(edges, span.end_edge - span.first_edge)
        intersections = max(intersections, padded(span.end_intersection - span.first_intersection))
    return Trace(
        np.zeros((depth, rows * row_width(weights)), np.float32),
        np.empty((depth, rows * 2 * width), np.float32),
        np.empty(rows * width, np.float32),
        np.empty((depth, edges * width), np.float32),
        np.empty((depth, (edges + 2) * width), np.float32),
        np.zeros((depth, intersections * 3 * width), np.float32),
        np.empty((depth, intersections * 2 * width), np.float32),
        np.empty((depth, intersections * 4 * width), np.float32),
    )


@inner
def initialise(span, weights, initial, board, trace):
    """Write the states before the first round, and the two rows of messages beyond the edges."""
    width, x_width = len(weights.start), row_width(weights)
    for j in range(0, width, LANES):
        for row in range(padded(span.end_variable - span.first_variable)):
            store(trace.x[0], row * x_width + j, load(weights.start, j))
        for row in range(padded(span.end_intersection - span.first_intersection)):
            start = load(weights.intersection_start, j)
            store(trace.intersection_x[0], 3 * row * width + j, start)
    end = (span.end_edge - span.first_edge) * width
    trace.to_variable[0, :end] = 0
    is_new, states = initial
    if len(is_new) and not is_new[board]:
        copy_state(states, span, trace, x_width, width, True)
    for step in range(len(trace.to_variable)):
        trace.to_variable[step, end : end + width] = 0
        trace.to_variable[step, end + width : end + 2 * width] = MAX_LOG_MESSAGE


@inner
def send_to_factors(graph, span, weights, trace, step):
    """Compute the messages to factors from the states of a step."""
    width = len(weights.start)
    rows = padded(span.end_variable - span.first_variable)
    fill_rows(weights.message_bias, trace.unary, rows, width)
    x_width = row_width(weights)
    add_product(trace.x[step], x_width, 1, width, weights.message, width, trace.unary, width, rows)
    to_variable, to_factor = trace.to_variable[step], trace.to_factor[step]
    variable_to_factor(graph, span, trace.unary, weights.gamma, to_variable, to_factor)


@inner
def run_round(graph, span, weights, trace, now, then):
    """Run a round: messages to variables, then new states of intersections and variables."""
    width, x_width = len(weights.start), row_width(weights)
    x, intersection_x = trace.x[now], trace.intersection_x[now]
    factor_to_variable(graph, span, trace.to_factor[now], trace.to_variable[then], width)
    aggregate_variables(graph, span, trace.to_variable[then], x, x_width, width)
    if x_width > 2 * width:
        sum_lists(graph, span, trace.to_factor[now], trace.list_sums[now], width)
        intersection_messages(graph, span, trace.list_sums[now], intersection_x, width)
        gru_step(
            intersection_x,
            trace.intersection_x[then],
            trace.intersection_gates[now],
            weights.intersection_gate,
            weights.intersection_gate_bias,
            padded(span.end_intersection - span.first_intersection),
        )
        aggregate_intersections(graph, span, trace.intersection_x[then], x, width)
    rows = padded(span.end_variable - span.first_variable)
    gru_step(x, trace.x[then], trace.gates[now], weights.gate, weights.gate_bias, rows)
