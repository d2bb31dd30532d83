"""The vectors of the kernels compute what numpy computes."""

import numpy as np
import pytest
from numba import njit

from sudoku_learning.networks.factor_graph import products, vectors
from sudoku_learning.networks.factor_graph.vectors import LANES, load, store


@njit
def apply_exp(x, out):
    for i in range(0, len(x), LANES):
        store(out, i, vectors.exp(load(x, i)))


@njit
def apply_log(x, out):
    for i in range(0, len(x), LANES):
        store(out, i, vectors.log(load(x, i)))


@njit
def apply_sigmoid_and_tanh(x, sigmoids, tanhs):
    for i in range(0, len(x), LANES):
        sigmoid, tanh = vectors.sigmoid_and_tanh(load(x, i), load(x, i))
        store(sigmoids, i, sigmoid)
        store(tanhs, i, tanh)


@njit
def bring_between(x, out):
    low, high = vectors.spread(-1.0), vectors.spread(2.0)
    for i in range(0, len(x), LANES):
        store(out, i, vectors.clamp(load(x, i), low, high))


@njit
def choose_between(x, out):
    low, high = vectors.spread(-1.0), vectors.spread(2.0)
    for i in range(0, len(x), LANES):
        store(out, i, vectors.where_between(load(x, i), low, high, load(x, i) + load(x, i)))


def every_997th(low, high):
    """Every 997th float32 of an interval that does not contain 0, or of two that meet there."""
    if low < 0 < high:
        return np.concatenate([-every_997th(1e-30, -low), every_997th(1e-30, high)])
    first, last = np.array([low, high], np.float32).view(np.int32)
    bits = np.arange(first, last, 997, dtype=np.int32)
    return bits[: len(bits) // LANES * LANES].view(np.float32)


def test_exp():
    x = every_997th(-87.0, 87.0)
    found = np.empty_like(x)
    apply_exp(x, found)
    assert np.abs(found / np.exp(x.astype(np.float64)) - 1).max() < 2e-7


def test_log():
    x = every_997th(1e-30, 1e30)
    found = np.empty_like(x)
    apply_log(x, found)
    exact = np.log(x.astype(np.float64))
    assert (np.abs(found - exact) / np.maximum(np.abs(exact), 1)).max() < 3e-7


def test_sigmoid_and_tanh():
    x = every_997th(-200.0, 200.0)
    sigmoids, tanhs = np.empty_like(x), np.empty_like(x)
    apply_sigmoid_and_tanh(x, sigmoids, tanhs)
    exact = x.astype(np.float64)
    assert np.abs(sigmoids - (1 + np.tanh(exact / 2)) / 2).max() < 3e-7
    assert np.abs(tanhs - np.tanh(exact)).max() < 3e-7


def test_clamp_and_choice():
    x = np.tile(np.array([-5, -1, -0.5, 0, 1, 2, 3, np.nan], np.float32), LANES // 8)
    found = np.empty_like(x)
    bring_between(x, found)
    np.testing.assert_array_equal(found, np.clip(x, -1, 2))
    choose_between(x, found)
    np.testing.assert_array_equal(found, [0, 0, -1, 0, 2, 0, 0, 0] * (LANES // 8))


@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (2, 4), (3, 1)])  # vectors
def test_products(inputs, outputs):
    rng = np.random.default_rng(0)
    inputs, outputs = inputs * LANES, outputs * LANES
    rows, spare = 2 * products.ROWS, LANES  # rows may be wider than what is multiplied
    x = rng.normal(size=(rows, inputs + spare)).astype(np.float32)
    y = rng.normal(size=(rows, outputs + spare)).astype(np.float32)
    weights = rng.normal(size=(inputs, outputs)).astype(np.float32)

    add = njit(products.add_product.py_func)
    out = y.copy()
    parts = weights.ravel(), outputs, out.reshape(-1), outputs + spare
    add(x.ravel(), inputs + spare, 1, inputs, *parts, rows)
    expected = y.copy()
    expected[:, :outputs] += x[:, :inputs] @ weights
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)

    out = weights.copy()
    flat = np.ascontiguousarray(y[:, :outputs])
    parts = flat.ravel(), outputs, out.reshape(-1), outputs
    add(x.ravel(), 1, inputs + spare, rows, *parts, inputs)  # the transpose of x
    expected = weights + x[:, :inputs].T @ flat
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)

    total = weights[0].copy()
    njit(products.add_rows.py_func)(flat.ravel(), outputs, total, rows)
    np.testing.assert_allclose(total, weights[0] + flat.sum(0), rtol=1e-5, atol=1e-5)
    njit(products.fill_rows.py_func)(weights[0].copy(), flat.reshape(-1), rows, outputs)
    np.testing.assert_array_equal(flat, np.tile(weights[0], (rows, 1)))
