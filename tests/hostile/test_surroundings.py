"""What else is installed or set in a process: packages whose metadata are broken, and switches."""

import os
import subprocess
import sys

import pytest

from sudoku_gym import cli, load_policy

PUZZLE = "1234....21.34..1"


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (b"[console_scripts]\nx = \xff:main\n", "can't decode byte 0xff"),
        (b"[console_scripts]\nno equals sign\n", "TypeError"),
    ],
)
def test_a_package_whose_entry_points_cannot_be_read_is_named(
    tmp_path, monkeypatch, capsys, entries, said
):
    metadata = tmp_path / "broken_one-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-one\nVersion: 1\n")
    (metadata / "entry_points.txt").write_bytes(entries)
    monkeypatch.syspath_prepend(tmp_path)
    assert cli.main(["info"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("sudoku-gym: the entry points of the package broken-one in ")
    assert str(tmp_path) in err and said in err and err.count("\n") == 1


def test_a_package_that_ends_the_program_when_it_is_imported_is_left_out(
    tmp_path, monkeypatch, capsys
):
    schedules = pytest.importorskip("sudoku_curricula.schedules")

    metadata = tmp_path / "own_script-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: own-script\nVersion: 1\n")
    groups = ("policies", "schedules", "trainer_descriptions")
    (metadata / "entry_points.txt").write_text(
        "".join(f"[sudoku_gym.{group}]\nown_script = own_script:Mine\n" for group in groups)
    )
    (tmp_path / "own_script.py").write_text("import sys\nsys.exit('no such library')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.warns(UserWarning, match=r"own_script.* is left out: .*no such library"):
        schedules.all_schedules()
    with pytest.warns(UserWarning, match=r"own_script.* describes no trainers: .*no such library"):
        assert cli.main(["train"]) == 0
    assert "expert-iteration" in capsys.readouterr().out
    assert cli.main(["evaluate", "own_script", "--puzzles", "4x4", "--count", "3"]) == 2
    assert "own_script:Mine can't be imported: it ends the program" in capsys.readouterr().err


def run_in(folder, code):
    """Run a program in a folder that is not in its path."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_numba_finds_no_extensions_beside_a_module_that_is_named(tmp_path):
    """It would run them with the first kernel, though nobody named them."""
    (tmp_path / "mine.py").write_text(
        "from sudoku_gym import load_policy\ndef make(): return load_policy('solver')\n"
    )
    (tmp_path / "theirs.py").write_text("def init(): print('theirs', flush=True)\n")
    metadata = tmp_path / "theirs-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[numba_extensions]\ninit = theirs:init\n")
    command = "evaluate mine:make --count 2 --format json".split()
    code = f"from sudoku_gym.cli import main; main({command})"
    done = run_in(tmp_path, code)
    assert '"mine:make"' in done.stdout and "theirs" not in done.stdout, done.stderr


@pytest.mark.parametrize("kind", ["no text", "a pipe", "without end"])
def test_settings_of_matplotlib_in_the_working_folder_are_not_read(tmp_path, kind):
    """They would be as soon as it is imported, by the plots here or by libraries."""
    pytest.importorskip("matplotlib")
    settings = tmp_path / "matplotlibrc"
    if kind == "no text":
        settings.write_bytes(b"\xff\xfe\x00bad\n")
    elif os.name != "posix":
        pytest.skip("files of POSIX")
    elif kind == "a pipe":
        os.mkfifo(settings)
    else:
        settings.symlink_to("/dev/zero")
    code = (
        "import sys; from sudoku_gym.cli import main; main(['info']); "
        "assert 'matplotlib' in sys.modules; import matplotlib.figure"
    )
    done = run_in(tmp_path, code)
    assert done.returncode == 0, done.stderr


def test_weights_are_not_blamed_for_a_default_that_another_set(request):
    torch = pytest.importorskip("torch")
    request.addfinalizer(lambda: torch.set_default_dtype(torch.float32))
    torch.set_default_dtype(torch.float64)
    with pytest.raises(ValueError, match=r"\(torch's default is set to torch.float64 here\)"):
        load_policy("cnn")


def test_what_lacks_a_method_of_a_solver_is_told_which(tmp_path, monkeypatch, capsys):
    """And what has the methods of a policy too is a solver as well."""
    (tmp_path / "proves.py").write_text(SOLVER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert cli.main(["solve", PUZZLE, "--policy", "proves:Both"]) == 0
    assert "one solution" in capsys.readouterr().out
    assert cli.main(["solve", PUZZLE, "--policy", "proves:Searches"]) == 2
    assert "solve(puzzles, geometry)" in capsys.readouterr().err


SOLVER = """
from sudoku_gym import load_solver
class Searches:
    def __init__(self): self.solver = load_solver("expert-iteration?search=best-first")
    def reset(self, puzzles, geometry, rng): ...
    def act(self, boards, action_masks): return action_masks.argmax(1)
    def search(self, *args, **options): return self.solver.search(*args, **options)
class Both(Searches):
    def solve(self, *args): return self.solver.solve(*args)
"""
