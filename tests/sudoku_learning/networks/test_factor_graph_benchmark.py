"""The measurement of the factor-graph body runs."""

import numpy as np

import factor_graph_body


def test_the_bodies_are_measured(capsys):
    rates = factor_graph_body.main(["--smoke", "--intersections"])["4x4"]
    assert {"compiled", "plain torch", "pooled", "arithmetic limit"} < set(rates)
    assert all(np.all(np.array(rate) > 0) for rate in rates.values())
    assert "boards a second" in capsys.readouterr().out
