"""Checkpoints on the Hugging Face Hub, in the cache and by the client of huggingface_hub.

Source: https://huggingface.co/docs/huggingface_hub, `snapshot_download` and `upload_folder`.
"""

from __future__ import annotations

from pathlib import Path

from sudoku_gym.storage.reading import error_context

HUB_PREFIX = "hf:"
"""How the names of policies on the Hub begin: `hf:owner/name@revision`."""
FILES = ["config.json", "weights.safetensors", "README.md"]
"""What is fetched and sent: data alone."""
_PROBLEM = "the Hub can't serve it"


def fetch_checkpoint(name: str) -> Path:
    """Fetch the checkpoint called `hf:owner/name@revision` and return the folder it lies in.

    The revision is a branch, a tag or a commit, by default `main`; only a commit stays what it is.
    What was fetched before is found without a connection.
    """
    from huggingface_hub import snapshot_download

    repository, _, revision = name.removeprefix(HUB_PREFIX).partition("@")
    with error_context(name, _PROBLEM):
        found = snapshot_download(repository, revision=revision or None, allow_patterns=FILES)
    return Path(found)


def send_checkpoint(folder: Path, repository: str, card: str, *, private: bool = False) -> str:
    """Send what playing a checkpoint needs to a repository on the Hub, made if there is none.

    Args:
        folder: of the checkpoint; its own README.md is sent if it has one.
        repository: `owner/name`.
        card: the text of README.md otherwise.
        private: who can see a repository that is made.

    Returns:
        The name under which `load_policy` finds it, with the commit; errors as `fetch_checkpoint`.
    """
    from huggingface_hub import HfApi

    hub = HfApi(library_name="sudoku-gym")
    message = "A checkpoint of sudoku-gym"
    with error_context(repository, _PROBLEM):
        hub.create_repo(repository, private=private, exist_ok=True)
        if not (folder / "README.md").is_file():
            hub.upload_file(
                repo_id=repository, path_in_repo="README.md", path_or_fileobj=card.encode()
            )
        sent = hub.upload_folder(
            repo_id=repository, folder_path=folder, allow_patterns=FILES, commit_message=message
        )
    return f"{HUB_PREFIX}{repository}@{sent.oid}"
