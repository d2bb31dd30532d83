"""How well a network plays: greedily and with the best-first search, beside its floors.

Every set is played one digit at a time by the greedy policy, without search; with `--best-first`
the best-first search solves it too, and its network evaluations are counted. Beside them stand the
floors (masked-random, singles) and, with `--untrained`, networks of the same body untrained.

    python benchmarks/calphazero.py --out docs/results/expert-iteration-boards.json
    python benchmarks/calphazero.py --checkpoint runs/mine --sets 9x9 9x9-hard --count 500
    python benchmarks/calphazero.py --sets 9x9 --lists top95.txt --untrained 10 --count 256

With `--out` every row is written when it is measured, and what the file holds of the same weights,
puzzles and settings is not measured again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path

import numpy as np
import torch
import tyro
from numpy.typing import NDArray

from results import Results, Row, command_of, in_ms, in_words, share_of, some, table
from sudoku_agents.best_first_search.search import BestFirstSolver
from sudoku_agents.calphazero.policy import CAlphaZeroPolicy
from sudoku_agents.expert_iteration import policy as loading
from sudoku_baselines.classical.trivial import MaskedRandom, hidden_singles, naked_singles
from sudoku_gym import board, evaluate, puzzles
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles.banks import SPLIT_NAMES
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.solver import FoundSolutions
from sudoku_learning.networks import POLICY_AND_VALUE, Network, seeded
from sudoku_learning.training.checkpoint import checkpoint_in

FLOORS = {
    "masked-random": MaskedRandom,
    "naked singles": naked_singles,
    "naked + hidden singles": hidden_singles,
}
HEADS = "puzzles,player,count,solved,95 % interval,converged,right of these,rounds,ms".split(",")
HEADS += ["evaluations", "within 64"]
Measure = Callable[[], Row]


@dataclass(frozen=True)
class Config:
    """What to play, and how."""

    checkpoint: Path = loading.PRETRAINED
    """folder of a checkpoint or a run; by default the network that comes with the package"""
    sets: tuple[str, ...] = SPLIT_NAMES
    """banks that are played"""
    split: str = "test"
    """of these banks: test, or validation for what is to be chosen"""
    lists: tuple[Path, ...] = ()
    """files of more puzzles"""
    count: int = 100_000
    """at most so many puzzles of each"""
    greedy: bool = True
    """play greedily, without search"""
    best_first: bool = False
    """let the best-first search solve them too"""
    evaluations: int = 10_000
    """that it may spend on a puzzle"""
    propagate: bool = False
    """let the best-first search fill in singles before each evaluation"""
    unique: bool = False
    """let the best-first search prove that each puzzle has one solution, too"""
    rounds: int | None = None
    """of the network in each evaluation, or start of it; None takes those of the policy, for
    searches those of the checkpoint"""
    restarts: int | None = None
    """further starts of boards that have not converged; None takes those of the policy"""
    noise: float | None = None
    """of further starts; None takes that of the policy"""
    threshold: float | None = None
    """logit from which placements are played before the network is asked again; 1e9 asks it before
    every move, None takes what the checkpoint was trained with"""
    untrained: int = 0
    """how many untrained networks to play beside it, seeds from 0 on"""
    proofs: int = 0
    """of how many boards without, and with several solutions it has to prove that they are"""
    floors: bool = True
    """whether to play the floors"""
    by: tuple[str, ...] = ("9x9",)
    """banks whose greedy figures are divided by grade and by blanks"""
    seed: int = 0
    """of the draw of puzzles and of the policies"""
    out: Path | None = None
    """a JSON file for the figures"""


def main(argv: Sequence[str] | None = None) -> list[Row]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    torch.set_num_threads(1)
    results = Results(config.out, command_of(__file__, argv)) if config.out else None
    weights = checkpoint_in(config.checkpoint) / "weights.safetensors"
    digest = sha256(weights.read_bytes()).hexdigest()[:12]
    rows = []
    wanted = chain(*(players(name, chosen, config) for name, chosen in sets(config)))
    for name, player, measure in chain(wanted, proofs(config)):
        key = {"puzzles": name, "player": player, "most": config.count, "weights": digest}
        row = results.find(key) if results else None
        if row is None:
            row = key | measure()
            if results:
                results.add(row)
        print(f"{name}, {player}: {in_words(row)}", flush=True)
        rows.append(row)
    print("", table(rows, HEADS, names=2), sep="\n")
    return rows


def sets(config: Config) -> Iterator[tuple[str, PuzzleSet]]:
    """Yield the puzzles to play, each set with its name."""
    which = "" if config.split == "test" else f", {config.split}"
    stored = [(name + which, puzzles.load(name, config.split)) for name in config.sets]
    for name, found in [*stored, *((path.stem, puzzles.read(path)) for path in config.lists)]:
        yield name, some(found, config.count, config.seed)


def players(name: str, chosen: PuzzleSet, config: Config) -> Iterator[tuple[str, str, Measure]]:
    """Yield who plays a set: its name, the player's, and what measures a row."""
    for title, make in FLOORS.items() if config.floors else ():
        yield name, title, partial(figures, chosen, make(), config)
    told = ("rounds", "restarts", "noise", "threshold")
    options = {name: getattr(config, name) for name in told}
    greedy = loading.load(config.checkpoint, **options)
    searched = best_first_solver(config)
    for seed in range(config.untrained):
        body = greedy.network.body.config
        network = seeded(seed, partial(Network, body, POLICY_AND_VALUE, chosen.geometry))
        title = f"untrained, seed {seed}"
        if config.greedy:
            random = CAlphaZeroPolicy(network, threshold=greedy.threshold, restarts=greedy.restarts)
            yield name, title, partial(figures, chosen, random, config)
        solver = BestFirstSolver(network, searched.config, searched.restarts)
        yield from searches(name, chosen, solver, config, f"{title}, ")
    if config.greedy:
        given = ", ".join(f"{key}={value}" for key, value in options.items() if value is not None)
        title = f"greedy, {given}" if given else "greedy"
        yield name, title, partial(figures, chosen, greedy, config, by=name in config.by)
    yield from searches(name, chosen, searched, config)


def searches(
    name: str, chosen: PuzzleSet, solver: BestFirstSolver, config: Config, prefix: str = ""
) -> Iterator[tuple[str, str, Measure]]:
    """Yield the best-first search that solves a set, and that proves one solution."""
    wanted = (("best-first search", 1), ("best-first search proves one solution", 2))
    for (what, limit), is_wanted in zip(wanted, (config.best_first, config.unique), strict=True):
        if is_wanted:
            player = prefix + what + (", singles" if config.propagate else "")
            yield name, player, partial(search, chosen, solver, limit)


def search(chosen: PuzzleSet, solver: BestFirstSolver, limit: int) -> Row:
    """Let the best-first search solve the puzzles, and perhaps prove one solution."""
    start = time.process_time()
    found = solver.search(chosen.puzzles, chosen.geometry, limit)
    seconds = time.process_time() - start
    right = found.decided & (found.found == 1)
    return share_of(right) | {"ms": in_ms(seconds / len(chosen))} | asked(found)


def best_first_solver(config: Config) -> BestFirstSolver:
    """Return the best-first search as `load_policy` makes it, with the given settings."""
    names = ("evaluations", "propagate", "rounds", "restarts", "noise")
    given = {name: getattr(config, name) for name in names}
    return loading.load(config.checkpoint, search="best-first", **given)


def figures(chosen: PuzzleSet, policy: Policy, config: Config, by: bool = False) -> Row:
    """Let a policy play a set; with `by` its figures are divided by grade and by blanks too."""
    start = time.process_time()
    result = evaluate(policy, chosen, seed=config.seed)
    row = share_of(result.solved) | {"ms": in_ms((time.process_time() - start) / len(chosen))}
    if result.converged_solved is not None:
        right, converged = result.converged_solved
        row |= {"converged": converged, "right of these": right}
        row["rounds"] = round(result.mean_rounds or 0)
    if by:
        row["grades"] = {
            technique: share_of(result.solved[chosen.grades == grade])
            for grade, technique in enumerate(GRADES)
            if (chosen.grades == grade).any()
        }
        row["blanks"] = {
            str(blanks): share_of(result.solved[chosen.blanks == blanks])
            for blanks in np.unique(chosen.blanks)
        }
    return row


def proofs(config: Config) -> Iterator[tuple[str, str, Measure]]:
    """Yield proofs of what no list of puzzles asks for.

    A legal but wrong digit leaves a puzzle no solution; a given less gives a minimal one several.
    """
    if not config.proofs:
        return
    test = puzzles.load("9x9", "test")[: config.proofs]
    rng = np.random.default_rng(config.seed)
    wrong, fewer = test.puzzles.copy(), test.puzzles.copy()
    for one, solution in zip(wrong, test.solutions, strict=True):
        legal = board.candidates(one[None])[0] & (np.arange(1, 10) != solution[..., None])
        row, column, digit = rng.choice(np.argwhere(legal))
        one[row, column] = digit + 1
    for one in fewer:
        row, column = rng.choice(np.argwhere(one))
        one[row, column] = 0
    singles = ", singles" if config.propagate else ""
    for what, boards, wanted in (("no solution", wrong, 0), ("several solutions", fewer, 2)):
        player = f"best-first search proves {what}{singles}"
        yield "9x9", player, partial(prove, boards, test, wanted, config)


def prove(boards: NDArray[np.int8], test: PuzzleSet, wanted: int, config: Config) -> Row:
    """Let the best-first search count the solutions of boards, up to two."""
    found = best_first_solver(config).search(boards, test.geometry, limit=2)
    return share_of(found.decided & (found.found == wanted)) | asked(found)


def asked(found: FoundSolutions) -> Row:
    """What the search asked the network: for half of the boards, for 95 % of them, at most."""
    half, most_of_them = np.percentile(found.nodes, [50, 95], method="higher")
    most = int(found.nodes.max())
    return {
        "evaluations": {"median": int(half), "95 %": int(most_of_them), "most": most},
        "within 64": int((found.decided & (found.nodes <= 64)).sum()),
    }


if __name__ == "__main__":
    main()
