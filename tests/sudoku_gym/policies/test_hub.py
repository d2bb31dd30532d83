"""Checkpoints on the Hugging Face Hub: what is asked of the client, and what becomes of it."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

import sudoku_agents
from sudoku_gym import cli, load_policy
from sudoku_gym.policies import weights_sha256
from sudoku_gym.policies.hub import send_checkpoint

pytest.importorskip("torch")
huggingface_hub = pytest.importorskip("huggingface_hub", reason="the extra hub is not installed")

SHIPPED = Path(sudoku_agents.__file__).parent / "dqn" / "pretrained"
FILES = ["config.json", "weights.safetensors", "README.md"]
COMMIT = "0" * 39 + "1"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A folder that stands for the repository `me/net`; it is fetched through links."""
    stored, cache = tmp_path / "stored", tmp_path / "cache" / COMMIT
    stored.mkdir(), cache.mkdir(parents=True)

    def download(repo_id, *, revision, allow_patterns):
        if repo_id != "me/net" or revision not in (None, "v1", COMMIT):
            raise huggingface_hub.errors.LocalEntryNotFoundError("not\nfound")
        for name in allow_patterns:
            (cache / name).unlink(missing_ok=True)
            if (stored / name).exists():
                (cache / name).symlink_to(stored / name)
        return str(cache)

    class Client:
        def __init__(self, library_name):
            pass

        def create_repo(self, name, private, exist_ok):
            (stored / "private").write_text(str(private))

        def upload_file(self, repo_id, path_in_repo, path_or_fileobj):
            (stored / path_in_repo).write_bytes(path_or_fileobj)

        def upload_folder(self, repo_id, folder_path, allow_patterns, commit_message):
            for name in {each.name for each in Path(folder_path).iterdir()} & {*allow_patterns}:
                shutil.copy(Path(folder_path) / name, stored / name)
            return SimpleNamespace(oid=COMMIT)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setattr(huggingface_hub, "HfApi", Client)
    return stored


def test_a_checkpoint_goes_there_and_comes_back(repository, tmp_path, capsys):
    folder = tmp_path / "run" / "checkpoints" / "000100"
    shutil.copytree(SHIPPED, folder)
    (folder / "README.md").unlink()
    (folder / "private.txt").write_text("mine")
    assert cli.main(["push", str(tmp_path / "run"), "me/net", "--private"]) == 0
    assert capsys.readouterr().out == f"load_policy('hf:me/net@{COMMIT}')\n"
    assert {each.name for each in repository.iterdir()} == {*FILES, "private"}
    assert "sudoku-gym compare hf:me/net" in (repository / "README.md").read_text()
    for name in ("hf:me/net", "hf:me/net@v1", f"hf:me/net@{COMMIT}?rounds=4"):
        assert type(load_policy(name)) is type(load_policy("dqn"))
        assert weights_sha256(name) == weights_sha256("dqn")


def test_its_own_page_is_sent(repository):
    send_checkpoint(SHIPPED, "me/net", "another page")
    assert (repository / "README.md").read_bytes() == (SHIPPED / "README.md").read_bytes()


def test_what_comes_from_there_is_data(repository):
    send_checkpoint(SHIPPED, "me/net", "")
    with pytest.raises(ValueError, match="what comes from the Hub is data"):
        load_policy("hf:me/net", trust=True)
    (repository / "config.json").write_text(json.dumps({"agent": "os:system"}))
    with pytest.raises(ValueError, match="may name installed policies only"):
        load_policy("hf:me/net")


@pytest.mark.parametrize("name", ["hf:me/other", "hf:me/net@v2", "hf:"])
def test_what_the_hub_lacks_is_told_in_one_line(repository, name):
    with pytest.raises(ValueError, match=r"the Hub can't serve it \(LocalEntry.*: not found\)$"):
        load_policy(name)
