"""Numba's `njit`, whose cache also follows the sources that a kernel calls."""

# mypy: disable-error-code="import-untyped,no-untyped-call"

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache as memoized
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.registry import CPUDispatcher

_IMPORT = re.compile(r"^from (\w[\w.]*) import (\([^)]*\)|.*)", re.M)


def njit(
    function: Callable[..., Any] | None = None, /, *, cache: bool = False, **options: Any
) -> Any:
    """Decorate a function as `numba.njit` does, with its options."""
    if function is None:
        return partial(njit, cache=cache, **options)
    return _compiled(Kernel, function, cache, options)


def inlined(function: Callable[..., Any]) -> Any:
    """Decorate a function that compiled code calls, so that LLVM makes it a part of its callers.

    Numba's own `inline="always"` infers the types again in each caller, which is most of what
    compiling costs: it is for functions with one caller that do little but call others.
    """
    options = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return _compiled(_InlinedKernel, function, True, options)


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function whose machine code is kept where numba keeps it."""

    def enable_caching(self) -> None:
        """Keep machine code on disk, unless no folder of numba's can be written to."""
        with suppress(RuntimeError):
            self._cache = _KernelCache(self.py_func)


class _InlinedKernel(Kernel):
    """Machine code that Python can't call, as it has no wrapper; a call compiles another one."""

    def _insert(self, *_: Any, **__: Any) -> None:
        """Let no call from Python find the code."""

    def _compile_for_args(self, *_: Any, **__: Any) -> Any:
        return _callable_from_python(self.py_func)


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache, in which code counts as old once any source has changed that it is made of."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp(), _hash_of_imports(function.__module__)
        self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, stamp)


def _compiled(
    kind: type[Kernel], function: Callable[..., Any], cache: bool, options: dict[str, Any]
) -> Kernel:
    kernel = kind(function, targetoptions={"nopython": True, "boundscheck": None} | options)
    if cache:
        kernel.enable_caching()
    return kernel


@memoized
def _callable_from_python(function: Callable[..., Any]) -> Any:
    return numba.njit(function)


@memoized
def _hash_of_imports(module: str) -> str:
    """Hash the sources of all that a module imports from its own package and from ours."""
    found, waiting = set[str](), [module]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += _imports_of(each)
    digest = sha256()
    for each in sorted(found):
        digest.update(each.encode() + _source_of(each))
    return digest.hexdigest()


@memoized
def _imports_of(module: str) -> list[str]:
    """Name what a module imports: `from a import b` may mean the module `a.b`, or a thing in `a`.

    Imports inside functions, or for type checkers alone, bring nothing that is compiled.
    """
    imported = []
    for origin, names in _IMPORT.findall(_source_of(module).decode()):
        if origin.startswith("sudoku_") or origin.partition(".")[0] == module.partition(".")[0]:
            for name in re.findall(r"\w+", names):
                inner = f"{origin}.{name}"
                imported.append(inner if _source_of(inner) else origin)
    return imported


@memoized
def _source_of(module: str) -> bytes:
    """Return the source of a module or package, empty where there is none."""
    root, *rest = module.split(".")
    path = Path(getattr(sys.modules.get(root), "__file__", None) or os.devnull)
    below = path.parent.joinpath(*rest)
    for file in (below.with_suffix(".py"), below / "__init__.py") if rest else (path,):
        if file.is_file():
            return file.read_bytes()
    return b""
