"""The supervised baselines: the papers' tables, and equal training time at 9x9.

Each part is one command that runs unattended, writes its JSON row by row, and goes on where it was
stopped when it is started again with the same options.

    python benchmarks/neural.py multiverse --out docs/results/neural-multiverse.json
    python benchmarks/neural.py transformer --out docs/results/neural-transformer.json
    python benchmarks/neural.py guissart --out docs/results/neural-guissart.json
    python benchmarks/neural.py nine --out docs/results/neural-nine.json
    python benchmarks/neural.py distinct --out docs/results/neural-distinct.json
    python benchmarks/neural.py verses --out docs/results/neural-verses.json
    python benchmarks/neural.py figure --rows docs/results/neural-multiverse.json
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from rich.console import Console
from torch import nn

from sudoku_baselines.neural.cnn import ConvolutionsTraining
from sudoku_baselines.neural.config import LabelledConfig, SupervisedConfig
from sudoku_baselines.neural.exact_cover import ExactCoverLearner, ExactCoverTraining
from sudoku_baselines.neural.guissart.learner import GuissartLearner, GuissartTraining
from sudoku_baselines.neural.guissart.solver import Filling, Guissart
from sudoku_baselines.neural.learner import SupervisedLearner
from sudoku_baselines.neural.model import cell_loss
from sudoku_baselines.neural.multiverse import Multiverse, MultiverseConfig, MultiverseTraining
from sudoku_baselines.neural.policies import load
from sudoku_baselines.neural.puzzles import PuzzlesConfig
from sudoku_baselines.neural.recurrent_transformer import (
    RecurrentTransformerConfig,
    RecurrentTransformerTraining,
)
from sudoku_baselines.neural.rrn import RelationalTraining
from sudoku_baselines.neural.tiny_recursion import TinyRecursionTraining
from sudoku_curricula.schedules import ConstantConfig
from sudoku_gym import board, evaluate, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.policy import Policy, PredictorPolicy
from sudoku_gym.puzzles import difficulty
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.files import read
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.statistics import wilson_interval
from sudoku_learning.networks import seeded
from sudoku_learning.training import Training

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What every part is told."""

    out: Path
    """the JSON file of the figures; rows that it holds already are not measured again"""
    runs: Path = Path("runs/neural")
    """folder of the training runs, which are resumed"""
    seed: int = 0
    """of the trainings"""
    count: int = 100_000
    """play at most so many puzzles of each set"""
    distinct: int | None = None
    """train on so many puzzles only"""


MULTIVERSES = {
    "M12": (MultiverseConfig(12), 22),
    "M10": (MultiverseConfig(10), 28),
    "M6": (MultiverseConfig(6), 100),
    "No Conv": (MultiverseConfig(6, convolution=False), 15),
    "No Dense": (MultiverseConfig(6, dense=False), 15),
    "No LSTM": (MultiverseConfig(6, lstms=0), 15),
    "One LSTM": (MultiverseConfig(6, lstms=1), 15),
    "M5": (MultiverseConfig(5), 15),
}
"""The models of tables 2 and 3 and their epochs."""
DIVISIONS = ("random", "orbits")


@dataclass(frozen=True, kw_only=True)
class MultiverseTables(Options):
    """Multiverse, tables 2 and 3 and figure 5: completion on the part kept back, epoch by epoch."""

    models: tuple[str, ...] = tuple(MULTIVERSES)
    """which of them"""
    divisions: tuple[str, ...] = DIVISIONS
    """how the puzzles are divided"""
    epochs: int | None = None
    """at most so many epochs"""

    def run(self, results: Results) -> None:
        """Train and play whatever the file lacks."""
        for division in self.divisions:
            for name in self.models:
                model, epochs = MULTIVERSES[name]
                parts = PuzzlesConfig(division, distinct=self.distinct)
                config = MultiverseTraining(
                    run=self.runs / f"multiverse-{name.replace(' ', '-')}-{division}-{self.seed}",
                    seed=self.seed,
                    model=model,
                    puzzles=parts,
                    **QUIETLY,
                )
                last = min(epochs, self.epochs or epochs)
                by_epoch(results, {"model": name, "division": division}, config, last, self)


TRANSFORMERS = ((16, 2), (16, 4), (32, 2), (32, 4), (128, 2), (128, 4), (24, 6), (96, 6))
"""Embedding and heads of table 4."""


@dataclass(frozen=True, kw_only=True)
class TransformerTable(Options):
    """The recurrent transformer at 4x4, table 4: one and two iterations, after 15 epochs."""

    models: tuple[tuple[int, int], ...] = TRANSFORMERS
    """embedding and heads"""
    divisions: tuple[str, ...] = DIVISIONS
    """how the puzzles are divided"""
    epochs: int = 15
    """epochs of each"""

    def run(self, results: Results) -> None:
        """Train and play whatever the file lacks."""
        for division in self.divisions:
            for rounds in (1, 2):
                for embedding, heads in self.models:
                    name = f"{embedding}x{heads}, {rounds}"
                    config = RecurrentTransformerTraining(
                        run=self.runs / f"transformer-{embedding}-{heads}-{rounds}-{division}",
                        seed=self.seed,
                        model=RecurrentTransformerConfig(embedding, heads, rounds=rounds),
                        puzzles=PuzzlesConfig(division, distinct=self.distinct),
                        **QUIETLY,
                    )
                    key = {"model": name, "division": division}
                    by_epoch(results, key, config, self.epochs, self)


@dataclass(frozen=True, kw_only=True)
class GuissartFigures(Options):
    """Guissart at 9x9: filling, boosted, with trial and error, and with backtracking."""

    config: GuissartTraining = field(default_factory=GuissartTraining)
    """the training"""
    sets: tuple[str, ...] = ("9x9",)
    """banks whose test puzzles are played"""
    lists: tuple[Path, ...] = ()
    """files of more puzzles"""

    def run(self, results: Results) -> None:
        """Train and play whatever the file lacks."""
        run = self.runs / f"guissart-{self.config.env}-{self.seed}"
        config = replace(self.config, run=run, seed=self.seed)
        training = train(config, GuissartLearner)
        networks = training.learner.networks
        stored = [(name, puzzles.load(name, "test")) for name in self.sets]
        for name, found in [*stored, *((path.stem, read(path)) for path in self.lists)]:
            chosen = some(found, self.count)
            key = {"model": "singles, no guess", "set": name}
            if results.lacks(key):
                grades = difficulty.grade(chosen.puzzles, chosen.geometry)
                results.add(key | figures(grades <= GRADES.index("hidden singles")))
            for count in range(1, len(networks.fillers) + 1):
                filling = PredictorPolicy(Filling(networks, count), "one-shot")
                play(results, {"model": f"filling, {count}", "set": name}, filling, chosen)
            key = {"model": "trial and error, backtracking", "set": name}
            if results.lacks(key):
                start = time.process_time()
                solver = Guissart(networks)
                answers = solver.solve(chosen.puzzles, chosen.geometry)
                solved = board.is_solved(answers, chosen.geometry)
                how = {
                    "filled": solver.filled,
                    "tried": solver.tried,
                    "searched": solver.searched,
                    "suppositions, mean": round(float(solver.suppositions.mean()), 2),
                    "median": float(np.median(solver.suppositions)),
                    "most": int(solver.suppositions.max()),
                    "weights": sum(p.numel() for p in networks.fillers[0].parameters()),
                    "training seconds": round(training.seconds, 1),
                }
                results.add(key | figures(solved, start) | how)


@dataclass(frozen=True, kw_only=True)
class EqualTime(Options):
    """Several networks at 9x9 after equal training time, by grade and on hard puzzles."""

    minutes: float = 60.0
    """processor time of each training"""
    models: tuple[str, ...] = (
        "exact-cover",
        "rrn",
        "tiny-recursion",
        "recurrent-transformer",
        "cnn",
    )
    """which of them"""
    sets: tuple[str, ...] = ("9x9", "9x9-hard")
    """banks whose test puzzles are played"""
    surest: bool = True
    """play the surest cell first too"""

    def run(self, results: Results) -> None:
        """Train and play whatever the file lacks."""
        parts = PuzzlesConfig(distinct=self.distinct)
        for name in self.models:
            label = f"{name}-{self.distinct or 'all'}-{self.seed}"
            config = nine(name, self.runs / label, self.seed, parts)
            learner = ExactCoverLearner if name == "exact-cover" else SupervisedLearner
            key = {"model": name, "distinct": self.distinct, "seed": self.seed}
            for_minutes(results, key, config, learner, self.minutes)
            for mode in ("one-shot", "surest") if self.surest else ("one-shot",):
                for bank in self.sets:
                    policy = load(config.run, mode)
                    chosen = some(puzzles.load(bank, "test"), self.count)
                    play(results, key | {"set": bank, "mode": mode}, policy, chosen, grades=True)


@dataclass(frozen=True, kw_only=True)
class DistinctPuzzles(Options):
    """The exact-cover body trained on 100, 1,000 and 10,000 distinct puzzles, several seeds."""

    numbers: tuple[int, ...] = (100, 1_000, 8_000)
    """distinct training puzzles, half of each environment's"""
    envs: tuple[str, str] = ("Sudoku9x9-v0", "SudokuHard9x9-v0")
    """environments to train in"""
    seeds: tuple[int, ...] = (0, 1, 2)
    """of the trainings"""
    rounds: tuple[int, ...] = (16, 64, 256, 1024)
    """of the network when it answers at once"""
    minutes: float = 60.0
    """processor time of each training"""
    sets: tuple[str, ...] = ("9x9", "9x9-hard")
    """banks whose test puzzles are played"""

    def run(self, results: Results) -> None:
        """Train and play whatever the file lacks."""
        for number in self.numbers:
            for seed in self.seeds:
                run = self.runs / f"exact-cover-{number}-{seed}"
                parts = PuzzlesConfig(distinct=number // 2)
                config = replace(
                    nine("exact-cover", run, seed, parts), env=self.envs[0], also=self.envs[1:]
                )
                key = {"model": "exact-cover", "distinct": number, "seed": seed}
                for_minutes(results, key, config, ExactCoverLearner, self.minutes)
            for bank in self.sets:
                self.answer(results, number, bank)

    def answer(self, results: Results, number: int, bank: str) -> None:
        """Answer at once, by each network and by the first of them whose answer is a solution."""
        chosen = some(puzzles.load(bank, "test"), self.count)
        base = {"model": "exact-cover", "distinct": number, "set": bank}
        for rounds in self.rounds:
            key = base | {"seeds": list(self.seeds), "rounds": rounds, "mode": "one-shot"}
            if not results.lacks(key):
                continue
            either, start = np.zeros(len(chosen), np.bool_), time.process_time()
            for seed in self.seeds:
                run, began = self.runs / f"exact-cover-{number}-{seed}", time.process_time()
                solved = evaluate(load(run, "one-shot", rounds), chosen).solved
                either |= solved
                single = base | {"seed": seed, "rounds": rounds, "mode": "one-shot"}
                if results.lacks(single):
                    results.add(single | figures(solved, began))
            results.add(key | figures(either, start))
        for seed in self.seeds:
            policy = load(self.runs / f"exact-cover-{number}-{seed}")
            play(results, base | {"seed": seed, "mode": "surest"}, policy, chosen, grades=True)


@dataclass(frozen=True, kw_only=True)
class Verses(Options):
    """What an update and an epoch of a Multiverse take: all verses at once, and one by one."""

    verses: tuple[int, ...] = (5, 6, 10, 12)
    """how many verses"""
    updates: int = 20
    """timed of each, in turns"""

    def run(self, results: Results) -> None:
        """Train and play whatever the file lacks."""
        chosen = puzzles.load("4x4", "train")[:32]
        boards, solutions = torch.from_numpy(chosen.puzzles), torch.from_numpy(chosen.solutions)
        for verses in self.verses:
            key = {"verses": verses}
            if not results.lacks(key):
                continue
            make = MultiverseConfig(verses).build
            batched: Multiverse = seeded(self.seed, lambda make=make: make(chosen.geometry))
            models = {"batched": batched, "loop": LoopOfVerses(batched)}
            seconds = dict.fromkeys(models, 0.0)
            for _ in range(self.updates):
                for name, model in models.items():
                    start = time.process_time()
                    found = model(boards).log_probabilities
                    cell_loss(
                        found, solutions, torch.ones_like(boards, dtype=torch.bool)
                    ).backward()
                    seconds[name] += time.process_time() - start
            each = {name: total / self.updates for name, total in seconds.items()}
            results.add(
                key
                | {f"{name}: seconds an update": round(value, 5) for name, value in each.items()}
                | {"batched: seconds an epoch": round(each["batched"] * 77_069 / 32, 1)}
                | {"speed-up": round(each["loop"] / each["batched"], 2)}
            )


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Draw figure 5 from the rows of the tables."""

    rows: Path
    """what `multiverse` wrote"""
    out: Path = Path("docs/results/neural-multiverse.png")
    """the picture"""

    def draw(self) -> None:
        """Write the picture."""
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        rows = json.loads(self.rows.read_text())["rows"]
        figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.5), sharey=True, layout="constrained")
        for division, axis in zip(DIVISIONS, axes, strict=True):
            for name in ("M6", "M10", "M12"):
                points = [
                    (row["epochs"], 100 * row["solved"] / row["count"])
                    for row in rows
                    if (row["model"], row["division"]) == (name, division)
                ]
                axis.plot(*zip(*points, strict=True), label=name) if points else None
            axis.set(title=f"divided {'at random' if division == 'random' else 'by orbits'}")
            axis.set(xlabel="epochs", ylabel="puzzles solved at once, %", ylim=(0, 100))
            if axis.lines:
                axis.legend()
        figure.savefig(self.out, dpi=150)


QUIETLY: dict[str, Any] = {
    "evaluate_every": 100_000,  # the figures are taken here, not in the loop
    "checkpoint_every": 1,
    "curriculum": ConstantConfig(blanks=8),
}


class LoopOfVerses(nn.Module):
    """A Multiverse with its weights, run one verse after the other by torch's own layers.

    Args:
        model: with both dense layers and with LSTMs.
    """

    def __init__(self, model: Multiverse) -> None:
        super().__init__()
        self.geometry: Geometry = model.geometry
        self.convolution, self.dense = model.convolution, model.dense
        self.termination = model.termination
        self.verses = nn.ModuleList(
            nn.ModuleList(_one_verse(lstm, verse) for lstm in model.lstms)
            for verse in range(len(model.dense.weight))
        )

    def forward(self, boards: torch.Tensor) -> Any:
        """Answer as the model does."""
        values, parts = self.geometry.size + 1, []
        cells = nn.functional.one_hot(boards.flatten(1).long(), values).float()
        for number, lstms in enumerate(self.verses):
            verse = cells @ self.convolution.weight[number] + self.convolution.bias[number]
            verse = verse.flatten(1) @ self.dense.weight[number] + self.dense.bias[number]
            sequence = verse.view(cells.shape)
            for lstm in lstms:
                sequence = lstm(sequence)[0]
            parts.append(sequence.unflatten(2, (2, values)))  # [B, a, directions, r]
        joined = torch.stack(parts, 3).flatten(2)
        found = torch.log_softmax(self.termination(joined), 2)
        return _Found(found[None, ..., 1:])


@dataclass(frozen=True)
class _Found:
    log_probabilities: torch.Tensor


def _one_verse(lstm: Any, verse: int) -> nn.LSTM:
    gates, width = lstm.recurrent.shape[2], lstm.recurrent.shape[3]
    parts = lstm.inputs.shape[4]
    one = nn.LSTM(parts * width, width, batch_first=True, bidirectional=True)
    with torch.no_grad():
        for direction, ending in enumerate(("", "_reverse")):
            inputs = lstm.inputs[direction, verse].reshape(gates * width, -1)
            getattr(one, f"weight_ih_l0{ending}").copy_(inputs)
            recurrent = lstm.recurrent[direction, verse].reshape(gates * width, -1)
            getattr(one, f"weight_hh_l0{ending}").copy_(recurrent)
            getattr(one, f"bias_ih_l0{ending}").copy_(lstm.bias[direction, verse].flatten())
            getattr(one, f"bias_hh_l0{ending}").zero_()
    return one


class Results:
    """Rows in a JSON file, written one by one; each has a key, and is measured once.

    Args:
        path: of the file.
        command: that is running.
    """

    def __init__(self, path: Path, command: str) -> None:
        self._path = path
        content = json.loads(path.read_text()) if path.exists() else {"rows": []}
        self.rows: list[Row] = content["rows"]
        self._commands: list[str] = content.get("commands", [])
        if command not in self._commands:
            self._commands.append(command)

    def lacks(self, key: Row) -> bool:
        """Whether no row has these values."""
        return self.find(key) is None

    def find(self, key: Row) -> Row | None:
        """Return the row with these values and no further name of what was measured."""
        return next(
            (row for row in self.rows if {name: row.get(name) for name in key} == key), None
        )

    def add(self, row: Row) -> None:
        """Write a row down."""
        self.rows.append(row)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._path.with_name(self._path.name + ".part")
        content = {"commands": self._commands, "rows": self.rows}
        unfinished.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        unfinished.replace(self._path)
        print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)


def train(config: Any, make_learner: Callable[..., Any]) -> Training[Any]:
    """Train a run to its end, or what is left of it."""
    exists = (config.run / "config.json").exists()
    training = Training(replace(config, resume=exists), make_learner)
    if not training.finished:
        training.run(Console())
    return training


def by_epoch(
    results: Results, key: Row, config: SupervisedConfig, epochs: int, options: Options
) -> None:
    """Train epoch by epoch, and play the puzzles kept back after each."""
    test = some(config.puzzles.divide(config.env).test, options.count)
    key = key | {"seed": options.seed}
    for epoch in range(1, epochs + 1):
        row = key | {"epochs": epoch}
        if not results.lacks(row):
            continue
        training = train(replace(config, iterations=epoch), SupervisedLearner)
        weights = sum(p.numel() for p in training.learner.model.parameters())
        start = time.process_time()
        found = evaluate(training.learner.policy(), test)
        more = {"weights": weights, "training seconds": round(training.seconds, 1)}
        orbits = {"orbits solved": list(found.orbits_solved)} if found.orbits_solved else {}
        results.add(row | figures(found.solved, start) | more | orbits)


def for_minutes(
    results: Results,
    key: Row,
    config: LabelledConfig,
    make_learner: Callable[..., Any],
    minutes: float,
) -> None:
    """Train for so many minutes of processor time: as many iterations as a trial says fit.

    The number is written down, so that a run which is resumed ends as one that was not.
    """
    plan_key = key | {"what": "training", "minutes": minutes}
    plan = results.find(plan_key)
    if plan is None:
        with tempfile.TemporaryDirectory() as folder:
            trial = replace(config, run=Path(folder) / "trial", iterations=3, checkpoint_every=9)
            training = Training(trial, make_learner)
            training.step()  # compiles
            before = training.seconds
            training.step()
            training.step()
            each = (training.seconds - before) / 2
        iterations = max(1, round(60 * minutes / each))
        plan = plan_key | {"iterations": iterations, "seconds an iteration": round(each, 3)}
        results.add(plan)
    training = train(replace(config, iterations=plan["iterations"]), make_learner)
    done = key | {"what": "trained", "minutes": minutes}
    if results.lacks(done):
        weights = sum(tensor.numel() for tensor in training.learner.state().weights.values())
        results.add(done | {"weights": weights, "training seconds": round(training.seconds, 1)})


def nine(name: str, run: Path, seed: int, parts: PuzzlesConfig) -> LabelledConfig:
    """Return the training of a network at 9x9; only its length is left open."""
    common: dict[str, Any] = {"run": run, "seed": seed, "puzzles": parts}
    if name == "exact-cover":
        return ExactCoverTraining(**common, evaluate_every=20)
    common |= {"evaluate_every": 20, "env": "Sudoku9x9-v0"}
    if name == "rrn":
        return RelationalTraining(**common)
    if name == "tiny-recursion":
        return TinyRecursionTraining(**common)
    if name == "cnn":
        return ConvolutionsTraining(**common)
    if name != "recurrent-transformer":
        raise ValueError(f"no network is called {name!r} here")
    return RecurrentTransformerTraining(
        **common,
        model=RecurrentTransformerConfig(rounds=32),
        updates=50,
        augment=True,
        constant_share=0.4,
    )


def some(chosen: PuzzleSet, count: int) -> PuzzleSet:
    """Return at most so many puzzles, spread over a set."""
    if len(chosen) <= count:
        return chosen
    return chosen[np.linspace(0, len(chosen) - 1, count).astype(np.int64)]


def play(
    results: Results, key: Row, policy: Policy, chosen: PuzzleSet, grades: bool = False
) -> None:
    """Let a policy play a set, all of it and divided by grade."""
    if not results.lacks(key | {"grade": None}):
        return
    start = time.process_time()
    solved = evaluate(policy, chosen).solved
    rows = [key | figures(solved, start)]
    for grade, technique in enumerate(GRADES) if grades else ():
        among = chosen.grades == grade
        if among.any():
            rows.append(key | {"grade": technique} | figures(solved[among]))
    for row in reversed(rows):  # the whole comes last, so that a part is never all there is
        results.add(row)


def figures(solved: Any, start: float | None = None) -> Row:
    """Return how many of the puzzles were solved, with a 95 % interval in percent."""
    count, won = len(solved), int(solved.sum())
    low, high = wilson_interval(won, count)
    row = {"count": count, "solved": won, "low": round(100 * low, 2), "high": round(100 * high, 2)}
    return row if start is None else row | {"seconds": round(time.process_time() - start, 2)}


PARTS = {
    "multiverse": MultiverseTables,
    "transformer": TransformerTable,
    "guissart": GuissartFigures,
    "nine": EqualTime,
    "distinct": DistinctPuzzles,
    "verses": Verses,
    "figure": Figure,
}


def main(argv: Sequence[str] | None = None) -> list[Row]:
    argv = sys.argv[1:] if argv is None else list(argv)
    part: Any = tyro.extras.subcommand_cli_from_dict(PARTS, args=argv)
    torch.set_num_threads(1)
    if isinstance(part, Figure):
        part.draw()
        return []
    results = Results(part.out, " ".join(["python benchmarks/neural.py", *argv]))
    part.run(results)
    print("", *markdown(results.rows), sep="\n")
    return results.rows


def markdown(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the table."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(str(row.get(name, '')) for name in names)} |"


if __name__ == "__main__":
    main()
