"""Small matrix products in numba, and the gated recurrent unit that is made of them.

Matrices are flat float32 arrays, row by row; rows of channels are padded to whole vectors.
Eight rows are multiplied at a time, since a processor
needs that many independent sums to keep its multipliers busy; callers pad to multiples of `ROWS`.
"""

from __future__ import annotations

from sudoku_learning.networks.factor_graph.vectors import (
    LANES,
    inner,
    load,
    multiply_add,
    sigmoid_and_tanh,
    spread,
    spread_from,
    store,
)

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

ROWS = 8


@inner
def fill_rows(row, out, num_rows, width):
    """Write `row [width]` into each of the first rows of `out`."""
    for r in range(num_rows):
        for j in range(0, width, LANES):
            store(out, r * width + j, load(row, j))


@inner
def add_product(x, row_step, column_step, inputs, weights, outputs, out, out_width, num_rows):
    """Add `X @ weights` to the first `outputs` columns of `out`, whose rows are `out_width` wide.

    X has `num_rows` rows and `inputs` columns, its element (r, i) at `r * row_step + i *
    column_step` of `x`, so it may be the transpose of what is stored; weights are `[inputs,
    outputs]`.
    """
    for r in range(0, num_rows, ROWS):
        for j in range(0, outputs, LANES):
            y = r * out_width + j
            a, b = load(out, y), load(out, y + out_width)
            c, d = load(out, y + 2 * out_width), load(out, y + 3 * out_width)
            e, f = load(out, y + 4 * out_width), load(out, y + 5 * out_width)
            g, h = load(out, y + 6 * out_width), load(out, y + 7 * out_width)
            for i in range(inputs):
                w = load(weights, i * outputs + j)
                k = r * row_step + i * column_step
                a = multiply_add(spread_from(x, k), w, a)
                b = multiply_add(spread_from(x, k + row_step), w, b)
                c = multiply_add(spread_from(x, k + 2 * row_step), w, c)
                d = multiply_add(spread_from(x, k + 3 * row_step), w, d)
                e = multiply_add(spread_from(x, k + 4 * row_step), w, e)
                f = multiply_add(spread_from(x, k + 5 * row_step), w, f)
                g = multiply_add(spread_from(x, k + 6 * row_step), w, g)
                h = multiply_add(spread_from(x, k + 7 * row_step), w, h)
            store(out, y, a)
            store(out, y + out_width, b)
            store(out, y + 2 * out_width, c)
            store(out, y + 3 * out_width, d)
            store(out, y + 4 * out_width, e)
            store(out, y + 5 * out_width, f)
            store(out, y + 6 * out_width, g)
            store(out, y + 7 * out_width, h)


@inner
def add_rows(x, width, out, num_rows):
    """Add the sum of the first rows of `x` to `out [width]`."""
    for j in range(0, width, LANES):
        total = load(out, j)
        for r in range(num_rows):
            total = total + load(x, r * width + j)
        store(out, j, total)


@inner
def gru_step(x, new_x, gates, weights, bias, num_rows):
    """Write new states, h + z (n - h), to the first parts of rows of `new_x`, and z and n.

    Rows of `x` and `new_x` begin with the states h; z and n are computed from whole rows of `x`.
    """
    width, x_width = len(bias) // 2, len(weights) // len(bias)
    fill_rows(bias, gates, num_rows, 2 * width)
    add_product(x, x_width, 1, x_width, weights, 2 * width, gates, 2 * width, num_rows)
    for row in range(num_rows):
        for j in range(0, width, LANES):
            at = row * 2 * width + j
            z, n = sigmoid_and_tanh(load(gates, at), load(gates, at + width))
            h = load(x, row * x_width + j)
            store(new_x, row * x_width + j, multiply_add(z, n - h, h))
            store(gates, at, z)
            store(gates, at + width, n)


@inner
def gru_backward(x, gates, transposed, grad_x, grad_weights, grad_bias, num_rows):
    """Replace derivatives of new states by those of whole rows of x; overwrite the gates."""
    width, x_width = len(grad_bias) // 2, len(grad_weights) // len(grad_bias)
    one, zero = spread(1.0), spread(0.0)
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
                store(grad_x, state + part, zero)
    add_product(gates, 2 * width, 1, 2 * width, transposed, x_width, grad_x, x_width, num_rows)
    add_product(x, 1, x_width, num_rows, gates, 2 * width, grad_weights, 2 * width, x_width)
    add_rows(gates, 2 * width, grad_bias, num_rows)
