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

from sudoku_gym import plugins
from sudoku_gym.evaluation.leaderboard.results import RunInfo
from sudoku_gym.policies import load_policy, model_card_of
from sudoku_gym.policies.loading import find_policy

_PACKAGES = ("sudoku-gym", "gymnasium", "numpy", "numba", "torch", "python-sat")
_NO_WEIGHTS = (".md", ".json")


def weights_checksum(policy: str) -> str:
    """Return the SHA-256 of the weights in a policy's folder, empty if it has no folder.

    The folder is a checkpoint that is named itself, or the first argument of the policy's class or
    function, given as an option or by default. Markdown and JSON in it do not count.
    """
    folder = weights_folder(policy)
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
    module = name.partition(":")[0] if ":" in name else ""
    packages = packages_distributions().get(module.partition(".")[0], [])
    return f"{packages[0]} {version(packages[0])}" if packages else ""


def describe_policy(policy: str) -> dict[str, str | int]:
    """Make a policy; return what its row says of it: `package`, `weights` and `num_weights`.

    Raises as `load_policy` does.
    """
    card = model_card_of(load_policy(policy))
    return {
        "package": package_of(policy),
        "weights": weights_checksum(policy),
        "num_weights": card.weights if card else 0,
    }


def current_run(jobs: int) -> RunInfo:
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
        versions=versions,
    )


def weights_folder(policy: str) -> Path | None:
    """Return the folder that a policy is made from, as `weights_checksum` finds it; None if none.

    Raises as `load_policy` does.
    """
    _, found, options = find_policy(policy)
    if isinstance(found, Path):
        return found
    if not callable(found) or not plugins.takes_first(found, Path()):
        return None
    first = next(iter(signature(found).parameters.values()))
    value = options.get(first.name, first.default)
    is_path = isinstance(value, str | os.PathLike) and value != ""
    return Path(value) if is_path and Path(value).is_dir() else None


def _commit() -> str:
    """Return the commit of the repository that this package lies in, empty if it lies in none."""
    file = Path(__file__)

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(file.parent), *arguments]
        return subprocess.check_output(command, stderr=subprocess.DEVNULL, text=True, timeout=60)

    try:
        # An installed package may lie in the folder of somebody else's repository.
        commit = git("rev-parse", "HEAD", f"HEAD:./{file.name}").split()[0]
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ":/", ":!/docs")
    except (OSError, subprocess.SubprocessError):
        return ""
    return f"{commit}+changes" if changed else commit


def _processor() -> str:
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or "unknown processor"
