"""A cache of machine code that follows all sources of a kernel, not just its own file.

Numba's cache misses edits in the functions that a kernel calls. Here the code lies where numba
would put it, in a folder named by the module and a hash of the file and of all files it imports
from our packages; where no usual folder can be written to, in a private one below the directory for
temporary files. Below `NUMBA_CACHE_DIR` our packages find the code wherever they are installed.
"""

from __future__ import annotations

import functools
import glob
import os
import pickle
import re
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)

# mypy: disable-error-code="no-untyped-call,attr-defined,import-untyped"

_DIGEST = sha256().digest_size
_USUAL_TEMPORARY = ("/tmp", "/var/tmp", "/usr/tmp")
_OURS = "sudoku_"  # how the names of our packages begin
# Imports inside functions, or for type checkers alone, bring nothing that is compiled.
_IMPORT = re.compile(r"^(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|.*)|import\s+([\w.]+))", re.M)

_caches: list[KernelCache] = []  # of all functions imported so far


def cache_of(function: Any) -> FunctionCache | None:
    """Return the cache of a function's machine code, or None where nothing can be kept."""
    try:
        return KernelCache(function)
    except (OSError, RuntimeError):  # OSError: it can't be made; RuntimeError: numba found none
        folder = _temporary_folder()
    if folder is None:
        return None
    usual, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
    try:
        return KernelCache(function)
    except (OSError, RuntimeError):
        return None
    finally:
        numba.config.CACHE_DIR = usual


def compiled() -> tuple[int, int, str]:
    """Return how many functions have code on disk, of how many imported so far, and its folder."""
    folders = [os.path.dirname(cache.cache_path) for cache in _caches]
    below = os.path.commonpath(folders) if folders else ""
    return sum(cache.holds_code for cache in _caches), len(_caches), below


class _AnyInstall(UserProvidedCacheLocator):
    """Numba's folders below `NUMBA_CACHE_DIR` are named by paths; those of our packages are not."""

    def __init__(self, function: Any, source: str) -> None:
        super().__init__(function, source)
        self._cache_path = numba.config.CACHE_DIR

    @classmethod
    def from_function(cls, function: Any, source: str) -> Any:
        # Of other packages the hash may miss a file: they import whom they like.
        is_ours = function.__module__.startswith(_OURS)
        return super().from_function(function, source) if is_ours else None


class _UserWide(UserWideCacheLocator):
    """Numba's folder of the user; never one of the working folder, which may be a stranger's.

    Numba takes it for one where `XDG_CACHE_HOME` is empty, or the user has no home.
    """

    def ensure_cache_path(self) -> None:
        if not os.path.isabs(self._cache_path):
            raise OSError(f"{self._cache_path} is no absolute path")
        super().ensure_cache_path()


class _Place(CompileResultCacheImpl):
    """Where machine code lies."""

    _locator_classes = [  # noqa: RUF012
        _AnyInstall,
        *(
            _UserWide if each is UserWideCacheLocator else each
            for each in CompileResultCacheImpl._locator_classes
        ),
    ]


class KernelCache(FunctionCache):
    """Numba's cache of a function, in a folder of the sources that it is compiled from."""

    _impl_class = _Place

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        source = Path(function.__code__.co_filename)
        key = _hash_of_sources(source, function.__module__.partition(".")[0])
        folder = os.path.abspath(os.path.join(self._cache_path, f"{function.__module__}-{key}"))
        os.makedirs(folder, exist_ok=True)
        self._cache_path = folder
        self._cache_file = _Entries(folder, self._impl.filename_base, key)
        _caches.append(self)

    @property
    def holds_code(self) -> bool:
        """Whether there is machine code for some signature."""
        return any(Path(self._cache_path).glob(f"{glob.escape(self._impl.filename_base)}.*.nbc"))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code; where that fails, as on a full disk, this process alone has it."""
        try:
            super().save_overload(sig, data)
        except OSError:
            pass


class _Entries(IndexDataCacheFile):
    """One file for each signature, named by it and written atomically, its checksum first.

    Numba's own index is shared and names files by number: of two processes that compile at once,
    one might find the other's code under its signature.
    """

    def save(self, key: Any, data: Any) -> None:
        content = self._dump((key, data))
        with self._open_for_write(self._path(key)) as file:
            file.write(sha256(content).digest() + content)

    def load(self, key: Any) -> Any:
        try:
            content = memoryview(Path(self._path(key)).read_bytes())
            if sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
                return None
            whose, data = pickle.loads(content[_DIGEST:])
        except Exception:  # a file of other packages' versions may; it is written anew
            return None
        return data if whose == key else None

    def _path(self, key: Any) -> str:
        name = sha256(repr((self._version, key)).encode()).hexdigest()[:16]
        return os.path.join(self._cache_path, self._data_name(int(name, 16)))


@functools.cache
def _temporary_folder() -> str | None:
    """Make a folder below the one for temporary files, and say so; None if others could write.

    Python's last choice for temporary files is the working folder, which may be a stranger's.
    """
    usual = (*(os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")), *_USUAL_TEMPORARY)
    parent = tempfile.gettempdir()
    folder = os.path.join(parent, f"sudoku-gym-{_user()}")
    try:
        is_kept = parent in {os.path.normpath(path) for path in usual if os.path.isabs(path)}
        if is_kept:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            is_kept = _is_private(folder)
    except OSError:
        is_kept = False
    where = f"is kept in {folder}" if is_kept else "is compiled anew by every process"
    print(
        f"sudoku-gym: no usual folder can be written to, so machine code {where}; "
        "set NUMBA_CACHE_DIR to a folder that you can write to",
        file=sys.stderr,
    )
    return folder if is_kept else None


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _is_private(folder: str) -> bool:
    """Return whether nobody else can write to the folder, or put another one in its place."""
    if not hasattr(os, "getuid"):  # Windows: each user has a directory for temporary files
        return True
    own, parent = os.lstat(folder), os.stat(os.path.dirname(folder))
    is_ours = stat.S_ISDIR(own.st_mode) and own.st_uid == _user() and not own.st_mode & 0o077
    others_write = parent.st_mode & 0o022 and not parent.st_mode & stat.S_ISVTX
    return is_ours and parent.st_uid in (0, _user()) and not others_write


@functools.cache
def _hash_of_sources(source: Path, package: str) -> str:
    """Hash a file and all that it imports from its own package and from ours; paths do not count.

    Numba itself asks for the same processor, Python and numba.
    """
    found, waiting = {source}, [source]
    while waiting:
        new = _imported_files(waiting.pop(), package) - found
        found |= new
        waiting += new
    digest = sha256(f"{llvmlite.__version__} {np.__version__}".encode())
    for name, path in sorted((_name_in_package(path), path) for path in found):
        digest.update(name.encode() + sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _name_in_package(path: Path) -> str:
    """Return the path of a source from the folder that its outermost package lies in."""
    folder = path.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return path.relative_to(folder).as_posix()


@functools.cache
def _imported_files(source: Path, package: str) -> set[Path]:
    place = Path(_name_in_package(source)).parts
    return {
        file
        for module in _imported_modules(source.read_text(encoding="utf-8"), place)
        if module.startswith((f"{package}.", _OURS))
        for file in _files_of(module)
    }


def _imported_modules(text: str, place: Sequence[str]) -> Iterator[str]:
    """Name what a source imports; `from a import b` may mean `a.b`, or something in `a`.

    `place` is the path of the source, whose folders relative imports begin in.
    """
    for origin, names, module in _IMPORT.findall(text):
        above = len(origin) - len(origin.lstrip("."))
        if above:
            origin = ".".join((*place[:-above], origin.lstrip("."))).rstrip(".")
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
