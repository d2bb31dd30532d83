"""Folders that pretend to be checkpoints: nothing of theirs may run, nothing may hang."""

import json
import os
import sys

import pytest

from sudoku_gym import cli, load_policy, plugins
from sudoku_gym.policies.loading import agent_of

# What a third-party config.json may name, and what is said of it: one more is one line more.
AGENTS = [
    ("site:addsitedir", "'site:addsitedir', and a checkpoint may name installed policies only"),
    ("os:system", "a checkpoint may name installed policies only"),
    ("builtins:exec", "a checkpoint may name installed policies only"),
    ("subprocess:run", "a checkpoint may name installed policies only"),
    ("shutil:rmtree", "a checkpoint may name installed policies only"),
    ("their_code:load", "a checkpoint may name installed policies only"),
    ("sudoku_gym.cli:main", "a checkpoint may name installed policies only"),
    ("sudoku_agents.expert_iteration.policy:os.system", "may name installed policies only"),
    ("their_agent", "no policy 'their_agent'"),
    ("expert-iteration?folder=/", "no policy 'expert-iteration?folder=/'"),
    ("CALPHAZERO", "no policy 'CALPHAZERO'"),
    ("", "must name its agent"),
    ("a" * 1000, "must name its agent"),
    ("masked-random", "'masked-random' is none that loads a folder"),
    ("dlx", "'dlx' is none that loads a folder"),
    ("solver", "'solver' is none that loads a folder"),
]
CONFIGS = [
    (b"", "is no JSON"),
    (b"{", "is no JSON"),
    (b"[]", "must name its agent"),
    (b"null", "must name its agent"),
    (b"{}", "must name its agent"),
    (b'{"agent": 3}', "must name its agent"),
    (b'{"agent": ["calphazero"]}', "must name its agent"),
    (b'{"agent": "balphazero"}', "no policy 'balphazero'"),
    (b'{"agent": "calph\xff"}', "is no JSON"),
    ('{"agent": "expert-iteration"}'.encode("utf-16"), "is no JSON"),
    (b"[" * 500_000, "is no JSON"),
    (b'{"a":' * 100_000, "is no JSON"),
    (b'{"a": 1' + b"0" * 900_000 + b"}", "is no JSON"),
    (b" " * 1_000_001, "it has more than 1,000,000 bytes"),
]
SPECIAL = ["fifo", "folder", "loop", "dangling", "/dev/zero", "/dev/stdin", "/etc/hostname"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder whose own code leaves a trace if it is ever run."""
    trace = f"open({str(tmp_path / 'it ran')!r}, 'w').close()\n"
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / "evil.pth").write_text(f"import os; {trace}")
    (hostile / "their_code.py").write_text(f"{trace}def load(folder): pass\n")
    info = hostile / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    names = ("their_agent", "expert-iteration")
    entries = "".join(f"{name} = their_code:load\n" for name in names)
    (info / "entry_points.txt").write_text(f"[{plugins.POLICIES}]\n{entries}")
    monkeypatch.chdir(hostile)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(plugins.entry_points, "_fallback_folders", set())
    yield hostile
    assert not (tmp_path / "it ran").exists()


@pytest.mark.parametrize("agent, said", AGENTS)
def test_a_folder_names_installed_agents_only(folder, capsys, agent, said):
    (folder / "config.json").write_text(json.dumps({"agent": agent}))
    assert cli.main(["evaluate", ".", "--count", "1"]) == 2
    captured = capsys.readouterr()
    assert said in captured.err and captured.err.count("\n") == 1 and not captured.out


@pytest.mark.parametrize("content, said", CONFIGS)
def test_a_configuration_is_read_or_refused(folder, content, said):
    (folder / "config.json").write_bytes(content)
    with pytest.raises(ValueError, match=said) as refusal:
        load_policy(folder)
    assert "config.json" in str(refusal.value) and len(str(refusal.value)) < 600


@pytest.mark.skipif(os.name != "posix", reason="there are no such files elsewhere")
@pytest.mark.parametrize("kind", SPECIAL)
def test_a_configuration_is_a_file(folder, kind):
    path = folder / "config.json"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"loop": path, "dangling": folder / "nothing"}.get(kind, kind))
    with pytest.raises(ValueError, match=r"config\.json"):
        load_policy(folder)


def test_a_linked_checkpoint_is_one(folder):
    (folder / "elsewhere.json").write_text('{"agent": "expert-iteration"}')
    (folder / "config.json").symlink_to("elsewhere.json")
    assert agent_of(folder) == "expert-iteration"


def test_a_folder_is_not_on_the_path_before_something_in_it_is_asked_for(folder):
    (folder / "config.json").write_text('{"agent": "expert-iteration"}')
    (folder / "mine.py").write_text("number = 3\n")
    assert cli.main(["evaluate", "."]) == 2
    assert cli.main(["evaluate", "numpy:pi"]) == 2
    assert str(folder) not in sys.path
    assert plugins.load_attribute("mine:number") == 3
    assert sys.path[-1] == str(folder)
    sys.modules.pop("mine")


def test_an_installed_agent_comes_from_where_it_is_installed(folder):
    (folder / "mine.py").write_text("number = 3\n")
    plugins.add_import_folder(os.getcwd())
    plugins.load_attribute("mine:number")  # puts the folder on the path
    sys.modules.pop("mine")
    entries = plugins.available(plugins.POLICIES)
    assert entries["expert-iteration"].value == "sudoku_agents.expert_iteration.policy:load"
    assert "their_agent" not in entries


def test_trust_is_the_callers_word(folder):
    (folder / "config.json").write_text(json.dumps({"agent": "their_agents:load"}))
    code = "from sudoku_baselines.classical import floors\ndef load(_): return floors.MaskedRandom"
    (folder / "their_agents.py").write_text(f"{code}()\n")
    with pytest.raises(ValueError, match="pass trust=True"):
        load_policy(folder)
    assert "their_agents" not in sys.modules
    assert cli.main(["evaluate", ".", "--count", "1", "--trust"]) == 0
    sys.modules.pop("their_agents")
