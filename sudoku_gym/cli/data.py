"""`sudoku-gym record` and `push`: games as a data set, a checkpoint to the Hugging Face Hub."""

from __future__ import annotations

from pathlib import Path

from sudoku_gym import trajectories
from sudoku_gym.cli.puzzle_arguments import Puzzles, Split, parse_blanks
from sudoku_gym.cli.terminal import progress
from sudoku_gym.evaluation.games import percent
from sudoku_gym.kernels.endings import RewardName
from sudoku_gym.policies import load_policy, model_card_of
from sudoku_gym.policies.hub import send_checkpoint
from sudoku_gym.policies.loading import CONFIG_FILE, checkpoints_of
from sudoku_gym.storage.reading import read_json


def record(
    policy: str,
    /,
    *,
    out: Path,
    puzzles: Puzzles = "9x9",
    split: Split = "train",
    blanks: str = "",
    reward: RewardName = "terminal",
    episodes: int = 1_000,
    seed: int = 0,
    trust: bool = False,
) -> int:
    """Record games of a policy as a data set that Minari loads; the same command goes on.

    Args:
        policy: A policy's name with options, module:attribute, or the folder of a checkpoint.
        out: Folder of the data set; its name, which must end in -v and a number, is its id.
        puzzles: The puzzles.
        split: Part of a bank to draw from; what is recorded is to train on.
        blanks: Reveal cells until this many blanks are left: a number, or a range such as 30-40.
        reward: The reward of the environment.
        episodes: Games to record, in all.
        seed: Game i is that of the environment's seed + i.
        trust: Allow checkpoints to load and run arbitrary code.
    """
    games = trajectories.RecordedGames(policy, puzzles, split, parse_blanks(blanks), reward, seed)
    with progress() as start:
        totals = trajectories.record(games, episodes, out, trust=trust, on_progress=start("record"))
    print(
        f"{out}: {totals['total_episodes']:,} games, {totals['total_steps']:,} moves, "
        f"{percent(totals['solved'])} solved"
    )
    print(f"MINARI_DATASETS_PATH={out.parent}  minari.load_dataset({out.name!r})")
    return 0


def push(folder: Path, repository: str, /, *, private: bool = False) -> int:
    """Send a checkpoint to the Hugging Face Hub, where `hf:owner/name` finds it: data, no code.

    Args:
        folder: The folder of a checkpoint, or of a run, whose latest checkpoint is sent.
        repository: owner/name; it is made if there is none.
        private: Who has no right to see the repository can't see it.
    """
    checkpoint = [folder, *checkpoints_of(folder)][-1]
    policy = load_policy(checkpoint)
    agent = read_json(checkpoint / CONFIG_FILE)["agent"]
    card = _model_card(repository, agent, model_card_of(policy))
    print(f"load_policy({send_checkpoint(checkpoint, repository, card, private=private)!r})")
    return 0


def _model_card(repository: str, agent: str, facts: object) -> str:
    """Return the text of the page that the Hub shows."""
    described = f"\n\n`{facts}`" if facts is not None else ""
    return (
        "---\nlibrary_name: sudoku-gym\ntags: [sudoku, reinforcement-learning]\n---\n"
        f"# {repository}\n\nA checkpoint of the agent `{agent}` of Sudoku Gym, which plays it by "
        f"the name `hf:{repository}`:\n\n"
        f"```sh\nsudoku-gym compare hf:{repository}\n```{described}\n"
    )
