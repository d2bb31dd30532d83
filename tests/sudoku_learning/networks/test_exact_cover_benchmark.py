"""The measurement of the exact-cover body runs."""

import importlib.util
from pathlib import Path

import numpy as np

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "exact_cover_body.py"


def test_the_bodies_are_measured(capsys):
    spec = importlib.util.spec_from_file_location("exact_cover_body", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    rates = script.main(["--smoke", "--intersections"])["4x4"]
    assert {"compiled", "plain torch", "pooled", "arithmetic limit"} < set(rates)
    assert all(np.all(np.array(rate) > 0) for rate in rates.values())
    assert "boards a second" in capsys.readouterr().out
