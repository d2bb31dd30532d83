"""Processes that a policy starts are counted and ended, also those whose parents have ended."""

import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from sudoku_gym.policies.processes import kill_with_all_below, processes_below, start_process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

PLAYER = """
import os, sys, time
from sudoku_gym.policies.processes import keep_orphans, processor_seconds

def burn():
    while time.process_time() < 0.2:
        pass

keep_orphans()
before = processor_seconds(os.getpid())
if os.fork() == 0:
    burn()
    os._exit(0)
os.wait()
if os.fork() == 0:  # which leaves a process behind, in a session of its own
    os.setsid()
    if os.fork() == 0:
        burn()
        print(os.getpid(), flush=True)
        time.sleep(600)
    os._exit(0)
os.wait()
sys.stdin.readline()
print(processor_seconds(os.getpid()) - before, flush=True)
time.sleep(600)
"""


def test_processes_are_counted_and_ended():
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", PLAYER], stdin=pipe, stdout=pipe) as player:
        left_behind = int(player.stdout.readline())
        player.stdin.write(b"\n")
        player.stdin.flush()
        assert float(player.stdout.readline()) > 0.35
        assert processes_below(player.pid) == [left_behind]
        kill_with_all_below(player.pid)
        assert player.wait() < 0
    ended = Path(f"/proc/{left_behind}/exe")  # not its folder: it may be waited for later
    while ended.exists():  # for as long as the test may take, if it was not killed
        time.sleep(0.01)


@pytest.mark.parametrize("which", ["temporary", "working"])
def test_a_folder_that_is_removed_is_named(tmp_path, monkeypatch, which):
    """As by a service that cleans the folder for temporary files while a command runs for hours."""
    monkeypatch.chdir(tmp_path)
    if which == "working":
        tmp_path.rmdir()

    def start():
        raise FileNotFoundError(2, "No such file or directory")

    with pytest.raises(ValueError, match=f"can't be started, .* {which}"):
        start_process(SimpleNamespace(start=start), {})
    monkeypatch.undo()
