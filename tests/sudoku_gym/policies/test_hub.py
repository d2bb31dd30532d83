"""Checkpoints go to the Hub and come back, as data; the client keeps repositories in a folder."""

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

import sudoku_agents
from sudoku_gym import cli, load_policy
from sudoku_gym.policies.hub import fetch_checkpoint, send_checkpoint
from sudoku_gym.policies.loading import find_policy

pytest.importorskip("torch")
huggingface_hub = pytest.importorskip("huggingface_hub", reason="the extra hub is not installed")

PRETRAINED_CALPHAZERO = Path(sudoku_agents.__file__).parent / "calphazero" / "pretrained"

FILES = ["README.md", "SHA256SUMS", "config.json", "weights.safetensors"]


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """The folder of repositories, `owner/name/revision`, that the client reads and writes."""
    root = tmp_path / "hub"

    def snapshot_download(repository, *, revision, allow_patterns, dry_run=False):
        source, fetched = root / repository / (revision or "main"), tmp_path / "cache" / repository
        if not source.is_dir():
            raise OSError(f"404 Client Error\n\nRepository {repository} not found at {revision}.")
        if dry_run:
            if (source / "offline").exists():
                raise huggingface_hub.errors.DryRunError("no connection")
            sizes = [file.stat().st_size for file in source.iterdir()]
            return [SimpleNamespace(file_size=size) for size in sizes]
        shutil.rmtree(fetched, ignore_errors=True)
        fetched.mkdir(parents=True)
        for file in source.iterdir():
            if file.is_fifo():  # as somebody's cache may hold
                os.mkfifo(fetched / file.name)
            elif file.name in allow_patterns:
                shutil.copy(file, fetched)
        return str(fetched)

    class Client:
        def __init__(self, library_name):
            assert library_name == "sudoku-gym"

        def create_repo(self, repository, *, private, exist_ok):
            if repository.startswith("others/"):
                raise huggingface_hub.errors.LocalTokenNotFoundError("Token is required")

        def upload_folder(self, *, repo_id, folder_path, commit_message):
            for revision in ("main", "c0ffee"):
                shutil.copytree(folder_path, root / repo_id / revision, dirs_exist_ok=True)
            return SimpleNamespace(oid="c0ffee")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    monkeypatch.setattr(huggingface_hub, "HfApi", Client)
    return root


def send(name="me/net"):
    return send_checkpoint(PRETRAINED_CALPHAZERO, name, "a card")


def test_a_checkpoint_comes_back_with_its_options(hub):
    assert send() == "hf:me/net@c0ffee"
    assert sorted(file.name for file in (hub / "me/net/main").iterdir()) == FILES
    for name in ("hf:me/net", "hf:me/net@c0ffee", "hf:me/net?restarts=2"):
        policy = load_policy(name)
        assert policy.model_card.weights == load_policy("calphazero").model_card.weights
    assert policy.restarts.count == 2
    _, folder, _ = find_policy("hf:me/net")
    assert sorted(file.name for file in folder.iterdir()) == FILES[1:]


def test_the_command_sends_the_latest_checkpoint_of_a_run(hub, tmp_path, capsys):
    for number in ("000001", "000002"):
        shutil.copytree(PRETRAINED_CALPHAZERO, tmp_path / "run" / "checkpoints" / number)
    latest = tmp_path / "run" / "checkpoints" / "000002"
    (latest / "README.md").unlink()
    (latest / "replay.npz").write_bytes(b"private")
    for other in ("000003.draft", "9-notes"):  # of a training that goes on, and a person's
        shutil.copytree(PRETRAINED_CALPHAZERO, latest.with_name(other))
    assert cli.main(["push", str(tmp_path / "run"), "me/mine"]) == 0
    assert capsys.readouterr().out == "load_policy('hf:me/mine@c0ffee')\n"
    assert sorted(file.name for file in (hub / "me/mine/main").iterdir()) == FILES
    assert "sudoku-gym evaluate hf:me/mine" in (hub / "me/mine/main/README.md").read_text()


def test_downloads_of_the_working_folder_are_not_used(hub, monkeypatch):
    send()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", os.path.join("hf", "hub"))
    with pytest.raises(ValueError, match=r"hf:me/net: downloads would lie in .*: set HF_HOME"):
        load_policy("hf:me/net")


def test_nothing_is_sent_with_a_token_of_the_working_folder(hub, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", os.path.join("hf", "token"))
    with pytest.raises(ValueError, match=r"me/net: the token would be that in .*: set HF_HOME"):
        send()
    assert not hub.exists()


def test_what_was_changed_on_the_way_is_refused(hub):
    send()
    file = hub / "me/net/main/config.json"
    file.write_text(file.read_text() + " ")
    with pytest.raises(ValueError, match=r"hf:me/net: config\.json is not what its checksum says"):
        load_policy("hf:me/net")
    (hub / "me/net/main/SHA256SUMS").write_bytes(b" " * 20_000)
    with pytest.raises(ValueError, match="hf:me/net: SHA256SUMS: it has more than 10,000 bytes"):
        load_policy("hf:me/net")
    (hub / "me/net/main/SHA256SUMS").unlink()
    with pytest.raises(ValueError, match="hf:me/net has no file SHA256SUMS: it is no checkpoint"):
        load_policy("hf:me/net")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_in_place_of_weights_is_refused(hub):
    send()
    weights = hub / "me/net/main/weights.safetensors"
    weights.unlink()
    os.mkfifo(weights)
    with pytest.raises(ValueError, match=r"hf:me/net: weights\.safetensors is a pipe or a device"):
        load_policy("hf:me/net")


def test_what_is_too_large_is_not_fetched(hub, tmp_path):
    send()
    weights = hub / "me/net/main/weights.safetensors"
    with weights.open("r+b") as file:
        file.truncate(2_000_000_000)
    with pytest.raises(
        ValueError, match=r"hf:me/net: 2,000,\d{3},\d{3} bytes, and 1,000,000,000 are"
    ):
        load_policy("hf:me/net")
    assert not (tmp_path / "cache").exists()


def test_what_was_fetched_is_found_without_a_connection(hub):
    send()
    (hub / "me/net/main/offline").touch()
    assert load_policy("hf:me/net")


def test_a_link_in_place_of_the_model_card_is_not_followed(hub, tmp_path):
    folder = tmp_path / "others"
    shutil.copytree(PRETRAINED_CALPHAZERO, folder)
    (folder / "README.md").unlink()
    (tmp_path / "secret").write_text("a key")
    (folder / "README.md").symlink_to(tmp_path / "secret")
    with pytest.raises(ValueError, match=r"README\.md is a link: put the file itself there"):
        send_checkpoint(folder, "me/net", "a card")
    assert not hub.exists()


def test_what_lacks_a_file_is_no_checkpoint(hub):
    send()
    (hub / "me/net/main/weights.safetensors").unlink()
    with pytest.raises(ValueError, match=r"hf:me/net has no file weights\.safetensors"):
        load_policy("hf:me/net")


def test_no_code_comes_from_the_hub(hub, tmp_path):
    evil = tmp_path / "evil"
    shutil.copytree(PRETRAINED_CALPHAZERO, evil)
    config = json.loads((evil / "config.json").read_text())
    (evil / "config.json").write_text(json.dumps({**config, "agent": "os:system"}))
    send_checkpoint(evil, "me/evil", "")
    with pytest.raises(ValueError, match="a checkpoint may name installed policies only"):
        load_policy("hf:me/evil")
    with pytest.raises(ValueError, match="comes from the Hub is data; leave trust"):
        load_policy("hf:me/evil", trust=True)


@pytest.mark.parametrize(
    "name",
    [
        *("hf:", "hf:net", "hf:me/net/more", "hf:me/net@", "hf:../x/y", "hf:a/b@../c"),
        *("hf:a/b@/etc", f"hf:a/b@{'c' * 10_000}"),
    ],
)
def test_other_names_are_refused(hub, name):
    with pytest.raises(ValueError, match="write hf:owner/name@revision"):
        fetch_checkpoint(name)


def test_what_the_hub_refuses_is_one_line(hub, capsys):
    assert cli.main(["evaluate", "hf:me/none@v2", "--puzzles", "4x4"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "hf:me/none@v2: the Hub can't serve it (OSError: 404" in error
    assert cli.main(["push", str(PRETRAINED_CALPHAZERO), "others/net"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "LocalTokenNotFoundError: Token is required" in error
    with pytest.raises(ValueError, match="write owner/name"):
        send("net")
