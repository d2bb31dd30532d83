"""Checksums that tell whether stored results are still those of a policy."""

import os
import py_compile
import sys
import tracemalloc
from hashlib import sha256
from pathlib import Path
from time import time_ns
from zipfile import ZipFile

import pytest

from sudoku_gym import load_policy
from sudoku_gym.policies import checksums, identity
from sudoku_gym.policies.identity import (
    code_checksum,
    config_checksum,
    load_with_fingerprint,
    package_of,
    weights_checksum,
)

POLICY = """
class Mine:
    def reset(self, puzzles, geometry, rng):
        pass

    def act(self, boards, action_masks):
        return action_masks.argmax(1)
"""


def test_the_code_of_a_package_is_all_of_its_files(tmp_path, own_folder):
    folder = tmp_path / "own_package" / "inner"
    folder.mkdir(parents=True)
    (tmp_path / "own_package" / "__init__.py").touch()
    (folder / "__init__.py").touch()
    (folder / "players.py").write_text(POLICY)
    (tmp_path / "own_package" / "digits.py").write_text("FIRST = 1")
    name = "own_package.inner.players:Mine"
    first = code_checksum(name, load_policy(name))
    assert code_checksum(name, load_policy(name)) == first
    (tmp_path / "own_package" / "notes.md").write_text("no code")
    assert code_checksum(name, load_policy(name)) == first
    (folder / "__pycache__").mkdir(exist_ok=True)
    (folder / "__pycache__" / "players.act-5.py311.1.nbc").write_bytes(b"compiled by numba")
    assert code_checksum(name, load_policy(name)) == first
    (tmp_path / "own_package" / "digits.py").write_text("FIRST = 2")
    assert code_checksum(name, load_policy(name)) != first
    (tmp_path / "own_package" / "table.npy").write_bytes(b"numbers")
    with_table = code_checksum(name, load_policy(name))
    (tmp_path / "own_package" / "table.npy").write_bytes(b"others")
    assert code_checksum(name, load_policy(name)) != with_table


def test_the_code_of_a_package_in_a_zip_file_is_this_file(own_folder, monkeypatch):
    seen = set()
    for number, text in enumerate((POLICY, POLICY + "# more")):
        path = own_folder / f"{number}.zip"
        with ZipFile(path, "w") as file:
            file.writestr(f"zipped_{number}/__init__.py", text)
        monkeypatch.syspath_prepend(path)
        name = f"zipped_{number}:Mine"
        seen.add(code_checksum(name, load_policy(name)))
        digest = sha256(path.read_bytes()).hexdigest()
        assert seen >= {sha256(f"{digest}  {number}.zip\n".encode()).hexdigest()}
    assert len(seen) == 2


def test_a_module_in_a_folder_that_is_no_package(own_folder):
    (own_folder / "own_space").mkdir()
    file = own_folder / "own_space" / "players.py"
    file.write_text(POLICY)
    name = "own_space.players:Mine"
    first = code_checksum(name, load_policy(name))
    file.write_text(POLICY + "# more")
    assert len(first) == 64 and code_checksum(name, load_policy(name)) != first


def test_a_finished_policy_of_another_s_class(own_folder):
    (own_folder / "own_class.py").write_text(POLICY)
    file = own_folder / "own_choice.py"
    file.write_text("from own_class import Mine\n\nplayer = Mine()\n")
    name = "own_choice:player"
    both = code_checksum(name, load_policy(name))
    assert len(both) == 2 * 64 + 1
    file.write_text("from own_class import Mine\n\nplayer = Mine()\nplayer.last = True\n")
    assert code_checksum(name, load_policy(name)) != both
    ours = own_folder / "own_settings.py"
    ours.write_text("from sudoku_gym import load_policy\n\nplayer = load_policy('dlx')\n")
    assert len(code_checksum("own_settings:player", load_policy("own_settings:player"))) == 64


def test_the_project_s_own_have_a_version_in_place_of_a_checksum():
    for name in ("dlx", "hidden-singles", "masked-random"):
        assert code_checksum(name, load_policy(name)) == ""
        assert package_of(name).startswith("sudoku-gym ")


def test_what_hands_over_a_policy_of_the_project_counts(own_folder):
    """A trusted checkpoint's agent, or another module's subclass of `SolverPolicy`."""
    (own_folder / "own_agent.py").write_text(HANDS_OVER)
    (own_folder / "own_adapts.py").write_text("from own_agent import Adapted")
    (own_folder / "run").mkdir()
    (own_folder / "run" / "config.json").write_text('{"agent": "own_agent:load"}')
    file = checksum_of(own_folder / "own_agent.py")
    folder = str(own_folder / "run")
    assert load_with_fingerprint(folder, trust=True)[1]["code"] == file
    names = checksum_of(own_folder / "own_adapts.py", own_folder / "own_agent.py")
    assert load_with_fingerprint("own_adapts:Adapted")[1]["code"] == f"{names}+{file}"


HANDS_OVER = """
from sudoku_gym import load_policy
from sudoku_gym.policies import SolverPolicy
def load(folder):
    return load_policy("naked-singles")
class Adapted(SolverPolicy):
    def __init__(self):
        super().__init__(load_policy("dlx").solver)
"""


def checksum_of(*files):
    lines = [f"{sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    return sha256("".join(lines).encode()).hexdigest()


@pytest.mark.parametrize(
    "given", ["model=net.pt", "model=net", "device=net", "pretrained_model=net.pt"]
)
def test_files_and_folders_that_options_for_weights_name_count(own_folder, monkeypatch, given):
    monkeypatch.chdir(own_folder)
    (own_folder / "net").mkdir()
    source = "    def __init__(self, device='cpu', model='', log='net.log', **others): ..."
    (own_folder / "own_files.py").write_text(f"{POLICY}\n{source}\n")
    found = set()
    for content in (b"1", b"2"):
        for file in ("net.pt", "net/net.pt"):
            (own_folder / file).write_bytes(content)
        found.add(weights_checksum(f"own_files:Mine?{given}"))
    assert len(found) == 2 and "" not in found
    (own_folder / "net.log").write_text("it may write there")
    assert weights_checksum("own_files:Mine") == ""


def test_files_that_a_library_finds_without_their_suffix_count(own_folder, monkeypatch):
    """As Stable-Baselines3 finds `net.zip` by `net`; a log or a program of that name is none."""
    monkeypatch.chdir(own_folder)
    source = "    def __init__(self, model, log='run'): ..."
    (own_folder / "own_prefix.py").write_text(f"{POLICY}\n{source}\n")
    sums = [weights_checksum("own_prefix:Mine?model=net&log=run")]
    for name in (
        "net.zip",
        "net.data-00000-of-00001",
        "net.log",
        "net.py",
        "network.zip",
        "run.pt",
    ):
        (own_folder / name).write_text("1")
        sums.append(weights_checksum("own_prefix:Mine?model=net&log=run"))
    assert sums[0] == "" and len({*sums[:3]}) == 3 and {*sums[3:]} == {sums[2]}


def test_a_class_without_a_signature_has_no_folder(own_folder):
    """As a subclass of `dict`, a table of values perhaps."""
    (own_folder / "own_table.py").write_text(POLICY + "class Table(Mine, dict): pass")
    _, made_of = load_with_fingerprint("own_table:Table")
    assert made_of["code"] and not made_of["weights"]


def test_long_files_are_read_in_blocks(own_folder):
    """The checksum is that of all bytes, and of the names as `sha256sum` writes them."""
    package = own_folder / "own_long"
    package.mkdir()
    (package / "__init__.py").write_text(POLICY)
    (package / "table.bin").touch()
    os.truncate(package / "table.bin", 30_000_000)
    policy = load_policy("own_long:Mine")
    tracemalloc.start()
    try:
        found = code_checksum("own_long:Mine", policy)
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()
    names = ("__init__.py", "table.bin")
    digests = [sha256((package / name).read_bytes()).hexdigest() for name in names]
    lines = "".join(f"{each}  {name}\n" for each, name in zip(digests, names, strict=True))
    assert found == sha256(lines.encode()).hexdigest()


def test_files_that_would_take_minutes_to_read_are_refused(own_folder, monkeypatch):
    (own_folder / "weights").mkdir()
    for name, length in (("a.bin", 600), ("b.bin", 500)):
        (own_folder / "weights" / name).write_bytes(bytes(length))
    source = POLICY + "\n    def __init__(self, folder):\n        pass\n"
    (own_folder / "own_weights.py").write_text(source)
    name = f"own_weights:Mine?folder={own_folder / 'weights'}"
    assert len(weights_checksum(name)) == 64
    monkeypatch.setattr(checksums, "_MOST_BYTES", 1_000)
    with pytest.raises(ValueError, match=r"weights: .* more than 1,000 bytes, .*a\.bin: move"):
        weights_checksum(name)


def test_a_link_to_a_large_folder_is_refused(own_folder, monkeypatch):
    checkpoint = own_folder / "checkpoint"
    checkpoint.mkdir()
    (checkpoint / "config.json").write_text('{"agent": "naked-singles"}')
    (own_folder / "large" / "inner").mkdir(parents=True)
    for name in range(20):
        (own_folder / "large" / "inner" / str(name)).touch()
    (checkpoint / "link").symlink_to(own_folder / "large", target_is_directory=True)
    assert len(weights_checksum(str(checkpoint))) == 64
    monkeypatch.setattr(checksums, "_MOST_FILES", 10)
    with pytest.raises(ValueError, match=r"checkpoint: more than 10 files .* in .*inner: remove"):
        weights_checksum(str(checkpoint))


@pytest.mark.skipif(not Path("/proc/1/cwd").is_symlink(), reason="there is no such folder")
def test_what_is_out_of_reach_below_a_link_is_passed_over(own_folder, monkeypatch):
    (own_folder / "config.json").write_text('{"agent": "naked-singles"}')
    (own_folder / "link").symlink_to("/proc/1", target_is_directory=True)
    with pytest.raises(ValueError, match="more than 30 files"):
        monkeypatch.setattr(checksums, "_MOST_FILES", 30)
        weights_checksum(str(own_folder))


def test_code_in_a_linked_folder_counts(own_folder):
    package = own_folder / "own_links"
    package.mkdir()
    (package / "__init__.py").write_text(POLICY)
    (own_folder / "elsewhere").mkdir()
    (own_folder / "elsewhere" / "play.py").write_text("V = 1")
    policy = load_policy("own_links:Mine")
    before = code_checksum("own_links:Mine", policy)
    (package / "inner").symlink_to(own_folder / "elsewhere", target_is_directory=True)
    (package / "round").symlink_to(package, target_is_directory=True)
    linked = code_checksum("own_links:Mine", policy)
    (own_folder / "elsewhere" / "play.py").write_text("V = 2")
    assert len({before, linked, code_checksum("own_links:Mine", policy)}) == 3


def test_which_folder_a_link_leads_to_counts(own_folder):
    """Though both lie in the package, as `latest` beside the versions."""
    package = own_folder / "own_latest"
    for name in ("v1", "v2"):
        (package / name).mkdir(parents=True)
        (package / name / "play.py").write_text(f"V = '{name}'")
    (package / "__init__.py").write_text(POLICY)
    policy, found = load_policy("own_latest:Mine"), set()
    for name in ("v1", "v2"):
        (package / "latest").unlink(missing_ok=True)
        (package / "latest").symlink_to(name, target_is_directory=True)
        found.add(code_checksum("own_latest:Mine", policy))
    assert len(found) == 2
    for step in range(20):  # 2^20 ways lead through them
        (package / f"f{step}").mkdir()
        for way in "ab":
            (package / f"f{step}" / way).symlink_to(package / f"f{step + 1}")
    code_checksum("own_latest:Mine", policy)


def test_the_order_in_which_a_disk_lists_folders_does_not_count(own_folder, monkeypatch):
    package = own_folder / "own_versions"
    (package / "first").mkdir(parents=True)
    (package / "first" / "module.py").write_text("V = 1")
    (package / "current").symlink_to("first", target_is_directory=True)
    (package / "__init__.py").write_text(POLICY)
    policy, walk, sums = load_policy("own_versions:Mine"), os.walk, set()
    for backwards in (False, True):

        def walk_in_order(folder, backwards=backwards, **options):
            for base, folders, names in walk(folder, **options):
                folders.sort(reverse=backwards)
                yield base, folders, names

        monkeypatch.setattr(os, "walk", walk_in_order)
        sums.add(code_checksum("own_versions:Mine", policy))
    assert len(sums) == 1


def test_a_folder_that_is_no_checkpoint_is_not_read(own_folder, monkeypatch):
    monkeypatch.setattr(checksums, "_MOST_BYTES", 0)
    (own_folder / "large").write_bytes(b"a film")
    with pytest.raises(ValueError, match="is no checkpoint: it has no config"):
        load_with_fingerprint(str(own_folder))
    source = POLICY + "\n    def __init__(self, folder):\n        raise ValueError('no weights')\n"
    (own_folder / "own_check.py").write_text(source)
    with pytest.raises(ValueError, match="no weights"):
        load_with_fingerprint(f"own_check:Mine?folder={own_folder}")


@pytest.mark.parametrize("file", ["own_saved.py", "own_saved_package/__init__.py"])
def test_code_that_changes_after_its_import_is_refused(own_folder, file):
    path, module = own_folder / file, file.removesuffix(".py").removesuffix("/__init__")
    path.parent.mkdir(exist_ok=True)
    save = f"__import__('pathlib').Path({str(path)!r}).write_text('saved = True')"
    calm = "class Calm(Mine):\n    def __init__(self):\n        pass\n"
    source = f"{POLICY}\n    def __init__(self):\n        {save}\n\n{calm}"
    path.write_text(source)
    load_with_fingerprint(f"{module}:Calm")
    said = f"{path.name} has changed since it was imported: start again"
    for name in ("Mine", "Calm"):
        with pytest.raises(ValueError, match=said):
            load_with_fingerprint(f"{module}:{name}")
    path.write_text(source)
    del sys.modules[module]  # as in another process
    with pytest.raises(ValueError, match=said):
        load_with_fingerprint(f"{module}:Mine")


def test_code_of_a_time_in_the_future_is_refused_as_such(own_folder, monkeypatch):
    (own_folder / "own_future.py").write_text(POLICY)
    monkeypatch.setattr(identity, "time_ns", lambda: time_ns() - 86_400 * 10**9)
    with pytest.raises(ValueError, match=r"own_future\.py is of a time in the future"):
        load_with_fingerprint("own_future:Mine")


def test_code_that_another_module_has_imported_counts_too(own_folder):
    (own_folder / "own_base.py").write_text(POLICY)
    (own_folder / "own_names_it.py").write_text("from own_base import Mine")
    load_with_fingerprint("own_names_it:Mine")
    (own_folder / "own_base.py").write_text(POLICY + "\n# saved\n")
    with pytest.raises(ValueError, match=r"own_base\.py has changed since it was imported"):
        load_with_fingerprint("own_names_it:Mine")


@pytest.mark.parametrize("name", ["__init__.py", "__init__.pyc"])
def test_code_that_comes_compiled_counts(own_folder, name):
    """As closed packages bring it: files `.pyc` in the place of sources."""
    package = own_folder / f"own_compiled_{len(name)}"
    package.mkdir()
    source = own_folder / "source.py"

    def compile_to(path, text):
        source.write_text(text)
        py_compile.compile(str(source), str(path), doraise=True)

    (package / "__init__.py").touch()
    if name.endswith("c"):
        (package / "__init__.py").unlink()
        compile_to(package / name, "")
    compile_to(package / "players.pyc", POLICY)
    policy = f"{package.name}.players:Mine"
    _, before = load_with_fingerprint(policy)
    compile_to(package / "players.pyc", POLICY + "\nOTHER = 1\n")
    assert code_checksum(policy, load_policy(policy)) != before["code"]
    with pytest.raises(ValueError, match=r"players\.pyc has changed since it was imported"):
        load_with_fingerprint(policy)


def test_a_package_may_write_data_when_it_is_loaded(own_folder):
    package = own_folder / "own_log"
    package.mkdir()
    log = f"with open({str(package / 'log.txt')!r}, 'a') as log:\n    log.write('imported')\n"
    (package / "__init__.py").write_text(log + POLICY)
    assert load_with_fingerprint("own_log:Mine")


def test_a_name_that_is_no_utf_8_counts_too(own_folder):
    folder = own_folder / "weights"
    folder.mkdir()
    source = POLICY + "\n    def __init__(self, folder):\n        pass\n"
    (own_folder / "own_names.py").write_text(source)
    name = f"own_names:Mine?folder={folder}"
    empty = weights_checksum(name)
    Path(os.fsdecode(os.fsencode(folder) + b"/notes-\xff.txt")).touch()
    assert len(weights_checksum(name)) == 64 and weights_checksum(name) != empty


def test_configurations_count_beside_the_weights(own_folder):
    folder = own_folder / "weights"
    (folder / "checkpoints").mkdir(parents=True)
    source = POLICY + "\n    def __init__(self, folder):\n        pass\n"
    (own_folder / "own_config.py").write_text(source)
    name = f"own_config:Mine?folder={folder}"
    assert config_checksum(name) == config_checksum("hidden-singles") == ""
    seen = {""}
    for file in (folder / "config.json", folder / "checkpoints" / "config.json"):
        for text in ('{"rounds": 1}', '{"rounds": 2}'):
            file.write_text(text)
            seen.add(config_checksum(name))
    (folder / "timing.json").write_text("{}")
    assert config_checksum(name) in seen and len(seen) == 5
