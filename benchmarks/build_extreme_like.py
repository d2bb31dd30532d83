"""Build the bank `extreme-like`: `python benchmarks/build_extreme_like.py`.

2,000 puzzles, for tests alone, with about the mix of kinds that the list Sudoku-Extreme has: half
of them as hard as a local search makes them, a quarter hard, a quarter random, a few easy ones and
a few with few givens. All solution grids are of the validation and test splits of `9x9` and
`9x9-hard`, so nothing here trains on them, nor on anything that a symmetry turns into them.

A rating is the number of candidates that `solver.find_solutions` tries until it has proven the
solution unique, a search of tdoku's kind. With `--tdoku PROGRAM`, the driver in
`benchmarks/tdoku_driver.cpp`, tdoku's own guesses are told beside it.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import tyro
from numpy.typing import NDArray

from build_banks import DATA, disagreements, write_bank, write_checksums
from hardening import harden
from results import Row, command_of, keep
from sudoku_gym import puzzles, solver
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource

NAME = "extreme-like"
COUNTS = {"hardest": 980, "hard": 490, "random": 470, "easy": 40, "few givens": 20}
EASY_BLANKS = 47


@dataclass(frozen=True)
class Config:
    """What to build."""

    seed: int = 31
    """of the draws and of the changes"""
    hardest_steps: int = 2_000
    """changes that `harden` tries on each hard puzzle for the hardest ones"""
    hard_steps: int = 500
    """and on each random puzzle for the hard ones"""
    tdoku: Path | None = None
    """tdoku's driver, to tell its guesses"""
    out: Path | None = None
    """a JSON file for what is told; the figures of other parts in it stay"""
    smoke: bool = False
    """build a hundredth of it, and write no bank"""


def main(argv: Sequence[str] | None = None) -> None:
    """Build the bank, and tell what it holds."""
    config = tyro.cli(Config, args=argv, description=__doc__.splitlines()[0])
    bank = build(config)
    if len(disagreements(bank)):
        raise SystemExit("the SAT solver disagrees about a puzzle")
    if not config.smoke:
        test = np.full(len(bank), puzzles.SPLITS.index("test"), np.int8)
        write_bank(DATA / f"{NAME}.npz", bank, test, np.empty(0, np.uint64))
        write_checksums()
    keep(config.out, NAME, command_of(__file__, argv), rows(bank, config.tdoku))


def build(config: Config) -> PuzzleSet:
    """Make the puzzles, in random order."""
    rng = np.random.default_rng(config.seed)
    counts = {kind: max(count // (100 if config.smoke else 1), 1) for kind, count in COUNTS.items()}
    plain, hard = held_out("9x9", rng), held_out("9x9-hard", rng)
    givens = 81 - plain.blanks
    order = np.argsort(givens, kind="stable")
    few, plain = plain[order[: counts["few givens"]]], plain[np.sort(order[counts["few givens"] :])]
    ends = np.cumsum([counts[kind] for kind in ("hard", "random", "easy")])
    to_harden, random, easy = (plain[part] for part in np.split(np.arange(ends[-1]), ends[:-1]))
    # A little more than are wanted, of which the hardest are taken.
    parents = hard[: counts["hardest"] * 6 // 5]
    hardest = rated(harden(parents, rng, steps=config.hardest_steps))
    hardest = hardest[np.argsort(-hardest.ratings, kind="stable")[: counts["hardest"]]]
    revealed = BankSource(easy).sample(len(easy), EASY_BLANKS, rng)
    parts = {
        "hardest": hardest,
        "hard": harden(to_harden, rng, steps=config.hard_steps),
        "random": random,
        "easy": PuzzleSet(*revealed, easy.geometry, grades=puzzles.grade(revealed[0])),
        "few givens": few,
    }
    named = [
        replace(part, sources=np.full(len(part), kind), orbits=np.empty(0, np.int32))
        for kind, part in parts.items()
    ]
    whole = rated(PuzzleSet.join(named))
    whole.check()
    return replace(whole[rng.permutation(len(whole))], name=NAME, split="test")


def held_out(name: str, rng: np.random.Generator) -> PuzzleSet:
    """Return the puzzles of a bank that nothing is trained on, in random order."""
    whole = PuzzleSet.join([puzzles.load(name, split) for split in ("validation", "test")])
    return whole[rng.permutation(len(whole))]


def rated(chosen: PuzzleSet) -> PuzzleSet:
    """Return the puzzles with their ratings."""
    nodes = solver.find_solutions(chosen.puzzles, 2, chosen.geometry).nodes
    return replace(chosen, ratings=nodes.astype(np.int32))


def rows(bank: PuzzleSet, tdoku: Path | None) -> list[Row]:
    """Describe the puzzles, kind by kind."""
    guesses = None if tdoku is None else guesses_of(tdoku, bank)
    found = []
    for kind in (*COUNTS, "all"):
        chosen = np.full(len(bank), True) if kind == "all" else bank.sources == kind
        part = bank[chosen]
        givens = 81 - part.blanks
        row = {
            "puzzles": kind,
            "count": len(part),
            "givens": f"{givens.min()} to {givens.max()}",
            "share": f"{100 * chosen.mean():.1f} %",
            "mean rating": round(float(part.ratings.mean()), 1),
            "median": int(np.median(part.ratings)),
            "most": int(part.ratings.max()),
            "rating 0": f"{100 * (part.ratings == 0).mean():.1f} %",
        }
        if guesses is not None:
            row["mean guesses of tdoku"] = round(float(guesses[chosen].mean()), 1)
        found.append(row)
    return found


def guesses_of(tdoku: Path, bank: PuzzleSet) -> NDArray[np.int64]:
    """Return tdoku's guesses until each solution is proven unique, int64 `[M]`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "puzzles.txt"
        puzzles.write(path, bank)
        command = [str(tdoku), "list", str(path), "2"]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return np.array([int(line.split()[2]) for line in lines.splitlines()])


if __name__ == "__main__":
    main()
