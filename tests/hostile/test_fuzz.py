"""Random inputs for all public readers and constructors, see `benchmarks/fuzz.py`."""

from contextlib import nullcontext

import pytest

import fuzz
from fuzz_inputs import Inputs

pytest.importorskip("torch")


@pytest.mark.slow
def test_random_inputs_are_taken_or_refused_in_words():
    assert fuzz.try_inputs(range(20_000)) == []


def test_findings_are_found(monkeypatch):
    def fails(make):
        raise KeyError("a mistake")

    def wordless(make):
        raise ValueError("no")

    def refuses(make):
        raise ValueError("a value that is out of range")

    targets = {"fails": fails, "wordless": wordless, "refuses": refuses}
    monkeypatch.setattr(fuzz, "TARGETS", targets)
    monkeypatch.setattr(fuzz, "TURNS", list(targets))
    monkeypatch.setattr(fuzz, "prepared", nullcontext)
    found = fuzz.try_inputs(range(30))
    problems = {each.target: each.problem for each in found}
    assert problems == {
        "fails": "KeyError: 'a mistake'",
        "wordless": "ValueError('no') says nothing",
    }
    refused = [number for number in range(30) if fuzz.target_of(number) == "refuses"]
    assert 0 < len(refused) == 30 - len(found)


def test_an_input_is_the_same_each_time(tmp_path):
    first, second = (repr([Inputs(f"0 {i}", tmp_path).value() for i in range(50)]) for _ in "ab")
    assert first == second
