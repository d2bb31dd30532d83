"""What else could make the rounds of cAlphaZero cheaper: fewer bits, fewer variables, threads.

    python benchmarks/cheaper_rounds.py --out docs/results/calphazero-cheaper.json

`weights` plays with the weights rounded to fewer bits, in which they would be read faster; the
arithmetic stays float32. `certain variables` counts the legal placements of boards that have not
converged whose logits stay far from 0 with one sign for several segments: what rounds could leave
out at best. `threads` plays with one thread and with several, in turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from torch import Tensor

from results import Row, command_of, keep, played, some
from sudoku_agents.calphazero import loading
from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_learning.networks import Network
from sudoku_learning.networks.policy import NetworkPolicy


@dataclass(frozen=True)
class Config:
    """What is played, and how."""

    sets: tuple[str, ...] = ("9x9-hard", "jigsaw9x9")
    """banks, of which validation puzzles are played"""
    count: int = 200
    """at most so many puzzles of each"""
    rounds: int = 256
    """of each start, with `weights` and `certain variables`; they have no further starts"""
    distance: float = 5.0
    """a certain variable's logit is further from 0"""
    segments: int = 4
    """for so many looks at the logits, one after each segment"""
    threads: tuple[int, ...] = (1, 2)
    """of torch, with all starts of the shipped network"""
    turns: int = 3
    """of each number of threads; the fastest counts"""
    parts: tuple[str, ...] = ("weights", "certain variables", "threads")
    """which of them"""
    out: Path | None = None
    """a JSON file for the figures; the parts that are not measured stay"""


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    measures: dict[str, Callable[[str, PuzzleSet, Config], list[Row]]] = {
        "weights": play_rounded,
        "certain variables": count_certain,
        "threads": time_threads,
    }
    for part in config.parts:
        torch.set_num_threads(1)
        rows = []
        for name in config.sets:
            chosen = some(puzzles.load(name, "validation"), config.count)
            rows += measures[part](name, chosen, config)
        keep(config.out, part, command_of(__file__, argv), rows, names=2)


ROUNDED: dict[str, Callable[[Tensor], Tensor]] = {
    "32 bits": lambda weight: weight,
    "16 bits, float16": lambda weight: weight.half().float(),
    "16 bits, bfloat16": lambda weight: weight.bfloat16().float(),
    "8 bits": lambda weight: _to_steps(weight),
}
"""How weights are rounded, by the name of the row."""


def _to_steps(weight: Tensor) -> Tensor:
    """Round to whole multiples of a 127th of the largest number of a row, as 8 bits hold."""
    step = weight.abs().amax(-1, keepdim=True).clamp_min(1e-30) / 127
    return (weight / step).round() * step


def play_rounded(name: str, chosen: PuzzleSet, config: Config) -> list[Row]:
    """Play puzzles with rounded weights, with one start for each reading."""
    rows = []
    for how, rounded in ROUNDED.items():
        policy = loading.load(loading.PRETRAINED_CALPHAZERO, rounds=config.rounds, restarts=0)
        with torch.no_grad():
            for weight in policy.network.parameters():
                weight.copy_(rounded(weight))
        result = evaluate(policy, chosen, seed=0)
        row = {"puzzles": name, "weights": how} | played(result)
        rows.append(row | {"mean rounds": round(result.mean_rounds or 0)})
    return rows


def count_certain(name: str, chosen: PuzzleSet, config: Config) -> list[Row]:
    """Count the certain variables of the boards that have not converged, after each segment."""
    network = _network_of("calphazero")
    boards, geometry = torch.from_numpy(chosen.puzzles), chosen.geometry
    legal = board.candidates(chosen.puzzles, geometry).reshape(len(chosen), -1)
    masks, margin = torch.from_numpy(legal), network.body.config.convergence_margin
    is_open, states = np.ones(len(chosen), np.bool_), [None] * len(chosen)
    signs, lasted = np.zeros(legal.shape), np.zeros(legal.shape, np.int64)
    rows, rounds = [], 0
    for segment in network.body.segments(config.rounds):
        at = np.flatnonzero(is_open)
        given = {"recurrent_states": [states[row] for row in at], "rounds": segment}
        with torch.inference_mode():
            features = network.body(boards[at], masks[at], geometry, **given)
            logits = network.heads["policy"](features)[-1].numpy()
        for row, state in zip(at, features.recurrent_states, strict=True):
            states[row] = state
        now = np.sign(logits) * (np.abs(logits) > config.distance)
        lasted[at] = np.where((now == signs[at]) & (now != 0), lasted[at] + 1, now != 0)
        signs[at] = now
        is_open[at] = ((np.abs(logits) < margin) & legal[at]).any(1)
        rounds += segment
        if not is_open.any():
            break
        variables = int(legal[is_open].sum())
        certain = int(((lasted >= config.segments) & legal)[is_open].sum())
        row = {"puzzles": name, "rounds": rounds, "boards": int(is_open.sum())}
        rows.append(row | {"certain, %": round(100 * certain / variables, 1)})
    return rows


def time_threads(name: str, chosen: PuzzleSet, config: Config) -> list[Row]:
    """Time the shipped policy with each number of threads, in turns; the answers are the same."""
    policy = load_policy("calphazero")
    evaluate(policy, chosen[:4], seed=0)  # compiles
    seconds: dict[int, list[tuple[float, float]]] = {threads: [] for threads in config.threads}
    solved = set()
    for _ in range(config.turns):
        for threads in config.threads:
            torch.set_num_threads(threads)
            began = time.perf_counter(), time.process_time()
            result = evaluate(policy, chosen, seed=0)
            ended = time.perf_counter(), time.process_time()
            seconds[threads].append((ended[0] - began[0], ended[1] - began[1]))
            solved.add((result.solved.tobytes(), result.mean_rounds))
    if len(solved) > 1:
        raise AssertionError("the answers depend on the number of threads")
    fastest = {threads: min(each) for threads, each in seconds.items()}
    one = fastest[config.threads[0]][0]
    return [
        {
            "puzzles": name,
            "threads": threads,
            "puzzles a second": float(f"{len(chosen) / wall:.3g}"),
            "ratio": round(one / wall, 2),
            "processor ms a puzzle": float(f"{1e3 * processor / len(chosen):.3g}"),
        }
        for threads, (wall, processor) in fastest.items()
    ]


def _network_of(name: str) -> Network:
    policy = load_policy(name)
    if not isinstance(policy, NetworkPolicy):
        raise ValueError(f"{name} is no policy of a network")
    return policy.network


if __name__ == "__main__":
    main()
