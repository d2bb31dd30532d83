"""The ground floor works where Python has no fork, fcntl, resource or POSIX signals: on Windows.

Our modules see such a Python; the standard library and other packages have code of their own for
each system, and go on as they are.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

PREAMBLE = """
import builtins, multiprocessing, os, signal, sys
from types import ModuleType

MODULES = set('''crypt fcntl grp nis ossaudiodev posix pty pwd readline resource spwd syslog
termios tty'''.split())
OS = set('''EX_OK O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_SYNC P_PID WNOHANG chown chroot
confstr ctermid fchdir fchmod fchown fork forkpty getegid geteuid getgid getgroups getloadavg
getpgid getpgrp getpriority getsid getuid initgroups killpg lchown lockf major makedev mkfifo mknod
nice openpty pathconf posix_spawn posix_spawnp pread pwrite readv register_at_fork
sched_getaffinity sched_setaffinity sched_yield sendfile setegid seteuid setgid setgroups
setpgid setpriority setsid setuid statvfs sync sysconf tcgetpgrp ttyname uname wait wait3 wait4
waitid writev'''.split())
SIGNAL = {name for name in dir(signal) if name.startswith(("ITIMER", "SIG_", "SIG", "pthread"))}
SIGNAL -= set("SIGABRT SIGFPE SIGILL SIGINT SIGSEGV SIGTERM SIG_DFL SIG_IGN".split())
SIGNAL |= set("alarm getitimer pause setitimer siginterrupt sigpending sigwait".split())


class Without(ModuleType):
    '''A module that lacks some names.'''

    def __init__(self, module, lacking, **instead):
        super().__init__(module.__name__)
        self.__dict__.update(_module=module, _lacking=lacking, **instead)

    def __getattr__(self, name):
        if name in self._lacking:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(self._module, name)


def spawning(method=None):
    if method not in (None, "spawn"):
        raise ValueError(f"cannot find context for {method!r}")
    return multiprocessing.get_context("spawn")


SEEN = {
    "os": Without(os, OS),
    "signal": Without(signal, SIGNAL),
    "multiprocessing": Without(multiprocessing, set(), get_context=spawning),
}
everything = builtins.__import__


def imported(name, globals=None, locals=None, fromlist=(), level=0):
    if (globals or {}).get("__name__", "").startswith("sudoku_"):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if name in SEEN:
            return SEEN[name]
    return everything(name, globals, locals, fromlist, level)


builtins.__import__ = imported
"""

RUN = """
import pytest

if __name__ == "__main__":  # a child that is spawned imports this file
    sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.fixture
def run(tmp_path):
    """Run a program after the preamble, and return what it prints."""

    def call(program, *arguments):
        script = tmp_path / "without_posix.py"
        script.write_text(PREAMBLE + program, "utf-8")
        command = [sys.executable, str(script), *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    return call


PLAYED = (
    "every_cell_is_played_once_and_timed_where_it_is_to_be",
    "a_run_that_was_stopped_goes_on_where_it_was[3]",
    "a_policy_that_is_not_through_with_the_subset_is_stopped",
    "two_at_once_are_refused",
)
USES = ["import fcntl", "import os; os.fork", "from os import getuid", "from signal import alarm"]


@pytest.mark.parametrize("wrong", USES)
def test_what_is_taken_away_is_missed(run, tmp_path, wrong):
    (tmp_path / "sudoku_wrong.py").write_text(wrong)
    caught = "except (AttributeError, ImportError):\n    print('refused')\n"
    assert run(f"try:\n    import sudoku_wrong\n{caught}") == "refused\n"


def test_the_command_runs(run):
    program = "from sudoku_gym.cli import main\nsys.exit(main(sys.argv[1:]))\n"
    assert "one solution" in run(program, "solve", ".23.3.1.21......")
    assert "Sudoku9x9-v0" in run(program, "info")


@pytest.mark.slow
def test_the_ground_floor_passes_its_tests(run):
    """Those of files, locks, boards and processes; what starts Python anew is not run so."""
    paths = [str(Path("tests/sudoku_gym", name)) for name in ("board", "storage")]
    games = Path("tests/sudoku_gym/evaluation/leaderboard/test_play.py")
    paths += [f"{games}::test_{name}" for name in PLAYED]
    left_out = "not others_can_write and not group_stays"
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", left_out]
    end = run(RUN, *options, *paths).splitlines()[-1]
    assert " passed" in end and "failed" not in end
