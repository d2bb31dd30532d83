"""Forward and backward passes of the rounds of messages, compiled, board by board.

All rounds of one board are run while it sits in the processor's cache. Rows of channels are padded
to whole vectors; padded channels carry zero weights, hear nothing of the others and stay at zero.
Arrays of states and replies are flat, row by row.

Leaving one message out of a sum is done by adding up what stands before it and what stands after
it, not by subtraction: where one message is a thousand times the others, the difference would be
noise.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sudoku_learning.networks.exact_cover.products import (
    ROWS,
    add_outer_products,
    add_product,
    add_rows,
    fill_rows,
)
from sudoku_learning.networks.exact_cover.reference import FLOOR, LARGEST_MESSAGE, REPLY_SCALE
from sudoku_learning.networks.exact_cover.vectors import (
    LANES,
    clamp,
    exp,
    load,
    log,
    multiply_add,
    sigmoid_and_tanh,
    spread,
    store,
    where_between,
)

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


@njit(cache=True, nogil=True)
def forward(graph, weights, rounds, every_round, placements, constraints):
    seats_of, occupants, first_seat, first_placement, first_constraint = graph
    start, gamma, message, message_bias, gate, gate_bias = weights
    width = len(start)
    rows, seats = largest(first_seat, first_placement, first_constraint)
    x = np.zeros(rows * 2 * width, np.float32)
    said = np.empty(rows * width, np.float32)
    gates = np.empty(rows * 2 * width, np.float32)
    replies = np.empty((seats + 2) * width, np.float32)
    no_total = np.empty(0, np.float32)
    for b in range(len(first_placement) - 1):
        board = (b, first_placement, first_constraint, first_seat, occupants, seats_of)
        p0, p1 = first_placement[b], first_placement[b + 1]
        c0, c1 = first_constraint[b], first_constraint[b + 1]
        num_rows = (p1 - p0 + ROWS - 1) // ROWS * ROWS
        num_seats = first_seat[c1] - first_seat[c0]
        set_out(x, start, num_rows, replies, num_seats)
        for step in range(rounds):
            fill_rows(message_bias, said, num_rows, width)
            add_product(x, 2 * width, message, width, width, said, width, num_rows)
            totals = constraints[step - 1, c0:c1].reshape(-1) if every_round and step else no_total
            reply(board, said, gamma, replies, replies, totals)
            hear(board, replies, x, width)
            fill_rows(gate_bias, gates, num_rows, 2 * width)
            add_product(x, 2 * width, gate, 2 * width, 2 * width, gates, 2 * width, num_rows)
            turn(gates, x, num_rows, width)
            if every_round or step == rounds - 1:
                copy_rows(x, 2 * width, placements[step if every_round else 0], p0, p1 - p0, width)
        fill_rows(message_bias, said, num_rows, width)
        add_product(x, 2 * width, message, width, width, said, width, num_rows)
        reply(board, said, gamma, replies, replies, constraints[-1, c0:c1].reshape(-1))


@njit
def largest(first_seat, first_placement, first_constraint):
    rows = seats = 0
    for b in range(len(first_placement) - 1):
        rows = max(rows, first_placement[b + 1] - first_placement[b])
        seats = max(seats, first_seat[first_constraint[b + 1]] - first_seat[first_constraint[b]])
    return (rows + ROWS - 1) // ROWS * ROWS, seats


@njit
def set_out(x, start, num_rows, replies, num_seats):
    width = len(start)
    x[: num_rows * 2 * width] = 0
    for r in range(num_rows):
        x[r * 2 * width : r * 2 * width + width] = start
    replies[: (num_seats + 1) * width] = 0
    replies[(num_seats + 1) * width : (num_seats + 2) * width] = LARGEST_MESSAGE


@njit
def reply(board, said, gamma, replies, out, totals):
    b, first_placement, first_constraint, first_seat, occupants, seats_of = board
    width = len(gamma)
    p0, c0, c1 = first_placement[b], first_constraint[b], first_constraint[b + 1]
    s0 = first_seat[c0]
    low, high, floor = spread(-LARGEST_MESSAGE), spread(LARGEST_MESSAGE), spread(FLOOR)
    messages = np.empty(32 * LANES, np.float32)
    for c in range(c0, c1):
        first, last = first_seat[c], first_seat[c + 1]
        for j in range(0, width, LANES):
            gain = load(gamma, j)
            before = floor
            for s in range(first, last):
                at = (s - s0) * width + j
                told = load(said, (occupants[s] - p0) * width + j)
                message = exp(clamp(multiply_add(gain, load(replies, at), told), low, high))
                store(messages, (s - first) * LANES, message)
                store(out, at, before)
                before = before + message
            if len(totals):
                store(totals, (c - c0) * width + j, log(before))
            after = spread(0.0)
            for s in range(last - 1, first - 1, -1):
                at = (s - s0) * width + j
                store(out, at, log(load(out, at) + after))
                after = after + load(messages, (s - first) * LANES)


@njit
def hear(board, replies, x, width):
    b, first_placement, first_constraint, first_seat, occupants, seats_of = board
    p0, p1 = first_placement[b], first_placement[b + 1]
    s0, s1 = first_seat[first_constraint[b]], first_seat[first_constraint[b + 1]]
    beyond = len(occupants) - (s1 - s0)
    scale = spread(REPLY_SCALE)
    for p in range(p0, p1):
        for j in range(0, width, LANES):
            total = spread(0.0)
            for k in range(seats_of.shape[1]):
                seat = seats_of[p, k]
                row = seat - s0 if seat < len(occupants) else seat - beyond
                total = total + load(replies, row * width + j)
            store(x, (p - p0) * 2 * width + width + j, total * scale)


@njit
def turn(gates, x, num_rows, width):
    for r in range(num_rows):
        for j in range(0, width, LANES):
            at = r * 2 * width + j
            z, n = sigmoid_and_tanh(load(gates, at), load(gates, at + width))
            h = load(x, at)
            store(gates, at, z)
            store(gates, at + width, n)
            store(x, at, multiply_add(z, n - h, h))


@njit
def copy_rows(rows, row_width, out, first, num_rows, width):
    for r in range(num_rows):
        for j in range(0, width, LANES):
            store(out, (first + r) * width + j, load(rows, r * row_width + j))


@njit(cache=True, nogil=True)
def backward(graph, weights, transposed, rounds, every_round, grad_p, grad_c, grads):
    seats_of, occupants, first_seat, first_placement, first_constraint = graph
    start, gamma, message, message_bias, gate, gate_bias = weights
    message_t, gate_t = transposed
    g_start, g_gamma, g_message, g_message_bias, g_gate, g_gate_bias = grads
    width = len(start)
    rows, seats = largest(first_seat, first_placement, first_constraint)
    x = np.zeros(rows * 2 * width, np.float32)
    grad_x = np.zeros(rows * 2 * width, np.float32)
    grad_said = np.zeros(rows * width, np.float32)
    grad_replies = np.empty(seats * width, np.float32)
    said = np.empty(rows * width, np.float32)
    gates = np.empty((rounds, rows * 2 * width), np.float32)
    states = np.empty((rounds + 1, rows * width), np.float32)
    replies = np.empty((rounds + 1, (seats + 2) * width), np.float32)
    empty = np.empty(0, np.float32)
    for b in range(len(first_placement) - 1):
        board = (b, first_placement, first_constraint, first_seat, occupants, seats_of)
        p0, p1 = first_placement[b], first_placement[b + 1]
        c0, c1 = first_constraint[b], first_constraint[b + 1]
        num_rows = (p1 - p0 + ROWS - 1) // ROWS * ROWS
        num_seats = first_seat[c1] - first_seat[c0]
        for step in range(rounds + 1):
            set_out(x, start, num_rows, replies[step], num_seats)
        for step in range(rounds):
            copy_rows(x, 2 * width, states[step], 0, num_rows, width)
            fill_rows(message_bias, said, num_rows, width)
            add_product(x, 2 * width, message, width, width, said, width, num_rows)
            reply(board, said, gamma, replies[step], replies[step + 1], empty)
            hear(board, replies[step + 1], x, width)
            fill_rows(gate_bias, gates[step], num_rows, 2 * width)
            add_product(x, 2 * width, gate, 2 * width, 2 * width, gates[step], 2 * width, num_rows)
            turn(gates[step], x, num_rows, width)
        copy_rows(x, 2 * width, states[rounds], 0, num_rows, width)
        grad_x[: num_rows * 2 * width] = 0
        grad_replies[: num_seats * width] = 0
        for step in range(rounds, -1, -1):
            kept = (
                grad_c[step - 1 if every_round else 0, c0:c1].reshape(-1)
                if step and (every_round or step == rounds)
                else empty
            )
            fill_rows(message_bias, said, num_rows, width)
            add_product(states[step], width, message, width, width, said, width, num_rows)
            if step < rounds:
                # here grad_x = dL/dh_{step+1} | 0
                hear_states(board, states[step], replies[step + 1], x, width)
                turn_back(gates[step], x, grad_x, num_rows, width)
                add_product(
                    gates[step],
                    2 * width,
                    gate_t,
                    2 * width,
                    2 * width,
                    grad_x,
                    2 * width,
                    num_rows,
                )
                add_outer_products(
                    x, 2 * width, gates[step], 2 * width, 2 * width, 2 * width, g_gate, num_rows
                )
                add_rows(gates[step], 2 * width, g_gate_bias, num_rows)
            reply_back(
                board, said, gamma, replies[step], grad_x, grad_replies, kept, grad_said, g_gamma
            )
            add_product(grad_said, width, message_t, width, width, grad_x, 2 * width, num_rows)
            add_outer_products(
                states[step], width, grad_said, width, width, width, g_message, num_rows
            )
            add_rows(grad_said, width, g_message_bias, num_rows)
            tidy(grad_x, grad_said, num_rows, width)
            if step and (every_round or step == rounds):
                add_to_rows(grad_x, 2 * width, grad_p[step - 1 if every_round else 0], p0, p1 - p0, width)
        for r in range(num_rows):
            for j in range(0, width, LANES):
                store(g_start, j, load(g_start, j) + load(grad_x, r * 2 * width + j))


@njit
def hear_states(board, states, replies, x, width):
    num_rows = len(x) // (2 * width)
    for r in range(num_rows):
        for j in range(0, width, LANES):
            store(x, r * 2 * width + j, load(states, r * width + j))
    hear(board, replies, x, width)


@njit
def turn_back(gates, x, grad_x, num_rows, width):
    one = spread(1.0)
    for r in range(num_rows):
        for j in range(0, width, LANES):
            at = r * 2 * width + j
            z, n = load(gates, at), load(gates, at + width)
            h, g = load(x, at), load(grad_x, at)
            store(grad_x, at, g * (one - z))
            store(gates, at, g * (n - h) * z * (one - z))
            store(gates, at + width, g * z * (one - n * n))


@njit
def tidy(grad_x, grad_said, num_rows, width):
    for r in range(num_rows):
        for j in range(0, width, LANES):
            store(grad_x, r * 2 * width + width + j, spread(0.0))
            store(grad_said, r * width + j, spread(0.0))


@njit
def add_to_rows(rows, row_width, added, first, num_rows, width):
    for r in range(num_rows):
        for j in range(0, width, LANES):
            at = r * row_width + j
            store(rows, at, load(rows, at) + load(added, (first + r) * width + j))


@njit
def reply_back(board, said, gamma, replies, grad_x, grad_replies, grad_totals, grad_said, g_gamma):
    b, first_placement, first_constraint, first_seat, occupants, seats_of = board
    width = len(gamma)
    p0, c0, c1 = first_placement[b], first_constraint[b], first_constraint[b + 1]
    s0 = first_seat[c0]
    low, high, floor = spread(-LARGEST_MESSAGE), spread(LARGEST_MESSAGE), spread(FLOOR)
    scale = spread(REPLY_SCALE)
    smallest, greatest = exp(low), exp(high)
    messages = np.empty(32 * LANES, np.float32)
    befores = np.empty(32 * LANES, np.float32)
    tails = np.empty(32 * LANES, np.float32)
    for c in range(c0, c1):
        first, last = first_seat[c], first_seat[c + 1]
        for j in range(0, width, LANES):
            gain = load(gamma, j)
            before = floor
            for s in range(first, last):
                at = (s - s0) * width + j
                i = (s - first) * LANES
                told = load(said, (occupants[s] - p0) * width + j)
                message = exp(clamp(multiply_add(gain, load(replies, at), told), low, high))
                store(messages, i, message)
                store(befores, i, before)
                before = before + message
            head = spread(0.0)
            if len(grad_totals):
                head = load(grad_totals, (c - c0) * width + j) / before
            after = tail = spread(0.0)
            for s in range(last - 1, first - 1, -1):
                at = (s - s0) * width + j
                i = (s - first) * LANES
                grad = multiply_add(
                    scale,
                    load(grad_x, (occupants[s] - p0) * 2 * width + width + j),
                    load(grad_replies, at),
                )
                grad = grad / (load(befores, i) + after)
                store(tails, i, tail)
                store(befores, i, grad)
                tail = tail + grad
                after = after + load(messages, i)
            g_gain = load(g_gamma, j)
            for s in range(first, last):
                at = (s - s0) * width + j
                i = (s - first) * LANES
                p = (occupants[s] - p0) * width + j
                message = load(messages, i)
                grad = where_between(message, smallest, greatest, (head + load(tails, i)) * message)
                head = head + load(befores, i)
                g_gain = multiply_add(grad, load(replies, at), g_gain)
                store(grad_replies, at, gain * grad)
                store(grad_said, p, load(grad_said, p) + grad)
            store(g_gamma, j, g_gain)
