"""Which policy, weights, package, machine and commit a leaderboard's games belong to."""

from __future__ import annotations

import os
import platform
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from inspect import signature
from pathlib import Path
from typing import Any

from sudoku_gym import plugins
from sudoku_gym.evaluation.leaderboard.results import RunInfo

_PACKAGES = ("sudoku-gym", "gymnasium", "numpy", "numba", "torch", "python-sat")
_NO_WEIGHTS = (".md", ".json")


def weights_checksum(policy: str) -> str:
    """Return the SHA-256 of the weights in a policy's folder, empty if it has no folder.

    The folder is a checkpoint that is named itself, or the first argument of the policy's class or
    function, given as an option or by default. Markdown and JSON in it do not count.
    """
    folder = _folder_of(policy)
    if folder is None:
        return ""
    sums = sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix not in _NO_WEIGHTS:
            name = file.relative_to(folder).as_posix()
            sums.update(f"{sha256(file.read_bytes()).hexdigest()}  {name}\n".encode())
    return sums.hexdigest()


def package_of(policy: str) -> str:
    """Return name and version of the installed package that a policy comes from, empty if none."""
    name = policy.partition("?")[0]
    entry = plugins.available(plugins.POLICIES).get(name)
    if entry is not None and entry.dist is not None:
        return f"{entry.dist.name} {entry.dist.version}"
    if ":" not in name:
        return ""
    distributions = packages_distributions().get(name.partition(":")[0].partition(".")[0], [])
    return f"{distributions[0]} {version(distributions[0])}" if distributions else ""


def current_run(jobs: int, timing_budget: float) -> RunInfo:
    """Describe the present run."""
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return RunInfo(
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        commit=_commit(),
        machine=f"{_processor()}, {platform.system()}",
        cores=os.cpu_count() or 1,
        jobs=jobs,
        timing_budget=timing_budget,
        versions=versions,
    )


def _folder_of(policy: str) -> Path | None:
    if Path(policy).is_dir():
        return Path(policy)
    name, options = plugins.split_options(policy)
    if name in plugins.available(plugins.POLICIES):
        factory = plugins.load(plugins.POLICIES, name)
    elif ":" in name:
        factory = plugins.load_attribute(name)
    else:
        return Path(name) if Path(name).is_dir() else None
    if not callable(factory) or not plugins.takes_first(factory, Path()):
        return None
    first = next(iter(signature(factory).parameters.values()))
    value: Any = options.get(first.name, first.default)
    is_path = isinstance(value, str | os.PathLike) and bool(os.fspath(value))
    return Path(value) if is_path and Path(value).is_dir() else None


def _commit() -> str:
    """Return the commit of the repository that this package lies in."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(Path(__file__).parent), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        commit = git("rev-parse", "HEAD")
        # An installed package may lie in the folder of somebody else's repository.
        if not commit or not git("ls-files", "--", str(Path(__file__))):
            return ""
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ":/", ":!/docs")
        return f"{commit}+changes" if changed else commit
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _processor() -> str:
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or "unknown processor"
