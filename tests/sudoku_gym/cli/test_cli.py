import importlib.util
import io
import json
import os
import re
import subprocess
import sys

import pytest

from sudoku_baselines.classical.trivial import MaskedRandom
from sudoku_gym import board, cli, plugins, solver
from sudoku_gym.puzzles import banks, load
from sudoku_gym.registration import ENVIRONMENTS

PUZZLE = "1234....21.34..1"  # one solution
GRID = "1234341221434321"


def refused(result):
    """Check that a command failed with one line on standard error, and return that line."""
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.startswith("sudoku-gym: ") and err.count("\n") == 1
    return err


@pytest.mark.parametrize("command", ["evaluate", "compare", "watch", "play"])
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


def test_an_unknown_option_fails(run):
    assert "Unrecognized options: --puzles" in refused(run("compare", "--puzles", "9x9"))


@pytest.mark.parametrize(
    "text, code, said",
    [
        (PUZZLE, 0, "one solution"),
        ("." * 16, 1, "several solutions"),
        ("123............4", 1, "no solution"),
        ("11..............", 1, "no solution: 1 stands twice in a unit, at row 1, column 1"),
    ],
)
def test_solve_says_how_many_solutions_there_are(run, text, code, said):
    result = run("solve", text)
    assert result[0] == code and result[1].startswith(said)


def test_solve_draws_the_solution(run):
    out = run("solve", PUZZLE)[1]
    assert board.to_line(board.parse(out.partition("\n")[2])) == board.to_line(
        solver.solve(board.parse(PUZZLE)[None])[0]
    )


def test_solve_reads_files_and_standard_input(run, tmp_path, monkeypatch):
    lines = f"# two boards\n{PUZZLE}\n\n{'.' * 16}\n"
    (tmp_path / "two.txt").write_text(lines)
    code, out, _ = run("solve", str(tmp_path / "two.txt"))
    assert code == 1 and [line[18:] for line in out.splitlines()] == [
        "one solution",
        "several solutions",
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO(board.to_text(board.parse(PUZZLE))))
    assert run("solve", "-")[1].startswith("one solution")


def test_solve_knows_variants_and_long_puzzles(run):
    test = load("x9x9", "test")
    line = board.to_line(test.puzzles[0])
    code, out, _ = run("solve", line, "--board", "x9x9", "--format", "line")
    assert code == 0 and out == f"{board.to_line(test.solutions[0])}  one solution\n"
    assert run("solve", line)[0] == 1  # without the diagonals it has several
    long = board.to_line(load("25x25").puzzles[0])
    assert run("solve", long)[0] == 0


def test_solve_still_knows_the_old_name_of_the_option(run):
    line = board.to_line(load("x9x9", "test").puzzles[0])
    assert run("solve", line, "--size", "x9x9")[0] == 0


def test_solve_admits_what_it_cannot_decide(run):
    hard = load("9x9")[load("9x9").grades == 4].puzzles[0]
    code, out, _ = run("solve", board.to_line(hard), "--node-limit", "0")
    assert code == 1 and out.startswith("undecided")


def test_solve_lets_a_network_search(run):
    pytest.importorskip("torch")
    arguments = ["--policy", "expert-iteration?search=best-first", "--count", "2"]
    code, out, _ = run("solve", PUZZLE, *arguments)
    assert (code, out) == run("solve", PUZZLE)[:2]
    assert run("solve", "1" + "." * 15, *arguments)[1].startswith("several solutions")
    code, out, _ = run("solve", "123....4........", *arguments)
    assert code == 1 and out.startswith("no solution")
    few = ["--policy", "expert-iteration?search=best-first&evaluations=1", "--count", "2"]
    assert run("solve", "1" + "." * 15, *few)[1].startswith("undecided")
    assert "'expert-iteration' proves nothing" in refused(
        run("solve", PUZZLE, "--policy", "expert-iteration")
    )


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["solve", PUZZLE, "--policy", "dlx", "--threads", "2"], "leave --policy out"),
        (["solve", PUZZLE, "--trust"], "--trust is for a checkpoint"),
        (["solve", "no-such.txt"], "there is no file 'no-such.txt'"),
        (["solve", "12x4" * 4], "row 1, column 3: 'x' is no digit of a 4x4 board"),
        (["solve", "123"], "a board of 3 cells"),
        (["solve", PUZZLE, "--size", "7x8"], "no board is called '7x8'"),
        (["solve", PUZZLE, "--size", "7"], "no standard board has 7 digits"),
        (["evaluate", "alphago"], "no policy 'alphago': use backtracking"),
        (["evaluate", "masked-random?depth"], "write name?key=value&key=value"),
        (["compare", "solver?depth=3"], "'solver' has no option depth: "),
        (["compare", "--puzzles", "5x5"], "no puzzles '5x5': use 4x4"),
        (["compare", "--puzzles", "gone.txt"], "gone.txt"),
        (["compare", "--puzzles", "gone.txt", "--split", "test"], "a file has no splits"),
        (["compare", "--count", "0"], "count must be at least 1"),
        (["compare", "--count", "99999999"], "4x4 (test) has 15744"),
        (["compare", "--blanks", "many"], "write a number such as 40, or a range"),
        (["compare", "--blanks", "99"], "1 to 12 blanks"),
        (["generate", "--count", "0"], "count must be at least 1"),
        (["generate", "--givens", "82"], "givens be 0 to 81"),
        (["generate", "--out", "puzzles.doc"], "puzzles.doc"),
        (["generate", "--hard", "--givens", "30"], "leave --givens, --pattern and --difficulty"),
        (["generate", "--hard", "--steps", "-1"], "steps must not be negative"),
        (["generate", "--hard", "--board", "4x4"], "singles solve every 4x4 puzzle"),
        (["play", "9x8"], "a board of 3 cells"),
        (["info", "5x5"], "no bank is called '5x5'"),
        (["train", "alphago"], "no trainer 'alphago': use calphazero"),
    ],
)
def test_bad_input_takes_one_line(run, arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert said in refused(run(*arguments))


def test_a_list_that_does_not_parse_names_the_line(run, tmp_path):
    (tmp_path / "bad.txt").write_text(f"{PUZZLE}\n{PUZZLE[:-1]}9\n")
    assert "line 2: row 4, column 4: '9'" in refused(run("solve", str(tmp_path / "bad.txt")))


def test_compare_prints_a_table(run):
    code, out, _ = run("compare", "--count", "50")
    assert code == 0 and "4x4, test, 50 puzzles, held out, seed 0" in out
    assert all(name in out for name in ("masked-random", "naked-singles", "hidden-singles"))


def test_evaluate_in_every_format(run):
    arguments = ["evaluate", "naked-singles", "--count", "20", "--seed", "5"]
    figures = json.loads(run(*arguments, "--format", "json")[1])["naked-singles"]
    assert figures["solved"] == figures["puzzles"] == 20 and figures["seed"] == 5
    assert "| naked-singles | 100.0 % |" in run(*arguments, "--format", "markdown")[1]
    assert "100.0 %" in run(*arguments)[1]


def test_evaluate_reveals_cells_and_says_what_that_is_worth(run):
    arguments = ["evaluate", "hidden-singles", "--count", "20", "--blanks", "4-6"]
    assert "4x4, test, 20 puzzles, 4-6 blanks, in distribution" in run(*arguments)[1]
    assert "4-6 blanks, held out" in run(*arguments, "--puzzles", "9x9")[1]
    assert (
        "9x9, train, 20 puzzles, 4-6 blanks, seed 0"
        in run(*arguments, "--puzzles", "9x9", "--split", "train")[1]
    )


def test_names_carry_options_and_are_shown_as_they_were_written(run):
    few, many = names = [f"backtracking?node_limit={limit}" for limit in (1000, 3000000)]
    arguments = ["--puzzles", "named", "--format", "json"]
    results = json.loads(run("compare", *names, *arguments)[1])
    assert list(results) == names
    assert results[few]["solved"] < results[many]["solved"]
    assert json.loads(run("evaluate", few, *arguments)[1])[few]["solved"] == results[few]["solved"]


def test_evaluate_plays_files_and_policies_of_ones_own(run, tmp_path, monkeypatch):
    (tmp_path / "my_first.py").write_text(
        "class First:\n"
        "    def reset(self, puzzles, geometry, rng): pass\n"
        "    def act(self, boards, action_masks): return action_masks.argmax(1)\n"
    )
    (tmp_path / "mine.txt").write_text(f"{PUZZLE}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    code, out, _ = run("evaluate", "my_first:First", "--puzzles", "mine.txt")
    sys.modules.pop("my_first")
    assert code == 0 and "my_first:First" in out and "1 puzzles" in out


def test_a_ctrl_c_while_a_kernel_is_compiled_ends_as_others(run, monkeypatch):
    """Numba raises an error of its own then."""

    def interrupted(self):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("CPUDispatcher() returned a result with an exception set") from error

    monkeypatch.setattr(cli.Generate, "run", interrupted)
    assert run("generate") == (130, "", "")


class Untold(RuntimeError):
    def __str__(self):
        raise ValueError


@pytest.mark.parametrize(
    ("error", "said"),
    [(SystemExit(0), "has ended the program (SystemExit(0))"), (Untold(), "sudoku-gym: Untold (")],
)
def test_a_policy_s_own_errors_end_in_a_line(run, monkeypatch, error, said):
    def act(self, boards, action_masks):
        raise error

    monkeypatch.setattr(MaskedRandom, "act", act)
    assert said in refused(run("compare", "masked-random", "--count", "2"))


def test_a_policy_may_put_its_own_log_in_the_place_of_the_streams(run, tmp_path, monkeypatch):
    (tmp_path / "logs_all.py").write_text(
        "import sys\n"
        "from sudoku_gym import load_policy\n"
        "class Log:\n"
        "    def write(self, text): ...\n"
        "def P():\n"
        "    print('loading')\n"
        "    sys.stdout = sys.stderr = Log()\n"
        "    return load_policy('masked-random')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    arguments = ["--puzzles", "4x4", "--count", "2", "--format", "json"]
    code, out, err = run("evaluate", "logs_all:P", *arguments)
    assert code == 0 and json.loads(out)["logs_all:P"] and err.startswith("loading")


def test_a_solution_that_is_none_is_not_believed(run, tmp_path, monkeypatch):
    (tmp_path / "wrong_solver.py").write_text(
        "import numpy as np\n"
        "from sudoku_gym.policies import SolverPolicy\n"
        "from sudoku_gym.solver import FoundSolutions\n"
        "class Wrong:\n"
        "    def solve(self, puzzles, geometry): return np.ones_like(puzzles)\n"
        "    def search(self, puzzles, geometry, limit=1):\n"
        "        yes = np.ones(len(puzzles), np.int64)\n"
        "        return FoundSolutions(np.ones_like(puzzles), yes, yes.astype(bool), yes)\n"
        "def ones(): return SolverPolicy(Wrong())\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    result = run("solve", "--policy", "wrong_solver:ones", PUZZLE)
    sys.modules.pop("wrong_solver")
    assert "wrong_solver:ones calls a board a solution that is none" in refused(result)


def test_info_lists_what_is_there(run):
    out = run("info")[1]
    assert all(
        word in out for word in ("expert-iteration", "naked-singles", "25x25", *ENVIRONMENTS)
    )
    assert all(word in out for word in ("latin9x9", "expert-iteration", " cores"))
    assert ("torch 2" in out) == (importlib.util.find_spec("torch") is not None)
    shown = re.search(r"^extras +(.*)$", out, re.M)[1]
    assert set(plugins.EXTRA_OF_MODULE.values()) == set(re.findall(r"([\w-]+)(?: \(.*?\))?", shown))
    out = run("info", "4x4")[1]
    assert all(word in out for word in ("85,632", "validation", "36"))


@pytest.mark.parametrize("name", ["named", "extreme-like", "x9x9"])
def test_info_describes_a_bank(run, name):
    code, out, _ = run("info", name)
    assert code == 0 and f"{len(banks.load(name)):,}" in out


def test_train_hands_its_arguments_on(run, monkeypatch):
    class Entry:
        name = "mine"

        def load(self):
            return lambda argv: print("trained with", argv)

    for module in (plugins, plugins.entry_points):
        monkeypatch.setattr(module, "available", lambda group: {"mine": Entry()})
    code, out, _ = run("train", "mine", "--steps", "3", "--help")
    assert code == 0 and out == "trained with ['--steps', '3', '--help']\n"


def test_train_lists_trainers_with_what_they_do_and_how_long_they_take(run, monkeypatch):
    described = {"known": ("a network", "10 min"), "not installed": ("nothing", "1 h")}
    groups = {plugins.TRAINERS: {"known": None, "mine": None}, plugins.TRAINER_DESCRIPTIONS: ["us"]}
    monkeypatch.setattr(plugins, "available", groups.get)
    monkeypatch.setattr(plugins, "load", lambda group, name: described)
    lines = run("train")[1].splitlines()
    assert lines[2:4] == ["  known  10 min  a network", "  mine"]
    monkeypatch.setattr(plugins, "available", lambda group: {})
    assert run("train")[1].startswith("No trainer is installed: pip install")


def test_every_trainer_of_ours_is_described(run):
    lines = run("train")[1].splitlines()[2:-2]
    assert len(lines) == 13 and all(re.search(r"\d (s|min|h)  \w", line) for line in lines)


def test_train_names_a_missing_extra(run, monkeypatch):
    class Entry:
        name = "mine"

        def load(self):
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

    for module in (plugins, plugins.entry_points):
        monkeypatch.setattr(module, "available", lambda group: {"mine": Entry()})
    said = refused(run("train", "mine"))
    assert "mine needs torch: pip install -c constraints.txt '.[agents]' in a checkout" in said


def test_the_command_is_installed_and_keeps_quiet_when_its_reader_leaves():
    command = [
        sys.executable,
        "-c",
        "import sys; from sudoku_gym.cli import main; sys.exit(main())",
    ]
    arguments = ["generate", "--count", "3000", "--size", "4"]
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


def test_programs_installed_beside_the_command_hide_no_module_of_the_users(tmp_path):
    """As python-sat's models.py would."""
    for folder in ("bin", "work"):
        (tmp_path / folder).mkdir()
    program = tmp_path / "bin" / "program"
    program.write_text(
        "import sys\n"
        "from sudoku_gym.cli import main\n"
        "if __name__ == '__main__':\n"
        "    sys.exit(main())\n"
    )
    (tmp_path / "bin" / "models.py").write_text("")
    (tmp_path / "work" / "models.py").write_text(
        "class Last:\n"
        "    def reset(self, *game): ...\n"
        "    def act(self, boards, masks): return masks.shape[1] - 1 - masks[:, ::-1].argmax(1)\n"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    found = subprocess.run(
        [sys.executable, program, *"compare models:Last naked-singles --count 3".split()],
        cwd=tmp_path / "work",
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0 and "models:Last" in found.stdout, found.stderr
