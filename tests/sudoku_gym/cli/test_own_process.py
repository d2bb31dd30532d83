"""Policies of other packages in `compare`: each plays as if it were the only one."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sudoku_gym import puzzles
from sudoku_gym.cli import main
from sudoku_gym.puzzles import files

AGENT = """
import os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from brain import NAME
import numpy as np
from sudoku_gym import load_policy
from sudoku_gym.evaluation import games
games.percent = None
np.seterr(all="raise")
os.chdir("/")
class P:
    def __init__(self): self.plays = load_policy(NAME)
    def reset(self, *args): print("played"); self.plays.reset(*args)
    def act(self, *args): return self.plays.act(*args)
"""
FAILS = """
import atexit, multiprocessing, os, signal, subprocess, sys, tempfile, time
from sudoku_gym import load_policy
class OddError(Exception): ...
class P:
    def __init__(self): self.plays = load_policy("naked-singles")
    def reset(self, *args): self.plays.reset(*args)
    def act(self, *args): return self.plays.act(*args)
class Chooses(P):
    def __init__(self):
        super().__init__()
        multiprocessing.set_start_method("spawn")
        if os.read(0, 1): raise ValueError("it is asked something")
class CleansUp(P):
    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="own-")
        atexit.register(open, "ended.txt", "w")
        with open("pid.txt", "w") as file:
            print(subprocess.Popen(["sleep", "600"], start_new_session=True).pid, file=file)
class Raises(P):
    def act(self, *args): raise ValueError("no move")
class RaisesOdd(P):
    def act(self, *args): raise OddError("no move")
class RaisesWords(P):
    def act(self, *args): raise OSError("run fetch.sh first")
class RaisesDisk(P):
    def act(self, *args): open("weights.bin")
class RaisesBadly(P):
    def act(self, *args):
        class BadError(ValueError):
            def __str__(self): return self.args[5]
        raise BadError("x")
class RaisesFile(P):
    def act(self, *args): raise OSError(2, "no such file", lambda: 0)
class Interrupts(P):
    def act(self, *args):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
class IsNot:
    def __init__(self): raise ModuleNotFoundError("no such library")
class Leaves(P):
    def act(self, *args): sys.exit(3)
class Dies(P):
    def act(self, *args): os.kill(os.getpid(), signal.SIGKILL)
class Forks(P):
    def act(self, *args):
        process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
        process.start()
        with open("pid.txt", "w") as file: print(process.pid, file=file)
        os.system("sleep 600 & echo $! >> pid.txt")
        os._exit(3)
class Starts(P):
    def reset(self, *args):
        self.plays.reset(*args)
        with open("pid.txt", "a") as file:
            print(subprocess.Popen(["sleep", "600"]).pid, file=file)
        os.system("sleep 600 & echo $! >> pid.txt")
class Sleeps(Starts):
    def act(self, *args):
        open("begun.txt", "w").close()
        time.sleep(0.2)
        return self.plays.act(*args)
"""


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A working folder with a list, and policies of others beside it."""
    work = tmp_path / "work"
    for repo, name in (("one", "hidden-singles"), ("other", "naked-singles")):
        (tmp_path / repo).mkdir()
        (tmp_path / repo / f"agent_{repo}.py").write_text(AGENT)
        (tmp_path / repo / "brain.py").write_text(f"NAME = {name!r}\n")
        monkeypatch.syspath_prepend(tmp_path / repo)
    work.mkdir()
    (tmp_path / "failing.py").write_text(FAILS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(work)
    files.write("list.csv", puzzles.load("9x9", "test")[:40])
    yield work
    for name in ("brain", "agent_one", "agent_other", "failing"):
        sys.modules.pop(name, None)


def test_they_share_nothing(run, work):
    names = ["agent_one:P", "agent_other:P", "hidden-singles", "naked-singles"]
    arguments = ["compare", *names, "--puzzles", "list.csv", "--out", "row.json"]
    code, out, err = run(*arguments, "--format", "json")
    assert code == 0, err
    found = {name: each["solved"] for name, each in json.loads(out).items()}
    hidden, naked = found["hidden-singles"], found["naked-singles"]
    assert [*found.values()] == [hidden, naked, hidden, naked] and naked < hidden
    rows = json.loads((work / "row.json").read_text())["rows"]
    assert [row["policy"] for row in rows] == names
    again = json.loads(run(*arguments, "--format", "json")[1])  # all of it is in the file
    assert {name: each["solved"] for name, each in again.items()} == found


def test_a_policy_in_the_working_folder_is_found(run, work):
    (work / "lies_here.py").write_text(AGENT.replace("from brain import NAME", "NAME = 'solver'"))
    arguments = ["compare", "naked-singles", "lies_here:P", "--puzzles", "list.csv"]
    code, out, err = run(*arguments, "--format", "json")
    assert code == 0, err
    assert json.loads(out)["lies_here:P"]["solved"] == 40


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Raises", "no move"),
        ("RaisesOdd", "OddError: no move (SUDOKU_GYM_TRACEBACK=1 in the environment shows where)"),
        ("RaisesWords", "OSError: run fetch.sh first"),
        ("RaisesDisk", "weights.bin: No such file or directory"),
        ("RaisesBadly", "BadError (SUDOKU_GYM_TRACEBACK=1 in the environment shows where)"),
        (
            "Interrupts",
            "KeyboardInterrupt (SUDOKU_GYM_TRACEBACK=1 in the environment shows where)",
        ),
        ("IsNot", "no such library"),
        ("Leaves", "failing:Leaves: its process has ended, with exit code 3"),
        ("Dies", "failing:Dies: its process has ended, by signal 9"),
    ],
)
def test_what_befalls_one_is_told_in_a_line(run, work, name, said):
    arguments = ["compare", "naked-singles", f"failing:{name}", "--puzzles", "list.csv"]
    code, out, err = run(*arguments, "--out", "row.json")
    assert (code, out) == (2, "") and err == f"sudoku-gym: {said}\n"
    if name != "IsNot":
        (first, *_) = json.loads((work / "row.json").read_text())["rows"]
        assert first["policy"] == "naked-singles" and first["is_done"]


def test_it_may_choose_how_its_processes_start_and_is_asked_nothing(run, work):
    code, out, err = run("compare", "naked-singles", "failing:Chooses", "--puzzles", "list.csv")
    assert code == 0 and "failing:Chooses" in out, err


def test_it_may_clean_up(run, work, tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    code, _, err = run("compare", "naked-singles", "failing:CleansUp", "--puzzles", "list.csv")
    assert code == 0, err
    assert (work / "ended.txt").exists() and not any((tmp_path / "tmp").glob("own-*"))
    if sys.platform == "linux":
        assert _ends(int((work / "pid.txt").read_text()))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_the_ends_of_processes_are_told_though_they_were_ignored(work):
    """As in a script with `trap '' CHLD`."""
    command = [sys.executable, "-m", "sudoku_gym", "compare", "naked-singles", "failing:Leaves"]
    done = subprocess.run(
        [*command, "--puzzles", "list.csv"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
        capture_output=True,
        text=True,
    )
    said = "sudoku-gym: failing:Leaves: its process has ended, with exit code 3\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_an_error_may_name_anything_as_its_file(run, work):
    err = run("compare", "naked-singles", "failing:RaisesFile", "--puzzles", "list.csv")[2]
    assert err.startswith("sudoku-gym: FileNotFoundError: [Errno 2] no such file: <function")
    assert err.count("\n") == 1


def test_the_traceback_of_another_process_is_shown(work, monkeypatch, capfd):
    monkeypatch.setenv("SUDOKU_GYM_TRACEBACK", "1")
    assert main(["compare", "naked-singles", "failing:RaisesOdd", "--puzzles", "list.csv"]) == 2
    assert 'raise OddError("no move")' in capfd.readouterr().err


def test_a_policy_that_is_alone_plays_here(run, work):
    """So a debugger reaches it."""
    assert run("compare", "failing:P", "--puzzles", "list.csv")[0] == 0
    assert "failing" in sys.modules


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked there")
def test_what_it_has_forked_ends_with_it(run, work):
    said = "sudoku-gym: failing:Forks: its process has ended, with exit code 3\n"
    arguments = ["compare", "naked-singles", "failing:Forks", "--puzzles", "list.csv"]
    assert run(*arguments) == (2, "", said)
    assert all(_ends(int(pid)) for pid in (work / "pid.txt").read_text().split())


def _ends(pid):
    for _ in range(100):
        try:
            os.kill(pid, 0)
            status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if status == "Z":
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="what is started is seen on Linux only")
@pytest.mark.parametrize("how", ["ends", "interrupt", "interrupt all", "kill"])
def test_nothing_is_left_and_what_was_played_is_written(work, how):
    name = "failing:Starts" if how == "ends" else "failing:Sleeps"
    command = [sys.executable, "-m", "sudoku_gym", "compare", "naked-singles", name]
    options = ["--puzzles", "list.csv", "--out", "row.json", "--batch-size", "10"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # Where the tests run in the background of a shell, what they start ignores Ctrl+C.
    hear = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    process = subprocess.Popen(
        [*command, *options], env=environment, start_new_session=True, **hear
    )
    while how != "ends" and not (work / "begun.txt").exists():
        assert process.poll() is None
        time.sleep(0.1)
    time.sleep(1.0)
    if how == "interrupt":
        process.send_signal(signal.SIGINT)
    elif how == "interrupt all":
        os.killpg(process.pid, signal.SIGINT)
    elif how == "kill":
        process.kill()
    code = process.wait(60)
    assert code == {"ends": 0, "kill": -signal.SIGKILL}.get(how, 130)
    started = (work / "pid.txt").read_text().split()
    assert started and all(_ends(int(pid)) for pid in started)
    rows = json.loads((work / "row.json").read_text())["rows"]
    assert rows[0]["is_done"] and not list(work.glob(".*draft*"))
    if how == "ends":
        assert rows[1]["is_done"] and rows[1]["outcomes"] == rows[0]["outcomes"]
