"""Simulations a second of cAlphaZero's search, beside mctx.

    python -m venv build/mctx && build/mctx/bin/pip install mctx 'jax[cpu]'
    python benchmarks/search.py --mctx build/mctx/bin/python

Both search the same boards, in the same batches, with as many simulations, and ask the same
network: a table (next to nothing: sums over what is on the board) or a perceptron with two hidden
layers of 256, in torch here and in jax there. Everything runs on one core, XLA and torch with one
thread. Compiling is not counted; the fastest of several searches is, in processor seconds. mctx
searches a Sudoku of its own, compiled together with the search (`mctx_search.py`), that ends at
dead ends and pays 1 for a solved board.

Gumbel is the same algorithm on both sides, so the last column says in how many games both counted
the same visits (values near a tie may be rounded apart); mctx's PUCT is MuZero's, which differs.
With proofs a search is over when its root is proven, so its simulations are counted as they were.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from rich.console import Console
from rich.table import Table

from sudoku_agents.calphazero.search import SearchConfig, tree_search
from sudoku_gym import board, puzzles
from sudoku_gym.puzzles.sources import BankSource

ROOT = Path(__file__).parent.parent
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
WIDTH = 256


@dataclass(frozen=True)
class Config:
    """What to measure."""

    boards: tuple[str, ...] = ("4x4", "9x9")
    """banks of boards with boxes"""
    blanks: tuple[int, ...] = (10, 50)
    """of the boards of each"""
    batches: tuple[int, ...] = (64, 256)
    """boards at once"""
    simulations: tuple[int, ...] = (32, 128)
    """a search"""
    networks: tuple[str, ...] = ("table", "perceptron")
    """what the searches ask"""
    mctx: str = sys.executable
    """the Python that has mctx and jax"""
    repeats: int = 5
    """searches of which the fastest counts"""
    seed: int = 0
    """draws boards and networks"""
    smoke: bool = False
    """measure next to nothing, to see that it runs"""


class Given:
    """Stands for a generator, and draws what mctx has drawn."""

    def __init__(self, noise):
        self._noise = noise

    def gumbel(self, size):
        """Return the noise."""
        assert self._noise.shape == size
        return self._noise


def networks(size, rng):
    """Return the weights of both networks."""
    count, scale = size**3, np.sqrt(2 / WIDTH)
    return {
        "logits": 2 * rng.standard_normal(count, np.float32),
        "digits": rng.random((size**2, size + 1), np.float32),
        "first": rng.standard_normal((count, WIDTH), np.float32) / np.float32(size),
        "second": rng.standard_normal((WIDTH, WIDTH), np.float32) * np.float32(scale),
        "last": rng.standard_normal((WIDTH, count + 1), np.float32) * np.float32(scale),
    }


def evaluator(weights, name):
    """Return the network in numpy, as a search asks it."""
    cells = np.arange(len(weights["digits"]))
    digits = torch.arange(1, weights["digits"].shape[1], dtype=torch.int8)
    layers = [torch.from_numpy(weights[layer]) for layer in ("first", "second", "last")]

    def table(boards, masks):
        flat = boards.reshape(len(boards), -1)
        return shares(weights["logits"], masks), weights["digits"][cells, flat].mean(1)

    @torch.inference_mode()
    def perceptron(boards, masks):
        flat = torch.from_numpy(boards.reshape(len(boards), -1, 1))
        hidden = (flat == digits).flatten(1).float()
        for layer in layers[:2]:
            hidden = torch.relu(hidden @ layer)
        out = hidden @ layers[2]
        return shares(out[:, :-1].numpy(), masks), torch.sigmoid(out[:, -1]).numpy()

    return {"table": table, "perceptron": perceptron}[name]


def shares(logits, masks):
    """The softmax over legal placements."""
    logits = np.where(masks, logits, np.float32(-1e9))
    powers = np.exp(logits - logits.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def measure(boards, masks, geometry, weights, name, config, repeats, noise=None):
    """Return simulations a second, and the last result."""
    evaluate, fastest = evaluator(weights, name), np.inf
    rng = None if noise is None else Given(noise)
    for repeat in range(repeats + 1):
        start = time.process_time()
        found = tree_search(boards, masks, geometry, evaluate, config, rng=rng)
        if repeat:  # the first one compiles
            fastest = min(fastest, time.process_time() - start)
    return found.visit_counts.sum() / fastest, found


def measure_mctx(path, policy, name, simulations, config):
    """Return the seconds that mctx takes, and the arrays that it writes."""
    script = [config.mctx, ROOT / "benchmarks" / "mctx_search.py", path, f"{path}.found.npz"]
    options = [policy, name, str(simulations), str(1 if config.smoke else config.repeats)]
    environment = os.environ | {"XLA_FLAGS": ONE_THREAD, "JAX_PLATFORMS": "cpu", "PYTHONPATH": ""}
    done = subprocess.run(
        [*script, *options], check=True, stdout=subprocess.PIPE, text=True, env=environment
    )
    with np.load(f"{path}.found.npz") as npz:
        return float(json.loads(done.stdout)), dict(npz)


def has_mctx(config):
    done = subprocess.run([config.mctx, "-c", "import mctx, jax"], capture_output=True)
    return done.returncode == 0


def rows(boards, masks, geometry, weights, name, simulations, path, config):
    """Yield (search, simulations a second, times mctx, share of games that agree)."""
    repeats = 1 if config.smoke else config.repeats
    for root in ("gumbel", "puct"):
        theirs, noise, visits = None, None, None
        if path is not None:
            seconds, found = measure_mctx(path, root, name, simulations, config)
            theirs, visits = len(boards) * simulations / seconds, found["visits"]
            noise = found["noise"].astype(np.float64) if root == "gumbel" else None
            yield f"mctx, {'Gumbel MuZero' if root == 'gumbel' else 'MuZero'}", theirs, 1.0, None
        for proofs in (False, True):
            settings = SearchConfig(
                simulations=simulations, root=root, proofs=proofs, reward="sparse"
            )
            ours, found = measure(boards, masks, geometry, weights, name, settings, repeats, noise)
            same = None
            if noise is not None and not proofs:
                same = float((found.visit_counts == visits).all(1).mean())
            label = f"ours, {'Gumbel' if root == 'gumbel' else 'PUCT'}{', proofs' * proofs}"
            yield label, ours, None if theirs is None else ours / theirs, same


def main(argv=None):
    config = tyro.cli(Config, description=__doc__, args=argv)
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    console, times = Console(), {}
    installed = has_mctx(config)
    if not installed:
        console.print(f"{config.mctx} has no mctx: pip install mctx 'jax\\[cpu]' (--mctx PYTHON)")
    batches = (8,) if config.smoke else config.batches
    counts = (8,) if config.smoke else config.simulations
    for bank, blanks in zip(config.boards, config.blanks, strict=True):
        source = BankSource(puzzles.load(bank, "train"))
        geometry, rng = source.geometry, np.random.default_rng(config.seed)
        weights = networks(geometry.size, rng)
        drawn = [source.sample(batch, blanks, rng)[0] for batch in batches]
        for name in config.networks:
            table = Table(title=f"{bank}, {blanks} blanks, {name}: simulations a second, one core")
            for head in ("boards", "simulations", "search", "a second", "times mctx", "same"):
                table.add_column(head, justify="left" if head == "search" else "right")
            for boards, simulations in itertools.product(drawn, counts):
                masks = board.candidates(boards, geometry).reshape(len(boards), -1)
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / "boards.npz" if installed else None
                    if path is not None:
                        height = geometry.row_block  # of the boxes
                        np.savez(path, boards=boards, masks=masks, height=height, **weights)
                    case = boards, masks, geometry, weights, name, simulations, path, config
                    for label, rate, factor, same in rows(*case):
                        times[bank, name, len(boards), simulations, label] = factor
                        table.add_row(
                            str(len(boards)),
                            str(simulations),
                            label,
                            f"{rate:,.0f}",
                            "" if factor is None else f"{factor:.1f}",
                            "" if same is None else f"{same:.1%}",
                        )
            console.print(table)
    return times


if __name__ == "__main__":
    main()
