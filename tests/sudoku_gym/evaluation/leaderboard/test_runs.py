"""What is noted of a run of the leaderboard."""

import os
from pathlib import Path

import pytest

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
