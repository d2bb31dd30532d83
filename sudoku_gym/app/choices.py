"""Checks of what a visitor of the page asks for: puzzles, and policies with options.

Visitors are untrusted. They choose among what is installed and what the person who started the page
offers; options may be numbers and words that the policy lists itself, never a path, and no number
makes one move take minutes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint
from inspect import Parameter, signature
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board, plugins
from sudoku_gym.app.elsewhere import PolicyElsewhere
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Policy, load_policy
from sudoku_gym.policies.loading import split_policy
from sudoku_gym.policies.own_process import OwnProcess, close_all
from sudoku_gym.policies.working_folder import importing, is_of_others
from sudoku_gym.puzzles import banks, named
from sudoku_gym.storage.type_hints import hints_of, literals_in

BANKS = tuple(name for name in banks.NAMES if name not in ("25x25", "named"))
TYPED_IN = "type your own"
NO_PLAYER = "nobody"
SOURCES = (*BANKS, *named.TITLES, TYPED_IN)
MOST_CELLS = 256
_LONGEST_TEXT = 2000
_LONGEST_OPTIONS = 200
_MOST = 1000.0  # of any number that is not limited by name
_ENDS = ("time_limit", "node_limit", "conflict_limit")  # without them a solver may never end
_MOST_OF: dict[str, float] = {  # options that cost time
    "time_limit": 5.0,
    "node_limit": 1_000_000,
    "conflict_limit": 100_000,
    "simulations": 32,
    "evaluations": 300,
    "rounds": 1024,
    "restarts": 31,  # 32 starts of 1,024 rounds take as long as the 128 of 256 of `calphazero`
    "iterations": 200,
    "sinkhorn_rounds": 20,
}
_ROUNDS_OF_ALL_STARTS = 32_768  # as many
_ROUNDS_ON_LARGE_BOARDS = 8192  # a quarter; one takes three times as long
_ROUNDS_OF_A_START, _MOST_RESTARTS = 256, 127  # by default
_ITERATIONS_ON_LARGE_BOARDS = {  # a sum over 2**N sets of digits for each unit in each of them
    "sum-product": 20,
    "max-product": 20,
    "fractional-bp": 20,
    "drawn-marginal": 12,
    "surest-marginal": 12,
}


class OfferedPolicies:
    """The policies that visitors may choose.

    Args:
        extra: further ones of the person who starts the page; nothing about them is limited.
            A ValueError says if one can't be loaded.
        trust: see `load_policy`; for `extra` alone.
        longest: seconds of a move of another package's policy, after which its process, and so all
            of its games, is ended; None for no limit.
    """

    def __init__(
        self, extra: Iterable[str] = (), trust: bool = False, longest: float | None = None
    ) -> None:
        self._extra = {name: _absolute(name) for name in extra}
        self._trust, self._longest = trust, longest
        self._processes: dict[str, OwnProcess] = {}  # of others' policies, by their names
        self._starting = Lock()
        for name in self._extra.values():
            self._load(name, trust=trust)
        self._installed = {
            name: entry
            for name, entry in plugins.available(plugins.POLICIES).items()
            if _can_be_made(entry)
        }

    @property
    def names(self) -> list[str]:
        """Names of the offered policies, `extra` first."""
        return [*self._extra, *self._installed]

    @property
    def shown_first(self) -> tuple[str, str]:
        """The policies on the left and on the right before a visitor chooses."""
        names = self.names
        left, right = (*plugins.default_policies("app"), "", "")[:2]
        return left if left in names else names[0], right if right in names else names[0]

    def policy(self, name: object, options: object = "", size: int = 9) -> Policy:
        """Make the policy, one of `names`, with options `key=value&key=value` or none.

        It is for boards of `size` digits; on large ones some do fewer iterations, by default too.

        A ValueError says if there is no such policy, or no option that a visitor may give.
        """
        if not isinstance(name, str) or name not in self.names:
            raise ValueError("choose one of the policies in the list")
        if not isinstance(options, str) or len(options) > _LONGEST_OPTIONS:
            raise ValueError(f"options are a text of at most {_LONGEST_OPTIONS} characters")
        options = options.strip().removeprefix("?")
        if name in self._extra:
            if options:
                raise ValueError(f"{name} is offered as it is: leave the options empty")
            return self._load(self._extra[name], trust=self._trust)
        written = plugins.split_options(f"{name}?{options}")[1] if options else {}
        factory = plugins.load_entry(self._installed[name])
        at_most = dict(_MOST_OF)
        if size > 9 and name in _ITERATIONS_ON_LARGE_BOARDS:
            at_most["iterations"] = _ITERATIONS_ON_LARGE_BOARDS[name]
            written = {"iterations": at_most["iterations"]} | written
        limited = _limited(factory, written, at_most)
        limited |= _restarts_by_default(factory, limited, size > 9)
        checked = plugins.checked_options(factory, name, limited, {})
        return self._load(name, **checked)

    def is_of_others(self, name: object) -> bool:
        """Whether `name` is offered and another package's, whose games play in one process."""
        is_offered = isinstance(name, str) and name in self.names
        return is_offered and is_of_others(self._extra.get(str(name), str(name)))

    def close(self) -> None:
        """End the processes of policies."""
        close_all(self._processes.values())

    def _load(self, name: str, **options: Any) -> Policy:
        """Make a policy, in a process of its own if it is another package's."""
        if not is_of_others(name):
            return load_policy(name, **options)
        with self._starting:
            process = self._processes.get(name)
            if process is not None and not process.is_alive:
                process.close()
                process = None
            if process is None:
                process = self._processes[name] = OwnProcess(name, self._longest)
        return PolicyElsewhere(process, name, **options)


def puzzle(source: object, number: object, text: object) -> tuple[NDArray[np.int8], Geometry]:
    """Return the puzzle that a visitor chose, int8 `[N, N]`, and its geometry.

    `source` is one of `SOURCES`; `number` counts a bank's test puzzles from 1; `text` is the board
    where `source` is `TYPED_IN`. Else a ValueError says why.
    """
    if source == TYPED_IN:
        return _typed(text)
    if source in named.TITLES:
        line = named.BOARDS[str(source)]
        return board.parse(line), Geometry.standard(9)
    if not isinstance(source, str) or source not in BANKS:
        raise ValueError("choose one of the puzzles in the list")
    bank = banks.load(source, "test")
    if not isinstance(number, int | float) or number is True or not 1 <= number <= len(bank):
        raise ValueError(f"{source} has {len(bank):,} test puzzles: choose a number from 1 to that")
    return bank.puzzles[int(number) - 1].copy(), bank.geometry


def _typed(text: object) -> tuple[NDArray[np.int8], Geometry]:
    if not isinstance(text, str) or not text.strip():
        raise ValueError("type a puzzle, row by row, with 0 or . for a blank")
    if len(text) > _LONGEST_TEXT:
        raise ValueError(f"a puzzle is a text of at most {_LONGEST_TEXT:,} characters")
    given = board.parse(text)
    if given.size > MOST_CELLS:
        raise ValueError(f"this page plays boards of up to {MOST_CELLS} cells, not {given.size}")
    board.check_puzzle(given)
    return given, Geometry.standard(len(given))


def _absolute(policy: str) -> str:
    """Return the path of a checkpoint in full, with its options; another policy's name as it is.

    So it is found whatever folder a policy changes to.
    """
    name, _, is_folder = split_policy(policy)
    return f"{os.path.abspath(name)}{policy.removeprefix(name)}" if is_folder else policy


def _can_be_made(entry: EntryPoint) -> bool:
    """Whether a policy is fully installed, and can do without options."""
    try:
        with importing(getattr(entry, "module", "")):
            factory = plugins.load_entry(entry)
        needed = [
            parameter
            for parameter in signature(factory).parameters.values()
            if parameter.default is Parameter.empty
            and parameter.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        ]
    except Exception:  # a third-party package may fail in any way; then it is not offered
        return False
    return not needed


def _limited(
    factory: Callable[..., Any], written: dict[str, Any], at_most: dict[str, float]
) -> dict[str, Any]:
    """Check a visitor's options; add limits where the policy has some and is given none."""
    hints, taken = hints_of(factory), signature(factory).parameters
    for key, value in written.items():
        if isinstance(value, str):
            is_known = value in literals_in(hints.get(key))
        elif key in taken and key not in hints:  # a number opens a file where a path is meant
            is_known = isinstance(taken[key].default, int | float)
        else:
            is_known = True
        if not is_known:
            raise ValueError(f"{key}={value} is no option that can be given here")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        most = at_most.get(key, _MOST)
        if is_number and abs(value) > most:
            raise ValueError(f"{key}={value} takes too long here: use at most {most:g}")
        if key in at_most and not is_number:
            raise ValueError(f"{key} is a number of at most {most:g}")
    limits = {
        key: most
        for key, most in at_most.items()
        if key in taken and _is_unlimited(key, taken[key].default)
    }
    return {**limits, **written}


def _restarts_by_default(
    factory: Callable[..., Any], written: dict[str, Any], is_large: bool
) -> dict[str, int]:
    """Return how often a policy starts again at most, where its default would be too often.

    A ValueError says if the visitor of a large board asks for more.
    """
    if "restarts" not in (taken := signature(factory).parameters):
        return {}
    rounds = max(1, int(written.get("rounds", _ROUNDS_OF_A_START)))
    all_rounds = _ROUNDS_ON_LARGE_BOARDS if is_large else _ROUNDS_OF_ALL_STARTS
    most = max(0, min(_MOST_RESTARTS, all_rounds // rounds - 1))
    if is_large:
        most = min(int(_MOST_OF["restarts"]), most)
        if written.get("restarts", 0) > most:
            raise ValueError(f"on such a board use at most restarts={most} with {rounds:,} rounds")
    if "restarts" in written or written.get("simulations") or taken["restarts"].default is not None:
        return {}
    return {"restarts": most} if is_large or "rounds" in written else {}


def _is_unlimited(key: str, default: object) -> bool:
    """Whether a policy's default exceeds what a visitor may ask for."""
    if isinstance(default, int | float):
        return default > _MOST_OF[key]
    return key in _ENDS
