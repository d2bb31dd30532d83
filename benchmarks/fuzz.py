"""Random inputs for all public readers and constructors: each is taken, or refused in words.

python benchmarks/fuzz.py --inputs 1000000 --jobs 2     # with seed 0
python benchmarks/fuzz.py --only 4711                   # this input again, with its traceback

A finding is any error but those that callers are told of (`TOLD`), an error without words, more
than 2 s of processor time without compilation, or a peak of memory that rises by more than 200 MB.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import tyro

import fuzz_environments  # noqa: F401 - enters its targets
import fuzz_functions  # noqa: F401
import fuzz_readers  # noqa: F401
from fuzz_inputs import Inputs
from fuzz_targets import TARGETS, TURNS, prepared
from results import command_of, keep

TOLD = (ValueError, TypeError, OSError, ModuleNotFoundError, gym.error.Error)
SECONDS = 2.0  # of processor time
HANG = 120  # seconds on the wall, where others are busy too
MEGABYTES = 200
_SHORTEST = 8  # characters of an error's words
_MOST_BYTES = 4 * 2**30  # that all inputs together may ask for: what asks for more fails
_CHUNK = 5_000


@dataclass(frozen=True)
class Options:
    """What to try."""

    inputs: int = 20_000
    """Number of inputs."""
    seed: int = 0
    """Input i of a seed is always the same."""
    jobs: int = 1
    """Processes."""
    target: str = ""
    """Only this one of the targets; all if not given."""
    only: int = -1
    """Only the input of this number, and let its error through."""
    out: Path | None = None
    """A JSON file; other parts in it stay."""


@dataclass(frozen=True)
class Finding:
    """An input that was neither taken nor refused in words."""

    number: int
    target: str
    problem: str


class _HangError(BaseException):
    """Too long."""


def target_of(number: int, only: str = "") -> str:
    """Return the target of an input."""
    return only or random.Random(number).choice(TURNS)


def try_input(number: int, seed: int, folder: Path, only: str = "") -> str:
    """Feed an input to its target; return the problem, empty if there is none."""
    make, peak, start = Inputs(f"{seed} {number}", folder), _peak(), time.process_time()
    problem = ""
    try:
        TARGETS[target_of(number, only)](make)
    except TOLD as error:
        if len(str(error)) < _SHORTEST:
            problem = f"{error!r} says nothing"
    except _HangError:
        problem = f"it hangs: {HANG} s"
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"[:300]
    seconds, grown = time.process_time() - start, _peak() - peak
    if not problem and seconds > SECONDS:
        problem = f"processor time {seconds:.1f} s"
    if not problem and grown > MEGABYTES:
        problem = f"{grown} MB more"
    return problem


def try_inputs(numbers: Iterable[int], seed: int = 0, only: str = "") -> list[Finding]:
    """Feed inputs to their targets, in this process; return the findings."""
    found = []
    before = signal.signal(signal.SIGALRM, _on_alarm)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with prepared(), tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        resource.setrlimit(resource.RLIMIT_AS, (_address_space() + _MOST_BYTES, limits[1]))
        for number in numbers:
            signal.alarm(HANG)
            problem = try_input(number, seed, Path(name), only)
            if problem.endswith(" s"):  # kernels may have been compiled: the second time counts
                signal.alarm(HANG)
                problem = try_input(number, seed, Path(name), only)
            signal.alarm(0)
            if problem:
                found.append(Finding(number, target_of(number, only), problem))
    resource.setrlimit(resource.RLIMIT_AS, limits)
    signal.signal(signal.SIGALRM, before)
    return found


def _on_alarm(*_: Any) -> None:
    raise _HangError


def _address_space() -> int:
    """Return the bytes of memory that this process has asked for."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _peak() -> int:
    """Return the most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _chunks(count: int) -> Iterator[range]:
    for start in range(0, count, _CHUNK):
        yield range(start, min(start + _CHUNK, count))


def main(argv: list[str] | None = None) -> list[Finding]:
    """Try the inputs and print what was found."""
    options = tyro.cli(Options, args=argv)
    if options.only >= 0:
        with prepared(), tempfile.TemporaryDirectory() as name:
            make = Inputs(f"{options.seed} {options.only}", Path(name))
            TARGETS[target_of(options.only, options.target)](make)
        return []
    found: list[Finding] = []
    run = partial(try_inputs, seed=options.seed, only=options.target)
    start = time.perf_counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        for number, part in enumerate(pool.map(run, _chunks(options.inputs)), start=1):
            for finding in part:
                print(f"{finding.number}, {finding.target}: {finding.problem}", flush=True)
            found += part
            done = min(number * _CHUNK, options.inputs)
            print(f"{done:,} inputs, {len(found)} findings", file=sys.stderr, flush=True)
    by_target = ", ".join(f"{name} {n}" for name, n in Counter(f.target for f in found).items())
    row = {"inputs": options.inputs, "targets": len(TARGETS), "findings": by_target or 0}
    row |= {"seconds": round(time.perf_counter() - start), "processes": options.jobs}
    keep(options.out, f"random inputs, seed {options.seed}", command_of(__file__, argv), [row])
    return found


if __name__ == "__main__":
    os._exit(1 if main() else 0)
