import importlib.util
import json
import os
import re
import subprocess
import sys

import pytest

from sudoku_gym import cli, plugins
from sudoku_gym.puzzles import banks
from sudoku_gym.registration import ENVIRONMENTS

PUZZLE = "1234....21.34..1"  # one solution
GRID = "1234341221434321"


def refused(result):
    """Check that a command failed with one line on standard error, and return that line."""
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.startswith("sudoku-gym: ") and err.count("\n") == 1
    return err


@pytest.mark.parametrize("command", ["compare", "watch"])
def test_help_lists_every_bank(run, command):
    words = run(command, "--help")[1].replace("│", " ").split()
    listed = {word.strip("(),.") for word in words}
    assert set(banks.NAMES) <= listed


def test_python_runs_the_package():
    command = [sys.executable, "-m", "sudoku_gym", "solve", PUZZLE]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("one solution"), done.stderr


@pytest.mark.parametrize("command", ["", *cli.COMMANDS])
def test_help(run, command):
    code, out, _ = run(*command.split(), "--help")
    assert code == 0 and f"usage: sudoku-gym {command}".strip() in out
    assert all(name in out for name in ([] if command else cli.COMMANDS))


def test_the_version(run):
    code, out, _ = run("--version")
    assert code == 0 and out.startswith("sudoku-gym 0.")


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["solve", "no-such.txt"], "no-such.txt: No such file"),
        (["solve", PUZZLE, "--out", "a.txt"], "ends in .csv"),
        (["fly"], "no command 'fly': use one of train"),
        (["app", "--auth", "ada"], "write user:password"),
        (["compar"], "no command 'compar': use compare, or one of train"),
        (["evalute"], "no command 'evalute': use compare, or one of train"),
        (["train", "calphazero", "--reward", "mine:placed"], "no --reward: its compiled search"),
        (["train", "mlp", "--reward", "mine:placed"], "no --reward: it learns from solutions"),
        (["watch", "nobody", "--puzzles", "4x4"], "no policy 'nobody'"),
        (["watch", "--puzzles", PUZZLE, "--fps", "0"], "fps=0.0"),
        (["watch", "--puzzles", PUZZLE, "--heat"], "--out film.gif"),
        (["watch", "--puzzles", "4x4", "--out", "film.avi"], ".gif or .mp4"),
        (["watch", "--puzzles", "4x4", "--out", "a.gif", "--heat"], "no probabilities"),
        (["solve", "12x4" * 4], "row 1, column 3: 'x' is no digit of a 4x4 board"),
        (["solve", "123"], "a board of 3 cells"),
        (["solve", PUZZLE, "--board", "7x8"], "no board is called '7x8'"),
        (["solve", PUZZLE, "--board", "7"], "no standard board has 7 digits"),
        (["compare", "alphago"], "no policy 'alphago': use backtracking"),
        (["compare", "masked-random?depth"], "name?key=value&key=value"),
        (["compare", "solver?depth=3"], "'solver' has no option depth: "),
        (["compare", "--puzzles", "5x5"], "no source of puzzles is called '5x5': use one of 4x4"),
        (["compare", "--puzzles", "gone.txt"], "gone.txt"),
        (["compare", "--puzzles", "gone.txt", "--split", "test"], "a file has no splits"),
        (["compare", "--count", "0"], "count must be at least 1"),
        (["compare", "--count", "99999999"], "4x4 (test) has 15744"),
        (["compare", "--blanks", "many"], "write a number such as 40, or a range"),
        (["compare", "--blanks", "99"], "1 to 12 blanks"),
        (["generate", "--count", "0"], "count must be at least 1"),
        (["generate", "--givens", "82"], "givens be 0 to 81"),
        (["generate", "--out", "puzzles.doc"], "puzzles.doc"),
        (["watch", "--puzzles", "9x8"], "a board of 3 cells"),
        (["train", "alphago"], "no trainer 'alphago': use calphazero"),
    ],
)
def test_bad_input_takes_one_line(run, arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert said in refused(run(*arguments))


def test_compare_prints_a_table(run):
    code, out, _ = run("compare", "--count", "50")
    assert code == 0 and "4x4, test, 50 puzzles, held out, seed 0" in out
    assert all(name in out for name in ("masked-random", "naked-singles", "hidden-singles"))


def test_compare_in_every_format(run):
    arguments = ["compare", "naked-singles", "--count", "20", "--seed", "5"]
    figures = json.loads(run(*arguments, "--format", "json")[1])["naked-singles"]
    assert figures["solved"] == figures["puzzles"] == 20 and figures["seed"] == 5
    assert "100.0 %" in run(*arguments)[1]


def test_compare_reveals_cells_and_says_what_that_is_worth(run):
    arguments = ["compare", "hidden-singles", "--count", "20", "--blanks", "4-6"]
    assert "4x4, test, 20 puzzles, 4-6 blanks, in distribution" in run(*arguments)[1]
    assert "4-6 blanks, held out" in run(*arguments, "--puzzles", "9x9")[1]
    out = run(*arguments, "--puzzles", "9x9", "--split", "train")[1]
    assert "9x9, train, 20 puzzles, 4-6 blanks, seed 0" in out


def test_names_carry_options_and_are_shown_as_they_were_written(run):
    few, many = names = [f"backtracking?node_limit={limit}" for limit in (1000, 3000000)]
    arguments = ["--puzzles", "named", "--format", "json"]
    results = json.loads(run("compare", *names, *arguments)[1])
    assert list(results) == names
    assert results[few]["solved"] < results[many]["solved"]
    assert json.loads(run("compare", few, *arguments)[1])[few]["solved"] == results[few]["solved"]


def test_compare_plays_files_and_policies_of_ones_own(run, tmp_path, monkeypatch):
    (tmp_path / "my_first.py").write_text(
        "class First:\n"
        "    def reset(self, puzzles, geometry, rng): pass\n"
        "    def act(self, boards, action_masks): return action_masks.argmax(1)\n"
    )
    (tmp_path / "mine.txt").write_text(f"{PUZZLE}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    code, out, _ = run("compare", "my_first:First", "--puzzles", "mine.txt")
    sys.modules.pop("my_first")
    assert code == 0 and "my_first:First" in out and "1 puzzles" in out


def test_info_lists_what_is_there(run):
    out = run("info")[1]
    assert all(word in out for word in ("calphazero", "naked-singles", "25x25", *ENVIRONMENTS))
    assert all(word in out for word in ("latin9x9", "expert-iteration", " cores"))
    assert ("torch 2" in out) == (importlib.util.find_spec("torch") is not None)
    shown = re.search(r"^extras +(.*)$", out, re.M)[1]
    assert set(plugins.MODULES_OF_EXTRA) == set(re.findall(r"([\w-]+)(?: \(.*?\))?", shown))


def test_the_command_is_installed_and_keeps_quiet_when_its_reader_leaves():
    command = [
        sys.executable,
        "-c",
        "import sys; from sudoku_gym.cli import main; sys.exit(main())",
    ]
    arguments = ["generate", "--count", "3000", "--board", "4"]
    with subprocess.Popen(
        command + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert len(process.stdout.readline()) == 17
        process.stdout.close()
        said = [line for line in process.stderr if "compiling kernels" not in line]
        assert said == []
    assert process.returncode == 0


def test_the_command_imports_no_torch_before_it_is_needed():
    code = "import sys, sudoku_gym.cli; sys.exit('torch' in sys.modules)"
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0


def test_train_lists_trainers_and_hands_their_arguments_on(run, monkeypatch):
    assert "calphazero" in run("train")[1]
    monkeypatch.setattr(plugins, "load", lambda group, name: lambda argv: print(name, argv))
    code, out, _ = run("train", "calphazero", "--minutes", "3", "--help")
    assert code == 0 and out == "calphazero ['--minutes', '3', '--help']\n"


def test_a_missing_extra_is_named(run, monkeypatch):
    def load(group, name):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(plugins, "load", load)
    said = refused(run("train", "calphazero"))
    assert "needs torch: pip install -c constraints.txt '.[agents]' in a checkout" in said


def test_ctrl_c_and_options_that_do_not_parse(run, monkeypatch):
    code, out, err = run("compare", "--puzles", "9x9")
    assert (code, out) == (2, "") and "Unrecognized options: --puzles" in err

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("sudoku_gym.puzzles.generator.generate", interrupted)
    assert run("generate") == (130, "", "")
