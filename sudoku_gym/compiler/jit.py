"""Numba's `njit`, whose cache also follows the sources that a kernel calls."""

# mypy: disable-error-code="import-untyped,no-untyped-call"

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba.core.registry import CPUDispatcher

_INLINED = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_IMPORT = re.compile(r"^from (\w[\w.]*) import (\([^)]*\)|.*)", re.M)


def njit(
    function: Callable[..., Any] | None = None, /, *, cache: bool = False, **options: Any
) -> Any:
    """Decorate a function as `numba.njit` does, with its options."""
    if function is None:
        return functools.partial(njit, cache=cache, **options)
    kernel = numba.njit(function, **options)
    if cache:
        _keep(kernel)
    return kernel


def inlined(function: Callable[..., Any]) -> Any:
    """Decorate a function that compiled code calls, so that LLVM makes it a part of its callers.

    Numba's own `inline="always"` infers the types again in each caller, which is most of what
    compiling costs: it is for functions with one caller that do little but call others.
    """
    kernel = _InlinedKernel(function, targetoptions={"nopython": True} | _INLINED)
    _keep(kernel)
    return kernel


def _keep(kernel: Any) -> None:
    """Keep machine code where numba keeps it, unless none of its folders can be written to.

    Numba unpickles no code of another version of its own, which may name types that are no longer
    there. A hash of all sources that a kernel is made of becomes a part of that version.
    """
    with suppress(RuntimeError):
        kernel.enable_caching()
        kernel._cache._cache_file._version += f" {_hash_of_imports(kernel.py_func.__module__)}"


class _InlinedKernel(CPUDispatcher):
    """Machine code that Python can't call, as it has no wrapper: a call compiles another one."""

    def _insert(self, *_: Any, **__: Any) -> None:
        """Let no call from Python find the code."""

    def _compile_for_args(self, *_: Any, **__: Any) -> Any:
        return self._with_wrapper

    @functools.cached_property
    def _with_wrapper(self) -> Any:
        return numba.njit(self.py_func)


@functools.cache
def _hash_of_imports(module: str) -> str:
    """Hash the sources of all that a module imports from its own package and from ours."""
    found = [module]
    for each in found:  # grows meanwhile
        found += [new for new in _imports_of(each) if new not in found]
    sources = b"".join(each.encode() + _source_of(each) for each in sorted(set(found)))
    return sha256(sources).hexdigest()


@functools.cache
def _imports_of(module: str) -> list[str]:
    """Name what a module imports at its top: `from a import b` means `a.b`, or a thing in `a`."""
    imported = []
    for origin, names in _IMPORT.findall(_source_of(module).decode()):
        if origin.startswith("sudoku_") or origin.partition(".")[0] == module.partition(".")[0]:
            inner = [f"{origin}.{name}" for name in re.findall(r"\w+", names)]
            imported += [each if _source_of(each) else origin for each in inner]
    return imported


@functools.cache
def _source_of(module: str) -> bytes:
    """Return the source of a module or package, empty where there is none."""
    root, *rest = module.split(".")
    path = Path(getattr(sys.modules.get(root), "__file__", None) or os.devnull)
    below = path.parent.joinpath(*rest)
    files = (below.with_suffix(".py"), below / "__init__.py") if rest else (path,)
    return next((file.read_bytes() for file in files if file.is_file()), b"")
