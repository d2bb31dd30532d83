"""The cAlphaZero paper on 4x4 boards, as its text and equations say it: what fails, what learns.

    python benchmarks/reproduce_calphazero.py
    python benchmarks/reproduce_calphazero.py --parts mlp simulations --minutes 600 \
        --simulations 200 --games 500 --level-iterations 50
    python benchmarks/reproduce_calphazero.py --parts attention-512 --minutes 3000
    python benchmarks/reproduce_calphazero.py --parts --plot figures.png  # of what was trained

The parts are `floors` (what needs no training), `control` (no curriculum, 8 blanks), `control-0.2`
(the same with the learning rate of the paper's public code), `mlp`, `attention-256` and
`attention-512` (the curriculum from 2 to `--blanks`), the MLP without one thing (`no-bonus` for
unvisited actions, `xi-0`: no entropy, `lambda-1`, not 100, `no-curriculum`: all blanks from the
start), `simulations` (completion against simulations a move), `retry` (section 6, and the
best-first search), and `gflownet`. Each keeps its run in `--runs` and its figures in `--out`; a
part that was cut short goes on where it was, and one called again with more minutes trains on.

Source: Agarwal, Han, Kyimpopkin and Klein, "cAlphaZero: a reinforcement-learning Sudoku solver with
curriculum scheduling".
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from rich.console import Console

from results import Row, command_of, read, share_of, table, write_json
from sudoku_agents.best_first_search.search import BestFirstConfig, BestFirstSolver
from sudoku_agents.calphazero.batch import SelfPlayBatch
from sudoku_agents.calphazero.config import CAlphaZeroConfig, CAlphaZeroLossConfig
from sudoku_agents.calphazero.learner import CAlphaZeroLearner
from sudoku_agents.calphazero.policy import PRETRAINED, CAlphaZeroPolicy, load
from sudoku_agents.calphazero.retry import RetrySolver
from sudoku_agents.calphazero.search import SearchConfig
from sudoku_baselines.classical.trivial import MaskedRandom, hidden_singles, naked_singles
from sudoku_curricula import ScheduleConfig, curves
from sudoku_curricula.schedules import Algorithm1Config, ConstantConfig
from sudoku_gym import board, evaluate, puzzles
from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles.sources import Blanks, resolve_source
from sudoku_gym.storage.atomic import atomic_write
from sudoku_learning.networks import (
    POLICY_AND_VALUE,
    AttentionConfig,
    BodyConfig,
    MLPConfig,
    Network,
    NetworkPolicy,
    seeded,
)
from sudoku_learning.training import OptimizerConfig, Progress, Report, RunGenerators, Training

MLP = MLPConfig((1088, 1088, 1088))  # 2,511,169 weights with its heads
NETWORKS: dict[str, BodyConfig] = {
    "mlp": MLP,
    "attention-256": AttentionConfig(256, layers=1, perceptron=448),  # 80 % fewer weights
    "attention-512": AttentionConfig(512, layers=1, perceptron=896),  # 21 % fewer
}
CONTROLS = {"control": None, "control-0.2": 0.2}  # learning rates; None: that of all other parts
ABLATIONS = ("no-bonus", "xi-0", "lambda-1", "no-curriculum")
CONTROL_BLANKS, VALIDATION_GAMES = 8, 32  # games an iteration that are not trained on
EPISODES, BLANKS, LEAST_REWARD = 5_000, 50, 1e-3  # of the GFlowNet at 9x9
LOSSES = curves.POLICY_LOSS, curves.VALUE_LOSS
SCORES = curves.POLICY_ACCURACY, curves.SUCCESS_RATE, curves.BLANKS_LEVEL  # of self-play


class ValidatedLearner(CAlphaZeroLearner):
    """Takes the losses on further games of each iteration too, as figure 2 does."""

    def learn(self, blanks: Blanks, random: RunGenerators, progress: Progress) -> Report:
        """Train, then play games that are not trained on."""
        report, config = super().learn(blanks, random, progress), self.config
        games = self.sample(VALIDATION_GAMES, blanks, config.ray, random.numpy).positions
        drawn = replace(config, optimizer=replace(config.optimizer, batch_size=len(games)))
        with torch.no_grad():
            batch = SelfPlayBatch(self.network, games, self._geometry, drawn, random.numpy)
            found = batch.run_segment().metrics
        losses = {f"losses/validation_{name}_loss": found[name] for name in ("policy", "value")}
        return replace(report, curves={**report.curves, **losses})


@dataclass(frozen=True)
class Config:
    """What to train and play; in brackets what the paper, or its public code, has."""

    parts: tuple[str, ...] = ("floors", "control", "control-0.2", "mlp", "simulations")
    """see above; in this order"""
    blanks: int = 12
    """that the curriculum ends at, and that its networks play"""
    minutes: float = 8.0
    """processor minutes of training for each network (1.5 million updates)"""
    control_minutes: float = 1.0
    """likewise for each control"""
    simulations: int = 25
    """a move in self-play (200)"""
    games: int = 256
    """of self-play an iteration (500)"""
    passes: float = 16.0
    """how often each position is trained on, each time moved by another symmetry"""
    learning_rate: float = 1e-3
    """of Adam"""
    batch_size: int = 256
    """positions an update"""
    gamma: float = 0.6
    """policy accuracy above which the curriculum moves on"""
    level_iterations: int = 8
    """iterations after which the curriculum moves on even where the level failed"""
    checks: int = 4
    """how often to play while a network is trained, evenly spread"""
    play_with: tuple[int, ...] = (5, 25, 80, 100)
    """simulations a move in the part `simulations` (these, its figure 3)"""
    count: int = 200
    """puzzles of each kind to play"""
    seed: int = 0
    """of weights, games and puzzles"""
    runs: Path = Path("runs/reproduce-calphazero")
    """folder of the runs, one a part"""
    out: Path = Path("runs/reproduce-calphazero/figures.json")
    """a JSON file for the figures; those of other parts in it are kept"""
    plot: Path | None = None
    """a PNG to draw figures 3 and 4 into, of the runs and the file of figures as they are then"""


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    torch.set_num_threads(1)
    command = command_of(__file__, argv)
    figures = read(config.out)
    for part in config.parts:
        found = figures.setdefault(part, {"commands": [], "rows": []})
        found["commands"].append(command)
        if part in PLAYED:
            found["rows"] = list(PLAYED[part](config))
            write_json(config.out, figures)
        else:
            for rows in train(part, found["rows"], config):
                found["rows"] += rows
                write_json(config.out, figures)
        print("", part, table(found["rows"], names=3), "", sep="\n", flush=True)
    if config.plot:
        draw(config.plot, {name: part["rows"] for name, part in figures.items()}, config)
    return figures


def paper_search(num_simulations: int, bonus: float = 0.5) -> SearchConfig:
    """Return the search of section 2.1: no proofs, a new tree a move, games to the last blank."""
    return SearchConfig(
        simulations=num_simulations,
        c_puct=1.0,
        unvisited_bonus=bonus,
        proofs=False,
        end_at_dead_end=False,
        reward="terminal",
        actions="blank",
    )


def run_config(part: str, config: Config) -> CAlphaZeroConfig:
    """Return how a part trains: equation 5 with lambda = 100, Algorithm 1."""
    if part not in (*CONTROLS, *NETWORKS, *ABLATIONS):
        raise ValueError(f"there is no part {part!r}: see --help")
    schedule: ScheduleConfig = ConstantConfig(CONTROL_BLANKS if part in CONTROLS else config.blanks)
    if part not in (*CONTROLS, "no-curriculum"):
        schedule = Algorithm1Config(
            2, config.blanks, gamma=config.gamma, max_iterations=config.level_iterations
        )
    rate = CONTROLS.get(part) or config.learning_rate
    return CAlphaZeroConfig(
        run=folder(part, config),
        seed=config.seed,
        iterations=2**31,
        extra_iterations=2**31,
        validation_games=100,
        checkpoint_every=20,
        curriculum=schedule,
        games=config.games,
        replay_iterations=1,
        search=paper_search(config.simulations, 0.0 if part == "no-bonus" else 0.5),
        loss=CAlphaZeroLossConfig(
            value_weight=1.0 if part == "lambda-1" else 100.0,
            entropy_weight=0.0 if part == "xi-0" else 0.01,
            every_action=True,
            passes=config.passes,
        ),
        optimizer=OptimizerConfig(rate, config.batch_size),
        network=NETWORKS.get(part, MLP),
    )


def folder(part: str, config: Config) -> Path:
    """Return the folder of a run: one for each part, and in it one for each seed."""
    return config.runs / part / f"seed-{config.seed}"


def train(part: str, rows: Sequence[Row], config: Config) -> Iterator[list[Row]]:
    """Train a part in stages; yield the rows of each, unless there are `rows` of a later one."""
    minutes = config.control_minutes if part in CONTROLS else config.minutes
    base = run_config(part, config)
    for check in range(1, config.checks + 1):
        due = minutes * check / config.checks
        if any(row["due"] >= due and row.get("seed", 0) == config.seed for row in rows):
            continue
        resume = (base.run / "config.json").exists()
        training = Training(replace(base, minutes=due, resume=resume), ValidatedLearner)
        training.run(Console())
        state = {"due": due, "seed": config.seed, **progress(training)}
        print(json.dumps(state), flush=True)
        network = training.learner.policy().network
        blanks = CONTROL_BLANKS if part in CONTROLS else config.blanks
        yield [state | row for row in play(network, blanks, (config.simulations,), config)]


def progress(training: Training[CAlphaZeroConfig]) -> dict[str, Any]:
    """Return how far a run has come, and its latest losses (of the policy: the first ones too)."""
    learner, schedule = training.learner, training.curriculum.schedule
    assert isinstance(learner, CAlphaZeroLearner)
    read = curves.read_curves(training.config.run)
    losses = {
        "policy loss": read[curves.POLICY_LOSS][1],
        "value loss": read[curves.VALUE_LOSS][1],
        "policy accuracy": read[curves.POLICY_ACCURACY][1],
    }
    return {
        "minutes": round(training.seconds / 60, 2),
        "iterations": training.iteration,
        "updates": int(next(iter(learner.optimizer.adam.state.values()))["step"]),
        "level": schedule.level,
        "levels": [[past.level, past.updates, past.reason] for past in schedule.history],
        "first policy loss": round(losses["policy loss"][0], 4),
        **{name: round(float(np.mean(values[-5:])), 4) for name, values in losses.items()},
    }


def play(network: Network, blanks: int, budgets: Sequence[int], config: Config) -> Iterator[Row]:
    """Let a network play all sets, without search and with each number of simulations."""
    for name, boards in sets(blanks, config).items():
        yield figures_of(name, "no search", NetworkPolicy(network), boards)
        yield figures_of(
            name, "no search, legal moves only", NetworkPolicy(network), boards, "legal"
        )
        for budget in budgets:
            player = CAlphaZeroPolicy(network, paper_search(budget), most_visited=True)
            yield figures_of(name, f"{budget} simulations", player, boards)


def sets(blanks: int, config: Config) -> dict[str, NDArray[np.int8]]:
    """Draw puzzles int8 `[count, 4, 4]` with so many blanks, in three ways."""
    rng = np.random.default_rng(config.seed)
    drawn = {
        split: resolve_source("4x4", split).sample(config.count, blanks, rng)[0]
        for split in ("train", "test")
    }
    grids = np.unique(puzzles.load("4x4", "all").solutions, axis=0)
    random = grids[rng.integers(len(grids), size=config.count)].reshape(config.count, 16)
    holes = rng.random(random.shape).argsort(1)[:, :blanks]
    np.put_along_axis(random, holes, 0, 1)
    return {**drawn, "random": random.reshape(-1, 4, 4)}


def figures_of(
    name: str,
    player: str,
    policy: Policy,
    boards: NDArray[np.int8],
    actions: Literal["legal", "blank"] = "blank",
) -> dict[str, Any]:
    start = time.process_time()
    solved = evaluate(policy, boards, actions=actions).solved
    seconds = round(time.process_time() - start, 2)
    return {"puzzles": name, "player": player, **share_of(solved), "seconds": seconds}


def floors(config: Config) -> Iterator[Row]:
    """Play what needs no training, at the blanks of the controls and of the curriculum's end."""
    for blanks in (CONTROL_BLANKS, config.blanks):
        for name, boards in sets(blanks, config).items():
            for player, policy, actions in (
                ("masked-random, any digit", MaskedRandom(), "blank"),
                ("masked-random, legal moves only", MaskedRandom(), "legal"),
                ("naked singles", naked_singles(), "legal"),
                ("naked + hidden singles", hidden_singles(), "legal"),
            ):
                yield {"blanks": blanks, **figures_of(name, player, policy, boards, actions)}
        make = partial(Network, MLP, POLICY_AND_VALUE, puzzles.load("4x4", "test").geometry)
        for row in play(seeded(config.seed, make), blanks, (config.simulations, 100), config):
            yield {"blanks": blanks, **row, "player": f"untrained mlp, {row['player']}"}


def simulations(config: Config) -> Iterator[Row]:
    """Play the networks that were trained with each number of simulations."""
    trained = [name for name in NETWORKS if (folder(name, config) / "config.json").exists()]
    if not trained:
        raise ValueError(f"{config.runs} holds no network: train with --parts mlp simulations")
    for name in trained:
        network = load(folder(name, config)).network
        for row in play(network, config.blanks, config.play_with, config):
            yield {"network": name, **row}


def retries(config: Config) -> Iterator[Row]:
    """Go on where a game failed: section 6 to the letter, and the best-first search."""
    hard = puzzles.load("9x9-hard", "test")[: config.count].puzzles
    played = {"calphazero, 9x9-hard": (PRETRAINED, hard)}
    if (folder("mlp", config) / "config.json").exists():
        played["mlp, random 4x4"] = folder("mlp", config), sets(config.blanks, config)["random"]
    for name, (checkpoint, boards) in played.items():
        network = load(checkpoint).network
        yield figures_of(name, "no search, no restarts", NetworkPolicy(network), boards, "legal")
        retry, best_first = RetrySolver(network, 20), BestFirstSolver(network, BestFirstConfig())
        for player, solver in ("retry-paper", retry), ("best-first", best_first):
            found = solver.search(boards, Geometry.standard(boards.shape[1]))
            median, most = np.percentile(found.nodes, [50, 95], method="higher").astype(int)
            evaluations = {"evaluations": f"{median}, 95 %: {most}"}
            yield {"puzzles": name, "player": player, **share_of(found.found > 0), **evaluations}


def gflownet(config: Config) -> Iterator[Row]:
    """Balance trajectories from 9x9 puzzles, any digit in any blank; equation 4 is the reward."""
    source, rng, count = resolve_source("9x9", "train"), np.random.default_rng(config.seed), 50
    make = partial(Network, MLPConfig((256, 256)), POLICY_AND_VALUE, source.geometry)
    network, generator = seeded(config.seed, make), torch.Generator().manual_seed(config.seed)
    log_z = torch.tensor(BLANKS * np.log(9.0), requires_grad=True)  # all ways to fill the blanks
    adam = torch.optim.Adam([{"params": network.parameters()}, {"params": [log_z], "lr": 0.1}])
    losses = []
    for _ in range(EPISODES // count):
        boards, residuals = source.sample(count, BLANKS, rng)[0].copy(), log_z
        for step in range(BLANKS):  # the backward policy takes one of step + 1 digits back
            masks = legal_placements(boards, source.geometry, "blank")
            tensors = torch.from_numpy(boards), torch.from_numpy(masks)
            log_policy = torch.log_softmax(network(*tensors, source.geometry)["policy"], 1)
            actions = torch.multinomial(log_policy.exp(), 1, generator=generator)
            residuals = residuals + log_policy.gather(1, actions)[:, 0] + np.log(step + 1)
            cells, digits = np.divmod(actions[:, 0].numpy(), 9)
            boards.reshape(count, -1)[np.arange(count), cells] = digits + 1
        rewards = np.maximum(board.constraint_fraction(boards, source.geometry), LEAST_REWARD)
        loss = (residuals - torch.from_numpy(np.log(rewards))).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    played = source.sample(config.count, BLANKS, rng)[0]
    row = figures_of(f"9x9, {BLANKS} blanks", "no search", NetworkPolicy(network), played)
    for when, part in ("first", losses[:10]), ("last", losses[-10:]):
        yield {"episodes": when, "loss": round(float(np.mean(part)), 2), **row}


def draw(path: Path, rows: dict[str, list[Row]], config: Config) -> None:
    """Draw figure 4, runs in training (circles: what rows tell), and figure 3, by simulations."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.6), layout="constrained")
    *panels, by_budget = figure.subplots(2, 3).flat
    every = [row for row in rows.get("simulations", []) if "legal" not in row["player"]]
    for name, colour in zip(NETWORKS, ("#0072b2", "#e69f00", "#009e73"), strict=True):
        if not (folder(name, config) / "config.json").exists():
            continue
        found = curves.read_curves(folder(name, config))
        checks = {row["updates"]: row | {"blanks": row["level"]} for row in rows.get(name, [])}
        for axes, tag in zip(panels, LOSSES + SCORES, strict=True):
            for shown, style in (tag, "-"), (tag.replace("/", "/validation_"), "--"):
                steps, values = found.get(shown, ([], []))
                updates = np.array(steps) * config.passes / config.batch_size
                axes.plot(updates, values, style, color=colour)
            title = tag.partition("/")[2].replace("_", " ")
            values = [row.get(title, np.nan) for row in checks.values()]
            axes.plot([*checks], values, "o", color=colour, markerfacecolor="white")
            title += " (dashed: validation)" if tag in LOSSES else " in self-play"
            axes.set(title=title, xlabel="updates", xscale="log")
        for kind, style in ("random", "o-"), ("train", "o--"):
            played = [row for row in every if (row["network"], row["puzzles"]) == (name, kind)]
            budgets = [int(row["player"].replace("no", "0").split()[0]) for row in played]
            ends = np.array([(row["low"], row["high"]) for row in played]).reshape(-1, 2)
            shares = np.array([100 * row["solved"] / row["count"] for row in played])
            told = {"color": colour, "label": name if kind == "random" else None}
            by_budget.errorbar(budgets, shares, abs(ends.T - shares), None, style, **told)
    panels[1].set_yscale("log")
    title = f"% solved at {config.blanks} blanks (dashed: training)"
    by_budget.set(title=title, xlabel="simulations a move")
    figure.legend(loc="outside upper left", ncols=3, frameon=False)
    with atomic_write(path) as temporary:
        figure.savefig(temporary, dpi=110, format="png")


PLAYED = {"floors": floors, "simulations": simulations, "retry": retries, "gflownet": gflownet}

if __name__ == "__main__":
    main()
