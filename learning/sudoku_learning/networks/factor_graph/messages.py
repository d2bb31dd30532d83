"""Messages between variables, factors and intersections, and their derivatives, a board at a time.

Rows of a board's variables and edges are counted from 0. A message is left out of a sum by adding
what stands before it and what stands after it, not by subtraction: where one message is a thousand
times the others, the difference would be noise. Rows of `intersection_x` have three parts: an
intersection's state, then the messages that it gets from inside and from outside of it.
"""

from __future__ import annotations

import numpy as np

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

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

MAX_LOG_MESSAGE = 7.0
EPSILON = 1e-3
MESSAGE_SCALE = 0.15
MAX_DEGREE = 32  # edges of a factor; boards have up to 25 digits


@inner
def variable_to_factor(graph, span, unary, gamma, to_variable, to_factor):
    """Write the message on each edge: exp(clamp(unary + gamma * log message to the variable))."""
    width = len(gamma)
    low, high = spread(-MAX_LOG_MESSAGE), spread(MAX_LOG_MESSAGE)
    for edge in range(span.end_edge - span.first_edge):
        row = (graph.edge_variable[span.first_edge + edge] - span.first_variable) * width
        for j in range(0, width, LANES):
            at = edge * width + j
            logs = multiply_add(load(gamma, j), load(to_variable, at), load(unary, row + j))
            store(to_factor, at, exp(clamp(logs, low, high)))


@inner
def factor_to_variable(graph, span, to_factor, to_variable, width):
    """Write the log of the sum of the factor's other messages to each edge."""
    epsilon, zero = spread(EPSILON), spread(0.0)
    for f in range(span.first_factor, span.end_factor):
        first = graph.factor_ptr[f] - span.first_edge
        end = graph.factor_ptr[f + 1] - span.first_edge
        for j in range(0, width, LANES):
            before = epsilon
            for edge in range(first, end):
                at = edge * width + j
                store(to_variable, at, before)
                before = before + load(to_factor, at)
            after = zero
            for edge in range(end - 1, first - 1, -1):
                at = edge * width + j
                store(to_variable, at, log(load(to_variable, at) + after))
                after = after + load(to_factor, at)


@inner
def aggregate_factors(graph, span, to_factor, factors, width):
    """Write the log of the sum of each factor's messages to `factors [F H]`."""
    for f in range(span.first_factor, span.end_factor):
        first = graph.factor_ptr[f] - span.first_edge
        end = graph.factor_ptr[f + 1] - span.first_edge
        for j in range(0, width, LANES):
            total = spread(EPSILON)
            for edge in range(first, end):
                total = total + load(to_factor, edge * width + j)
            store(factors, f * width + j, log(total))


@inner
def aggregate_variables(graph, span, to_variable, x, x_width, width):
    """Write the scaled sum of each variable's log messages to the second part of its row of x."""
    scale = spread(MESSAGE_SCALE)
    num_edges = len(graph.edge_variable)
    beyond = span.end_edge - span.first_edge - num_edges
    for v in range(span.first_variable, span.end_variable):
        for j in range(0, width, LANES):
            total = spread(0.0)
            for k in range(graph.variable_edges.shape[1]):
                edge = graph.variable_edges[v, k]
                row = edge - span.first_edge if edge < num_edges else edge + beyond
                total = total + load(to_variable, row * width + j)
            store(x, (v - span.first_variable) * x_width + width + j, total * scale)


@inner
def aggregate_factors_backward(graph, span, to_factor, grad_factors, grad_to_factor, width):
    """Add the derivatives of the messages, given those of `aggregate_factors`."""
    for f in range(span.first_factor, span.end_factor):
        first = graph.factor_ptr[f] - span.first_edge
        end = graph.factor_ptr[f + 1] - span.first_edge
        for j in range(0, width, LANES):
            total = spread(EPSILON)
            for edge in range(first, end):
                total = total + load(to_factor, edge * width + j)
            grad = load(grad_factors, f * width + j) / total
            for edge in range(first, end):
                at = edge * width + j
                store(grad_to_factor, at, load(grad_to_factor, at) + grad)


@inner
def factor_to_variable_backward(graph, span, to_factor, grads, x_width, width):
    """Add the derivatives of messages to factors, given those of messages to variables and of x.

    `grads` holds the derivatives of a step, in the layout of `forward.Trace`.
    """
    scale = spread(MESSAGE_SCALE)
    slopes = np.empty(MAX_DEGREE * LANES, np.float32)
    befores = np.empty(MAX_DEGREE * LANES, np.float32)
    for f in range(span.first_factor, span.end_factor):
        first = graph.factor_ptr[f] - span.first_edge
        end = graph.factor_ptr[f + 1] - span.first_edge
        for j in range(0, width, LANES):
            before = spread(EPSILON)
            for edge in range(first, end):
                store(befores, (edge - first) * LANES, before)
                before = before + load(to_factor, edge * width + j)
            after = grad_after = spread(0.0)
            for edge in range(end - 1, first - 1, -1):
                at, here = edge * width + j, (edge - first) * LANES
                v = graph.edge_variable[span.first_edge + edge] - span.first_variable
                grad_sum = load(grads.x, v * x_width + width + j)
                grad = multiply_add(scale, grad_sum, load(grads.to_variable, at))
                grad = grad / (load(befores, here) + after)
                after = after + load(to_factor, at)
                store(slopes, here, grad)
                store(grads.to_factor, at, load(grads.to_factor, at) + grad_after)
                grad_after = grad_after + grad
            grad_before = spread(0.0)
            for edge in range(first, end):
                at = edge * width + j
                store(grads.to_factor, at, load(grads.to_factor, at) + grad_before)
                grad_before = grad_before + load(slopes, (edge - first) * LANES)


@inner
def variable_to_factor_backward(graph, span, to_factor, to_variable, gamma, grads, grad_gamma):
    """Replace derivatives of messages to factors by those of unary terms and of old messages."""
    width = len(gamma)
    least, most = exp(spread(-MAX_LOG_MESSAGE)), exp(spread(MAX_LOG_MESSAGE))
    for j in range(0, width, LANES):
        gain, grad_gain = load(gamma, j), load(grad_gamma, j)
        for edge in range(span.end_edge - span.first_edge):
            at = edge * width + j
            row = (graph.edge_variable[span.first_edge + edge] - span.first_variable) * width + j
            message = load(to_factor, at)
            grad = where_between(message, least, most, load(grads.to_factor, at) * message)
            store(grads.to_factor, at, spread(0.0))
            store(grads.unary, row, load(grads.unary, row) + grad)
            grad_gain = multiply_add(grad, load(to_variable, at), grad_gain)
            store(grads.to_variable, at, grad * gain)
        store(grad_gamma, j, grad_gain)


@inner
def sum_lists(graph, span, to_factor, list_sums, width):
    """Write the sum of the messages on each list of edges, rows `[4 Q]`."""
    first = 4 * span.first_intersection
    for row in range(first, 4 * span.end_intersection):
        for j in range(0, width, LANES):
            total = spread(EPSILON)
            for i in range(graph.list_ptr[row], graph.list_ptr[row + 1]):
                total = total + load(to_factor, (graph.list_edges[i] - span.first_edge) * width + j)
            store(list_sums, (row - first) * width + j, total)


@inner
def intersection_messages(graph, span, list_sums, intersection_x, width):
    """Write the messages to each intersection from inside and from outside, in both its units."""
    scale = spread(MESSAGE_SCALE)
    first = 4 * span.first_intersection
    for q in range(span.first_intersection, span.end_intersection):
        for outside in range(2):
            a = (graph.intersection_lists[q, outside] - first) * width
            b = (graph.intersection_lists[q, 2 + outside] - first) * width
            at = (3 * (q - span.first_intersection) + 1 + outside) * width
            for j in range(0, width, LANES):
                product = load(list_sums, a + j) * load(list_sums, b + j)
                store(intersection_x, at + j, scale * log(product))


@inner
def intersection_messages_backward(graph, span, list_sums, grad_x, width):
    """Replace `list_sums` by their derivatives, given those of the messages to intersections."""
    scale = spread(MESSAGE_SCALE)
    first = 4 * span.first_intersection
    for q in range(span.first_intersection, span.end_intersection):
        for outside in range(2):
            a = (graph.intersection_lists[q, outside] - first) * width
            b = (graph.intersection_lists[q, 2 + outside] - first) * width
            at = (3 * (q - span.first_intersection) + 1 + outside) * width
            for j in range(0, width, LANES):
                left, right = load(list_sums, a + j), load(list_sums, b + j)
                grad = scale * load(grad_x, at + j) / (left * right)
                store(list_sums, a + j, grad * right)
                store(list_sums, b + j, grad * left)


@inner
def sum_lists_backward(graph, span, grad_sums, grad_to_factor, width):
    """Add the derivatives of the messages to factors, given those of the sums."""
    first = 4 * span.first_intersection
    for row in range(first, 4 * span.end_intersection):
        for j in range(0, width, LANES):
            grad = load(grad_sums, (row - first) * width + j)
            for i in range(graph.list_ptr[row], graph.list_ptr[row + 1]):
                at = (graph.list_edges[i] - span.first_edge) * width + j
                store(grad_to_factor, at, load(grad_to_factor, at) + grad)


@inner
def aggregate_intersections(graph, span, intersection_x, x, width):
    """Write the sum of the states of each variable's intersections to its row's third part."""
    for v in range(span.first_variable, span.end_variable):
        for j in range(0, width, LANES):
            total = spread(0.0)
            for k in range(graph.variable_intersections.shape[1]):
                q = graph.variable_intersections[v, k]
                if q < span.end_intersection:
                    at = 3 * (q - span.first_intersection) * width + j
                    total = total + load(intersection_x, at)
            store(x, (3 * (v - span.first_variable) + 2) * width + j, total)


@inner
def aggregate_intersections_backward(graph, span, grad_x, grad_intersection_x, width):
    """Add the derivatives of the states of intersections, given those of their sums."""
    for v in range(span.first_variable, span.end_variable):
        for k in range(graph.variable_intersections.shape[1]):
            q = graph.variable_intersections[v, k]
            if q < span.end_intersection:
                for j in range(0, width, LANES):
                    at = 3 * (q - span.first_intersection) * width + j
                    grad = load(grad_x, (3 * (v - span.first_variable) + 2) * width + j)
                    store(grad_intersection_x, at, load(grad_intersection_x, at) + grad)
