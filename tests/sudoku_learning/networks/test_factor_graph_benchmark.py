"""The measurements of the factor-graph body run."""

import json

import numpy as np

import factor_graph_body
import gpu


def test_the_bodies_are_measured(capsys):
    rates = factor_graph_body.main(["--smoke", "--intersections"])["4x4"]
    assert {"compiled", "plain torch", "pooled", "arithmetic limit"} < set(rates)
    assert all(np.all(np.array(rate) > 0) for rate in rates.values())
    assert "boards a second" in capsys.readouterr().out


def test_what_there_is_of_devices_is_measured(tmp_path):
    out = tmp_path / "gpu.json"
    small = "--sets 4x4 --boards 4 --threads 1 2 --rounds 16 --games 2 --turns 1 --no-compiled"
    gpu.main([*small.split(), "--out", str(out)])
    rows = [row for row in json.loads(out.read_text())["rows"] if row["device"] == "cpu"]
    parts = ["rounds", "update"]
    assert [row["part"] for row in rows] == parts + parts + ["games", "games"]
    assert all(row["boards a second"] > 0 for row in rows if row["part"] in parts)
    assert [row["solved"] for row in rows if row["part"] == "games"] == [2, 2]
