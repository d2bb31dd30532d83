"""Numba's `njit` with a cache of its own, and a message while kernels are compiled."""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

import numba
from numba.core import config, event

from sudoku_gym.compiler.cache import cache_of

PATIENCE = 2.0  # seconds of compiling before a message


def njit(
    function: Callable[..., Any] | None = None, /, *, cache: bool = False, **options: Any
) -> Any:
    """Decorate a function as `numba.njit` does, with its options; `cache` is `compiler.cache`'s."""
    if function is None:
        return functools.partial(njit, cache=cache, **options)
    dispatcher = numba.njit(**options)(function)
    found = cache_of(function) if cache else None
    if found is not None:
        dispatcher._cache = found  # as numba's own `enable_caching` does
    _tell_who_waits()
    return dispatcher


def check_enabled() -> None:
    """Raise a ValueError if numba was told to compile nothing, as for a debugger."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        raise ValueError("the kernels have no form that is not compiled: unset NUMBA_DISABLE_JIT")


def inlined(function: Callable[..., Any]) -> Any:
    """Decorate a function that compiled code calls, so that LLVM makes it a part of its callers.

    Numba's own `inline="always"` infers the types again in each caller, which is most of what
    compiling costs: it is for functions with one caller that do little but call others.
    """
    options = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    dispatcher = njit(function, cache=True, **options)
    # Python has no way into this machine code, and numba would crash on the way: so numba finds
    # none, and a call from Python compiles another function, which has a way in.
    dispatcher._insert = lambda *_, **__: None
    dispatcher._compile_for_args = lambda *_, **__: _with_a_way_in(function)
    return dispatcher


@functools.cache
def _with_a_way_in(function: Callable[..., Any]) -> Any:
    return numba.njit(function)


class _Patience(event.Listener):
    """Says, once a process, that kernels are being compiled; events come nested, one thread's."""

    def __init__(self) -> None:
        self._nested = 0
        self._left = PATIENCE
        self._start = 0.0
        self._timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        module = dispatcher.__module__ or ""  # a function that was made by `exec` has none
        if self._nested == 0 and self._left > 0 and module.startswith("sudoku_"):
            self._timer = threading.Timer(self._left, self._tell, [dispatcher._cache.cache_path])
            self._timer.daemon = True
            self._timer.start()
            self._start = monotonic()
        self._nested += 1

    def on_end(self, event: Any) -> None:
        self._nested -= 1
        if self._nested == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._left -= monotonic() - self._start

    def _tell(self, folder: str | None) -> None:
        self._left = 0.0
        where = f"they are kept in {os.path.dirname(folder)}" if folder else "they are not kept"
        print(f"sudoku-gym: compiling kernels for the first time; {where}", file=sys.stderr)


@functools.cache
def _tell_who_waits() -> None:
    event.register("numba:compile", _Patience())  # type: ignore[no-untyped-call]
