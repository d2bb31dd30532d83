"""The tables of the page of all agents, which `make tables` writes into `docs/all-agents.md`.

Weights, curriculum and the number of solutions shown are read off the checkpoints that come with
the package; the rest stands in `AGENTS`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import marked
import sudoku_agents
import sudoku_baselines
from sudoku_gym import load_policy, plugins
from sudoku_gym.evaluation.tables import markdown_table
from sudoku_gym.policies import model_card_of

PAGE = "all-agents.md"
_AGENTS, _BASELINES = (
    Path(package.__file__ or "").parent for package in (sudoku_agents, sudoku_baselines)
)
_NINE = "9x9, Sudoku-X 9x9, Windows 9x9, Jigsaw 9x9, Latin square 9x9"
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
    boards: str  # on which it plays
    training: str  # how long it takes
    checkpoint: Path | None = None  # that comes with the package


AGENTS = {
    "expert-iteration": Agent(
        "expert-iteration",
        "labels that a search which takes moves back finds for training puzzles; no solution",
        _LOGITS,
        _GRAPH,
        "results/expert-iteration.md",
        boards="all",
        training="the second of three parts 55 minutes, the third 43 on a slow machine",
        checkpoint=_AGENTS / "expert_iteration/pretrained",
    ),
    "calphazero": Agent(
        "calphazero",
        "self-play with a tree search (PUCT or Gumbel), as in the cAlphaZero paper; no solution",
        "placements: the highest logit, or with `?simulations=64` the choice of a tree search",
        "the search expands legal placements only; priors and targets are over them",
        "results/calphazero.md",
        boards="all",
        training="about 43 minutes",
        checkpoint=_AGENTS / "calphazero/pretrained",
    ),
    "dqn": Agent(
        "dqn",
        "its own games: deep Q-learning with a replay and a target network; no solution",
        "placements; all whose value, the logit of being solvable, is above `threshold` are "
        "played, the best first, then the network is evaluated again",
        "the maximum is over legal placements, in play and in targets; exploration draws from them",
        "results/q-learning.md",
        boards="all",
        training="560 processor seconds",
        checkpoint=_AGENTS / "q_learning/deep/pretrained",
    ),
    "q-learning": Agent(
        "q-table",
        "its own games on a few puzzles: tabular Q-learning or SARSA; no solution",
        "placements: the highest value in the table; on an unknown board a random legal one",
        "the maximum and every draw are over legal placements",
        "results/q-learning.md#the-table",
        boards="eight puzzles of 4x4",
        training="about ten seconds",
        checkpoint=_AGENTS / "q_learning/tabular/pretrained",
    ),
    "gflownet": Agent(
        "gflownet",
        "its own games, so that each solution is drawn as likely as its reward; no solution",
        "placements: the likeliest first, or with `?sample=true` drawn from the forward policy",
        _GRAPH,
        "results/gflownet.md",
        boards="all",
        training="about eight minutes",
        checkpoint=_AGENTS / "gflownet/pretrained",
    ),
    "exact-cover": Agent(
        "exact-cover-supervised",
        "solutions",
        f"{_LOGITS}; `?mode=one-shot` reads all blanks off one evaluation",
        f"{_GRAPH}; `one-shot` asks for no mask",
        "results/neural.md#the-factor-graph-body-a-thousand-puzzles",
        boards="all",
        training="an hour",
        checkpoint=_BASELINES / "neural/pretrained/exact-cover",
    ),
    "multiverse": Agent(
        "multiverse-m12",
        "solutions",
        _CELLS,
        _UNMASKED,
        "results/neural.md#multiverse-at-4x4",
        boards="4x4",
        training="eight minutes",
        checkpoint=_BASELINES / "neural/pretrained/multiverse-m12",
    ),
    "recurrent-transformer": Agent(
        "recurrent-transformer",
        "solutions",
        _CELLS,
        _UNMASKED,
        "results/neural.md#the-recurrent-transformer-at-4x4",
        boards="4x4",
        training="307 processor seconds",
        checkpoint=_BASELINES / "neural/pretrained/recurrent-transformer",
    ),
    "mlp": Agent(
        "mlp",
        "solutions",
        _CELLS,
        _UNMASKED,
        "results/neural.md",
        boards="4x4",
        training="139 processor seconds",
        checkpoint=_BASELINES / "neural/pretrained/mlp",
    ),
    "cnn": Agent(
        "cnn",
        "solutions",
        _CELLS,
        _UNMASKED,
        "results/neural.md",
        boards="4x4",
        training="100 processor seconds",
        checkpoint=_BASELINES / "neural/pretrained/cnn",
    ),
    "rrn": Agent(
        "rrn",
        "solutions",
        _CELLS,
        _UNMASKED,
        "results/neural.md",
        boards="4x4",
        training="67 processor seconds",
        checkpoint=_BASELINES / "neural/pretrained/rrn",
    ),
    "tiny-recursion": Agent(
        "tiny-recursion",
        "solutions",
        _CELLS,
        _UNMASKED,
        "results/neural.md#equal-time-at-9x9",
        boards=_NINE,
        training="about 100 processor minutes",
        checkpoint=_BASELINES / "neural/pretrained/tiny-recursion",
    ),
    "guissart": Agent(
        "guissart",
        "solutions, and others for its thresholds",
        "a solver: fills what is certain, then trial and error, then backtracking",
        "placements that a digit in the same unit excludes are marked impossible",
        "results/neural.md#guissart-at-9x9",
        boards="9x9",
        training="eight minutes",
        checkpoint=_BASELINES / "neural/guissart/pretrained",
    ),
}
"""The agents by the name of their trainer."""


def fill_in(markdown: str) -> str:
    """Put the parts that are marked with `agents` in their places, see `marked.fill_in`.

    Raises:
        KeyError: of a trainer that is not in `AGENTS`.
    """
    facts = {
        name: facts_of(AGENTS[name]) for name in (*AGENTS, *plugins.available(plugins.TRAINERS))
    }
    heads = ["Policy", "Solutions shown", "Boards", "Weights", "Training"]
    rows = [
        [f"`{trainer}`", *(each[head] or "-" for head in heads)] for trainer, each in facts.items()
    ]
    sections = []
    for trainer, each in facts.items():
        table = "\n".join(f"| {name} | {text} |" for name, text in each.items() if text)
        told = training_of(trainer, AGENTS[trainer])
        sections.append(f"## {trainer}\n\n| | |\n|---|---|\n{table}\n\n{told}")
    table = markdown_table(["Trainer", *heads], rows, names=4)
    return marked.fill_in(
        markdown, "agents", {"table": table, "sections": "\n\n".join(sections).rstrip()}
    )


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
    if agent.checkpoint is not None:
        config = json.loads((agent.checkpoint / "config.json").read_text(encoding="utf-8"))
        facts["Curriculum"] = curriculum_of(config, facts["Solutions shown"] == "yes")
        if card := model_card_of(load_policy(agent.policy)):
            facts["Weights"] = f"{card.weights:,}"
            facts["Solutions shown"] = f"{card.solutions:,}" if card.solutions else "none"
    return facts


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
    if agent.checkpoint is not None:
        return (agent.checkpoint / "README.md").read_text(encoding="utf-8")
    shipped = f"No network comes with the package: `{agent.policy}` plays the run that it is given."
    return f"{shipped}\n\n```sh\nsudoku-gym train {trainer} --run runs/{trainer}\n```\n"
