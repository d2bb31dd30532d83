"""`sudoku-gym evaluate` and `sudoku-gym compare`: policies on the same puzzles."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from sudoku_gym.cli.puzzle_arguments import BankOrFile, Board, Split, geometry_named
from sudoku_gym.cli.puzzle_list import PlaceInList, PuzzleList, select_puzzles
from sudoku_gym.cli.terminal import OnProgress, console, progress, streams_aside, table
from sudoku_gym.evaluation import Evaluation, tabulate
from sudoku_gym.evaluation.list_results import ListFile, ListResults, ListRow, json_of_row
from sudoku_gym.evaluation.lists import play_list
from sudoku_gym.evaluation.tables import plain_table, tabulate_cards, tabulate_groups
from sudoku_gym.plugins import default_policies
from sudoku_gym.policies import Policy, model_card_of
from sudoku_gym.policies.identity import Fingerprint, load_with_fingerprint
from sudoku_gym.policies.own_process import Elsewhere, OwnProcess, closing_all
from sudoku_gym.policies.working_folder import is_of_others
from sudoku_gym.puzzles import files
from sudoku_gym.storage.lock import locked


@dataclass(frozen=True, kw_only=True)
class _EvaluationOptions:
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
    run that was stopped goes on where it was; policies whose weights, configuration, code or
    version have changed play anew (weights in JSON don't count)."""
    again: bool = False
    """Let all policies play anew; what --out holds of one of them stays until it is through."""
    leave_out_training: bool = False
    """Leave out puzzles that a training split of a bank holds up to symmetry, and count them."""
    trust: bool = False
    """Allow checkpoints to load and run arbitrary code."""

    def __post_init__(self) -> None:
        if self.out and not self.out.endswith(".json"):
            raise ValueError(f"--out {self.out}: results are written to a file that ends in .json")
        if self.out and not Path(self.out).parent.is_dir():
            raise ValueError(f"--out {self.out}: there is no folder {Path(self.out).parent}")

    def run(self) -> int:
        """Play, print and write."""
        if not self.out:
            return self._play_all(None)
        out = Path(self.out).absolute()  # a policy may change the working folder
        refusal = (
            f"--out {self.out}: another command is writing it; wait for it, or give another file"
        )
        with locked(out.with_name(f".{out.name}.lock"), refusal):
            return self._play_all(out)

    def _play_all(self, out: Path | None) -> int:
        names = self._policy_names()
        if len(names) > 1 and os.path.exists(self.puzzles) and Path(self.puzzles).is_fifo():
            raise ValueError(f"{self.puzzles} is a pipe, and each policy reads it anew: save it")
        players, results = dict[str, _Player | _PlayerElsewhere](), dict[str, Evaluation]()
        with closing_all() as processes:
            for name in names:  # what plays is what was loaded, whatever its files become meanwhile
                if len(names) > 1 and is_of_others(name):
                    processes.append(OwnProcess(name))
                    made = processes[-1].make(partial(_Player, self, name))
                    players[name] = _PlayerElsewhere(made)
                else:
                    players[name] = _Player(self, name)
            chosen = select_puzzles(
                self.puzzles,
                self.split,
                geometry_named(self.board),
                self.count,
                self.blanks,
                self.seed,
                leave_out_training=self.leave_out_training,
            )
            file = ListFile(out, self._identity())
            with progress([*names]) as start:
                for name, player in players.items():
                    results[name], chosen, file = player.play(chosen, file, start(name))
        self._show(results, chosen, file.results)
        return 0

    def _policy_names(self) -> Sequence[str]:
        raise NotImplementedError

    def play(
        self,
        name: str,
        policy: Policy,
        made_of: Fingerprint,
        chosen: PuzzleList,
        file: ListFile,
        on_progress: OnProgress,
    ) -> Evaluation:
        """Let a policy play what the file lacks."""
        options = {
            "seed": self.seed,
            "actions": self.actions,
            "erase": self.erase,
            "max_steps": self.max_steps,
        }
        new = ListRow(
            name,
            {**options, "batch_size": self.batch_size},
            card=model_card_of(policy),
            **made_of,
        )
        before = file.copy_of(name)
        row, place = file.begin(new, self.again), PlaceInList()

        def write() -> None:
            if row.is_done:
                self._check_same_list(row, before, file)
                file.finish(row, chosen.left_out)
            file.write()

        return play_list(
            policy,
            chosen.parts(self.batch_size, place),
            row,
            on_filled=write,
            on_progress=lambda share: on_progress(place.start + place.length * share),
            **options,
        )

    def _check_same_list(self, row: ListRow, before: ListRow | None, file: ListFile) -> None:
        """Leave a row out if another policy has played another list."""
        for other in file.results.rows:
            if other.policy != row.policy and other.is_done and other.sha256 != row.sha256:
                file.restore(row.policy, before)
                raise ValueError(
                    f"{self.puzzles} has changed since {other.policy} played it: what {row.policy} "
                    "has played now is left out; give another --out"
                )

    def _identity(self) -> dict[str, bool | int | str | None]:
        """Return which list is played, for a file of results; the folder of a file is left out."""
        is_file = self.puzzles.endswith(files.SUFFIXES)
        return {
            "name": Path(self.puzzles).name if is_file else self.puzzles,
            "split": self.split,
            "count": self.count,
            "blanks": self.blanks,
            "seed": self.seed,
            "leave_out_training": self.leave_out_training,
        }

    def _show(
        self, results: dict[str, Evaluation], chosen: PuzzleList, played: ListResults
    ) -> None:
        """Print the results, and what must stand beside them."""
        rows = {row.policy: row for row in played.rows if row.policy in results}
        if self.format == "json":
            found = {
                name: result.to_dict() | json_of_row(rows[name]) for name, result in results.items()
            }
            print(json.dumps(found, indent=2))
            return
        title = self._title(chosen, len(next(iter(results.values())).solved))
        tables = {title: tabulate(results)}
        if any(row.by_source or row.by_rating for row in rows.values()) or self.out:
            tables |= {
                "By source": tabulate_groups({n: row.by_source for n, row in rows.items()}),
                "By rating": tabulate_groups({n: row.by_rating for n, row in rows.items()}),
                "What stands beside it": tabulate_cards(rows),
            }
        for heading, (heads, cells) in tables.items():
            if cells and self.format == "markdown":
                print(f"{heading}\n\n{plain_table(heads, cells)}\n")
            elif cells:
                console().print(table(heads, cells, heading))

    def _title(self, chosen: PuzzleList, count: int) -> str:
        """Return the name and number of the puzzles, and whether they are held out."""
        parts = [f"{chosen.name}, {chosen.split}", f"{count:,} puzzles"]
        parts += [f"{self.blanks} blanks"] if self.blanks else []
        if chosen.left_out is not None:
            parts.append(f"{chosen.left_out} left out")
        if chosen.split in ("validation", "test"):
            # For sizes below 9x9, revealed test puzzles may also be contained in a training puzzle,
            # so only puzzles as stored count as held out.
            held_out = not self.blanks or (chosen.geometry is None or chosen.geometry.size >= 9)
            parts.append("held out" if held_out else "in distribution")
        return ", ".join([*parts, f"seed {self.seed}"])


class _Player:
    """A policy that has been loaded, and the options that it plays under."""

    def __init__(self, options: _EvaluationOptions, name: str) -> None:
        with streams_aside():
            self._policy = load_with_fingerprint(name, trust=options.trust)
        self._options, self._name = options, name

    def play(
        self, chosen: PuzzleList, file: ListFile, on_progress: OnProgress
    ) -> tuple[Evaluation, PuzzleList, ListFile]:
        """Let it play what the file lacks."""
        with streams_aside():
            found = self._options.play(self._name, *self._policy, chosen, file, on_progress)
        return found, chosen, file


class _PlayerElsewhere:
    """A `_Player` in a process of its own."""

    def __init__(self, player: Elsewhere) -> None:
        self._player = player

    def play(
        self, chosen: PuzzleList, file: ListFile, on_progress: OnProgress
    ) -> tuple[Evaluation, PuzzleList, ListFile]:
        """Let it play what the file lacks; return the list and the file as they are there."""
        played: tuple[Evaluation, PuzzleList, ListFile]
        played = self._player.call("play", chosen, file, on_progress=on_progress)
        return played


@dataclass(frozen=True)
class Evaluate(_EvaluationOptions):
    """Let one policy play puzzles, and print how many it solves."""

    policy: Positional[str]
    """A policy's name (see `sudoku-gym info`), module:attribute, or the folder of a checkpoint;
    with options, if any, as in 'dlx?node_limit=1000&item_rule=fewest'."""

    def _policy_names(self) -> Sequence[str]:
        return [self.policy]


@dataclass(frozen=True)
class Compare(_EvaluationOptions):
    """Let several policies play the same puzzles, and print one table.

    Those of other packages play in processes of their own; a debugger needs `evaluate`.
    """

    policies: Positional[tuple[str, ...]] = field(
        default_factory=partial(default_policies, "compare")
    )
    """Names, module:attribute, or folders of checkpoints, each with options, if any, as in
    'expert-iteration?simulations=64'."""

    def _policy_names(self) -> Sequence[str]:
        if not self.policies:
            raise ValueError("no policy to compare: name some (`sudoku-gym info` lists them)")
        return self.policies
