"""Which policy, machine and commit a leaderboard's games belong to."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sudoku_gym.evaluation.leaderboard.results import RunInfo
from sudoku_gym.policies import Policy, model_card_of
from sudoku_gym.policies.identity import load_with_fingerprint

_CLONE = Path(__file__).parents[3]  # if the package is not installed
_PACKAGES = ("sudoku-gym", "gymnasium", "numpy", "numba", "torch", "python-sat")


def load_described(policy: str) -> tuple[Policy, dict[str, Any]]:
    """Make a policy; say what it plays by: its fingerprint, and `num_weights`.

    Raises as `load_policy` does.
    """
    made, made_of = load_with_fingerprint(policy)
    card = model_card_of(made)
    return made, {**made_of, "num_weights": card.weights if card else 0}


def current_run(jobs: int) -> RunInfo:
    """Describe the present run."""
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package) or "unknown"  # where an installation is broken
    return RunInfo(
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        commit=_commit(),
        machine=f"{_processor()}, {platform.system()}",
        cores=os.cpu_count() or 1,
        jobs=jobs,
        versions=versions,
    )


def _commit() -> str:
    """Return the commit if this package lies in a clone of its repository, else nothing.

    Git runs what the settings of a repository say, and an installed package may lie somewhere below
    a stranger's: only one that begins beside the package is asked.
    """
    file, program = Path(__file__), shutil.which("git")

    def git(*arguments: str) -> str:
        command = [str(program), "-C", str(file.parent), *arguments]
        return subprocess.check_output(command, stderr=subprocess.DEVNULL, text=True, timeout=60)

    try:
        if program is None or not (_CLONE / ".git").exists():
            return ""
        if os.path.samefile(os.path.dirname(program), os.curdir):
            return ""  # Windows looks in the working folder first, which may be a stranger's
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
