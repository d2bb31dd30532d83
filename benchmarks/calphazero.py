"""How well a network of cAlphaZero plays: greedily and with the retry search, beside its floors.

Every set is played one digit at a time by the greedy policy, without search; with `--retry` the
retry search solves it too, and its network evaluations are counted. Beside them stand the floors
(masked-random, singles) and, with `--untrained`, networks of the same body with random weights.

    python benchmarks/calphazero.py --out docs/results/calphazero.json
    python benchmarks/calphazero.py --checkpoint runs/mine --sets 9x9 9x9-hard --count 500
    python benchmarks/calphazero.py --sets 9x9 --lists top95.txt --untrained 10 --count 256
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro

from results import Row, command_of, in_words, share_of, table, write_rows
from sudoku_agents.alphazero.policy import AlphaZeroPolicy
from sudoku_agents.calphazero import loading
from sudoku_agents.retry_search import RetryConfig, RetryResult
from sudoku_agents.retry_search.solver import RetrySolver
from sudoku_baselines.classical.floors import MaskedRandom, hidden_singles, naked_singles
from sudoku_gym import board, evaluate, puzzles
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_learning.networks import POLICY_AND_VALUE, Network, seeded
from sudoku_learning.training.run_folder import checkpoint_in

FLOORS = {
    "masked-random": MaskedRandom,
    "naked singles": naked_singles,
    "naked + hidden singles": hidden_singles,
}
HEADS = ("puzzles", "player", "count", "solved", "95 % interval", "evaluations", "within 64")


@dataclass(frozen=True)
class Config:
    """What to play, and how."""

    checkpoint: Path = loading.PRETRAINED_CALPHAZERO
    """folder of a checkpoint or a run; by default the network that comes with the package"""
    sets: tuple[str, ...] = ("4x4", "6x6", "9x9", "9x9-hard", "16x16")
    """banks, of which the test puzzles are played"""
    lists: tuple[Path, ...] = ()
    """files of more puzzles"""
    count: int = 100_000
    """at most so many puzzles of each"""
    greedy: bool = True
    """play greedily, without search"""
    retry: bool = False
    """let the retry search solve them too"""
    evaluations: int = 10_000
    """that it may spend on a puzzle"""
    propagate: bool = False
    """let the retry search fill in singles before each evaluation"""
    unique: bool = False
    """let the retry search prove that each puzzle has one solution, too"""
    rounds: int | None = None
    """of the network in each evaluation; None takes those of the checkpoint"""
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
    rows = []
    for row in chain(
        *(play(name, chosen, config) for name, chosen in sets(config)), proofs(config)
    ):
        rows.append(row)
        print(f"{row['puzzles']}, {row['player']}: {in_words(row)}", flush=True)
    print("", table(rows, HEADS, names=2), sep="\n")
    if config.out is not None:
        weights = checkpoint_in(config.checkpoint) / "weights.safetensors"
        digest = sha256(weights.read_bytes()).hexdigest()
        write_rows(config.out, command_of(__file__, argv), rows, weights=digest)
    return rows


def sets(config: Config) -> Iterator[tuple[str, PuzzleSet]]:
    """Yield the puzzles to play, each set with its name."""
    rng = np.random.default_rng(config.seed)
    stored = [(name, puzzles.load(name, "test")) for name in config.sets]
    for name, found in [*stored, *((path.stem, puzzles.read(path)) for path in config.lists)]:
        if len(found) > config.count:
            found = found[np.sort(rng.choice(len(found), config.count, replace=False))]
        yield name, found


def play(name: str, chosen: PuzzleSet, config: Config) -> Iterator[Row]:
    """Let everybody play a set; yield a row of figures each."""
    for title, make in FLOORS.items() if config.floors else ():
        yield figures(name, title, chosen, make(), config)
    greedy = loading.load(config.checkpoint, rounds=config.rounds, threshold=config.threshold)
    network = greedy.network
    for seed in range(config.untrained):
        body = network.body.config
        make = partial(Network, body, POLICY_AND_VALUE, chosen.geometry)
        random = AlphaZeroPolicy(seeded(seed, make), threshold=greedy.threshold)
        if config.greedy:
            yield figures(name, f"untrained, seed {seed}", chosen, random, config)
        yield from searches(name, chosen, random.network, config, f"untrained, seed {seed}, ")
    if config.greedy:
        start = time.process_time()
        result = evaluate(greedy, chosen, seed=config.seed)
        yield row_of(name, "greedy", result.solved, time.process_time() - start)
        if name in config.by:
            for grade, technique in enumerate(GRADES):
                among = chosen.grades == grade
                if among.any():
                    yield row_of(name, f"greedy, grade {technique}", result.solved[among])
            for blanks in np.unique(chosen.blanks):
                among = chosen.blanks == blanks
                yield row_of(name, f"greedy, {blanks} blanks", result.solved[among])
    yield from searches(name, chosen, network, config)


def searches(
    name: str, chosen: PuzzleSet, network: Network, config: Config, prefix: str = ""
) -> Iterator[Row]:
    """Let the retry search solve the puzzles, and prove that they have one solution."""
    wanted = (("retry search", 1), ("retry search proves one solution", 2))
    for (what, limit), is_wanted in zip(wanted, (config.retry, config.unique), strict=True):
        if is_wanted:
            start = time.process_time()
            found = retry_solver(network, config).search(chosen.puzzles, chosen.geometry, limit)
            seconds = time.process_time() - start
            player = prefix + what + (", singles" if config.propagate else "")
            right = found.decided & (found.found == 1)
            yield row_of(name, player, right, seconds) | asked(found)


def retry_solver(network: Network, config: Config) -> RetrySolver:
    return RetrySolver(network, RetryConfig(config.evaluations, propagate=config.propagate))


def row_of(name: str, player: str, solved: Any, seconds: float | None = None) -> Row:
    row = {"puzzles": name, "player": player, **share_of(solved)}
    return row if seconds is None else row | {"seconds": round(seconds, 2)}


def figures(name: str, title: str, chosen: PuzzleSet, policy: Policy, config: Config) -> Row:
    start = time.process_time()
    solved = evaluate(policy, chosen, seed=config.seed).solved
    return row_of(name, title, solved, time.process_time() - start)


def proofs(config: Config) -> Iterator[Row]:
    """Let the retry search prove of minimal puzzles what no list of puzzles asks for.

    A legal but wrong digit leaves a puzzle no solution; a given less gives a minimal one several.
    """
    if not config.proofs:
        return
    test = puzzles.load("9x9", "test")[: config.proofs]
    rng = np.random.default_rng(config.seed)
    solver = retry_solver(loading.load(config.checkpoint).network, config)
    wrong, fewer = test.puzzles.copy(), test.puzzles.copy()
    for one, solution in zip(wrong, test.solutions, strict=True):
        legal = board.candidates(one[None])[0] & (np.arange(1, 10) != solution[..., None])
        row, column, digit = rng.choice(np.argwhere(legal))
        one[row, column] = digit + 1
    for one in fewer:
        row, column = rng.choice(np.argwhere(one))
        one[row, column] = 0
    for what, boards, wanted in (("no solution", wrong, 0), ("several solutions", fewer, 2)):
        found = solver.search(boards, test.geometry, limit=2)
        proven = found.decided & (found.found == wanted)
        yield row_of("9x9", f"retry search proves {what}", proven) | asked(found)


def asked(found: RetryResult) -> Row:
    """What the search asked the network: for half of the boards, for 95 % of them, at most."""
    half, most_of_them = np.percentile(found.evaluations, [50, 95], method="higher")
    most = int(found.evaluations.max())
    return {
        "evaluations": {"median": int(half), "95 %": int(most_of_them), "most": most},
        "within 64": int((found.decided & (found.evaluations <= 64)).sum()),
    }


if __name__ == "__main__":
    main()
