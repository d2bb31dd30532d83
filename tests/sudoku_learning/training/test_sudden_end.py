"""A run that is ended from outside has a last line, one that ends by itself has none."""

import shutil
import subprocess
import sys

import pytest

from sudoku_learning.training import sudden_end

PROGRAM = """
import os, runpy, signal, sys
block = runpy.run_path({path!r})["explain_sudden_end"]("go on with --resume")
sys.executable = {watcher!r}
with block:
    {body}
print("the end")
"""


def run(body, watcher=sys.executable):
    program = PROGRAM.format(path=sudden_end.__file__, body=body, watcher=watcher)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


@pytest.mark.parametrize("body", ["os._exit(1)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_a_process_that_is_ended_from_outside_says_how_to_go_on(body):
    done = run(body)
    assert done.returncode != 0
    assert (done.stdout, done.stderr) == ("", "go on with --resume\n")


def test_a_process_that_ends_by_itself_says_nothing():
    done = run("pass")
    assert (done.returncode, done.stdout, done.stderr) == (0, "the end\n", "")


@pytest.mark.parametrize(
    ("body", "last"),
    [("raise ValueError('told')", "ValueError: told"), ("sys.exit('told')", "told")],
)
def test_an_error_is_the_last_word(body, last):
    done = run(body)
    assert done.returncode == 1 and "--resume" not in done.stderr
    assert done.stderr.rstrip().splitlines()[-1] == last


def test_a_watcher_that_has_ended_is_not_missed():
    done = run("import time; time.sleep(0.2)", watcher=shutil.which("true"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "the end\n", "")
