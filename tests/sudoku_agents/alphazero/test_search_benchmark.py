"""The measurement of the search runs, with and without mctx."""

import subprocess
import sys

import numpy as np
import pytest

import search


@pytest.fixture
def benchmark_module(monkeypatch):
    monkeypatch.setattr(search.os, "sched_setaffinity", lambda *_: None, raising=False)
    return search


def test_without_mctx_its_rows_are_left_out(benchmark_module, monkeypatch, capsys):
    monkeypatch.setattr(benchmark_module, "has_mctx", lambda config: False)
    times = benchmark_module.main(["--smoke"])
    out = capsys.readouterr().out
    assert "pip install mctx 'jax[cpu]'" in out and "MuZero" not in out
    assert len(times) == 16 and set(times.values()) == {None}


def test_beside_mctx_each_search_has_its_share(benchmark_module, monkeypatch, capsys):
    def measured(path, policy, name, simulations, config):
        with np.load(path) as npz:
            masks = npz["masks"]
        noise = np.zeros(masks.shape, np.float32)
        return 0.5, {"visits": np.zeros(masks.shape, np.int32), "noise": noise}

    monkeypatch.setattr(benchmark_module, "has_mctx", lambda config: True)
    monkeypatch.setattr(benchmark_module, "measure_mctx", measured)
    times = benchmark_module.main(["--smoke", "--networks", "table"])
    assert "MuZero" in capsys.readouterr().out
    assert len(times) == 12 and all(factor > 0 for factor in times.values())


def test_what_is_no_mctx_is_seen(benchmark_module):
    python = subprocess.run([sys.executable, "-c", "import mctx, jax"], capture_output=True)
    config = benchmark_module.Config()
    assert benchmark_module.has_mctx(config) == (python.returncode == 0)
