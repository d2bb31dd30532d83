"""The gated recurrent unit without reset that makes new states, with derivatives, for one board."""

from __future__ import annotations

from sudoku_learning.networks.factor_graph.products import (
    add_outer_products,
    add_product,
    add_rows,
    fill_rows,
)
from sudoku_learning.networks.factor_graph.vectors import (
    LANES,
    inner,
    load,
    multiply_add,
    sigmoid_and_tanh,
    spread,
    store,
)

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"


@inner
def gru_step(x, new_x, gates, weights, bias, num_rows):
    """Write new states, h + z (n - h), to the first parts of rows of `new_x`, and z and n.

    Rows of `x` and `new_x` begin with the states h; z and n are computed from whole rows of `x`.
    """
    width, x_width = len(bias) // 2, len(weights) // len(bias)
    fill_rows(bias, gates, num_rows, 2 * width)
    add_product(x, x_width, weights, gates, 2 * width, 2 * width, num_rows)
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
    add_product(gates, 2 * width, transposed, grad_x, x_width, x_width, num_rows)
    add_outer_products(x, x_width, gates, 2 * width, grad_weights, num_rows)
    add_rows(gates, 2 * width, grad_bias, num_rows)
