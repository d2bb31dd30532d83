"""`sudoku-gym evaluate` and `sudoku-gym compare`: policies on the same puzzles."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from tyro.conf import arg

from sudoku_gym.cli.puzzle_arguments import (
    BankOrFile,
    Board,
    Split,
    geometry_named,
    parse_blanks,
    read_puzzles,
)
from sudoku_gym.cli.terminal import OnProgress, console, progress, table
from sudoku_gym.evaluation import Evaluation, tabulate
from sudoku_gym.evaluation.lists import ListFile, ListResults, ListRow, json_of_row, play_list
from sudoku_gym.evaluation.tables import plain_table, tabulate_cards, tabulate_groups
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Policy, load_policy, model_card_of, weights_sha256
from sudoku_gym.puzzles import files, find_in_training
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource

COMPARED_BY_DEFAULT = ("masked-random", "naked-singles", "hidden-singles")


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Options of both commands: the puzzles, the rules and the output."""

    puzzles: BankOrFile = "4x4"
    board: Board = ""
    split: Split | None = None
    """Part of a bank; the test split if the bank has one."""
    count: Annotated[int | None, arg(aliases=("--sample",))] = None
    """Number of puzzles; all if not given. Without --blanks they are drawn without repetition. A
    file is read part by part, so it may be of any length."""
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
    out: str = ""
    """A .json file for the results, by source and by rating too, and what must stand beside them. A
    run that was stopped goes on where it was; policies whose weights or version have changed play
    anew."""
    again: bool = False
    """Let all policies play anew; what --out holds of one of them stays until it is through."""
    leave_out_training: bool = False
    """Leave out puzzles that a training split of a bank holds up to symmetry, and count them."""
    trust: bool = False
    """Allow checkpoints to load and run arbitrary code."""


Options = Annotated[Rules, arg(name="")]


def evaluate(policy: str, /, *, options: Options = Rules()) -> int:
    """Let one policy play puzzles, and print how many it solves.

    Args:
        policy: A policy's name (see `sudoku-gym info`), module:attribute, or the folder of a
            checkpoint; with options, if any, as in 'dlx?node_limit=1000&item_rule=fewest'.
        options: The puzzles, the rules and the output.
    """
    return _play_all([policy], options)


def compare(
    policies: tuple[str, ...] = COMPARED_BY_DEFAULT, /, *, options: Options = Rules()
) -> int:
    """Let several policies play the same puzzles, and print one table.

    Args:
        policies: Names, module:attribute, or folders of checkpoints, each with options, if any, as
            in 'expert-iteration?simulations=64'.
        options: The puzzles, the rules and the output.
    """
    return _play_all(policies, options)


def _play_all(names: Sequence[str], options: Rules) -> int:
    out = _checked_out(options.out)
    players = {name: load_policy(name, trust=options.trust) for name in names}
    chosen = PuzzleList.select(options)
    file = ListFile(out, _identity(options))
    results = dict[str, Evaluation]()
    with progress([*names]) as start:
        for name, policy in players.items():
            results[name] = _play(name, policy, chosen, file, options, start(name))
    _show(results, chosen, file.results, options)
    return 0


def _checked_out(out: str) -> Path | None:
    if out and not out.endswith(".json"):
        raise ValueError(f"--out {out}: results are written to a file that ends in .json")
    if out and not Path(out).parent.is_dir():
        raise ValueError(f"--out {out}: there is no folder {Path(out).parent}")
    return Path(out).absolute() if out else None


def _identity(options: Rules) -> dict[str, bool | int | str | None]:
    """Return which list is played, for a file of results; the folder of a file is left out."""
    is_file = options.puzzles.endswith(files.SUFFIXES)
    names = ("split", "count", "blanks", "seed", "leave_out_training")
    return {
        "name": Path(options.puzzles).name if is_file else options.puzzles,
        **{name: getattr(options, name) for name in names},
    }


def _play(
    name: str, policy: Policy, chosen: PuzzleList, file: ListFile, options: Rules, on: OnProgress
) -> Evaluation:
    """Let a policy play what the file lacks."""
    rules = {each: getattr(options, each) for each in ("seed", "actions", "erase", "max_steps")}
    new = ListRow(
        name,
        {**rules, "batch_size": options.batch_size},
        weights_sha256(name) or "",
        package=f"sudoku-gym {version('sudoku-gym')}",
        card=model_card_of(policy),
    )
    row = file.begin(new, options.again)
    return play_list(
        policy,
        chosen.parts(options.batch_size),
        row,
        on_filled=lambda: file.write(row, chosen.left_out),
        on_progress=lambda share: on(chosen.start + chosen.length * share),
        **rules,
    )


def _show(
    results: dict[str, Evaluation], chosen: PuzzleList, played: ListResults, options: Rules
) -> None:
    """Print the results, and what must stand beside them."""
    rows = {row.policy: row for row in played.rows if row.policy in results}
    if options.format == "json":
        found = {
            name: result.to_dict() | json_of_row(rows[name]) for name, result in results.items()
        }
        print(json.dumps(found, indent=2))
        return
    tables = {_title(chosen, len(next(iter(results.values())).solved), options): tabulate(results)}
    if any(row.by_source or row.by_rating for row in rows.values()) or options.out:
        tables |= {
            "By source": tabulate_groups({n: row.by_source for n, row in rows.items()}),
            "By rating": tabulate_groups({n: row.by_rating for n, row in rows.items()}),
            "What stands beside it": tabulate_cards(rows),
        }
    for heading, (heads, cells) in tables.items():
        if cells and options.format == "markdown":
            print(f"{heading}\n\n{plain_table(heads, cells)}\n")
        elif cells:
            console().print(table(heads, cells, heading))


def _title(chosen: PuzzleList, count: int, options: Rules) -> str:
    """Return the name and number of the puzzles, and whether they are held out."""
    parts = [f"{chosen.name}, {chosen.split}", f"{count:,} puzzles"]
    parts += [f"{options.blanks} blanks"] if options.blanks else []
    if chosen.left_out is not None:
        parts.append(f"{chosen.left_out} left out")
    if chosen.split in ("validation", "test"):
        # For sizes below 9x9, revealed test puzzles may also be contained in a training puzzle,
        # so only puzzles as stored count as held out.
        held_out = not options.blanks or (chosen.geometry is None or chosen.geometry.size >= 9)
        parts.append("held out" if held_out else "in distribution")
    return ", ".join([*parts, f"seed {options.seed}"])


@dataclass
class PuzzleList:
    """Puzzles to play: a set, or a file of any length that is read in parts."""

    name: str
    """the bank, or the path of a file"""
    split: str
    geometry: Geometry | None
    """None for a file that has not been read"""
    whole: PuzzleSet | None
    """None for a file that is read while it is played"""
    left_out: int | None
    """puzzles of a training split that were left out; None: not looked for"""
    start: float = 0.0
    length: float = 0.0
    """where the present part begins and how long it is, as shares of the list"""

    @classmethod
    def select(cls, options: Rules) -> PuzzleList:
        """Choose the puzzles of a bank, a file or a `module:attribute`; see `read_puzzles`."""
        name, count, geometry = options.puzzles, options.count, geometry_named(options.board)
        if count is not None and count < 1:
            raise ValueError(f"count must be at least 1, not {count}")
        left_out = 0 if options.leave_out_training else None
        rng = np.random.default_rng(options.seed)
        is_plain_file = (
            name.endswith(files.SUFFIXES) and options.split in (None, "all") and not options.blanks
        )
        if is_plain_file and count is None:
            return cls(name, "all", geometry, None, left_out)
        if is_plain_file and count is not None:
            with progress([name]) as start:
                whole = files.read_sample(name, count, rng, geometry, on_progress=start(name))
        else:
            whole = _draw(read_puzzles(name, options.split, geometry), count, options.blanks, rng)
        chosen = cls(whole.name, whole.split, whole.geometry, whole, left_out)
        if left_out is not None:
            chosen.whole = chosen._without_training(whole)
            if not len(chosen.whole):
                raise ValueError(f"{whole.name}: training splits hold all {len(whole)} puzzles")
        return chosen

    def parts(self, count: int) -> Iterator[PuzzleSet]:
        """Yield the puzzles in parts of at most `count`, the same each time."""
        if count < 1:
            raise ValueError(f"batch_size must be at least 1, not {count}")
        self.start = self.length = 0.0
        if self.whole is not None:
            for first in range(0, len(self.whole), count):
                self._move_to(min((first + count) / len(self.whole), 1.0))
                yield self.whole[first : first + count]
            return
        self.left_out = None if self.left_out is None else 0
        for part in files.read_in_parts(
            self.name, self.geometry, chunk=count, on_progress=self._move_to
        ):
            self.geometry = part.geometry
            kept = part if self.left_out is None else self._without_training(part)
            if len(kept):
                yield kept

    def _move_to(self, end: float) -> None:
        """Go on to the part that ends at this share of the list."""
        self.start += self.length
        self.length = max(end - self.start, 0.0)

    def _without_training(self, part: PuzzleSet) -> PuzzleSet:
        is_known = find_in_training(part)
        self.left_out = (self.left_out or 0) + int(is_known.sum())
        return part[~is_known]


def _draw(whole: PuzzleSet, count: int | None, blanks: str, rng: np.random.Generator) -> PuzzleSet:
    if blanks:
        drawn = BankSource(whole).sample(count or len(whole), parse_blanks(blanks), rng)
        return PuzzleSet(*drawn, whole.geometry, whole.name, whole.split)
    if count is None:
        return whole
    if count > len(whole):
        raise ValueError(f"count {count}: {whole.name} ({whole.split}) has {len(whole)}")
    return whole[rng.permutation(len(whole))[:count]]
