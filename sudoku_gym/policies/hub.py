"""Checkpoints on the Hugging Face Hub: data alone is fetched and sent, with checksums.

What was fetched lies in `HF_HOME/sudoku-gym/OWNER/NAME/COMMIT`.

Source: https://huggingface.co/docs/huggingface_hub, `HfApi` and `hf_hub_url`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from sudoku_gym.storage.atomic import atomic_write, write_text
from sudoku_gym.storage.reading import describe_error, read_short, sha256_of

HUB_PREFIX = "hf:"
"""How the names of policies on the Hub begin: `hf:owner/name@revision`."""

_NAME = re.compile(r"(?P<repository>[-\w.]+/[-\w.]+)(?:@(?P<revision>\w[-\w./]*))?")
_LONGEST_NAME = 300  # characters
_COMMIT = re.compile(r"[0-9a-f]{40}")
_PROGRAM = "sudoku-gym"
_SECONDS = 60.0  # without a word of the Hub, after which it is given up
_BUSY = (429, 500, 502, 503, 504)
_PLAYED = ("config.json", "weights.safetensors")
_LONGEST = 1_000_000_000  # bytes; the largest checkpoint of this package has some millions
_LONGEST_ANSWER = 10_000_000
_SUMS, _CARD = "SHA256SUMS", "README.md"
_FILES = (*_PLAYED, _SUMS)
# The library would ask the server which variables of the environment to tell it of.
_SILENCE = ("HF_HUB_DISABLE_TELEMETRY", "1")


class HubBusyError(Exception):
    """The Hub answers that it has no time, or fails."""


class _MissingFileError(Exception):
    """A commit has no file of a name."""


def fetch_checkpoint(name: str) -> Path:
    """Fetch the checkpoint called `hf:owner/name@revision` and return the folder it lies in.

    The revision is a branch, a tag or a commit, by default `main`; only a commit stays what it is.
    What was fetched before is found without a connection.

    Raises:
        ValueError: if the name has another form, the Hub refuses or can't be reached, the
            checkpoint has more than a gigabyte, no checksums or other ones.
        ModuleNotFoundError: if huggingface_hub is not installed.
    """
    found = _NAME.fullmatch(name.removeprefix(HUB_PREFIX))
    if found is None or ".." in name or len(name) > _LONGEST_NAME:
        raise ValueError(f"{name!r:.200} names no checkpoint: write hf:owner/name@revision")
    os.environ.setdefault(*_SILENCE)
    from huggingface_hub.constants import HF_HOME

    if not os.path.isabs(HF_HOME):  # a stranger's, if it is the working folder's
        raise ValueError(f"{name}: downloads would lie in {HF_HOME!r}: set HF_HOME to a path")
    repository, revision = found["repository"], found["revision"] or "main"
    home = Path(HF_HOME) / _PROGRAM / repository
    with _in_one_line(name):
        commit = revision if _COMMIT.fullmatch(revision) else _commit_of(repository, revision, home)
    folder = home / commit
    if any(os.path.lexists(folder / file) for file in _FILES):
        try:
            _check_sums(folder, name)
        except ValueError:  # some are missing, or were damaged on the way or on the disk
            _remove(folder)
        else:
            return folder
    with _in_one_line(name):
        _download(repository, commit, folder)
    try:
        _check_sums(folder, name)
    except ValueError:
        _remove(folder)
        raise
    return folder


def at_its_commit(name: str) -> str:
    """Return the name of a policy with the commit, fetched now, where a branch or a tag was named.

    Raises as `fetch_checkpoint` if the name is one on the Hub; others stay as they are.
    """
    if not name.startswith(HUB_PREFIX):
        return name
    checkpoint, mark, options = name.partition("?")
    commit = fetch_checkpoint(checkpoint).name
    return f"{checkpoint.partition('@')[0]}@{commit}{mark}{options}"


def send_checkpoint(folder: Path, repository: str, card: str, *, private: bool = False) -> str:
    """Send what playing a checkpoint needs to a repository on the Hub, made if there is none.

    Args:
        folder: of the checkpoint; its own model card is sent if it has one.
        repository: `owner/name`.
        card: the text of the model card otherwise.
        private: who can see a repository that is made.

    Returns:
        The name under which `load_policy` finds it, with the commit.

    Raises:
        ValueError: if the name has another form, the model card is a link, the token would be that
            of the working folder, or the Hub refuses, ignores a file or can't be reached.
        OSError: if a file can't be read.
        ModuleNotFoundError: if huggingface_hub is not installed.
    """
    if not _NAME.fullmatch(repository) or "@" in repository or len(repository) > _LONGEST_NAME:
        raise ValueError(f"{repository!r:.200} names no repository: write owner/name")
    if (folder / _CARD).is_symlink():  # it may lead anywhere, and what is sent is published
        raise ValueError(f"{folder / _CARD} is a link: put the file itself there")
    os.environ.setdefault(*_SILENCE)
    from huggingface_hub import HfApi
    from huggingface_hub.constants import HF_TOKEN_PATH

    if not os.path.isabs(HF_TOKEN_PATH):
        raise ValueError(
            f"{repository}: the token would be that in {HF_TOKEN_PATH!r}: set HF_HOME to a path"
        )
    with tempfile.TemporaryDirectory(prefix="sudoku-gym-push-") as scratch:
        staged = Path(scratch)
        for file in _PLAYED:
            shutil.copyfile(folder / file, staged / file)
        if (folder / _CARD).is_file():
            shutil.copyfile(folder / _CARD, staged / _CARD)
        else:
            (staged / _CARD).write_text(card, encoding="utf-8", newline="\n")
        sums = "".join(f"{sha256_of(staged / file)}  {file}\n" for file in _PLAYED)
        (staged / _SUMS).write_bytes(sums.encode())
        with _in_one_line(repository):
            hub = HfApi(library_name=_PROGRAM)
            hub.create_repo(repository, private=private, exist_ok=True)
            sent = hub.upload_folder(
                repo_id=repository, folder_path=staged, commit_message="A checkpoint of sudoku-gym"
            )
            there = {*hub.list_repo_files(repository, revision=sent.oid)}
        if ignored := {*_FILES} - there:
            raise ValueError(
                f"{repository}: the Hub has ignored {', '.join(sorted(ignored))}: see that the "
                "repository's .gitignore names none of them"
            )
    return f"{HUB_PREFIX}{repository}@{sent.oid}"


def _commit_of(repository: str, revision: str, home: Path) -> str:
    """Return the commit of a branch or a tag; without a connection that of the time before."""
    from huggingface_hub import constants

    reference = home / "refs" / quote(revision, safe="")
    before = reference.read_text("ascii", "replace") if reference.is_file() else ""
    url = f"{constants.ENDPOINT}/api/models/{repository}/revision/{quote(revision, safe='')}"
    try:
        found = json.loads(b"".join(_parts(url, _LONGEST_ANSWER)))
        commit = str(found["sha"] if isinstance(found, dict) and "sha" in found else "")
    except ValueError:  # it has answered
        raise
    except Exception:
        if not before:
            raise
        commit = before
    if not _COMMIT.fullmatch(commit):
        raise ValueError(f"{commit!r:.60} is no commit")
    if commit != before:
        with suppress(OSError):  # it may be read only, with all that is needed
            reference.parent.mkdir(parents=True, exist_ok=True)
            write_text(reference, commit)
    return commit


def _download(repository: str, commit: str, folder: Path) -> None:
    """Fetch those files of a checkpoint that the commit has and the folder lacks.

    No word of the server gets into a path: who stands in for the Hub, or between, may send any.
    (huggingface_hub 2.4 names files of its cache as the server does.)
    """
    from huggingface_hub import hf_hub_url

    left = _LONGEST
    for path in (folder / file for file in _FILES):
        if os.path.lexists(path):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        url = hf_hub_url(repository, path.name, revision=commit)
        with (
            suppress(_MissingFileError),
            atomic_write(path) as temporary,
            temporary.open("wb") as out,
        ):
            for part in _parts(url, left):
                left -= out.write(part)


def _parts(url: str, longest: int) -> Iterator[bytes]:
    """Yield the bytes of an answer as they come.

    Raises:
        ValueError: if the Hub refuses, or the answer is longer than `longest` bytes, or compressed.
        _MissingFileError: if the commit has no such file.
        HubBusyError: if the Hub has no time.
    """
    from huggingface_hub import get_session, get_token

    token = get_token()
    headers = {"accept-encoding": "identity", "user-agent": _PROGRAM}
    headers |= {"authorization": f"Bearer {token}"} if token else {}
    with get_session().stream("GET", url, headers=headers, timeout=_SECONDS) as answer:
        if answer.is_error:
            raise _error(answer.status_code, answer.reason_phrase, answer.headers)
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise ValueError("its answer is compressed")
        length = int(answer.headers.get("content-length", 0))
        if length <= longest:
            length = 0
            for part in answer.iter_raw():
                length += len(part)
                if length > longest:
                    break
                yield part
        if length > longest:
            raise ValueError(f"{length:,} bytes, and {longest:,} are the limit")


def _error(status: int, reason: str, headers: Mapping[str, str]) -> Exception:
    """Return the error that a status stands for, see `_parts`."""
    reasons = [headers[each] for each in ("x-error-code", "x-error-message") if each in headers]
    message = ": ".join([f"{status} {reason}", *reasons])
    if headers.get("x-error-code") == "EntryNotFound":
        return _MissingFileError(message)
    return HubBusyError(message) if status in _BUSY else ValueError(message)


def _remove(folder: Path) -> None:
    """Remove what was fetched into a folder; what others have put there stays."""
    for path in (folder / file for file in _FILES):
        if path.is_file() and not path.is_symlink():
            path.unlink()


def _check_sums(folder: Path, name: str) -> None:
    """See that the files are those that were sent."""
    for path in (folder / file for file in _PLAYED):  # of a folder that is no download
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise ValueError(f"{name}: {path.name} is a pipe or a device")
    try:
        lines = read_short(folder / _SUMS, 10_000).decode("ascii", "replace").splitlines()
        sums = {file: digest for digest, _, file in (line.partition("  ") for line in lines)}
        wrong = [file for file in _PLAYED if sums.get(file) != sha256_of(folder / file)]
    except (FileNotFoundError, IsADirectoryError) as error:
        raise ValueError(
            f"{name} has no file {Path(error.filename).name}: it is no checkpoint"
        ) from None
    except ValueError as error:
        raise ValueError(f"{name}: {_SUMS}: {error}") from None
    if wrong:
        raise ValueError(f"{name}: {wrong[0]} is not what its checksum says")


@contextmanager
def _in_one_line(name: str) -> Iterator[None]:
    """Turn any error of the client, which raises those of many packages, into one line."""
    try:
        yield
    except Exception as error:
        raise ValueError(
            f"{name}: the Hub can't serve it ({describe_error(error, 200)})"
        ) from error
