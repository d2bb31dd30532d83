"""The gates that turn old states into new ones, with derivatives, on rows of one board."""

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

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,var-annotated"


@inner
def turn(old, new, gates, weights, bias, num_rows, x_width):
    """Write new states, h + z (n - h), and the gates z and n that brought them about.

    Rows of `old` and `new` are `x_width` wide and begin with the states; the gates read all of it.
    """
    width = len(bias) // 2
    fill_rows(bias, gates, num_rows, 2 * width)
    add_product(old, x_width, weights, x_width, 2 * width, gates, 2 * width, num_rows)
    for row in range(num_rows):
        for j in range(0, width, LANES):
            at = row * 2 * width + j
            z, n = sigmoid_and_tanh(load(gates, at), load(gates, at + width))
            h = load(old, row * x_width + j)
            store(new, row * x_width + j, multiply_add(z, n - h, h))
            store(gates, at, z)
            store(gates, at + width, n)


@inner
def turn_back(old, gates, transposed, grad, grad_weights, grad_bias, num_rows, x_width):
    """Replace derivatives of the new states by those of whole old rows; use up the gates."""
    width = len(grad_bias) // 2
    one, nothing = spread(1.0), spread(0.0)
    for row in range(num_rows):
        for j in range(0, width, LANES):
            at, state = row * 2 * width + j, row * x_width + j
            z, n = load(gates, at), load(gates, at + width)
            new = load(grad, state)
            kept = new * (one - z)
            store(grad, state, kept)
            store(gates, at, kept * z * (n - load(old, state)))
            store(gates, at + width, new * z * (one - n * n))
            for part in range(width, x_width, width):
                store(grad, state + part, nothing)
    add_product(gates, 2 * width, transposed, 2 * width, x_width, grad, x_width, num_rows)
    add_outer_products(old, x_width, gates, 2 * width, x_width, 2 * width, grad_weights, num_rows)
    add_rows(gates, 2 * width, grad_bias, num_rows)
