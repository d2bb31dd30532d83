"""Contract checks for third-party policies, solvers and sources of puzzles.

Each check raises an AssertionError that says what is wrong and what to do about it, and returns
nothing if all is well. Use them in a test of your package.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board, solver
from sudoku_gym.evaluation import evaluate
from sudoku_gym.geometry import Geometry, symmetry
from sudoku_gym.policies import Policy, Solver
from sudoku_gym.puzzles.sources import Blanks, PuzzleSource

BATCH = 7


def check_policy(
    policy: Policy, geometry: Geometry | None = None, *, erase: bool = False, seed: int = 0
) -> None:
    """Raise an AssertionError unless a policy keeps the contract of `sudoku_gym.policies.Policy`.

    It plays puzzles of several lengths, in batches of one and of many: actions must have the
    right shape and dtype, respect the masks, repeat under the same generator and leave the
    arguments alone; games that are over stay in the batch. A `PredictorPolicy` in its one-shot
    mode may play illegal digits, so it passes only with a predictor that is right.

    Args:
        policy: an object; it is reset several times.
        geometry: the shape of the boards; None for 4x4.
        erase: True to check with masks that also hold the N**2 erasures.
        seed: of the puzzles and of the policy's generators.
    """
    geometry = geometry or Geometry.standard(4)
    needs = "the methods reset(puzzles, geometry, rng) and act(boards, action_masks)"
    _require_protocol(policy, Policy, needs)
    puzzles = _solvable_puzzles(geometry, BATCH, np.random.default_rng(seed))
    runs = []
    for batch_size in (BATCH, 1, BATCH):
        watched = _WatchedPolicy(policy)
        rules: dict[str, Any] = {"erase": erase, "max_steps": geometry.num_cells}
        evaluate(watched, puzzles, geometry=geometry, seed=seed, batch_size=batch_size, **rules)
        runs.append(watched.answers)
    first, _, again = (np.array(answers) for answers in runs)
    _require(
        np.array_equal(first, again),
        "the policy played the same puzzles otherwise with a generator of the same seed: draw only "
        "from the rng given to reset, and start afresh there",
    )


class _WatchedPolicy:
    """Passes calls on to a policy, and checks its actions and its arguments afterwards."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.answers: list[NDArray[np.int64]] = []

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        given = puzzles.copy()
        self.policy.reset(given, geometry, rng)
        _require_same(given, puzzles, "reset", "puzzles")

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        given_boards, given_masks = boards.copy(), action_masks.copy()
        actions = self.policy.act(given_boards, given_masks)
        _require_same(given_boards, boards, "act", "boards")
        _require_same(given_masks, action_masks, "act", "action_masks")
        count = len(boards)
        _require_array(actions, np.int64, (count,), "act must return a numpy array")
        running = action_masks.any(1)
        legal = action_masks[np.arange(count), np.clip(actions, 0, action_masks.shape[1] - 1)]
        legal &= (actions >= 0) & (actions < action_masks.shape[1])
        wrong = np.flatnonzero(running & ~legal)
        _require(
            len(wrong) == 0,
            f"act chose action {actions[wrong[:1]].tolist()} in game {wrong[:1].tolist()}, which "
            "the mask forbids: choose among the actions with action_masks[i] True",
        )
        self.answers.append(np.where(running, actions, -1))
        return actions


def check_solver(candidate: Solver, geometry: Geometry | None = None, *, seed: int = 0) -> None:
    """Raise an AssertionError unless a solver keeps the contract of `sudoku_gym.policies.Solver`.

    It gets puzzles with a solution, one without blanks, and one without a solution, in batches of
    one and of many. It need not solve any, but must not pass off a wrong grid as a solution.
    `geometry` is the shape of the boards, None for 4x4; `seed` decides the puzzles.
    """
    geometry = geometry or Geometry.standard(4)
    _require_protocol(candidate, Solver, "the method solve(puzzles, geometry)")
    puzzles = _solvable_puzzles(geometry, BATCH, np.random.default_rng(seed))
    puzzles = np.concatenate([puzzles, _dead_end(geometry)])
    for batch in (puzzles, puzzles[:1], puzzles[-1:]):
        given = batch.copy()
        solutions = candidate.solve(given, geometry)
        _require_same(given, batch, "solve", "puzzles")
        _require_array(solutions, np.int8, batch.shape, "solve must return")
        found = solutions.any((1, 2))
        wrong = np.flatnonzero(found & ~_completes(solutions, batch, geometry))
        _require(
            len(wrong) == 0,
            f"the answer to puzzle {wrong[:1].tolist()} breaks a rule or a given: return all zeros "
            "where no solution was found",
        )


def check_source(source: PuzzleSource, *, unique: bool = True, seed: int = 0) -> None:
    """Raise an AssertionError unless a source of puzzles keeps the contract of `PuzzleSource`.

    With `unique=False` puzzles with several solutions pass; `seed` decides the draws.
    """
    _require_protocol(source, PuzzleSource, "geometry, max_blanks and sample(count, blanks, rng)")
    _require(
        isinstance(source.geometry, Geometry),
        f"geometry must be a sudoku_gym.geometry.Geometry, not {type(source.geometry).__name__}",
    )
    most = source.max_blanks
    _require(
        isinstance(most, int | np.integer) and 1 <= most <= source.geometry.num_cells,
        f"max_blanks must be a whole number from 1 to {source.geometry.num_cells}, not {most!r}",
    )
    few = min(2, most)
    wishes: list[tuple[Blanks, int, int]] = [
        (None, 0, most),
        (most, most, most),
        (1, 1, 1),
        ((1, few), 1, few),
        ({1: 1.0, few: 2.0}, 1, few),
    ]
    for blanks, low, high in wishes:
        puzzles = _checked_sample(source, blanks, seed)
        numbers = (puzzles == 0).sum((1, 2))
        _require(
            ((numbers >= low) & (numbers <= high)).all(),
            f"blanks={blanks!r} gave puzzles with {sorted(set(numbers.tolist()))} blanks; give "
            f"{low} to {high}",
        )
        if unique:
            counts = solver.count_solutions(puzzles, 2, source.geometry)
            _require(
                (counts != 2).all(),
                f"blanks={blanks!r} gave a puzzle with several solutions: keep the givens of one "
                "with a single solution, or check with unique=False",
            )
    try:
        source.sample(1, most + 1, np.random.default_rng(seed))
    except ValueError:
        return
    raise AssertionError(
        f"sample(1, {most + 1}, rng) must raise a ValueError: max_blanks is {most}"
    )


def _checked_sample(source: PuzzleSource, blanks: Blanks, seed: int) -> NDArray[np.int8]:
    """Draw twice alike, check the draw, and return its puzzles."""
    size = source.geometry.size
    for count in (1, BATCH):
        puzzles, solutions = source.sample(count, blanks, np.random.default_rng(seed))
        call, shape = f"sample({count}, {blanks!r}, rng)", (count, size, size)
        _require_array(puzzles, np.int8, shape, f"{call} must return puzzles")
        _require_array(solutions, np.int8, shape, f"{call} must return solutions")
    completed = _completes(solutions, puzzles, source.geometry).all()
    _require(completed, f"{call} returned a solution that breaks a rule or a given of its puzzle")
    again, _ = source.sample(count, blanks, np.random.default_rng(seed))
    same = (again == puzzles).all()
    _require(same, f"{call} drew otherwise with a generator of the same seed: draw only from rng")
    return puzzles


def _solvable_puzzles(geometry: Geometry, count: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Return puzzles with a solution and 0, 2, 4 ... blanks, so that games end one by one."""
    empty = np.zeros((1, geometry.size, geometry.size), np.int8)
    grid = solver.solve(empty, geometry)
    puzzles = symmetry.sample(geometry, count, rng).apply(np.repeat(grid, count, axis=0))
    for i, puzzle in enumerate(puzzles.reshape(count, -1)):
        puzzle[rng.choice(geometry.num_cells, min(2 * i, geometry.num_cells), replace=False)] = 0
    return puzzles


def _dead_end(geometry: Geometry) -> NDArray[np.int8]:
    """Return a board `[1, N, N]` without a solution in which no two givens contradict."""
    size = geometry.size
    puzzle = np.zeros((1, size, size), np.int8)
    # Row 1 leaves only digit N for its last cell, and that column's last cell holds it already.
    puzzle[0, 0, :-1] = np.arange(1, size)
    puzzle[0, -1, -1] = size
    return puzzle


def _require_array(
    value: object, dtype: type[np.generic], shape: tuple[int, ...], wanted: str
) -> None:
    found = f"a {type(value).__name__}"
    if isinstance(value, np.ndarray):
        found = f"{value.dtype} {list(value.shape)}"
    required = f"{np.dtype(dtype).name} {list(shape)}"
    _require(found == required, f"{wanted} {required}, not {found}")


def _completes(
    solutions: NDArray[np.int8], puzzles: NDArray[np.int8], geometry: Geometry
) -> NDArray[np.bool_]:
    """Return which solutions keep all rules and givens: bool `[B]`."""
    kept = ((puzzles == 0) | (puzzles == solutions)).all((1, 2))
    return kept & board.is_solved(solutions, geometry)


def _require_protocol(value: object, protocol: type, needs: str) -> None:
    is_instance = isinstance(value, protocol) and not isinstance(value, type)
    _require(is_instance, f"{value!r} needs {needs}")


def _require_same(
    now: NDArray[np.generic], before: NDArray[np.generic], method: str, name: str
) -> None:
    _require((now == before).all(), f"{method} changed its argument {name}: work on a copy")


def _require(condition: bool | np.bool_, message: str) -> None:
    if not condition:
        raise AssertionError(message)
