"""Build the shipped banks: `python benchmarks/build_banks.py [NAME ...]`.

Each bank is made from a fixed seed, graded, split by orbit, and every puzzle is checked again by
a SAT solver that shares no code with ours. The same code and seed give the same bank. Needs the
extra `dev` (igraph and python-sat).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complete4x4 import all_minimal
from hardening import harden
from hardest_bank import Stage, search_hardest
from sudoku_baselines.classical.solvers import clauses_of, literals_of
from sudoku_gym.puzzles import banks
from sudoku_gym.puzzles.generator import generate
from sudoku_gym.puzzles.orbits import canonical_keys
from sudoku_gym.puzzles.puzzle_set import NOT_KNOWN, PuzzleSet
from sudoku_gym.storage.atomic import atomic_write, write_text

DATA = Path(banks.__file__).parent / "data"
SHARES = {"train": 0.8, "validation": 0.1, "test": 0.1}


@dataclass(frozen=True)
class Recipe:
    """How a bank is made.

    Attributes:
        count: how many puzzles; with stages those that each batch begins with.
        seed: decides everything.
        node_limit: the generator's.
        steps: changes that `harden` tries on each puzzle.
        stages: rounds of local search with a choice before each, see `hardest_bank`.
        batches: how often the stages are gone through, each time with the next seed.
        kept: at most so many puzzles of each batch.
    """

    count: int
    seed: int
    node_limit: int | None = None
    steps: int = 0
    stages: tuple[Stage, ...] = ()
    batches: int = 1
    kept: int = 0


RECIPES = {
    "4x4": Recipe(85_632, seed=0),  # all there are
    "6x6": Recipe(2_000, seed=6),
    "9x9": Recipe(24_000, seed=9),
    "9x9-hard": Recipe(6_000, seed=909, steps=2_000),
    "9x9-hardest": Recipe(
        6_000,
        seed=9_009,
        stages=(
            Stage(6_000, steps=500),
            Stage(3_000, steps=1_500),
            Stage(1_500, steps=5_000),
            Stage(800, steps=10_000),
        ),
        batches=5,
        kept=440,
    ),
    "16x16": Recipe(1_500, seed=16, node_limit=5_000),
    "25x25": Recipe(120, seed=25, node_limit=1_000),
    "x9x9": Recipe(2_000, seed=109),
    "windows9x9": Recipe(2_000, seed=209),
    "jigsaw9x9": Recipe(2_000, seed=309),
    "latin9x9": Recipe(2_000, seed=409),
}


def build(name: str, recipe: Recipe) -> tuple[PuzzleSet, NDArray[np.int8], NDArray[np.uint64]]:
    """Make a bank.

    Returns:
        The puzzles, one an orbit; the split of each, int8 `[M]`; the key of each orbit, uint64.
    """
    if name == "4x4":
        return all_minimal()
    rng = np.random.default_rng(recipe.seed)
    made = found_in_batches(recipe) if recipe.stages else make(name, recipe, rng)
    keys, first, orbits = np.unique(
        canonical_keys(made.orbit_boards, made.geometry), return_index=True, return_inverse=True
    )
    first.sort()
    bank = replace(made, name=name, orbits=orbits.astype(np.int32))[first]
    # Standard 9x9 grids go by the key even if they are few, as those of `9x9` and `9x9-hard` do.
    splits = split_orbits(keys, rng, always_by_key=bool(recipe.stages))
    return bank, splits[bank.orbits], keys


def make(name: str, recipe: Recipe, rng: np.random.Generator) -> PuzzleSet:
    """Generate puzzles, and make them harder if the recipe says so."""
    made = generate(recipe.count, banks.named_geometry(name), rng, node_limit=recipe.node_limit)
    return harden(made, rng, steps=recipe.steps) if recipe.steps else made


def found_in_batches(recipe: Recipe) -> PuzzleSet:
    """Return what the stages of a recipe find in all batches."""
    geometry = banks.named_geometry("9x9")
    batches = []
    for batch in range(recipe.batches):
        rng = np.random.default_rng(recipe.seed + batch)
        parents = generate(recipe.count, geometry, rng)
        batches.append(search_hardest(parents, recipe.stages, recipe.kept, rng))
    return PuzzleSet.join(batches)


def split_orbits(
    keys: NDArray[np.uint64], rng: np.random.Generator, *, always_by_key: bool = False
) -> NDArray[np.int8]:
    """Give each orbit a split: by its key where there are over 1,000, else by a shuffled table.

    Args:
        keys: uint64 `[number of orbits]`.
        rng: random generator of the table.
        always_by_key: split a smaller number by key too.

    Returns:
        int8 `[number of orbits]`, indices into `banks.SPLITS`.
    """
    ends = np.cumsum([SHARES[split] for split in banks.SPLITS])[:-1]
    if always_by_key or len(keys) > 1_000:
        place = (keys >> np.uint64(11)) * 2.0**-53
    else:
        place = (rng.permutation(len(keys)) + 0.5) / len(keys)
    return np.searchsorted(ends, place, side="right").astype(np.int8)


def disagreements(puzzle_set: PuzzleSet) -> NDArray[np.int64]:
    """Return the puzzles for which a SAT solver does not find exactly the stored solution."""
    from pysat.solvers import Solver

    geometry = puzzle_set.geometry
    with Solver("glucose4", bootstrap_with=clauses_of(geometry)) as sat:
        next_selector = geometry.num_placements + 1
        wrong = []
        for index, puzzle in enumerate(puzzle_set.puzzles.reshape(len(puzzle_set), -1)):
            literals = literals_of(puzzle, geometry)
            solution = literals_of(puzzle_set.solutions[index].ravel(), geometry)
            agrees = sat.solve(assumptions=solution)
            sat.add_clause([-next_selector, *(-literal for literal in solution)])
            if not agrees or sat.solve(assumptions=[next_selector, *literals]):
                wrong.append(index)
            next_selector += 1
    return np.array(wrong, np.int64)


def main(argv: Sequence[str] | None = None) -> None:
    """Build the banks that are named, or all of them, and print what they hold."""
    parser = argparse.ArgumentParser(description="Build the shipped banks of puzzles.")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(RECIPES)}; all if none is named")
    names = parser.parse_args(argv).names or list(RECIPES)
    for name in names:
        if name not in RECIPES:
            parser.error(f"no bank is called {name!r}: use {', '.join(RECIPES)}")
    for name in names:
        start = perf_counter()
        bank, splits, keys = build(name, RECIPES[name])
        wrong = disagreements(bank)
        if len(wrong):
            raise SystemExit(f"{name}: the SAT solver disagrees about puzzles {wrong[:10]}")
        path = DATA / f"{name}.npz"
        write_bank(path, bank, splits, keys)
        write_checksums()
        print(f"{name}: {summary(bank, splits)}, {path.stat().st_size:,} bytes, ", end="")
        print(f"{perf_counter() - start:.0f} s", flush=True)


def write_bank(
    path: Path, puzzle_set: PuzzleSet, splits: NDArray[np.int8], keys: NDArray[np.uint64]
) -> None:
    """Write a bank's npz file atomically: splits int8 `[M]`, and the key of each orbit.

    Ratings and sources are written if any is known.
    """
    known: dict[str, Any] = {}
    if (puzzle_set.ratings != NOT_KNOWN).any() or (puzzle_set.sources != "").any():
        known = {"ratings": puzzle_set.ratings, "sources": puzzle_set.sources}
    cells = puzzle_set.geometry.num_cells
    with atomic_write(path) as temporary:
        np.savez_compressed(
            temporary,
            solutions=puzzle_set.solutions.reshape(-1, cells),
            givens=np.packbits(puzzle_set.puzzles.reshape(-1, cells) > 0, axis=1),
            grades=puzzle_set.grades,
            orbits=puzzle_set.orbits,
            minimal=puzzle_set.minimal,
            splits=splits,
            keys=keys,
            **known,
        )


def write_checksums() -> None:
    """Write the SHA-256 of every bank's file beside them, as `sha256sum` does."""
    lines = [
        f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(DATA.glob("*.npz"))
    ]
    write_text(DATA / "SHA256SUMS", "".join(lines))


def summary(bank: PuzzleSet, splits: NDArray[np.int8]) -> str:
    """Describe a bank in a line."""
    givens = bank.geometry.num_cells - bank.blanks
    counts, grades = np.bincount(splits, minlength=3), np.bincount(bank.grades, minlength=5)
    return (
        f"{len(bank)} puzzles (train, validation, test {counts.tolist()}), givens {givens.min()} "
        f"to {givens.max()}, mean {givens.mean():.1f}, {bank.minimal.mean():.1%} minimal, "
        f"grades {grades.tolist()}"
    )


if __name__ == "__main__":
    main()
