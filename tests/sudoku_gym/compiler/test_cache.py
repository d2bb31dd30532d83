"""Machine code is kept where nobody else can write, whole or not at all, and missed by nobody."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import sudoku_gym
from sudoku_gym.compiler import cache as machine_code

pytestmark = pytest.mark.slow  # most of it starts processes that compile

HOME = Path(sudoku_gym.__file__).parent.parent
SOURCE = """from sudoku_gym.compiler.jit import inlined, njit

@inlined
def add(x, y):
    return x + y

@njit(cache=True)
def twice(x):
    return add(x, x)
"""
CALL = """
import json, sys
from sudoku_gym.compiler import jit as compiler
compiler.PATIENCE = float(sys.argv[1])
from sudoku_tiny.kernel import twice
if sys.argv[2]:
    exec(sys.argv[2])
answers = [twice(4), twice(0.5)]
print(json.dumps([answers, sum(twice.stats.cache_hits.values())]))
"""
LIMIT_FILES = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
"""
UNWRITABLE = {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull}


@pytest.fixture
def tiny(tmp_path):
    """A package of one kernel; call it to run the kernel in a process of its own."""
    folder = tmp_path / "sudoku_tiny"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "kernel.py").write_text(SOURCE)

    def run(patience=60.0, first="", **environment):
        """Return how many signatures were found compiled, and what was said."""
        environment = {
            "PYTHONPATH": f"{tmp_path}{os.pathsep}{HOME}",
            "PYTHONDONTWRITEBYTECODE": "1",
        } | environment
        done = subprocess.run(
            [sys.executable, "-c", CALL, str(patience), first],
            env={k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        answers, hits = json.loads(done.stdout)
        assert answers == [8, 1.0]
        return hits, done.stderr

    return run


def read_only(tmp_path):
    """Leave no room for machine code beside the source, not even for root."""
    (tmp_path / "sudoku_tiny" / "__pycache__").touch()


def test_a_word_is_said_once_while_compiling_takes_long(tiny):
    hits, said = tiny(patience=1e-3)
    assert hits == 0
    assert said.startswith("sudoku-gym: compiling kernels for the first time; they are kept in")
    assert said.count("\n") == 1
    assert tiny(patience=1e-3) == (2, "")


def test_quick_compiling_is_silent(tiny):
    assert tiny() == (0, "")


def test_code_is_kept_in_a_folder_of_ones_own_where_nothing_else_can_be_written(tiny, tmp_path):
    read_only(tmp_path)
    (tmp_path / "temporary").mkdir(mode=0o700)
    environment = UNWRITABLE | {"TMPDIR": str(tmp_path / "temporary")}
    for wanted in (0, 2):
        hits, said = tiny(**environment)
        assert hits == wanted
        assert said.startswith("sudoku-gym: no usual folder can be written to, so machine code is")
        assert said.count("\n") == 1 and "NUMBA_CACHE_DIR" in said
    (folder,) = (tmp_path / "temporary").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there, temporary files are a user's own")
@pytest.mark.parametrize("planted", ["open to others", "a link", "in an open folder", "another's"])
def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, monkeypatch, capsys, planted):
    folder = tmp_path / f"sudoku-gym-{os.getuid()}"
    if planted == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "elsewhere")
    elif planted == "open to others":
        folder.mkdir()
        folder.chmod(0o770)
    elif planted == "in an open folder":
        tmp_path.chmod(0o777)
    else:
        folder.mkdir(mode=0o700)
        monkeypatch.setattr(machine_code, "_user", lambda: os.getuid() + 1)
        folder.rename(tmp_path / f"sudoku-gym-{os.getuid() + 1}")
    monkeypatch.setattr(machine_code.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert machine_code._temporary_folder.__wrapped__() is None
    assert "is compiled anew by every process" in capsys.readouterr().err


@pytest.mark.parametrize("named", [None, "", "."])
def test_temporary_files_in_the_working_folder_are_not_trusted(tmp_path, monkeypatch, named):
    """They lie there where nothing else can be written to."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(machine_code.tempfile, "tempdir", str(tmp_path))
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    if named is not None:
        monkeypatch.setenv("TMPDIR", named)
    assert machine_code._temporary_folder.__wrapped__() is None
    assert not list(tmp_path.iterdir())


def test_without_any_folder_every_process_compiles(tiny, tmp_path):
    read_only(tmp_path)
    tmp_path.chmod(0o777)
    for _ in range(2):
        hits, said = tiny(**UNWRITABLE, TMPDIR=str(tmp_path))
        assert hits == 0 and said.count("\n") == 1
        assert "is compiled anew by every process; set NUMBA_CACHE_DIR" in said


def test_a_full_disk_is_no_error(tiny, tmp_path):
    pytest.importorskip("resource")
    assert tiny(first=LIMIT_FILES) == (0, "")
    assert not list(tmp_path.rglob("*.nbc*"))
    assert tiny() == (0, "")


def cut(content):
    return content[:-50]


def flip_a_byte(content):
    """In the middle, where it may be a number in the machine code: nobody would notice."""
    changed = bytearray(content)
    changed[len(content) // 2] ^= 1
    return bytes(changed)


@pytest.mark.parametrize("damage", [b"", b"\x80\x05K\x01.", b"garbage", cut, flip_a_byte])
def test_damaged_code_is_compiled_anew(tiny, tmp_path, damage):
    tiny()
    files = sorted(tmp_path.rglob("kernel.twice*.nbc"))
    assert len(files) == 2
    for file in files:
        file.write_bytes(damage(file.read_bytes()) if callable(damage) else damage)
    assert tiny() == (0, "")
    assert tiny() == (2, "")


def test_code_is_never_found_under_another_signature(tiny, tmp_path):
    """So it does not matter which of several processes writes first, or last."""
    tiny()
    first, second = sorted(tmp_path.rglob("kernel.twice*.nbc"))
    bytes_of_both = first.read_bytes(), second.read_bytes()
    second.write_bytes(bytes_of_both[0])
    first.write_bytes(bytes_of_both[1])
    assert tiny() == (0, "")


def test_processes_that_compile_at_once_leave_code_for_all(tmp_path):
    entries = [machine_code._Entries(str(tmp_path), "kernel", "stamp") for _ in range(2)]
    for entry in entries:  # both looked before either wrote
        entry._load_index = dict
    entries[0].save(("int64",), "for whole numbers")
    entries[1].save(("float64",), "for fractions")
    for entry in entries:
        assert entry.load(("int64",)) == "for whole numbers"
        assert entry.load(("float64",)) == "for fractions"
        assert entry.load(("int8",)) is None


def test_below_numba_cache_dir_code_is_found_wherever_the_package_is_installed(tiny, tmp_path):
    shared = {"NUMBA_CACHE_DIR": str(tmp_path / "shared")}
    assert tiny(**shared) == (0, "")
    shutil.move(tmp_path / "sudoku_tiny", tmp_path / "elsewhere" / "sudoku_tiny")
    shared["PYTHONPATH"] = f"{tmp_path / 'elsewhere'}{os.pathsep}{HOME}"
    assert tiny(**shared) == (2, "")
    with (tmp_path / "elsewhere" / "sudoku_tiny" / "kernel.py").open("a") as source:
        source.write("# another release\n")
    assert tiny(**shared) == (0, "")


def test_numba_cache_dir_may_be_relative(tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert tiny(NUMBA_CACHE_DIR="kept") == (0, "")
    assert tiny(NUMBA_CACHE_DIR="kept") == (2, "")


@pytest.mark.parametrize("nowhere", ["", "cache"])
def test_no_code_of_the_working_folder_is_loaded_unless_it_is_named(
    tiny, tmp_path, monkeypatch, nowhere
):
    read_only(tmp_path)
    for name in ("work", "temporary"):
        (tmp_path / name).mkdir(mode=0o700)
    monkeypatch.chdir(tmp_path / "work")
    hits, said = tiny(XDG_CACHE_HOME=nowhere, TMPDIR=str(tmp_path / "temporary"))
    assert hits == 0 and f"is kept in {tmp_path / 'temporary'}" in said
    assert not list((tmp_path / "work").iterdir())


@pytest.fixture
def hash_of(tmp_path, monkeypatch):
    """Hash a kernel that imports another package; each lies in a folder of its own."""

    def hash_of(folders, sources):
        names = ("sudoku_kernel", "sudoku_callee")
        paths = [tmp_path / folder / name for folder, name in zip(folders, names, strict=True)]
        for path, source in zip(paths, sources, strict=True):
            path.mkdir(parents=True)
            (path / "__init__.py").touch()
            (path / "code.py").write_text(source)
            installed = SimpleNamespace(__file__=str(path / "__init__.py"))
            monkeypatch.setitem(sys.modules, path.name, installed)
        return machine_code._hash_of_sources(paths[0] / "code.py", "sudoku_kernel")

    return hash_of


def test_the_hash_is_of_what_the_sources_say_and_not_of_where_they_lie(hash_of):
    caller = "from sudoku_callee import code\nSTEP = 1\n"
    callee = "from sudoku_kernel import code\nSTEP = 2\n"
    first = hash_of("ab", (caller, callee))
    assert hash_of("dc", (caller, callee)) == first  # in the other order
    assert hash_of("ee", (caller, callee)) == first
    assert hash_of("fg", (callee.replace("kernel", "callee"), caller)) != first
    assert hash_of("hi", (caller, callee.replace("2", "3"))) != first


@pytest.mark.parametrize("statement", ["from .callee import f", "from . import callee"])
def test_what_is_imported_relatively_counts(tmp_path, monkeypatch, statement):
    found = set()
    for step in "12":  # in a folder each: what a file imports is read once
        package = tmp_path / step / "relative_package"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "code.py").write_text(f"{statement}\n")
        (package / "callee.py").write_text(f"STEP = {step}\n")
        installed = SimpleNamespace(__file__=str(package / "__init__.py"))
        monkeypatch.setitem(sys.modules, package.name, installed)
        found.add(machine_code._hash_of_sources(package / "code.py", package.name))
    assert len(found) == 2


@pytest.mark.parametrize("library", [machine_code.llvmlite, machine_code.np])
def test_another_release_of_a_library_compiles_anew(hash_of, monkeypatch, library):
    first = hash_of("ab", ("", ""))
    monkeypatch.setattr(library, "__version__", "999")
    assert hash_of("cd", ("", "")) != first


@pytest.mark.parametrize("text", ["cache_dir: mine\n", "- a", "a: [\n"])
def test_settings_in_the_working_folder_do_not_count(tmp_path, text):
    """It may be a stranger's, and a cache there holds pickles."""
    (tmp_path / ".numba_config.yaml").write_text(text)
    (tmp_path / "kernel.py").write_text(SOURCE)
    code = "import kernel, numba, yaml; kernel.twice(1); print([numba.config.CACHE_DIR])"
    paths = os.pathsep.join([str(tmp_path), *(each for each in sys.path if each)])
    environment = {**os.environ, "PYTHONPATH": paths}
    environment.pop("NUMBA_CACHE_DIR", None)
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (run.stdout, run.stderr) == ("['']\n", "")
    assert not (tmp_path / "mine").exists() and any(tmp_path.glob("__pycache__/kernel-*/*.nbc"))
