"""Checkpoints on the Hugging Face Hub: data alone is fetched and sent, with checksums.

Source: https://huggingface.co/docs/huggingface_hub, `snapshot_download` and `HfApi`.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sudoku_gym.storage.reading import describe_error, read_short, sha256_of

HUB_PREFIX = "hf:"
"""How the names of policies on the Hub begin: `hf:owner/name@revision`."""

_NAME = re.compile(r"(?P<repository>[-\w.]+/[-\w.]+)(?:@(?P<revision>\w[-\w./]*))?")
_LONGEST_NAME = 300  # characters
_PLAYED = ("config.json", "weights.safetensors")
_LONGEST = 1_000_000_000  # bytes; the largest checkpoint of this package has some millions
_SUMS, _CARD = "SHA256SUMS", "README.md"


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
    folder = _fetch(found["repository"], found["revision"], name)
    _check_sums(folder, name)
    return folder


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
            of the working folder, or the Hub refuses or can't be reached.
        OSError: if a file can't be read.
        ModuleNotFoundError: if huggingface_hub is not installed.
    """
    if not _NAME.fullmatch(repository) or "@" in repository or len(repository) > _LONGEST_NAME:
        raise ValueError(f"{repository!r:.200} names no repository: write owner/name")
    if (folder / _CARD).is_symlink():  # it may lead anywhere, and what is sent is published
        raise ValueError(f"{folder / _CARD} is a link: put the file itself there")
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
            hub = HfApi(library_name="sudoku-gym")
            hub.create_repo(repository, private=private, exist_ok=True)
            sent = hub.upload_folder(
                repo_id=repository, folder_path=staged, commit_message="A checkpoint of sudoku-gym"
            )
    return f"{HUB_PREFIX}{repository}@{sent.oid}"


def _fetch(repository: str, revision: str | None, name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.constants import HF_HUB_CACHE
    from huggingface_hub.errors import DryRunError

    if not os.path.isabs(HF_HUB_CACHE):  # a stranger's, if it is the working folder's
        raise ValueError(f"{name}: downloads would lie in {HF_HUB_CACHE!r}: set HF_HOME to a path")
    files = [*_PLAYED, _SUMS]
    length = 0
    with _in_one_line(name), suppress(DryRunError):  # without a connection
        there = snapshot_download(repository, revision=revision, allow_patterns=files, dry_run=True)
        length = sum(file.file_size or 0 for file in there)
    if length > _LONGEST:
        raise ValueError(f"{name}: {length:,} bytes, and {_LONGEST:,} are the limit")
    with _in_one_line(name):
        return Path(snapshot_download(repository, revision=revision, allow_patterns=files))


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
