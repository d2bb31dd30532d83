"""What a policy plays by: its weights, its code, the package that it comes from.

Results that were stored are those of a policy only as long as these are the same.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import distribution, packages_distributions, version
from inspect import signature
from pathlib import Path
from time import time_ns
from types import MappingProxyType, ModuleType
from typing import NamedTuple, TypedDict
from weakref import WeakKeyDictionary

from sudoku_gym import plugins
from sudoku_gym.policies.checksums import files_below, files_checksum
from sudoku_gym.policies.loading import CONFIG_FILE, agent_of, find_policy
from sudoku_gym.policies.protocols import Policy, PredictorPolicy, SolverPolicy
from sudoku_gym.policies.sources import CODE, INSTALLED, file_of, sources_of
from sudoku_gym.policies.working_folder import (
    InOwnFolder,
    in_folder_of,
    load_in_own_folder,
    module_of,
)
from sudoku_gym.storage.reading import describe_error

_LIKE_WEIGHTS = re.compile(
    "weights|model|checkpoint|ckpt|network|params|^path$|^file$|^folder$", re.IGNORECASE
)
# Files that libraries find by their names without these: Stable-Baselines3, TensorFlow, NumPy.
_WEIGHTS = re.compile(
    r"\.(pt|pth|safetensors|zip|npz|npy|ckpt|bin|h5|keras|onnx|pkl|joblib|index|data-.*)"
)
_NO_WEIGHTS = (".md", ".json")
# A policy's object may be of a class of theirs, or of Python's; a run names their versions.
_LIBRARIES = {"gymnasium", "numba", "numpy", "torch"}
_PYTHON = Path(os.__file__).parent
_IMPORTED = WeakKeyDictionary[ModuleType, int]()  # when a load began that imported a module, in ns


class ChangedFilesError(ValueError):
    """The files of a policy have changed while, or after, they were loaded."""


class _Code(NamedTuple):
    """Files of code, the folder that their names begin in, and links in it: of `files_checksum`."""

    folder: Path
    files: list[Path]
    links: Mapping[Path, Path] = MappingProxyType({})


class Fingerprint(TypedDict):
    """What a policy plays by."""

    package: str
    """name and version of the installed package that it comes from, empty if none"""
    code: str
    """`code_checksum`"""
    weights: str
    """`weights_checksum`"""
    config: str
    """`config_checksum`"""


def fingerprint(policy: str, made: Policy) -> Fingerprint:
    """Return what a policy plays by.

    Args:
        policy: its name, as `load_policy` takes it.
        made: what `load_policy` has made of it.
    """
    return {
        "package": package_of(policy),
        "code": code_checksum(policy, made),
        "weights": weights_checksum(policy),
        "config": config_checksum(policy),
    }


def load_with_fingerprint(policy: str, *, trust: bool = False) -> tuple[Policy, Fingerprint]:
    """Make a policy as `load_policy` does; return it and what it plays by.

    It plays in the working folder that it has changed to, if it has; everything else stays here.

    Raises:
        ValueError: as `load_policy` and `weights_checksum`.
        ChangedFilesError: if its weights, its configuration or its code are written meanwhile.
            Other data of a package, links that are switched, and what a policy reads after it was
            made are taken to be as they are when this returns.
    """
    start, known = time_ns(), {*sys.modules}

    def load() -> tuple[Policy, Fingerprint, list[str] | None]:
        """Also name the files that were written meanwhile; None if one was being removed."""
        with in_folder_of(policy):
            before = _state_of_files(policy)
        made = load_in_own_folder(policy, trust=trust)
        with in_folder_of(policy):
            made_of = fingerprint(policy, made)
            after = _state_of_files(policy)
        if isinstance(made, InOwnFolder):  # it may have read there what it is made from
            with made.in_folder():
                weights, config = weights_checksum(policy), config_checksum(policy)
            made_of["weights"] = _joined([made_of["weights"], weights])
            made_of["config"] = _joined([made_of["config"], config])
        if before is None or after is None:
            return made, made_of, None
        return made, made_of, sorted({str(file) for file, *_ in {*before} ^ {*after}})

    made, made_of, written = load()
    if written != []:  # unless what was written is the same as before
        del made
        before = made_of
        try:
            made, made_of, again = load()
        except Exception as error:  # a process can do some things once
            raise ChangedFilesError(
                f"{policy}: {', '.join(written or ['its files'])[:200]} changed while it was "
                f"loaded, and it can't be made again ({describe_error(error)}): try again"
            ) from error
        if (made_of["weights"], made_of["config"]) != (before["weights"], before["config"]):
            names = ", ".join((again or written or ["its files"])[:3])
            raise ChangedFilesError(
                f"{policy}: {names} changed while it was loaded: try again; of a run that trains, "
                "name one of its checkpoints; of a file that it writes, call the option otherwise "
                "(log_file, say), for this name is one of weights"
            )
    for name, module in [*sys.modules.items()]:
        if name not in known and isinstance(module, ModuleType):
            _IMPORTED[module] = start
    _check_not_saved_since_import(policy, made)
    return made, made_of


def _state_of_files(policy: str) -> list[tuple[Path, int, int, int, int]] | None:
    """Return what changes when a file is written that a policy is made from.

    None if a file is being removed. Raises as `load_policy` does.
    """
    _, found, _ = find_policy(policy)
    if isinstance(found, Path):
        agent_of(found)  # or it is no checkpoint, and may be anything
    files = [
        file
        for path in weights_paths(policy)
        for file in ([path] if path.is_file() else files_below(path)[0])
        if file.name == CONFIG_FILE or file.suffix not in _NO_WEIGHTS
    ]
    try:
        states = [(file, file.stat()) for file in files]
    except FileNotFoundError:
        return None
    return [(file, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for file, s in states]


def weights_checksum(policy: str) -> str:
    """Return the SHA-256 of the weights that a policy is made from, empty if there are none.

    They are the files of `weights_paths`, but for Markdown and JSON in folders, and what version
    control and the like keep there. Of several paths it is the SHA-256 of their checksums.

    Raises:
        ValueError: as `load_policy`, or if the files are more than 100,000 or have more than 20 GB.
    """
    sums = list[str]()
    for path in weights_paths(policy):
        if path.is_file():
            sums.append(files_checksum(path.parent, [path]))
            continue
        files, links = files_below(path)
        weights = [file for file in files if file.suffix not in _NO_WEIGHTS]
        sums.append(files_checksum(path, weights, links))
    return _joined(sums)


def config_checksum(policy: str) -> str:
    """Return the SHA-256 of the configurations in a policy's folders, empty if there is none.

    Raises as `weights_checksum` does.
    """
    sums = list[str]()
    for path in weights_paths(policy):
        below = [] if path.is_file() else files_below(path)[0]
        files = [file for file in below if file.name == CONFIG_FILE]
        sums += [files_checksum(path, files)] if files else []
    return _joined(sums)


def _joined(sums: Iterable[str]) -> str:
    """Return a checksum, or that of several; empty if there is none, or none but empty ones."""
    first, *others = dict.fromkeys(filter(None, sums)) or [""]
    return sha256("".join([first, *others]).encode()).hexdigest() if others else first


def package_of(policy: str) -> str:
    """Return name and version of the installed package that a policy comes from, empty if none."""
    name = policy.partition("?")[0]
    entry = plugins.available(plugins.POLICIES).get(name)
    if entry is not None and entry.dist is not None:
        return f"{entry.dist.name} {entry.dist.version}"
    module = name.partition(":")[0] if ":" in name else ""
    named = _packages_on(plugins.path_state()).get(module.partition(".")[0], [])
    packages = [each for each in named if each]  # None where an installation is broken
    if len(packages) > 1:  # which share a namespace: that which brings the module comes first
        packages = sorted(packages, key=lambda package: not _brings(package, module))
    return f"{packages[0]} {version(packages[0])}" if packages else ""


def _brings(package: str, module: str) -> bool:
    """Whether an installed package lists the file of a module."""
    file = file_of(sys.modules.get(module))
    listed = distribution(package).files or []
    return file is not None and any(Path(str(each.locate())) == Path(file) for each in listed)


def code_checksum(policy: str, made: Policy) -> str:
    """Return the SHA-256 of the files that a policy of another's is written in.

    They are those of the package, or the single module, that holds its class (or that of its solver
    or predictor; but for `_is_of_library`), and of the one that its name stands for, or its
    checkpoint's agent: all but Markdown, JSON and what is kept in `__pycache__`. With a module of
    no package, or in folders without `__init__.py`, come those that it imports from beside it,
    `sources_of`. Of a package that is imported from a zip file it is this file. What they import
    from elsewhere does not count.

    Args:
        policy: its name, as `load_policy` takes it.
        made: what `load_policy` has made of it.

    Returns:
        The checksum, joined by `+` if they are several; empty for a policy of this project, whose
        version says what it is, and for one that is in no file.
    """
    return "+".join(files_checksum(*code) for code in _code_of(policy, made))


def weights_paths(policy: str) -> list[Path]:
    """Return the folders and files that a policy is made from.

    That is the folder of a checkpoint that is named itself, or what the first argument of a class
    or a function names, given as an option or by default; of a policy of another package also those
    arguments that are called like weights (`_LIKE_WEIGHTS`), and of them files that they name
    without a suffix of weights. Others may be what it writes.

    Raises as `load_policy` does.
    """
    _, found, options = find_policy(policy)
    if isinstance(found, Path):
        return [found]
    if not callable(found):
        return []
    try:
        parameters = [*signature(found).parameters.values()]
    except ValueError:  # what is written in C, and subclasses of it, tell no signature
        parameters = []
    first = [each.name for each in parameters[: plugins.takes_first(found, Path())]]
    is_own = plugins.is_own_module(module_of(policy))
    values = {each.name: each.default for each in parameters} | options
    paths = list[Path]()
    for key, value in values.items():
        is_like_weights = not is_own and _LIKE_WEIGHTS.search(key) is not None
        if key in first or is_like_weights:
            paths += _paths_that_are_there(value, is_like_weights)
    return paths


def _paths_that_are_there(value: object, may_lack_suffix: bool) -> list[Path]:
    """Return the file or folder that an option names, or the files that it names without suffix."""
    if not isinstance(value, str | os.PathLike) or value == "":
        return []
    with suppress(OSError, ValueError, RuntimeError):  # a name that is too long, or nobody's home
        path = Path(value).expanduser()
        if path.is_dir() or path.is_file():
            return [path]
        if may_lack_suffix and path.name:
            return sorted(
                each
                for each in path.parent.glob(f"{glob.escape(path.name)}.*")
                if _WEIGHTS.fullmatch(each.name.removeprefix(path.name)) and each.is_file()
            )
    return []


@lru_cache(maxsize=1)
def _packages_on(path: tuple[object, ...]) -> Mapping[str, list[str]]:
    """Return which packages bring a module; half a second where many are installed."""
    return packages_distributions()


def _code_of(policy: str, made: Policy) -> list[_Code]:
    """Return the code of another's policy, in a fixed order."""
    made = made.policy if isinstance(made, InOwnFolder) else made
    player: object = made
    if isinstance(made, SolverPolicy | PredictorPolicy):
        player = made.solver if isinstance(made, SolverPolicy) else made.predictor
    classes = {type(made).__module__, type(player).__module__}
    modules = {each for each in classes if not _is_of_library(each)} | {module_of(policy)}
    found = dict[Path, _Code]()
    for name in modules:
        root, module = (None, "") if plugins.is_own_module(name) else _root_of(name)
        if root is None or root in found:
            continue
        if root.is_dir():
            files, links = files_below(root)
            kept = [file for file in files if file.suffix not in _NO_WEIGHTS]
            found[root] = _Code(root, kept, links)
        else:
            found[root] = _Code(*(sources_of(root, module) if module else (root.parent, [root])))
    return [found[root] for root in sorted(found)]


def _is_of_library(module: str) -> bool:
    """Whether a module is Python's own, and no other of its name, or one of `_LIBRARIES`."""
    top = module.partition(".")[0]
    file = Path(file_of(sys.modules.get(top)) or "")
    is_python = top in sys.stdlib_module_names and file.is_relative_to(_PYTHON)
    return top in _LIBRARIES or (is_python and not {*INSTALLED} & {*file.parts})


def _check_not_saved_since_import(policy: str, made: Policy) -> None:
    """Raise ChangedFilesError if a file of another's code was written after its import.

    What plays is the code as it was. Data of a package may change when it is loaded.
    """
    for code in _code_of(policy, made):
        files = {file for file in code.files if len(code.files) == 1 or file.suffix in CODE}
        begun = [
            start for module, start in _IMPORTED.items() if Path(file_of(module) or "") in files
        ]
        for file in files if begun else ():
            status = file.stat()
            # That of the last write may be set to anything; of Windows the other is the first.
            written = status.st_mtime_ns if os.name == "nt" else status.st_ctime_ns
            if written > time_ns():
                raise ChangedFilesError(
                    f"{policy}: {file} is of a time in the future, so nobody can tell whether it "
                    "has changed since it was imported: set the clock, or write the file again"
                )
            if written > min(begun):
                raise ChangedFilesError(
                    f"{policy}: {file} has changed since it was imported: start again"
                )


def _root_of(module: str) -> tuple[Path | None, str]:
    """Return the folder of the package that a module belongs to, or its file if it is a single one.

    It is the zip file if the module lies in one, and None if it is in no file. Of a single file it
    is followed by the name of its module, perhaps in folders that are no packages.
    """
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        file = file_of(sys.modules.get(name))
        if file is not None:
            path = Path(file)
            if archive := next((each for each in path.parents if each.is_file()), None):
                return archive, ""
            # A package may be compiled: `__init__.pyc`, `__init__.cpython-311-x86_64-linux-gnu.so`.
            return (path.parent, "") if path.name.startswith("__init__.") else (path, name)
    return None, ""
