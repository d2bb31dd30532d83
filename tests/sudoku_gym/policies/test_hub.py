"""Checkpoints go to the Hub and come back, as data; the client keeps repositories in a folder."""

import json
import os
import shutil
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import ClassVar

import pytest

import sudoku_agents
from sudoku_gym import cli, load_policy
from sudoku_gym.policies.hub import at_its_commit, fetch_checkpoint, send_checkpoint
from sudoku_gym.policies.loading import find_policy

pytest.importorskip("torch")
huggingface_hub = pytest.importorskip("huggingface_hub", reason="the extra hub is not installed")

PRETRAINED_CALPHAZERO = Path(sudoku_agents.__file__).parent / "calphazero" / "pretrained"

FILES = ["README.md", "SHA256SUMS", "config.json", "weights.safetensors"]


class Server(ThreadingHTTPServer):
    """The Hub, as far as fetching goes: each change of a folder `OWNER/NAME` is a commit.

    It sends the checksum `etag` and the `encoding` with each file, answers with `code`, and calls
    its commits `commit` if that is set.
    """

    root, etag, commit = Path(), "", ""
    code, encoding = 200, "identity"
    asked: ClassVar[list[str]] = []


class Requests(BaseHTTPRequestHandler):
    def do_GET(self):
        root, path = self.server.root, self.path.partition("?")[0].lstrip("/")
        self.server.asked.append(path)
        if self.server.code != 200:
            return self.answer(self.server.code, b"", {"X-Error-Message": "later"})
        repository = root.joinpath(*path.removeprefix("api/models/").split("/")[:2])
        if not repository.is_dir():
            return self.answer(404, b"", {"X-Error-Code": "RepoNotFound"})
        if path.startswith("api/models/"):
            written = [(file.name, file.stat().st_mtime_ns) for file in repository.iterdir()]
            commit = self.server.commit or sha1(repr(sorted(written)).encode()).hexdigest()
            return self.answer(200, json.dumps({"id": "me/net", "sha": commit}).encode())
        file = repository / path.rpartition("/")[2]
        if not file.exists():
            return self.answer(404, b"", {"X-Error-Code": "EntryNotFound"})
        headers = {"ETag": self.server.etag, "Content-Length": str(file.stat().st_size)}
        headers["Content-Encoding"] = self.server.encoding
        self.answer(200, b"" if file.stat().st_size > 10**9 else file.read_bytes(), headers)

    def answer(self, code, body, headers=None):
        self.send_response(code)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words): ...


class Client(huggingface_hub.HfApi):
    """What sends: into the folder of a server."""

    root = Path()
    ignored = ""  # a file that the repository's .gitignore names

    def create_repo(self, repository, *, private, exist_ok):
        assert self.library_name == "sudoku-gym"
        if repository.startswith("others/"):
            raise huggingface_hub.errors.LocalTokenNotFoundError("Token is required")

    def upload_folder(self, *, repo_id, folder_path, commit_message):
        there = self.root / repo_id
        shutil.copytree(
            folder_path, there, dirs_exist_ok=True, ignore=shutil.ignore_patterns(self.ignored)
        )
        return SimpleNamespace(oid=COMMIT)

    def list_repo_files(self, repository, *, revision):
        assert revision == COMMIT
        return [file.name for file in (self.root / repository).iterdir()]


COMMIT = "c0ffee" + "0" * 34


@pytest.fixture
def server(tmp_path, monkeypatch):
    with Server(("127.0.0.1", 0), Requests) as server:
        server.root = tmp_path / "hub"
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        constants = huggingface_hub.constants
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, address)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "ENDPOINT", address)
        monkeypatch.setattr(constants, "HF_HOME", str(tmp_path / "home"))
        monkeypatch.setattr(Client, "root", server.root)
        monkeypatch.setattr(huggingface_hub, "HfApi", Client)
        yield server
        server.shutdown()


@pytest.fixture
def hub(server):
    """The folder of repositories, `owner/name`, that the client reads and writes."""
    return server.root


def send(name="me/net"):
    return send_checkpoint(PRETRAINED_CALPHAZERO, name, "a card")


def test_a_checkpoint_comes_back_with_its_options(hub):
    assert send() == f"hf:me/net@{COMMIT}"
    assert sorted(file.name for file in (hub / "me/net").iterdir()) == FILES
    for name in ("hf:me/net", f"hf:me/net@{COMMIT}", "hf:me/net?restarts=2"):
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
    assert capsys.readouterr().out == f"load_policy('hf:me/mine@{COMMIT}')\n"
    assert sorted(file.name for file in (hub / "me/mine").iterdir()) == FILES
    assert "sudoku-gym evaluate hf:me/mine" in (hub / "me/mine/README.md").read_text()


def test_a_file_that_the_hub_ignores_is_told(hub, monkeypatch):
    monkeypatch.setattr(Client, "ignored", "weights.safetensors")
    with pytest.raises(ValueError, match=r"me/net: the Hub has ignored weights\.safetensors"):
        send()


def test_downloads_of_the_working_folder_are_not_used(hub, monkeypatch):
    send()
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", "hf")
    with pytest.raises(ValueError, match=r"hf:me/net: downloads would lie in .*: set HF_HOME"):
        load_policy("hf:me/net")


def test_nothing_is_sent_with_a_token_of_the_working_folder(hub, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", os.path.join("hf", "token"))
    with pytest.raises(ValueError, match=r"me/net: the token would be that in .*: set HF_HOME"):
        send()
    assert not hub.exists()


def test_what_was_changed_on_the_way_is_refused(hub):
    send()
    file = hub / "me/net/config.json"
    file.write_text(file.read_text() + " ")
    with pytest.raises(ValueError, match=r"hf:me/net: config\.json is not what its checksum says"):
        load_policy("hf:me/net")
    (hub / "me/net/SHA256SUMS").write_bytes(b" " * 20_000)
    with pytest.raises(ValueError, match="hf:me/net: SHA256SUMS: it has more than 10,000 bytes"):
        load_policy("hf:me/net")
    (hub / "me/net/SHA256SUMS").unlink()
    with pytest.raises(ValueError, match="hf:me/net has no file SHA256SUMS: it is no checkpoint"):
        load_policy("hf:me/net")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_in_place_of_weights_is_refused(hub):
    send()
    weights = fetch_checkpoint("hf:me/net") / "weights.safetensors"
    weights.unlink()
    os.mkfifo(weights)
    with pytest.raises(ValueError, match=r"hf:me/net: weights\.safetensors is a pipe or a device"):
        load_policy("hf:me/net")


def test_what_is_too_large_is_not_fetched(hub, tmp_path):
    send()
    weights = hub / "me/net/weights.safetensors"
    with weights.open("r+b") as file:
        file.truncate(2_000_000_000)
    with pytest.raises(
        ValueError, match=r"hf:me/net: .* \(2,000,000,000 bytes, and 999,\d{3},\d{3} are"
    ):
        load_policy("hf:me/net")
    assert not list((tmp_path / "home").rglob("*weights*"))


def test_what_was_fetched_is_found_without_a_connection(server):
    send()
    folder = fetch_checkpoint("hf:me/net@v1")
    server.shutdown()
    server.server_close()
    assert fetch_checkpoint("hf:me/net@v1") == folder
    assert fetch_checkpoint(f"hf:me/net@{folder.name}") == folder
    with pytest.raises(ValueError, match=r"hf:me/net@v2: the Hub can't serve it \(ConnectError"):
        fetch_checkpoint("hf:me/net@v2")


@pytest.mark.parametrize("why", ["busy", "read only"])
def test_what_was_fetched_is_found_whatever_else_fails(server, monkeypatch, why):
    send()
    folder = fetch_checkpoint("hf:me/net")
    if why == "busy":
        server.code = 503
        with pytest.raises(ValueError, match=r"HubBusyError: 503 Service Unavailable: later\)"):
            fetch_checkpoint("hf:me/net@v2")
        with pytest.raises(ValueError, match=r"\(HubBusyError: 503 Service Unavailable: later\)"):
            fetch_checkpoint(f"hf:me/net@{COMMIT}")
    else:
        (folder.parent / "refs" / "main").unlink()

        def write_text(*_):
            raise OSError(30, "Read-only file system")

        monkeypatch.setattr("sudoku_gym.policies.hub.write_text", write_text)
    assert fetch_checkpoint("hf:me/net") == folder


def test_no_more_is_read_than_a_checkpoint_has(server, monkeypatch):
    """What is packed may be any number of times as long."""
    send()
    server.encoding = "deflate, deflate"
    with pytest.raises(ValueError, match=r"hf:me/net: .* \(its answer is compressed\)"):
        fetch_checkpoint("hf:me/net")
    monkeypatch.setattr("sudoku_gym.policies.hub._LONGEST_ANSWER", 20)
    with pytest.raises(ValueError, match=r"hf:me/net: .* bytes, and 20 are the limit\)"):
        fetch_checkpoint("hf:me/net")


def test_a_name_with_its_commit_asks_the_hub_no_more(server):
    send()
    name = at_its_commit("hf:me/net@v1?restarts=2")
    commit = fetch_checkpoint("hf:me/net").name
    assert name == f"hf:me/net@{commit}?restarts=2" and at_its_commit("dlx?x=1") == "dlx?x=1"
    server.asked.clear()
    assert load_policy(name).restarts.count == 2
    assert server.asked == []


def test_nothing_else_is_asked_of_the_server(server):
    send()
    server.asked.clear()
    commit = fetch_checkpoint("hf:me/net").name
    files = [f"me/net/resolve/{commit}/{file}" for file in FILES[2:] + FILES[1:2]]
    assert server.asked == ["api/models/me/net/revision/main", *files]


def test_what_was_damaged_on_the_way_is_fetched_again(server):
    send()
    server.commit = COMMIT
    weights = server.root / "me/net/weights.safetensors"
    right = weights.read_bytes()
    weights.write_bytes(right[:-1])
    with pytest.raises(ValueError, match=r"weights\.safetensors is not what its checksum says"):
        fetch_checkpoint("hf:me/net")
    weights.write_bytes(right)
    config = fetch_checkpoint("hf:me/net") / "config.json"
    config.write_text("<html>")  # of a fetch that broke off later, or the disk's fault
    assert load_policy("hf:me/net")


@pytest.mark.parametrize("word", ["../../../../evil", "/evil", "a" * 39, "A" * 40])
def test_no_word_of_the_server_gets_into_a_path(server, tmp_path, word):
    send()
    server.etag = word
    assert fetch_checkpoint("hf:me/net")
    server.commit = word
    with pytest.raises(ValueError, match=f"'{word}' is no commit"):
        fetch_checkpoint("hf:me/net")
    assert not list(tmp_path.rglob("*evil*")) and not os.path.exists("/evil")


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
    (hub / "me/net/weights.safetensors").unlink()
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
    assert (
        error.count("\n") == 1
        and "hf:me/none@v2: the Hub can't serve it (404 Not Found: RepoNotFound)" in error
    )
    assert cli.main(["push", str(PRETRAINED_CALPHAZERO), "others/net"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "LocalTokenNotFoundError: Token is required" in error
    with pytest.raises(ValueError, match="write owner/name"):
        send("net")
