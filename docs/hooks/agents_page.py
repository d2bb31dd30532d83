"""The sections of the page of all agents, in the place that `docs/all-agents.md` marks.

Boards, weights, curriculum, training and command are read off the checkpoints that come with the
package; how each learns, acts and is masked stands in `AGENTS`. A trainer without a word there ends
the build.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import marked
from sudoku_gym import load_policy, plugins, puzzles
from sudoku_gym.evaluation.tables import markdown_table
from sudoku_gym.policies import Policy, model_card_of
from sudoku_gym.policies.identity import weights_paths
from sudoku_gym.registration import ENVIRONMENTS

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page
    from numpy.typing import NDArray

    from sudoku_gym.geometry import Geometry

PAGE = "all-agents.md"
_TIME = re.compile(r"((?:about )?\w+ (?:processor )?(?:seconds|minutes|hours?)) of one core")
_LOGITS = (
    "placements; all whose logit is above `threshold` are played, the best first, then the network "
    "is evaluated again"
)
_GRAPH = "an illegal placement is no node of the graph: it has no logit, in training and in play"
_CELLS = (
    "digits of all cells; `?mode=surest` plays the most probable legal placement and evaluates "
    "again, `?mode=one-shot` plays the best digit of each cell"
)
_UNMASKED = "none in training; `surest` plays among the legal, `one-shot` asks for no mask"


@dataclass(frozen=True)
class Agent:
    """What no checkpoint tells of an agent."""

    policy: str  # by name
    learns_from: str
    acts: str
    mask: str
    results: str  # page, and anchor
    boards: str = ""  # on which it plays, where trying them out would not tell
    shipped_by: str = ""  # the trainer of the policy's network, where it is another one
    command: str = ""  # where no network comes with the package, as the next one
    training: str = ""  # how long it takes


AGENTS = {
    "expert-iteration": Agent(
        "expert-iteration",
        "labels that a search which takes moves back finds for training puzzles; no solution",
        _LOGITS,
        _GRAPH,
        "results/expert-iteration.md",
        training="the second of three parts 55 minutes, the third 43 on a slow machine",
    ),
    "calphazero": Agent(
        "calphazero",
        "self-play with a tree search (PUCT or Gumbel), as in the cAlphaZero paper; no solution",
        "placements: the highest logit, or with `?simulations=64` the choice of a tree search",
        "the search expands legal placements only; priors and targets are over them",
        "results/calphazero-paper.md",
        boards="all",
        shipped_by="expert-iteration",
        command="make reproduce-calphazero  # about a quarter of an hour on one core",
        training="about a quarter of an hour",
    ),
    "dqn": Agent(
        "dqn",
        "its own games: deep Q-learning with a replay and a target network; no solution",
        "placements; all whose value, the logit of being solvable, is above `threshold` are "
        "played, the best first, then the network is evaluated again",
        "the maximum is over legal placements, in play and in targets; exploration draws from them",
        "results/q-learning.md",
    ),
    "q-learning": Agent(
        "q-table",
        "its own games on a few puzzles: tabular Q-learning or SARSA; no solution",
        "placements: the highest value in the table; on an unknown board a random legal one",
        "the maximum and every draw are over legal placements",
        "results/q-learning.md#the-table",
        boards="eight puzzles of 4x4",
        training="about ten seconds",
    ),
    "gflownet": Agent(
        "gflownet",
        "its own games, so that each solution is drawn as likely as its reward; no solution",
        "placements: the likeliest first, or with `?sample=true` drawn from the forward policy",
        _GRAPH,
        "results/gflownet.md",
    ),
    "exact-cover": Agent(
        "exact-cover-supervised",
        "solutions",
        f"{_LOGITS}; `?mode=one-shot` reads all blanks off one evaluation",
        f"{_GRAPH}; `one-shot` asks for no mask",
        "results/neural.md#the-factor-graph-body-a-thousand-puzzles",
    ),
    "multiverse": Agent(
        "multiverse-m12",
        "solutions",
        _CELLS,
        _UNMASKED,
        "results/neural.md#multiverse-at-4x4",
    ),
    "recurrent-transformer": Agent(
        "recurrent-transformer",
        "solutions",
        _CELLS,
        _UNMASKED,
        "results/neural.md#the-recurrent-transformer-at-4x4",
    ),
    "mlp": Agent("mlp", "solutions", _CELLS, _UNMASKED, "results/neural.md"),
    "cnn": Agent("cnn", "solutions", _CELLS, _UNMASKED, "results/neural.md"),
    "rrn": Agent("rrn", "solutions", _CELLS, _UNMASKED, "results/neural.md"),
    "tiny-recursion": Agent(
        "tiny-recursion", "solutions", _CELLS, _UNMASKED, "results/neural.md#equal-time-at-9x9"
    ),
    "guissart": Agent(
        "guissart",
        "solutions, and others for its thresholds",
        "a solver: fills what is certain, then trial and error, then backtracking",
        "placements that a digit in the same unit excludes are marked impossible",
        "results/neural.md#guissart-at-9x9",
    ),
}
"""The agents by the name of their trainer."""


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Put the table and the sections in their place."""
    return fill_in(markdown) if page.file.src_uri == PAGE else markdown


def fill_in(markdown: str, *, keep: bool = False) -> str:
    """Put the parts that are marked with `agents` in their places, see `marked.fill_in`."""
    trainers = plugins.available(plugins.TRAINERS)
    if unknown := set(trainers) ^ set(AGENTS):
        raise ValueError(f"docs/hooks/agents_page.py and the trainers differ in {sorted(unknown)}")
    facts = {trainer: facts_of(agent) for trainer, agent in AGENTS.items()}
    heads = ["Policy", "Solutions shown", "Boards", "Weights", "Training"]
    rows = [
        [f"`{trainer}`", *(each[head] or "-" for head in heads)] for trainer, each in facts.items()
    ]
    overview = markdown_table(["Trainer", *heads], rows, names=4)
    written = []
    for trainer, agent in AGENTS.items():
        table = "\n".join(f"| {name} | {text} |" for name, text in facts[trainer].items() if text)
        heading = f"## {trainer}"
        written.append(f"{heading}\n\n| | |\n|---|---|\n{table}\n\n{training_of(trainer, agent)}")
    parts = {"table": overview, "site_sections": "\n\n".join(written)}
    return marked.fill_in(markdown, "agents", parts, keep=keep)


def facts_of(agent: Agent) -> dict[str, str]:
    """Return the table of an agent: what stands in `AGENTS`, and what its checkpoint tells."""
    facts = {
        "Policy": f"`{agent.policy}`",
        "Learns from": agent.learns_from,
        "Solutions shown": "yes" if agent.learns_from.startswith("solutions") else "none",
        "Actions": agent.acts,
        "Mask": agent.mask,
        "Boards": agent.boards,
        "Weights": "",
        "Curriculum": "",
        "Training": agent.training,
        "Results": f"[{Path(agent.results).stem}]({agent.results})",
    }
    folder = checkpoint_of(agent)
    if folder is None:
        return facts
    policy = load_policy(agent.policy)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    facts["Boards"] = agent.boards or boards_of(policy)
    facts["Curriculum"] = curriculum_of(config, facts["Solutions shown"] == "yes")
    said = _TIME.search(" ".join(readme_of(folder).split()))
    if said and not agent.training:
        facts["Training"] = said[1]
    if card := model_card_of(policy):
        facts["Weights"] = f"{card.weights:,}"
        facts["Solutions shown"] = f"{card.solutions:,}" if card.solutions else "none"
    return facts


def checkpoint_of(agent: Agent) -> Path | None:
    """Return the folder of the network that comes with the package, or None."""
    folders = [] if agent.shipped_by else weights_paths(agent.policy)
    return next((folder for folder in folders if any(folder.glob("*.safetensors"))), None)


def readme_of(folder: Path) -> str:
    """Return the words that stand beside a checkpoint."""
    return (folder / "README.md").read_text(encoding="utf-8")


def boards_of(policy: Policy) -> str:
    """Name the boards that a policy plays: those on which it can fill the last cell."""
    banks = [bank for name, bank in ENVIRONMENTS.items() if "Hard" not in name]
    wholes = [puzzles.load(bank) for bank in banks]
    found = [each.geometry for each in wholes if can_play(policy, each.solutions, each.geometry)]
    names = ", ".join(geometry.name.partition(" (")[0] for geometry in found)
    return "all" if len(found) == len(banks) else names


def can_play(policy: Policy, solutions: NDArray[np.int8], geometry: Geometry) -> bool:
    """Say whether a policy plays such boards, int8 `[B, N, N]`: networks refuse others."""
    board, mask = solutions[:1].copy(), np.zeros((1, geometry.num_placements), bool)
    mask[0, board[0, 0, 0] - 1] = True
    board[0, 0, 0] = 0
    try:
        policy.reset(board, geometry, np.random.default_rng(0))
        policy.act(board, mask)
    except ValueError:
        return False
    return True


def curriculum_of(config: dict[str, Any], is_shown_solutions: bool) -> str:
    """Say what a configuration has as environments and as curriculum."""
    ids = config.get("envs") or [config["env"], *config.get("also", ())]
    where = ", ".join(f"`{env}`" for env in ids)
    if is_shown_solutions:
        return f"none: puzzles as stored, of {where}"
    settings = dict(config["curriculum"])
    kind = settings.pop("type").partition("/")[2]
    told = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in settings.items())
    return f"[`{kind}`](curricula.md): {told}; on {where}"


def training_of(trainer: str, agent: Agent) -> str:
    """Say how the network in the package was trained, in the words that stand beside it."""
    folder = checkpoint_of(agent)
    if folder is not None:
        return readme_of(folder)
    command = agent.command or f"sudoku-gym train {trainer} --run runs/{trainer}"
    shipped = f"No network of this trainer comes with the package: `{agent.policy}` plays "
    shipped += f"one of `{agent.shipped_by}`." if agent.shipped_by else "the run that it is given."
    return f"{shipped}\n\n```sh\n{command}\n```\n"
