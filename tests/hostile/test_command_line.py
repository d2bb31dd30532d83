"""Command lines that can't be done: one line on standard error, exit status 2, no traceback."""

import gzip
import json
import os
import subprocess
import sys

import pytest

from sudoku_gym import cli, plugins

PUZZLE = "1234....21.34..1"  # one solution

# What the working folder holds.
FILES = {
    "good.txt": PUZZLE.encode(),
    "bom.txt": b"\xef\xbb\xbf" + PUZZLE.encode(),
    "utf16.txt": PUZZLE.encode("utf-16"),
    "utf16.csv": f"puzzle\n{PUZZLE}\n".encode("utf-16"),
    "zipped.csv": gzip.compress(f"puzzle\n{PUZZLE}\n".encode()),
    "binary.txt": bytes(range(256)),
    "nul.csv": b"puzzle,solution\n\0\0,\0\n",
    "quote.csv": b'puzzle\n"' + b"1" * 200_000,
    "empty.txt": b"",
    "empty.csv": b"",
    "header.csv": b"puzzle,solution\n",
    "text.npz": PUZZLE.encode(),
    "x.txt": b"." * 81,
    "good.csv": f"puzzle\n{PUZZLE}\n".encode(),
    "endless.txt": PUZZLE.encode() + b"\n" + b"1" * 200_000,
    "endless.csv": PUZZLE.encode() + b"\n" + b"1" * 200_000,
    "broken.py": b"def f(:\n",
    "fails.py": b"raise RuntimeError('on\\npurpose')\n",
    "bad_policies.py": b"""
import numpy as np
class Base:
    def reset(self, puzzles, geometry, rng): pass
    def act(self, boards, action_masks): return action_masks.argmax(1)
class Raises(Base):
    def act(self, boards, action_masks): raise KeyError('lost')
class Fractions(Base):
    def act(self, boards, action_masks): return np.zeros(len(boards))
class Short(Base):
    def act(self, boards, action_masks): return np.zeros(1, int)
class FailsAtReset(Base):
    def reset(self, puzzles, geometry, rng): raise MemoryError
class IsCancelled(Base):
    def act(self, boards, action_masks): raise __import__('asyncio').CancelledError
class AsksInVain(Base):
    def act(self, boards, action_masks): raise BrokenPipeError(32, 'Broken pipe')
class InCircles(Base):
    def act(self, boards, action_masks):
        try: {}['x']
        except KeyError as error: raise error from error
class TimesOut(Base):
    def act(self, boards, action_masks): raise TimeoutError
class Nothing(ValueError):
    def __str__(self): return None
class SaysNothing(Base):
    def act(self, boards, action_masks): raise Nothing
def made(): return 3
def fails(): raise AttributeError('no such thing')
""",
}

# The arguments, and what is said: the next one found is one more line.
COMMANDS = [
    ("nonsense", "Unrecognized options: nonsense (see sudoku-gym --help)"),
    ("compare --puzles x", "Unrecognized options: --puzles, x (see sudoku-gym compare --help)"),
    ("compare --count abc", "Error parsing --sample/--count: "),
    ("compare --actions all", "invalid choice 'all' for argument '--actions'. Expected one of"),
    ("evaluate", "Missing from sudoku-gym evaluate: POLICY (see sudoku-gym evaluate --help)"),
    ("generate --count", "Missing value for argument '--count'"),
    ("solve one two", "Unrecognized options: two"),
    ("train calphazero --iterations many", "Error parsing --iterations: "),
    ("train calphazero --bogus 3", "Unrecognized options: --bogus, 3 (see sudoku-gym train cal"),
    ("solve ./missing.txt", "there is no file './missing.txt'"),
    ("solve missing/file", "there is no file 'missing/file'"),
    ("solve C:\\missing.txt", "there is no file"),
    ("solve missing.csv", "there is no file 'missing.csv'"),
    ("solve missing", "'missing' is neither a file nor a puzzle: a board of 7 cells"),
    ("solve folder", "folder is a folder: give a file of puzzles"),
    ("solve .", ". is a folder"),
    ("solve utf16.txt", "utf16.txt: the text is UTF-16; save it as UTF-8"),
    ("solve binary.txt", "binary.txt: line 1:"),
    ("solve empty.txt", "empty.txt: no board found"),
    ("solve good.txt --board 9x9", "good.txt: line 1: a board of 16 cells"),
    ("solve good.txt --node-limit -1", "--node-limit must be 0 to 2^63 - 1"),
    ("solve good.txt --node-limit 99999999999999999999", "--node-limit must be 0 to 2^63 - 1"),
    ("solve good.txt --board hyper", "no board is called 'hyper': use 4x4"),
    ("solve good.txt --board 99999999999x99999999999", "no standard board has 99999999999 digits"),
    ("solve good.txt --board os:sep", "os is in Python's standard library"),
    ("solve good.txt --board bad_policies:Base", "'bad_policies:Base' is a type, no Geometry"),
    ("solve", "give a puzzle, or a list of puzzles with --file"),
    (f"solve {PUZZLE} --file good.txt", f"give '{PUZZLE}' or --file good.txt, not both"),
    ("solve good.txt --out x.csv", "--out and --skip-bad-rows are for a list that is given with"),
    ("solve good.txt --skip-bad-rows", "--out and --skip-bad-rows are for a list that is given"),
    ("solve good.txt --count 0", "--count must be 1 to 2^63 - 1, not 0"),
    ("solve good.txt --threads 0", "--threads must be 1 to 1024, not 0"),
    ("solve good.txt --threads 99999999", "--threads must be 1 to 1024"),
    ("solve --file -", "-: a list of puzzles ends in .txt, .csv, .npz"),
    ("solve --file missing.txt", "missing.txt: No such file or directory"),
    ("solve --file missing.npz", "missing.npz: No such file or directory"),
    ("solve --file folder", "folder: a list of puzzles ends in .txt, .csv, .npz"),
    ("solve --file folder.txt", "folder.txt: Is a directory"),
    ("solve --file fails.py", "fails.py: a list of puzzles ends in .txt, .csv, .npz"),
    ("solve --file empty.txt", "empty.txt: no puzzle found; give one a line"),
    ("solve --file header.csv", "header.csv: no puzzle found"),
    ("solve --file binary.txt", "binary.txt, line 1: "),
    ("solve --file binary.txt --skip-bad-rows", "binary.txt: no puzzle found; give one a line, 0 "),
    ("solve --file endless.txt", "endless.txt, line 2: 100,000 characters or more are no row"),
    ("solve --file endless.csv --skip-bad-rows", "endless.csv, line 2: 100,000 characters or more"),
    ("solve --file utf16.txt", "utf16.txt: the text is UTF-16; save it as UTF-8"),
    ("solve --file text.npz", "text.npz: no readable npz file"),
    ("solve --file good.txt --board 9x9", "good.txt, line 1: a board of 16 cells: expected"),
    ("solve --file good.txt --format grid", "leave --format grid out"),
    ("solve --file good.txt --out x.txt", "--out x.txt: solutions are written to a file that ends"),
    ("solve --file good.txt --out no/x.csv", "there is no folder no"),
    ("solve --file good.txt --out folder.csv", "folder.csv is a folder: give a file"),
    ("solve --file missing.txt --out x.csv", "missing.txt: No such file or directory"),
    ("solve --file good.csv --out good.csv", "--out good.csv would replace the --file itself"),
    ("solve --file good.csv --out folder/../good.csv", "would replace the --file itself"),
    ("solve /dev/zero", "/dev/zero: more than 2,000,000 characters"),
    ("generate --count 1000000000000000", "at most 1,000,000"),
    ("generate --count -1", "count must be at least 1"),
    ("generate --seed -1", "seed must be at least 0, not -1"),
    ("generate --givens -1", "givens be 0 to 81"),
    ("generate --board 5x5", "no standard board has 5 digits"),
    ("generate --count 900000 --out x.bad", "x.bad: a list of puzzles ends in .txt, .csv, .npz"),
    ("generate --count 900000 --out folder.txt", "folder.txt is a folder: give a file"),
    ("generate --count 900000 --out no/x.txt", "there is no folder no"),
    ("generate --count 900000 --out good.txt/x.txt", "there is no folder good.txt"),
    ("evaluate os:system", "os is in Python's standard library"),
    ("evaluate os:system?command=false", "os is in Python's standard library"),
    ("evaluate sys:exit", "sys is in Python's standard library"),
    ("evaluate os:abort", "os is in Python's standard library"),
    ("evaluate builtins:input", "builtins is in Python's standard library"),
    ("evaluate time:sleep?secs=9", "time is in Python's standard library"),
    ("evaluate os.path:join", "os.path is in Python's standard library"),
    ("evaluate numpy:zeros", "missing a required argument: 'shape'"),
    ("evaluate numpy:pi", "'numpy:pi' is a float, neither a policy nor a class"),
    ("evaluate numpy:testing", "'numpy:testing' is a module, neither a policy nor a class"),
    ("evaluate numpy:random.default_rng", "made a Generator, which is no policy"),
    ("evaluate .relative:x", "write module:attribute"),
    ("evaluate a..b:c", "write module:attribute"),
    ("evaluate bad_policies:", "write module:attribute"),
    ("evaluate bad_policies:made.", "write module:attribute"),
    ("evaluate bad_policies:Missing", "has no 'Missing'"),
    ("evaluate bad_policies:made", "made a int, which is no policy"),
    ("evaluate bad_policies:fails", "AttributeError: no such thing"),
    ("evaluate bad_policies:Raises", "KeyError: 'lost'"),
    ("evaluate bad_policies:FailsAtReset", "MemoryError"),
    ("evaluate bad_policies:IsCancelled", "CancelledError"),
    ("evaluate bad_policies:SaysNothing", "Nothing"),
    ("evaluate bad_policies:AsksInVain", "Broken pipe"),
    ("evaluate bad_policies:TimesOut", "TimeoutError"),
    ("evaluate bad_policies:InCircles", "KeyError: 'x'"),
    ("evaluate bad_policies:Fractions", "act must return one whole number a game"),
    ("evaluate bad_policies:Short --count 2", "act must return one whole number a game"),
    ("evaluate broken:x", "SyntaxError"),
    ("evaluate fails:x", "RuntimeError: on purpose"),
    ("evaluate ./missing", "no policy './missing'"),
    ("evaluate folder", "folder is no checkpoint: it has no config.json"),
    ('evaluate dlx?node_limit="a"', "node_limit='a' is no int"),
    ("evaluate dlx?node_limit=1.5", "node_limit=1.5 is no int"),
    ("evaluate dlx?node_limit=-1", "node_limit must be at least 1"),
    ("evaluate dlx?node_limit=NaN", "NaN is no number of 64 bits"),
    ("evaluate dlx?node_limit=99999999999999999999", "is no number of 64 bits"),
    ("evaluate dlx?time_limit=soon", "time_limit='soon' is no float"),
    ("evaluate hidden-singles?x=1", "has no option x"),
    ("evaluate fractional-bp?x=1", "has no option x: use rule, "),
    ("evaluate sum-product?damping=high", "damping='high' is no float"),
    ("evaluate sum-product?damping=7", "damping"),
    ("evaluate marginal?iterations=many", "iterations='many' is no int"),
    ("evaluate marginal?rule=best", "rule='best' is no Literal"),
    ("evaluate solver?node_limit=null", "node_limit=None is no int"),
    ("evaluate expert-iteration?simulations=many", "simulations='many' is no int"),
    ("evaluate expert-iteration?folder=nowhere", "nowhere"),
    ("evaluate naked-singles --batch-size 0", "batch_size must be at least 1"),
    ("evaluate naked-singles --max-steps 0", "max_episode_steps=0"),
    ("evaluate naked-singles --seed -1", "seed must be at least 0, not -1"),
    ("train q-learning --seed -1", "seed must be at least 0, not -1"),
    ("evaluate naked-singles --puzzles good.txt --board 9x9", "a board of 16 cells"),
    ("evaluate naked-singles --puzzles 9x9 --board x9x9", "holds 9x9 boards, not Sudoku-X 9x9"),
    ("evaluate naked-singles --puzzles numpy:pi", "'numpy:pi' is a float, no PuzzleSet"),
    ("compare --puzzles x.txt", "give its geometry (--board)"),
    ("compare --puzzles empty.csv", "empty.csv: no puzzle found"),
    ("compare --puzzles header.csv", "header.csv: no puzzle found"),
    ("compare --puzzles nul.csv", "nul.csv, line 2"),
    ("compare --puzzles quote.csv", "quote.csv, line"),
    ("compare --puzzles zipped.csv", "zipped.csv: the file is compressed; unpack it with gzip -d"),
    ("compare --puzzles utf16.csv", "utf16.csv: the text is UTF-16; save it as UTF-8"),
    ("compare --puzzles text.npz", "text.npz: no readable npz file"),
    ("compare --puzzles folder.txt", "folder.txt: Is a directory"),
    ("compare --puzzles missing.npz", "missing.npz: No such file or directory"),
    ("compare --blanks 99999999999999999999999", "1 to 12 blanks"),
    ("compare --blanks 5-2", "the lower end of the pair comes first"),
    ("compare --count -3", "count must be at least 1"),
    ("watch --fps nan", "fps=nan: use a number from 0.1 to 1000"),
    ("watch --out x.bad", "use a name that ends in .gif or .mp4"),
    ("watch missing.txt", "No such file or directory"),
    ("watch ./missing", "there is no file './missing'"),
    (f"watch {PUZZLE} --blanks 3", "a puzzle has its own blanks"),
    ("play folder", "folder is a folder"),
    ("play 5x5", "'5x5' is neither a file nor a puzzle"),
    ("info hyper", "no bank is called 'hyper'"),
    ("leaderboard", "there is no folder docs"),
    ("leaderboard --out l.json --jobs 0", "jobs must be at least 1"),
    ("leaderboard --out l.json --jobs many", "--jobs"),
    ("leaderboard --out l.json --budget nan", "budget must be positive"),
    ("leaderboard --out l.json --only me", "or given with --add is called 'me'"),
    ("leaderboard --out l.json --sets 5x5", "no set is called '5x5'"),
    ("leaderboard --out l.json --add me", "no policy 'me'"),
    ("leaderboard --out l.json --add os:system", "in Python's standard library"),
    ("leaderboard --out l.json --add solver?x=1", "has no option x"),
    ("leaderboard --out l.json --add folder", "folder is no checkpoint"),
    ("leaderboard --out l.json --again me", "is called 'me': use"),
    (
        "leaderboard --out l.json --remove solver",
        "no row that no installed package lists is called 'solver'",
    ),
    ("leaderboard --out l.json --lists x", "a list of puzzles ends in"),
    ("leaderboard --out l.json --lists no.txt", "No such file"),
    ("leaderboard --out l.json --lists empty.txt", "no puzzle found"),
    ("leaderboard --out good.txt", "good.txt: it is no sound leaderboard"),
    ("leaderboard --out folder", "folder: it is no sound leaderboard"),
    ("plot folder", "folder"),
    ("plot missing", "missing"),
    ("train alphago", "no trainer 'alphago'"),
    ("train calphazero --env CartPole-v1 --run r", "env='CartPole-v1' is no Sudoku environment"),
    ("train calphazero --env Nothing-v0 --run r", "env='Nothing-v0'"),
    ("train calphazero --env os:system --run r", "'os:system': os is in Python's"),
    ("train calphazero --env a/b/c-v --run r", "env='a/b/c-v'"),
    ("train calphazero --run good.txt", "good.txt"),
    ("train calphazero --resume --run folder", "folder holds no run"),
]


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A working folder with the files above."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    for name in ("folder", "folder.txt", "folder.csv"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(plugins.entry_points, "_fallback_folders", set())
    yield tmp_path
    for name in ("broken", "fails", "bad_policies"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("command, said", COMMANDS)
def test_what_cannot_be_done_takes_one_line(work, capsys, command, said):
    if not os.path.exists("/dev/zero") and "/dev/zero" in command:
        pytest.skip("there is no such device here")
    assert cli.main(command.split(" ")) == 2
    captured = capsys.readouterr()
    assert said in captured.err and captured.out == ""
    complaint = without_compiling(captured.err)
    assert complaint.startswith("sudoku-gym: ") and complaint.count("\n") == 1


def test_a_bug_shows_its_traceback_where_it_is_asked_for(work, monkeypatch):
    monkeypatch.setenv(cli.TRACEBACK, "1")
    with pytest.raises(KeyError, match="lost"):
        cli.main(["evaluate", "bad_policies:Raises"])


@pytest.mark.parametrize("limit", range(4))
@pytest.mark.parametrize("blanks", [30, 45, 60])
def test_solve_stops_anywhere(work, capsys, limit, blanks):
    """Undecided boards, with a solution found and without, end with a word and not a traceback."""
    text = "." * blanks + "123456789" * 9
    code = cli.main(["solve", text[:81], "--node-limit", str(limit)])
    assert code == 1 and capsys.readouterr().out.splitlines()[0]


@pytest.mark.parametrize("name", ["good.txt", "bom.txt"])
def test_a_byte_order_mark_makes_no_difference(work, capsys, monkeypatch, name):
    assert cli.main(["solve", name]) == 0
    assert cli.main(["evaluate", "naked-singles", "--puzzles", name]) == 0
    with open(name, encoding="ascii") as file, monkeypatch.context() as patched:
        patched.setattr(sys, "stdin", file)
        assert cli.main(["solve", "-"]) == 0


def without_compiling(err):
    """Leave out the line that says that kernels are compiled, which stands where it takes long."""
    lines = err.splitlines(keepends=True)
    return "".join(line for line in lines if "compiling kernels for the first time" not in line)


def shell(command, **environment):
    """Run the command as a shell does, where it matters who opens the files."""
    program = f"{sys.executable} -m sudoku_gym"
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        ["bash", "-c", command.replace("sudoku-gym", program)],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


@pytest.mark.skipif(os.name != "posix", reason="a POSIX shell")
@pytest.mark.parametrize(
    "command, code, out, err",
    [
        ("sudoku-gym solve <(cat good.txt)", 0, "one solution", ""),
        ("sudoku-gym solve /dev/stdin < bom.txt", 0, "one solution", ""),
        ("sudoku-gym solve - < utf16.txt", 2, "", "standard input: line 1"),
        ("sudoku-gym solve - <&-", 2, "", "standard input is closed"),
        ("sudoku-gym solve --file good.txt > /dev/full", 2, "", "No space left on device"),
        (
            "mkfifo p.txt; cat good.txt > p.txt & sudoku-gym solve --file p.txt",
            0,
            "1",
            "1 puz",
        ),
        (
            "mkfifo q.txt; sudoku-gym compare naked-singles dlx --puzzles q.txt",
            2,
            "",
            "q.txt is a pipe, and each policy reads it anew: save it",
        ),
        ("sudoku-gym info > /dev/full", 2, "", "No space left on device"),
        (
            "mkdir gone; cd gone; rmdir ../gone; sudoku-gym solve " + PUZZLE,
            2,
            "",
            "the working folder has been removed: change to another",
        ),
    ],
)
def test_what_the_shell_does_with_files(work, command, code, out, err):
    done = shell(command)
    assert done.returncode == code, done.stderr
    assert done.stdout.startswith(out) and err in done.stderr
    assert without_compiling(done.stderr).count("\n") == bool(err)


READS = [
    "info",
    "info 4x4",
    f"solve {PUZZLE}",
    "generate --board 4x4 --seed 1",
    "compare naked-singles --count 3",
    "evaluate naked-singles --puzzles good.txt --format json",
    "watch 4x4 --policy naked-singles",
    "compare --help",
]


MANY = """
import shlex, sys
from sudoku_gym.cli import main
for line in sys.stdin:
    sys.stderr.write(f"{main(shlex.split(line))} {ascii(line)}\\n")
"""


@pytest.mark.skipif(os.name != "posix", reason="locales and rights of POSIX")
def test_reading_needs_no_locale_no_home_and_no_right_to_write(work):
    """All that reads, in one process: ASCII only, no home, a read-only folder, a Greek name."""
    (work / "λ.txt").write_text(f"# ein Rätsel\n{PUZZLE}\n", encoding="utf-8")
    commands = [*READS, "solve λ.txt", "compare naked-singles --puzzles λ.txt"]
    paths = os.pathsep.join(path for path in sys.path if path)
    kept = [name for name in ("PATH", "NUMBA_CACHE_DIR") if name in os.environ]
    bare = {name: os.environ[name] for name in kept} | {"PYTHONPATH": paths}
    work.chmod(0o555)
    try:
        done = subprocess.run(
            [sys.executable, "-c", MANY],
            env={**bare, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            input="\n".join([*commands, "solve λ2.txt", "evaluate λ"]).encode(),
            capture_output=True,
        )
    finally:
        work.chmod(0o755)
    told = without_compiling(done.stderr.decode("ascii")).splitlines()
    assert done.returncode == 0, told
    assert [line[0] for line in told[: len(commands)]] == ["0"] * len(commands), told
    assert [line.startswith("sudoku-gym: ") for line in told[len(commands) :: 2]] == [True] * 2
    assert [line[0] for line in told[len(commands) + 1 :: 2]] == ["2"] * 2
    assert done.stdout.isascii()


def test_figures_are_json_whatever_the_name(work, capsys):
    (work / "größe.txt").write_text(PUZZLE, encoding="utf-8")
    assert cli.main("evaluate naked-singles --puzzles größe.txt --format json".split()) == 0
    assert json.loads(capsys.readouterr().out)["naked-singles"]["solved"] == 1
