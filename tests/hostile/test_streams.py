"""Standard streams that are terminals, closed, or pipes that nobody reads."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals and pipes of POSIX")

PUZZLE = "1234....21.34..1"  # one solution
LOUD = """
import os
class Loud:
    def reset(self, puzzles, geometry, rng):
        os.write(1, b"words"), os.write(2, b"words"), os.system("echo words")

    def act(self, boards, action_masks):
        return action_masks.argmax(1)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "good.txt").write_text(PUZZLE)
    (tmp_path / "loud.py").write_text(LOUD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(arguments, ending="", start="", **options):
    """Run the command in a shell that begins and ends the line so."""
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths, "TERM": "xterm-256color"}
    line = f"{start}{sys.executable} -m sudoku_gym {arguments} {ending}"
    return subprocess.run(line, shell=True, env=environment, text=True, **options)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("nonsense", "Unrecognized options: nonsense (see sudoku-gym --help)"),
        ("compare --count abc", "Error parsing --sample/--count: "),
        ("compare --actions all", "invalid choice 'all' for argument '--actions'. Expected one of"),
        ("evaluate", "Missing from sudoku-gym evaluate: POLICY (see sudoku-gym evaluate --help)"),
    ],
)
def test_a_mistake_takes_one_line_on_a_terminal_too(arguments, said):
    import pty

    ours, theirs = pty.openpty()
    done = command(arguments, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert done.returncode == 2 and shown.startswith(f"sudoku-gym: {said}")
    assert shown.count("\n") == 1 and "\x1b" not in shown


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (f"solve {PUZZLE}", 0),
        ("info", 0),
        ("solve --file good.txt", 141),
        ("leaderboard --only naked-singles --sets 4x4 --out l.json", 141),
    ],
)
def test_a_reader_that_closes_the_pipe_ends_a_command(arguments, code):
    """Without a word of that, and as a success where only what is printed was wanted."""
    unread, end = os.pipe()
    os.close(unread)
    for errors in subprocess.PIPE, end:  # `| head -1`, and `2>&1 | head -1`
        done = command(arguments, stdout=end, stderr=errors)
        assert done.returncode == code and "sudoku-gym:" not in (done.stderr or "")
    os.close(end)


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_what_a_policy_prints_where_a_stream_is_closed_is_in_no_file(folder, closed):
    for _ in range(2):
        arguments = "evaluate loud:Loud --puzzles 4x4 --count 2 --out e.json"
        assert command(arguments, closed).returncode == 0
    assert not (folder / ".e.json.lock").read_bytes()
    assert "words" not in (folder / "e.json").read_text()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
def test_the_exit_code_stays_where_the_message_can_not_be_written():
    assert command("evaluate nobody", "2> /dev/full").returncode == 2


def test_what_programs_of_a_policy_print_is_no_result():
    arguments = "evaluate loud:Loud --puzzles 4x4 --count 2 --format json"
    done = command(arguments, capture_output=True)
    assert [*json.loads(done.stdout)] == ["loud:Loud"] and "words" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
@pytest.mark.parametrize(
    ("start", "arguments", "target"),
    [
        ("", "--version", "/dev/full"),
        ("", f"solve {PUZZLE}", "/dev/full"),
        ("ulimit -f 0; ", f"solve {PUZZLE}", "out.txt"),
    ],
)
def test_an_output_that_can_not_be_written_is_told_once(start, arguments, target):
    done = command(arguments, f"> {target}", start, stderr=subprocess.PIPE)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "output: " in done.stderr
