"""The network of cAlphaZero on a GPU: boards a second beside the processor's, and if both agree.

    python benchmarks/gpu.py --out docs/results/calphazero-gpu.json

On the processor the rounds are compiled kernels, on a GPU plain torch, as it stands (`gpu`) and by
`torch.compile` with the shapes of one batch (`gpu, torch.compile`). Four parts: `rounds` runs the
rounds of a batch that never stops, forward alone; `update` runs 16 of them and walks back, with a
loss on the placements after each round; `agreement` compares the logits of both; `games` lets the
policy play puzzles with its starts. Each timed row counts with the fastest of its turns, on the
wall clock. Rows are a part, a device, a bank and a number of boards or rounds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from torch import Tensor

from results import Results, Row, command_of, in_ms, played, table
from sudoku_agents.calphazero import loading
from sudoku_gym import board, evaluate, puzzles
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_learning.networks import Network
from sudoku_learning.networks.factor_graph import reference

SEGMENT = 16  # rounds of an update
GPU, COMPILED = "gpu", "gpu, torch.compile"


@dataclass(frozen=True)
class Config:
    """What is timed and compared; without a GPU only the processor's rows are measured."""

    out: Path
    """a JSON file for the figures; what it holds is not measured again"""
    sets: tuple[str, ...] = ("9x9-hard", "16x16")
    """banks, whose first test puzzles are taken, as often as a batch needs them"""
    boards: tuple[int, ...] = (64, 512, 2048)
    """of a batch; the processor gets the first alone"""
    threads: tuple[int, ...] = (1, os.cpu_count() or 1)
    """of the processor"""
    rounds: int = 256
    """of the parts `rounds` and `agreement`"""
    games: tuple[int, ...] = (64, 577)
    """puzzles side by side in the part `games`, of the first bank"""
    turns: int = 3
    """of each timed row"""
    compiled: bool = True
    """measure `torch.compile` too"""


def main(argv: Sequence[str] | None = None) -> list[Row]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    results = Results(config.out, command_of(__file__, argv))
    plain = reference.plain_round
    for key, measure in cases(config):
        if results.find(key):
            continue
        if key["device"] == COMPILED:
            torch.compiler.reset()
            reference.plain_round = torch.compile(plain, dynamic=False)
        torch.set_num_threads(int(key.get("threads", 1)))
        try:
            row = key | measure()
        except torch.OutOfMemoryError:
            row = key | {"failed": "out of memory"}
        finally:
            reference.plain_round = plain
        results.add(row)
    print("", table(results.rows), sep="\n")
    return results.rows


def cases(config: Config) -> Iterator[tuple[Row, Callable[[], Row]]]:
    """Yield the key of each row, and how it is measured."""
    devices: list[Row] = [{"device": "cpu", "threads": count} for count in config.threads]
    if torch.cuda.is_available():
        name = torch.cuda.get_device_name()
        kinds = (GPU, COMPILED) if config.compiled else (GPU,)
        devices += [{"device": kind, "gpu": name} for kind in kinds]
    for name in config.sets:
        for device in devices:
            if device["device"] == GPU:
                key = {"part": "agreement", "puzzles": name, **device}
                yield key, lambda name=name: agreement(name, config)
            is_cpu = device["device"] == "cpu"  # its kernels go from board to board
            for count in config.boards[:1] if is_cpu else config.boards:
                what = device, name, count, config
                key = {"puzzles": name, **device, "boards": count}
                yield {"part": "rounds", **key}, lambda what=what: rounds(*what)
                yield {"part": "update", **key}, lambda what=what: update(*what)
    for device in devices:
        for count in config.games if device["device"] != COMPILED else ():
            key = {"part": "games", "puzzles": config.sets[0], **device, "boards": count}
            yield key, lambda what=(device, count, config): games(*what)


def network_on(device: Row) -> Network:
    """Return the shipped network on a device."""
    network: Network = loading.load().network
    return network.to("cpu" if device["device"] == "cpu" else "cuda")


def batch(name: str, count: int, network: Network) -> tuple[Tensor, Tensor, PuzzleSet]:
    """Return boards and masks of the first puzzles of a bank, and the bank."""
    chosen = puzzles.load(name, "test")
    boards = np.resize(chosen.puzzles, (count, *chosen.puzzles.shape[1:]))
    masks = board.candidates(boards, chosen.geometry).reshape(count, -1)
    device = next(network.parameters()).device
    return torch.from_numpy(boards).to(device), torch.from_numpy(masks).to(device), chosen


def rounds(device: Row, name: str, count: int, config: Config) -> Row:
    """Run the rounds of a batch, forward alone."""
    network = network_on(device)
    boards, masks, chosen = batch(name, count, network)

    def run() -> None:
        with torch.no_grad():
            network.body(boards, masks, chosen.geometry, rounds=config.rounds)

    seconds = fastest(run, config.turns)
    return {"rounds": config.rounds, "boards a second": round(count / seconds, 1)}


def update(device: Row, name: str, count: int, config: Config) -> Row:
    """Run the rounds of a segment, and walk back."""
    network = network_on(device)
    boards, masks, chosen = batch(name, count, network)

    def run() -> None:
        features = network.body(
            boards, masks, chosen.geometry, all_rounds=True, rounds=SEGMENT,
            recurrent_states=[None] * count,
        )  # fmt: skip
        network.heads["policy"](features)[:, masks].square().mean().backward()

    seconds = fastest(run, config.turns)
    return {"rounds": SEGMENT, "boards a second": round(count / seconds, 1)}


def fastest(run: Callable[[], None], turns: int) -> float:
    """Return the seconds of the fastest turn, after one that is not counted."""
    seconds = []
    for _ in range(1 + turns):
        synchronise()
        start = time.perf_counter()
        run()
        synchronise()
        seconds.append(time.perf_counter() - start)
    return min(seconds[1:])


def synchronise() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def agreement(name: str, config: Config) -> Row:
    """Compare the logits of the GPU with the processor's, after one segment and after all."""
    logits = []
    for device in ("cpu", GPU):
        network = network_on({"device": device})
        boards, masks, chosen = batch(name, config.boards[0], network)
        with torch.no_grad():
            features = network.body(
                boards, masks, chosen.geometry, all_rounds=True, rounds=config.rounds
            )
            logits.append(network.heads["policy"](features)[:, masks].cpu())
    ours, theirs = logits
    distance = (ours - theirs).abs().amax(1)
    same = ((ours > 0) == (theirs > 0)).float().mean(1)
    return {
        "boards": config.boards[0],
        "placements": ours.shape[1],
        "largest difference after 1 round": three_digits(distance[0]),
        "after 16": three_digits(distance[SEGMENT - 1]),
        "same sign after 16": three_digits(same[SEGMENT - 1]),
        "same sign after all": three_digits(same[-1]),
    }


def three_digits(number: Tensor) -> float:
    return float(f"{number.item():.3g}")


def games(device: Row, count: int, config: Config) -> Row:
    """Let the policy play puzzles side by side, with its 128 starts of 256 rounds."""
    policy = loading.load()
    policy.network.to("cpu" if device["device"] == "cpu" else "cuda")
    chosen = puzzles.load(config.sets[0], "test")[:count]
    evaluate(policy, chosen[:2])
    start = time.perf_counter()
    result = evaluate(policy, chosen)
    milliseconds = in_ms((time.perf_counter() - start) / len(chosen))
    return played(result) | {"rounds": round(result.mean_rounds or 0), "ms a puzzle": milliseconds}


if __name__ == "__main__":
    main()
