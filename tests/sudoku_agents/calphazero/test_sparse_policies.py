"""Sparse policies are the dense ones, however they are cut and joined."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sudoku_agents.calphazero.replay import SparsePolicies

DENSE = arrays.arrays(
    np.float32,
    st.tuples(st.integers(1, 6), st.just(27)),
    elements=st.sampled_from([0.0, 0.0, 0.0, 0.125, 0.5, 1.0]),
)


def assert_same(sparse, dense):
    np.testing.assert_array_equal(sparse.dense(dense.shape[1]), dense, strict=True)
    assert len(sparse) == len(dense)
    assert len(sparse.actions) == len(sparse.shares) == sparse.offsets[-1] == (dense > 0).sum()
    again = SparsePolicies.of(dense)
    np.testing.assert_array_equal(sparse.offsets, again.offsets, strict=True)
    np.testing.assert_array_equal(sparse.actions, again.actions, strict=True)


@given(dense=DENSE)
def test_dense_policies_come_back(dense):
    assert_same(SparsePolicies.of(dense), dense)


@given(dense=DENSE, data=st.data())
def test_a_choice_of_them_is_the_same_choice(dense, data):
    rows = st.lists(st.integers(0, len(dense) - 1), max_size=9)
    index = np.array(data.draw(rows), np.int64)
    assert_same(SparsePolicies.of(dense)[index], dense[index])
    start, stop = data.draw(st.integers(0, 6)), data.draw(st.integers(0, 6))
    assert_same(SparsePolicies.of(dense)[start:stop], dense[start:stop])
