"""Policies in processes of their own: one that dies, commands that are killed."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from sudoku_gym.evaluation.leaderboard import read_leaderboard, workers
from sudoku_gym.policies.processes import processes_below, processor_seconds

SHELL = """
import signal
import sys
from pathlib import Path
from sudoku_gym.evaluation.leaderboard import fixed_sets, play
from sudoku_gym.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
fixed_sets._SETS = Path(sys.argv[1])
play.listed_rows = lambda: {"masked-random": "floor", "naked-singles": "floor"}
sys.exit(main(sys.argv[2:]))
"""


def started(file, out, *arguments):
    command = [sys.executable, "-c", SHELL, str(file), "leaderboard"]
    command += ["--out", str(out), *arguments]
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": paths},
        cwd=out.parent,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_processes_play_the_same_and_a_killed_run_goes_on(
    small, own_policies, play, tmp_path, outcomes
):
    (tmp_path / "work").mkdir()
    out = tmp_path / "work" / "board.json"
    # With so large a budget no policy is slow, however busy the machine is.
    added = ("--add", "third_party:First", "--budget", "1000", "--sets", "4x4")
    first = started(small, out, *added)
    line = first.stderr.readline()
    while "played" not in line and line:  # that kernels are compiled may come before
        line = first.stderr.readline()
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert len(read_leaderboard(out).rows["masked-random"].cells) >= 1
    second = started(small, out, *added, "--jobs", "2")
    said, err = second.communicate()
    assert second.returncode == 0 and "Wrote" in said, err
    assert not any("masked-random on 4x4" in each and "solved" in each for each in err.splitlines())
    play(add=("third_party:First",), budget=1000.0, sets=("4x4",))
    assert outcomes(out) == outcomes(tmp_path / "board.json")
    assert all(run.versions["python"] for run in read_leaderboard(out).runs.values())


def commands_of_processes():
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_process_that_dies_loses_its_cell_alone(small, own_policies, tmp_path):
    own = ("Renames", "Dies", "Hangs", "Cheats", "Spawns", "CleansUp")
    names = [f"third_party:{each}" for each in own]
    out = tmp_path / "board.json"
    chosen = ("--only", *names, "naked-singles", "--sets", "9x9", "--limit", "1.5")
    run = started(small, out, "--add", *names, *chosen)
    said, err = run.communicate()
    assert run.returncode == 1 and said == f"Wrote {out}\n", err
    assert "third_party:Dies on 9x9: its process died; rerun the command to retry" in err
    helper = Path(f"/proc/{(tmp_path / 'helper').read_text()}/stat")
    assert not helper.exists() or ") Z" in helper.read_text()
    results = read_leaderboard(out)
    assert results.rows["third_party:Dies"].cells == {}
    hung = results.rows["third_party:Hangs"].cells["9x9"]
    assert (hung.error, hung.played) == ("it takes more than 6 s of wall time", 0)
    assert results.rows["third_party:Cheats"].cells["9x9"].solved == 0
    assert results.rows["third_party:Spawns"].cells["9x9"].played == 4
    assert results.rows["third_party:CleansUp"].cells["9x9"].played == 4
    if sys.platform == "linux":
        assert not [*tmp_path.glob("own-*")]
        assert {*(tmp_path / "at-exit").read_text().split()} == {"None"}
    assert b"sleep\x0086399" not in b"".join(commands_of_processes())
    assert results.rows["naked-singles"].cells["9x9"].played == 4
    assert results.rows["naked-singles"].weights == results.rows["third_party:Dies"].weights == ""


def test_policies_of_another_s_module_play_one_after_the_other():
    def task(policy):
        return SimpleNamespace(policy=policy)

    running = [(task("theirs.agent:P?a=1"), None, None), (task("dlx"), None, None)]
    names = ["theirs.agent:Q", "dlx", "theirs.agent:P", "theirs.other:P"]
    waiting = deque(task(name) for name in names)
    taken = [workers._taken(waiting, running) for _ in range(3)]
    assert [each and each.policy for each in taken] == ["dlx", "theirs.other:P", None]
    assert [each.policy for each in waiting] == ["theirs.agent:Q", "theirs.agent:P"]
    assert workers._taken(waiting, []).policy == "theirs.agent:Q"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes of Linux")
@pytest.mark.parametrize(
    ("kill", "number"), [(os.kill, 15), (os.kill, 9), (os.killpg, 15), (os.killpg, 9)]
)
def test_a_command_that_is_killed_takes_its_policies_with_it(
    small, own_policies, tmp_path, kill, number
):
    chosen = ("--only", "third_party:Hangs", "--sets", "9x9")
    run = started(small, tmp_path / "board.json", "--add", "third_party:Hangs", *chosen)

    def sleeping():
        return b"".join(commands_of_processes()).count(b"sleep\x0086399")

    while sleeping() < 3:
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.1)
    kill(run.pid, number)
    run.wait()
    while sleeping():
        time.sleep(0.1)
    run.communicate()  # whoever holds its pipes has ended too


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes of Linux")
def test_a_policy_that_is_never_made_ends_with_the_command(small, tmp_path):
    (tmp_path / "own_loop.py").write_text("sum(range(10**15))\n")  # keeps the interpreter's lock
    run = started(small, tmp_path / "board.json", "--add", "own_loop:Mine")

    def is_looping():
        seconds = [processor_seconds(pid) for pid in processes_below(run.pid)]
        return any(each and each > 8.0 for each in seconds)

    while not is_looping():
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.2)
    run.kill()
    run.communicate()  # returns once whoever holds its pipes has ended


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sessions of POSIX")
def test_no_policy_is_asked_anything_before_its_guard_has_a_session():
    """Until then a signal to the command's group would end the guard too."""
    player, pipe, guard = workers._start_guarded_player()
    with pipe:
        assert os.getsid(guard.pid) == guard.pid != os.getsid(0)
        workers._stop_player(player, guard)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes of Linux")
def test_an_interrupt_while_processes_start_is_told_in_one_line(small, tmp_path):
    run = started(small, tmp_path / "board.json")

    def is_importing(pid):  # what the others are forked from
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        return b"forkserver" in command and (processor_seconds(pid) or 0.0) > 0.3

    while not any(map(is_importing, processes_below(run.pid))):
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGINT)
    _, error = run.communicate()
    assert run.returncode == 130 and "Traceback" not in error


@pytest.mark.slow
def test_only_what_is_named_is_imported_from_the_working_folder(tmp_path):
    """It may be a stranger's, with modules of any name."""
    source = "from sudoku_baselines.classical.trivial import naked_singles as Mine\n"
    (tmp_path / "own_policy.py").write_text(source)
    for name in ("torch", "struct", "numpy", "selectors"):
        (tmp_path / f"{name}.py").write_text(f"open('imported', 'a').write('{name} ')")
    code = (
        "import sys; sys.path.remove(''); from sudoku_gym.cli import main; "
        "name = 'own_policy:Mine'; sys.exit(main(['leaderboard', '--add', name, '--only', name, "
        "'--sets', '4x4', '--out', 'board.json']))"
    )
    paths = os.pathsep.join(each for each in sys.path if each)
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": paths}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert not (tmp_path / "imported").exists() and run.returncode == 0, run.stderr


@pytest.mark.skipif(os.name != "posix", reason="sockets of POSIX")
def test_a_folder_for_temporary_files_with_a_long_name_is_named(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "long_" * 20)
    with pytest.raises(ValueError, match=r"^long_.*: no socket fits there: set TMPDIR"):
        workers.describe_policies(["naked-singles"], 60)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a server that forks")
def test_a_torch_that_is_broken_stops_no_policy_that_needs_none(small, tmp_path, monkeypatch):
    (tmp_path / "broken" / "torch").mkdir(parents=True)
    source = "raise OSError('libcudart.so.12: cannot open shared object file')"
    (tmp_path / "broken" / "torch" / "__init__.py").write_text(source)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "broken"), *sys.path])
    (tmp_path / "work").mkdir()
    out = tmp_path / "work" / "board.json"
    done = started(small, out, "--only", "naked-singles", "--sets", "4x4")
    _, said = done.communicate(timeout=120)
    assert done.returncode == 0 and "Traceback" not in said
    assert read_leaderboard(out).rows["naked-singles"].cells["4x4"].played > 0
