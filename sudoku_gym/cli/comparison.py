"""`sudoku-gym evaluate` and `sudoku-gym compare`: policies on the same puzzles."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np
from tyro.conf import Positional

from sudoku_gym.cli.puzzle_arguments import (
    BankOrFile,
    Board,
    Split,
    geometry_named,
    parse_blanks,
    read_puzzles,
)
from sudoku_gym.cli.terminal import console, progress, table
from sudoku_gym.evaluation import Evaluation, evaluate, tabulate, to_markdown
from sudoku_gym.plugins import default_policies
from sudoku_gym.policies import Policy, load_policy
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource


@dataclass(frozen=True, kw_only=True)
class _EvaluationOptions:
    """Options of both commands: the puzzles, the rules and the output."""

    puzzles: BankOrFile = "4x4"
    board: Board = ""
    split: Split | None = None
    """Part of a bank; the test split if the bank has one."""
    count: int | None = None
    """Number of puzzles; all if not given. Without --blanks they are drawn without repetition."""
    blanks: str = ""
    """Reveal cells until this many blanks are left: a number, or a range such as 30-40. Puzzles are
    then drawn with repetition: --count of them, or as many as the bank holds."""
    seed: int = 0
    """Seed for drawing puzzles and for the policies."""
    actions: Literal["legal", "blank"] = "legal"
    """Placements that the mask allows: candidates only, or any digit in a blank cell."""
    erase: bool = False
    """Let the policies clear cells."""
    max_steps: int | None = None
    """Moves after which a game ends; the environment's limit if not given."""
    batch_size: int = 1024
    """Games played in parallel."""
    format: Literal["table", "markdown", "json"] = "table"
    """Output format."""
    trust: bool = False
    """Allow checkpoints to load and run arbitrary code."""

    def select_puzzles(self) -> PuzzleSet:
        """Return the puzzles to play."""
        whole = read_puzzles(self.puzzles, self.split, geometry_named(self.board))
        count = len(whole) if self.count is None else self.count
        if count < 1:
            raise ValueError(f"count must be at least 1, not {count}")
        rng = np.random.default_rng(self.seed)
        if self.blanks:
            drawn = BankSource(whole).sample(count, parse_blanks(self.blanks), rng)
            return PuzzleSet(*drawn, whole.geometry, whole.name, whole.split)
        if count > len(whole):
            raise ValueError(f"count {count}: {whole.name} ({whole.split}) has {len(whole)}")
        return whole[rng.permutation(len(whole))[:count]] if self.count else whole

    def play(self, policies: dict[str, Policy], puzzles: PuzzleSet) -> dict[str, Evaluation]:
        """Evaluate policies under the options."""
        results = {}
        with progress(list(policies)) as start:
            for name, policy in policies.items():
                results[name] = evaluate(
                    policy,
                    puzzles,
                    seed=self.seed,
                    actions=self.actions,
                    erase=self.erase,
                    max_steps=self.max_steps,
                    batch_size=self.batch_size,
                    on_progress=start(name),
                )
        return results

    def show(self, results: dict[str, Evaluation], puzzles: PuzzleSet) -> None:
        """Print the results."""
        title = self._title(puzzles)
        if self.format == "json":
            print(
                json.dumps({name: result.to_dict() for name, result in results.items()}, indent=2)
            )
        elif self.format == "markdown":
            print(f"{title}\n\n{to_markdown(results)}")
        else:
            console().print(table(*tabulate(results), title))

    def _title(self, puzzles: PuzzleSet) -> str:
        """Return the name and number of the puzzles, and whether they are held out."""
        parts = [f"{puzzles.name}, {puzzles.split}", f"{len(puzzles):,} puzzles"]
        parts += [f"{self.blanks} blanks"] if self.blanks else []
        if puzzles.split in ("validation", "test"):
            # For sizes below 9x9, revealed test puzzles may also be contained in a training puzzle,
            # so only puzzles as stored count as held out.
            held_out = not self.blanks or puzzles.geometry.size >= 9
            parts.append("held out" if held_out else "in distribution")
        return ", ".join([*parts, f"seed {self.seed}"])


@dataclass(frozen=True)
class Evaluate(_EvaluationOptions):
    """Let one policy play puzzles, and print how many it solves."""

    policy: Positional[str]
    """A policy's name (see `sudoku-gym info`), module:attribute, or the folder of a checkpoint;
    with options, if any, as in 'dlx?node_limit=1000&item_rule=fewest'."""

    def run(self) -> int:
        """Evaluate and print."""
        policy = load_policy(self.policy, trust=self.trust)
        puzzles = self.select_puzzles()
        self.show(self.play({self.policy: policy}, puzzles), puzzles)
        return 0


@dataclass(frozen=True)
class Compare(_EvaluationOptions):
    """Let several policies play the same puzzles, and print one table."""

    policies: Positional[tuple[str, ...]] = field(
        default_factory=partial(default_policies, "compare")
    )
    """Names, module:attribute, or folders of checkpoints, each with options, if any, as in
    'calphazero?simulations=64'."""

    def run(self) -> int:
        """Evaluate all and print."""
        if not self.policies:
            raise ValueError("no policy to compare: name some (`sudoku-gym info` lists them)")
        policies = {name: load_policy(name, trust=self.trust) for name in self.policies}
        puzzles = self.select_puzzles()
        self.show(self.play(policies, puzzles), puzzles)
        return 0
