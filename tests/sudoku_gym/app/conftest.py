"""Clocks for the tests of what a visitor may cost."""

from types import SimpleNamespace

import pytest

from sudoku_gym.app import limits
from sudoku_gym.policies import own_process


@pytest.fixture
def clock(monkeypatch):
    """Clocks of the processor and on the wall that only tests move.

    Another process has worked for this thread before.
    """
    clock = SimpleNamespace(used=0.0, now=1000.0)
    monkeypatch.setattr(limits.time, "thread_time", lambda: clock.used)
    monkeypatch.setattr(limits.time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(own_process._elsewhere, "seconds", 0.1, raising=False)
    return clock
