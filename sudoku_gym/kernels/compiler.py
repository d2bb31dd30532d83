"""Numba's `njit`, with a cache that no change of a source can leave stale.

Numba compiles what a function calls into the function, and keeps the machine code until the
function's own file changes. So after an edit elsewhere, or an upgrade, an old callee would run on.
Here the machine code of a file lies in a folder named by a hash of that file and of all files that
it imports from our packages, directly or not. The folder is where numba would have put the code: in
`__pycache__` beside the source, or below `NUMBA_CACHE_DIR` where that is set.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

_OURS = "sudoku_"  # how the names of our packages begin
# Imports inside functions, or for type checkers alone, bring nothing that is compiled.
_IMPORT = re.compile(r"^(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|.*)|import\s+([\w.]+))", re.M)


def njit(
    function: Callable[..., Any] | None = None, /, *, cache: bool = False, **options: Any
) -> Any:
    """Decorate a function as `numba.njit` does, with options or bare.

    Args:
        function: what is compiled when it is first called.
        cache: keep the machine code for other processes, as told above.
        **options: numba's.
    """
    if function is None:
        return functools.partial(njit, cache=cache, **options)
    dispatcher = numba.njit(**options)(function)
    if cache:
        dispatcher._cache = _KernelCache(function)  # as numba's own `enable_caching` does
    return dispatcher


def inlined(function: Callable[..., Any]) -> Any:
    """Decorate a function that compiled code calls, so that it becomes a part of its callers.

    LLVM does that, which costs nothing at run time. Numba's own `inline="always"` would find the
    types of the function again in each caller, which is most of what compiling costs; so it is for
    functions that have one caller in a kernel and do little but call others.
    """
    options = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    dispatcher = njit(function, cache=True, **options)
    # There is no way from Python into the machine code, and numba would crash on the way. So it is
    # shown none, and asked to compile the function it is given another one, which has a way in.
    dispatcher._insert = lambda *_, **__: None
    dispatcher._compile_for_args = lambda *_, **__: _with_a_way_in(function)
    return dispatcher


@functools.cache
def _with_a_way_in(function: Callable[..., Any]) -> Any:
    return numba.njit(function)


class _KernelCache(FunctionCache):
    """Numba's cache of a function, in a folder of the sources that it is compiled from."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        source = Path(function.__code__.co_filename)
        key = _hash_of_sources(source, function.__module__.partition(".")[0])
        folder = os.path.join(self._cache_path, f"{source.stem}-{key}")
        os.makedirs(folder, exist_ok=True)
        self._cache_path = folder
        self._cache_file = IndexDataCacheFile(  # type: ignore[no-untyped-call]
            folder, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )


@functools.cache
def _hash_of_sources(source: Path, package: str) -> str:
    """Hash a file and all that it imports from its own package and from ours."""
    found, waiting = {source}, [source]
    while waiting:
        new = _imported_files(waiting.pop(), package) - found
        found |= new
        waiting += new
    digest = sha256()
    for path in sorted(found):
        digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


@functools.cache
def _imported_files(source: Path, package: str) -> set[Path]:
    return {
        file
        for module in _imported_modules(source.read_text(encoding="utf-8"))
        if module.startswith((f"{package}.", _OURS))
        for file in _files_of(module)
    }


def _imported_modules(text: str) -> Iterator[str]:
    """Name what a source imports; `from a import b` may mean `a.b`, or something in `a`."""
    for origin, names, module in _IMPORT.findall(text):
        yield module or origin
        for name in re.findall(r"\w+", names):
            yield f"{origin}.{name}"


def _files_of(module: str) -> Iterator[Path]:
    """Yield the source of a module or package; nothing if the name is another thing's."""
    root, *rest = module.split(".")
    start = getattr(sys.modules.get(root), "__file__", None)
    if start is not None:
        path = Path(start).parent.joinpath(*rest)
        yield from filter(Path.is_file, (path.with_suffix(".py"), path / "__init__.py"))
