"""`sudoku-gym compare`: policies on the same puzzles."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from tyro.conf import arg

from sudoku_gym.cli.puzzle_arguments import Board, Puzzles, Split, parse_blanks, read_puzzles
from sudoku_gym.cli.terminal import console, progress, table
from sudoku_gym.evaluation import Evaluation, tabulate
from sudoku_gym.evaluation.lists import ListResults, ListRow, json_of_row, open_results, play_list
from sudoku_gym.evaluation.tables import tabulate_cards, tabulate_groups
from sudoku_gym.policies import load_policy, model_card_of, weights_sha256
from sudoku_gym.policies.loading import CONFIG_FILE, weights_file
from sudoku_gym.puzzles import banks, files, find_in_training
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource
from sudoku_gym.puzzles.tasks import Tasks, rows_of
from sudoku_gym.registration import ENVIRONMENTS
from sudoku_gym.storage.atomic import check_suffix
from sudoku_gym.storage.configs import from_json
from sudoku_gym.storage.reading import error_context, read_json

COMPARED_BY_DEFAULT = ("masked-random", "naked-singles", "hidden-singles")
_RULES = ("seed", "actions", "erase", "max_steps", "batch_size")


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Options of the command: the puzzles, the rules and the output."""

    puzzles: Puzzles = "4x4"
    board: Board = ""
    split: Split | None = None
    """Part of a bank; the test split if the bank has one."""
    rows: str = ""
    """A file with the numbers of the puzzles to play, from 0 on, one a line."""
    rating: str = ""
    """Play only puzzles that the list rates from one number to below another: 2.2..8."""
    count: int | None = None
    """Number of puzzles; all if not given. Without --blanks each comes once at most."""
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
    format: Literal["table", "json"] = "table"
    """Output format."""
    out: str = ""
    """A .json file for the results, by source and by rating too, and what must stand beside them. A
    run that was stopped goes on where it was; policies whose weights or version have changed play
    anew. Of two commands that write one file at once, the later wins."""
    leave_out_training: bool = False
    """Leave out puzzles that a training split of a bank holds up to symmetry, and count them."""
    trust: bool = False
    """Allow checkpoints to load and run arbitrary code."""


def compare(
    policies: tuple[str, ...] = COMPARED_BY_DEFAULT,
    /,
    *,
    options: Annotated[Rules, arg(name="")] = Rules(),
) -> int:
    """Let policies play the same puzzles, and print one table.

    Args:
        policies: Names (see `sudoku-gym info`), module:attribute, or folders of checkpoints, each
            with options, if any, as in 'expert-iteration?simulations=64'.
        options: The puzzles, the rules and the output.
    """
    if options.out:
        check_suffix(options.out, "--out", ".json")
    players = {name: load_policy(name, trust=options.trust) for name in policies}
    puzzles, left_out = _choose(options)
    out = Path(options.out) if options.out else None
    played, results = open_results(out, _identity(options, puzzles)), dict[str, Evaluation]()
    played.left_out = left_out
    rules = {each: getattr(options, each) for each in _RULES}

    def write() -> None:
        if out is not None:
            played.write(out)

    write()
    with progress() as start:
        for name, policy in players.items():
            new = ListRow(
                name,
                rules,
                weights_sha256(name) or "",
                package=f"sudoku-gym {version('sudoku-gym')}",
                card=model_card_of(policy),
            )
            results[name] = play_list(
                policy, puzzles, played.begin(new), on_filled=write, on_progress=start(name)
            )
    _show(results, puzzles, played, options)
    return 0


def _identity(options: Rules, puzzles: PuzzleSet) -> dict[str, bool | int | str | None]:
    """Return which list is played, for a file of results; the folder of a file is left out."""
    is_file = options.puzzles.endswith(files.SUFFIXES)
    names = ["board", "split", "count", "blanks", "seed", "leave_out_training"]
    names += [name for name in ("rows", "rating") if getattr(options, name)]
    return {
        "name": Path(options.puzzles).name if is_file else options.puzzles,
        **{name: getattr(options, name) for name in names},
        "sha256": sha256(puzzles.puzzles.tobytes()).hexdigest(),
    }


def _show(
    results: dict[str, Evaluation], puzzles: PuzzleSet, played: ListResults, options: Rules
) -> None:
    """Print the results, and what must stand beside them."""
    rows = {row.policy: row for row in played.rows if row.policy in results}
    if options.format == "json":
        figures = {
            name: result.to_dict() | json_of_row(rows[name]) for name, result in results.items()
        }
        print(json.dumps(figures, indent=2))
        return
    heads, cells = tabulate(results)
    held_out = _held_out(puzzles, options)
    seen = {name: _seen_in_training(name, puzzles, held_out) for name in results}
    if told := {name: f"{n:,} of {len(puzzles):,}" for name, n in seen.items() if n is not None}:
        heads.append("seen in training")
        cells = [[*row, told.get(row[0], "-")] for row in cells]
    title = _title(puzzles, played.left_out, options, "" if any(seen.values()) else held_out)
    tables = {title: (heads, cells)}
    if any(row.by_source or row.by_rating for row in rows.values()) or options.out:
        tables |= {
            "By source": tabulate_groups({n: row.by_source for n, row in rows.items()}),
            "By rating": tabulate_groups({n: row.by_rating for n, row in rows.items()}),
            "What stands beside it": tabulate_cards(rows),
        }
    for heading, (heads, cells) in tables.items():
        if cells:
            console().print(table(heads, cells, heading))


def _seen_in_training(name: str, puzzles: PuzzleSet, held_out: str) -> int | None:
    """Return how many puzzles a policy was trained on; None if no configuration of it tells."""
    weights = weights_file(name)
    file = weights.with_name(CONFIG_FILE) if weights else None
    config = read_json(file) if file and file.exists() else {}
    if not isinstance(config.get("puzzles"), dict):  # environments play the training split
        is_ours = {config.get("env"), *config.get("envs", ())} <= ENVIRONMENTS.keys()
        return 0 if is_ours and held_out == "held out" else None
    division: Any = from_json(config["puzzles"])
    trained = {board.tobytes() for board in division.divide(config["env"]).train.puzzles}
    return sum(board.tobytes() in trained for board in puzzles.puzzles)


def _held_out(puzzles: PuzzleSet, options: Rules) -> str:
    """Say whether the bank's training split holds no such puzzle."""
    if puzzles.name not in banks.NAMES or puzzles.split not in ("validation", "test"):
        return ""
    # Below 9x9 a training puzzle may hold a revealed test puzzle too: as stored they are held out.
    return "held out" if not options.blanks or puzzles.geometry.size >= 9 else "in distribution"


def _title(puzzles: PuzzleSet, left_out: int | None, options: Rules, held_out: str) -> str:
    """Return the name and number of the puzzles, and whether the bank holds them out."""
    parts = [f"{puzzles.name}, {puzzles.split}", f"{len(puzzles):,} puzzles"]
    parts += [f"{options.blanks} blanks"] if options.blanks else []
    parts += [f"{left_out} left out"] if left_out is not None else []
    return ", ".join([*parts, *filter(None, [held_out]), f"seed {options.seed}"])


def _choose(options: Rules) -> tuple[PuzzleSet, int | None]:
    """Return the puzzles to play, and how many were left out since a training split has them.

    The number is None if that was not looked for.
    """
    name, count = options.puzzles, options.count
    geometry = banks.named_geometry(options.board) if options.board else None
    if count is not None and count < 1:
        raise ValueError(f"count must be at least 1, not {count}")
    rng = np.random.default_rng(options.seed)
    is_plain_file = (
        name.endswith(files.SUFFIXES)
        and options.split in (None, "all")
        and not (options.blanks or options.rows or options.rating)
    )
    if is_plain_file and count is not None:
        with progress() as start:
            puzzles = files.read_sample(name, count, rng, geometry, on_progress=start(name))
    else:
        whole = read_puzzles(name, options.split, geometry)
        whole = whole[_row_numbers(options.rows, len(whole))] if options.rows else whole
        whole = _rated(whole, options.rating) if options.rating else whole
        puzzles = _draw(whole, count, options.blanks, rng)
    if not options.leave_out_training:
        return puzzles, None
    is_known = find_in_training(puzzles)
    if is_known.all():
        raise ValueError(f"{puzzles.name}: training splits hold all {len(puzzles)} puzzles")
    return puzzles[~is_known], int(is_known.sum())


def _row_numbers(file: str, total: int) -> NDArray[np.int64]:
    """Read the numbers of rows, from 0 on; ValueError unless each is that of one of `total`."""
    with error_context(Path(file), "it holds no numbers of rows, one a line"):
        rows = np.array(Path(file).read_text().split(), np.int64)
        if not len(rows) or rows.min() < 0 or rows.max() >= total:
            raise ValueError(f"use numbers from 0 to {total - 1}")
    return rows


def _rated(whole: PuzzleSet, ratings: str) -> PuzzleSet:
    _, _, rows = rows_of(Tasks(f"rating={ratings}"), whole, np.arange(len(whole)))
    if not len(rows):
        raise ValueError(f"{whole.name} has no puzzle with --rating {ratings}")
    return whole[np.unique(rows)]


def _draw(whole: PuzzleSet, count: int | None, blanks: str, rng: np.random.Generator) -> PuzzleSet:
    if blanks:
        drawn = BankSource(whole).sample(count or len(whole), parse_blanks(blanks), rng)
        return PuzzleSet(*drawn, whole.geometry, whole.name, whole.split)
    if count is None:
        return whole
    if count > len(whole):
        raise ValueError(f"count {count}: {whole.name} ({whole.split}) has {len(whole)}")
    return whole[rng.permutation(len(whole))[:count]]
