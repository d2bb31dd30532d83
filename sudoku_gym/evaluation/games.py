"""Evaluate policies on the same puzzles, in the same order, under the same rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter, process_time
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.envs.batch import BoardBatch
from sudoku_gym.envs.options import EnvOptions
from sudoku_gym.envs.resets import ResetOptions
from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.geometry import Geometry, geometry_for
from sudoku_gym.policies import Convergence, Policy
from sudoku_gym.policies.protocols import actions_of
from sudoku_gym.puzzles.puzzle_set import NOT_KNOWN, PuzzleSet
from sudoku_gym.puzzles.sources import EmptySource

RESAMPLES = 1000


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Results of a policy on M puzzles."""

    solved: NDArray[np.bool_]
    """`[M]`, True where the game ended with a valid completion of the puzzle."""
    constraint_fraction: float
    """Share of satisfied units of the last boards, averaged."""
    illegal: int
    """Games lost by an illegal action."""
    seconds: float
    """Wall time of the policy in s, with its resets and compilation, without the environment."""
    processor_seconds: float
    """Processor time of the policy in s, of all threads of this process."""
    convergence: Convergence | None
    """Of the games, `[M]`, where the policy can tell."""
    orbits: NDArray[np.int32]
    """`[M]`, -1 where unknown."""
    seed: int
    """Seed of the policy's generators and of the resampling of orbits."""
    boards: NDArray[np.int8] | None = None
    """int8 `[M, N, N]`, the last board of each game; None of results that were joined or read."""

    @property
    def completion_rate(self) -> float:
        """The share of puzzles solved entirely."""
        return float(self.solved.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson 95 % interval of the completion rate, as if puzzles were independent."""
        return wilson_interval(int(self.solved.sum()), len(self.solved))

    @property
    def orbits_solved(self) -> tuple[int, int] | None:
        """(k, n): k of the n orbits were solved whole; None where orbits are unknown."""
        return count_orbits(self.orbits, self.solved)

    @cached_property
    def orbit_interval(self) -> tuple[float, float] | None:
        """Bootstrap 95 % interval of the completion rate, over whole orbits; None where unknown.

        The puzzles of an orbit are equivalent, and an equivariant policy solves all or none of
        them. Where few orbits hold many puzzles, as at 4x4, the Wilson interval is too narrow.
        """
        if NOT_KNOWN in self.orbits:
            return None
        _, index = np.unique(self.orbits, return_inverse=True)
        sizes = np.bincount(index)
        solved = np.bincount(index, weights=self.solved)
        rng = np.random.default_rng(self.seed)
        rates = np.empty(RESAMPLES)
        for i in range(RESAMPLES):
            drawn = rng.integers(len(sizes), size=len(sizes))
            rates[i] = solved[drawn].sum() / sizes[drawn].sum()
        low, high = np.quantile(rates, [0.025, 0.975])
        return float(low), float(high)

    @property
    def mean_rounds(self) -> float | None:
        """The rounds of the network in a game, averaged; None where the policy can't tell."""
        return None if self.convergence is None else float(self.convergence.rounds.mean())

    @property
    def converged_solved(self) -> tuple[int, int] | None:
        """(k, n): k of the n games whose evaluations had all converged were solved; or None."""
        if self.convergence is None:
            return None
        converged = self.convergence.converged
        return int((self.solved & converged).sum()), int(converged.sum())

    def to_dict(self) -> dict[str, Any]:
        """Return the results as numbers and lists, fit for JSON."""
        return {
            "puzzles": len(self.solved),
            "solved": int(self.solved.sum()),
            "completion_rate": self.completion_rate,
            "interval": list(self.interval),
            "orbit_interval": list(self.orbit_interval) if self.orbit_interval else None,
            "orbits_solved": list(self.orbits_solved) if self.orbits_solved else None,
            "constraint_fraction": self.constraint_fraction,
            "illegal": self.illegal,
            "seconds": self.seconds,
            "processor_seconds": self.processor_seconds,
            "rounds": self.mean_rounds,
            "converged": self.converged_solved[1] if self.converged_solved else None,
            "converged_solved": self.converged_solved[0] if self.converged_solved else None,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        low, high = self.interval
        text = (
            f"{percent(self.completion_rate)} of {len(self.solved):,} puzzles solved "
            f"(95 % interval {percent(low)} to {percent(high)})"
        )
        if self.orbits_solved and self.orbits_solved[1] < len(self.solved):
            text += ", {} of {} orbits entirely".format(*self.orbits_solved)
        if self.illegal:
            text += f", {self.illegal:,} lost by an illegal answer"
        return text


def evaluate(
    policy: Policy,
    puzzles: PuzzleSet | NDArray[np.integer],
    *,
    geometry: Geometry | None = None,
    seed: int = 0,
    actions: Literal["legal", "blank"] = "legal",
    erase: bool = False,
    max_steps: int | None = None,
    batch_size: int = 1024,
    first_batch: int = 0,
    on_progress: Callable[[float], None] | None = None,
) -> Evaluation:
    """Let a policy play each puzzle once.

    A puzzle counts as solved by any valid completion that keeps its givens. An illegal action ends
    its game, which is lost.

    Args:
        policy: the policy to evaluate.
        puzzles: a PuzzleSet, or boards int `[M, N, N]`.
        geometry: the shape of the boards; None takes the set's, or the standard one for N.
        seed: seed of the generators passed to the policy, one per batch.
        actions: placements that the mask allows, as in the environment.
        erase: whether the policy may also clear cells.
        max_steps: moves after which a game ends; None for the limit of the environment.
        batch_size: number of games played in parallel. Random policies may play differently with
            another batch size.
        first_batch: the number of the first batch, for a list that is played part by part: batch
            number i has the same generator in whatever part it is.
        on_progress: called after each move with the share of all blanks that are filled or no
            longer matter, 0 to 1.

    Raises:
        ValueError: if there is no puzzle, a puzzle breaks the rules, or the policy's actions have
            the wrong shape or type.
    """
    boards, geometry, orbits = _unpack(puzzles, geometry)
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, not {batch_size}")
    source = EmptySource(geometry)
    options = EnvOptions(source, augment=False, actions=actions, erase=erase, max_steps=max_steps)
    starts = range(0, len(boards), batch_size)
    clock, games = _Clock(), []
    for number, start in enumerate(starts, start=first_batch):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
        batch = boards[start : start + batch_size]

        def report(share: float, start: int = start, count: int = len(batch)) -> None:
            if on_progress is not None:
                on_progress((start + count * share) / len(boards))

        with clock:
            policy.reset(batch.copy(), geometry, rng)
        final, lost = _play(policy, batch, options, clock, report if on_progress else None)
        games.append((final, lost, getattr(policy, "convergence", None)))
    final, lost = (np.concatenate([game[i] for game in games]) for i in (0, 1))
    kept = ((boards == 0) | (boards == final)).all((1, 2))
    return Evaluation(
        solved=board.is_solved(final, geometry) & kept & ~lost,
        boards=final,
        constraint_fraction=float(board.constraint_fraction(final, geometry).mean()),
        illegal=int(lost.sum()),
        seconds=clock.seconds,
        processor_seconds=clock.processor_seconds,
        convergence=_join([game[2] for game in games]),
        orbits=orbits,
        seed=seed,
    )


def join_evaluations(parts: Sequence[Evaluation]) -> Evaluation:
    """Return the results on all puzzles of one policy's parts, at least one part."""
    counts = [len(part.solved) for part in parts]
    fractions = [part.constraint_fraction for part in parts]
    return Evaluation(
        solved=np.concatenate([part.solved for part in parts]),
        constraint_fraction=float(np.average(fractions, weights=counts)),
        illegal=sum(part.illegal for part in parts),
        seconds=sum(part.seconds for part in parts),
        processor_seconds=sum(part.processor_seconds for part in parts),
        convergence=_join([part.convergence for part in parts]),
        orbits=np.concatenate([part.orbits for part in parts]),
        seed=parts[0].seed,
    )


def compare(
    policies: Mapping[str, Policy], puzzles: PuzzleSet | NDArray[np.integer], **options: Any
) -> dict[str, Evaluation]:
    """Evaluate several policies; options and errors are those of `evaluate`."""
    return {name: evaluate(policy, puzzles, **options) for name, policy in policies.items()}


def count_orbits(orbits: NDArray[np.int32], solved: NDArray[np.bool_]) -> tuple[int, int] | None:
    """Return (k, n): k of n orbits `[B]` were solved whole; None if any of them is unknown."""
    if NOT_KNOWN in orbits:
        return None
    total = len(np.unique(orbits))
    return total - len(np.unique(orbits[~solved])), total


def percent(share: float) -> str:
    """Format a share; only none and all are shown as 0 % and 100 %."""
    for digits in range(1, 8):
        text = f"{100 * share:.{digits}f}"
        if share in (0, 1) or float(text) not in (0, 100):
            return f"{text} %"
    return "> 0 %" if share < 0.5 else "< 100 %"


def _join(parts: Sequence[Convergence | None]) -> Convergence | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    rounds, converged = ([getattr(p, name) for p in known] for name in ("rounds", "converged"))
    return Convergence(np.concatenate(rounds), np.concatenate(converged))


def _play(
    policy: Policy,
    puzzles: NDArray[np.int8],
    options: EnvOptions,
    clock: _Clock,
    report: Callable[[float], None] | None,
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """Play one batch to its end, under the rules of the environments.

    Returns:
        The last boards int8 `[B, N, N]`, and which games an illegal action lost, `[B]`.
    """
    count = len(puzzles)
    blanks = max(int(np.count_nonzero(puzzles == 0)), 1)
    games = BoardBatch(count, options)
    games.start_episodes(ResetOptions(np.ones(count, np.bool_), puzzles))
    masks = games.masks().view(np.bool_)
    running = masks.any(1)
    lost = np.zeros(count, np.bool_)
    while running.any():
        masks[~running] = False
        with clock:
            chosen = policy.act(games.boards.copy(), masks.copy())
        actions = actions_of(chosen, count)
        in_range = (actions >= 0) & (actions < games.num_actions)
        legal = in_range & masks[np.arange(count), np.where(in_range, actions, 0)]
        lost |= running & ~legal
        running &= legal
        games.play(actions, running)
        running &= games.running
        masks = games.masks().view(np.bool_)
        if report is not None:
            report(1 - int(np.count_nonzero(games.boards[running] == 0)) / blanks)
    return games.boards.copy(), lost


class _Clock:
    """Adds up the time spent in its blocks, in s."""

    def __init__(self) -> None:
        self.seconds = self.processor_seconds = 0.0

    def __enter__(self) -> None:
        self._start = perf_counter(), process_time()

    def __exit__(self, *error: object) -> None:
        start, processor_start = self._start
        self.seconds += perf_counter() - start
        self.processor_seconds += process_time() - processor_start


def _unpack(
    puzzles: PuzzleSet | NDArray[np.integer], geometry: Geometry | None
) -> tuple[NDArray[np.int8], Geometry, NDArray[np.int32]]:
    if isinstance(puzzles, PuzzleSet):
        boards, geometry = puzzles.puzzles, geometry or puzzles.geometry
        orbits = puzzles.orbits
    else:
        boards = board.as_boards(puzzles, geometry)
        geometry = geometry_for(boards.shape[1], geometry)
        orbits = np.full(len(boards), NOT_KNOWN, np.int32)
    if not len(boards):
        raise ValueError("no puzzle to play: give at least one")
    board.check_puzzles(boards, geometry)
    return boards, geometry, orbits
