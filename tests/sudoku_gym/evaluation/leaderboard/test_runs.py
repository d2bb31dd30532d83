"""What is noted of a run of the leaderboard."""

import os
from pathlib import Path

import pytest

from sudoku_gym.evaluation.leaderboard import runs
from sudoku_gym.evaluation.leaderboard.runs import current_run


@pytest.mark.skipif(os.name != "posix", reason="a script in the place of a program")
def test_a_git_of_the_working_folder_is_not_run(tmp_path, monkeypatch):
    """Windows takes it first; elsewhere one says so in PATH."""
    script = tmp_path / "git"
    script.write_text("#!/bin/sh\ntouch was-run\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.curdir, prepend=os.pathsep)
    assert current_run(1).commit == "" and not Path("was-run").exists()


def test_git_is_asked_in_a_clone_alone(tmp_path, monkeypatch):
    """What a stranger's repository tells git to run would run, where we are installed below it."""
    asked = []
    monkeypatch.setattr(runs.shutil, "which", lambda name: str(tmp_path / name))
    monkeypatch.setattr(
        runs.subprocess, "check_output", lambda command, **_: asked.append(command) or "c0ffee x"
    )
    monkeypatch.setattr(runs, "_CLONE", tmp_path)
    assert current_run(1).commit == "" and not asked
    (tmp_path / ".git").mkdir()
    assert current_run(1).commit == "c0ffee+changes" and len(asked) == 2


def test_a_version_may_be_unknown(monkeypatch):
    monkeypatch.setattr(runs, "version", lambda package: None)
    assert current_run(1).versions["numpy"] == "unknown"
