"""`sudoku-gym push`: a checkpoint to the Hugging Face Hub."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from sudoku_gym import plugins
from sudoku_gym.policies import load_policy, model_card_of
from sudoku_gym.policies.hub import send_checkpoint
from sudoku_gym.policies.loading import agent_of


@dataclass(frozen=True)
class Push:
    """Send a checkpoint to the Hugging Face Hub, where `hf:owner/name` finds it: data, no code."""

    folder: Positional[Path]
    """The folder of a checkpoint, or of a run, whose latest checkpoint is sent."""
    repository: Positional[str]
    """owner/name; it is made if there is none."""
    private: bool = False
    """Who has no right to see the repository can't see it."""

    def run(self) -> int:
        """See that it plays, send it, and say its name."""
        folder = _latest_checkpoint(self.folder)
        with plugins.suggest_extra("sudoku-gym push"):
            policy = load_policy(folder)
            card = _model_card(self.repository, agent_of(folder), model_card_of(policy))
            name = send_checkpoint(folder, self.repository, card, private=self.private)
        print(f"load_policy({name!r})")
        return 0


def _latest_checkpoint(folder: Path) -> Path:
    """Return that of a run, else the folder itself; drafts of a run that goes on do not count."""
    made = [each for each in folder.glob("checkpoints/*") if re.fullmatch("[0-9]{6,}", each.name)]
    return max(made, key=lambda each: int(each.name), default=folder)


def _model_card(repository: str, agent: str, facts: object) -> str:
    """Return the text of the page that the Hub shows."""
    described = f"\n\n`{facts}`" if facts is not None else ""
    return (
        "---\nlibrary_name: sudoku-gym\ntags: [sudoku, reinforcement-learning]\n---\n"
        f"# {repository}\n\nA checkpoint of the agent `{agent}` of Sudoku Gym, which plays it by "
        f"the name `hf:{repository}`:\n\n"
        f"```sh\nsudoku-gym evaluate hf:{repository}\n```{described}\n"
    )
