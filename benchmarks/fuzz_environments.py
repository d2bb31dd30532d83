"""What `fuzz.py` feeds to puzzles, boards, environments, evaluations, and the page of the app."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from operator import index
from typing import Any

import numpy as np

from fuzz_inputs import Inputs
from fuzz_targets import (
    FOUR,
    PUZZLE,
    WRAPPERS,
    check_boards,
    few,
    offers,
    recorded,
    slow_target,
    source,
    target,
)
from sudoku_gym import board, evaluate, load_policy, puzzles, solver
from sudoku_gym.app.choices import TYPED_IN
from sudoku_gym.app.choices import puzzle as chosen_puzzle
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_gym.geometry import Geometry, jigsaw, latin_square, sudoku_x, windows
from sudoku_gym.puzzles import PuzzleSet, banks
from sudoku_gym.puzzles.sources import BankSource, resolve_source
from sudoku_gym.trajectories import replay


@target
def functions_of_boards(make: Inputs) -> None:
    near = make.near(few().puzzles)
    functions = [board.candidates, board.conflicts, board.is_solved, board.constraint_fraction]
    functions += [board.check_puzzle, solver.solve, solver.count_solutions, puzzles.grade]
    make.random.choice(functions)(near)


@target
def puzzle_sets(make: Inputs) -> None:
    columns = ["grades", "orbits", "minimal", "ratings", "sources"]
    chosen = make.random.sample(columns, make.random.randrange(3))
    more = {name: make.near(getattr(few(), name)) for name in chosen}
    arrays = [make.near(array) for array in (few().puzzles, few().solutions)]
    geometry = FOUR if make.chance(0.9) else make.value()
    made = BankSource(PuzzleSet(*arrays, geometry, **more))
    found, solutions = made.sample(4, None, np.random.default_rng(0))
    check_boards(found, FOUR)
    assert board.is_solved(solutions).all(), "a solution that is none"


@target
def sampled_blanks(make: Inputs) -> None:
    check_boards(source().sample(2, make.value(), make.numpy)[0], FOUR)


@slow_target
def geometries(make: Inputs) -> None:
    kind = make.random.randrange(3)
    if kind == 0:
        name = make.text(make.random.choice([*banks.NAMES, "12x12"]))
        banks.named_geometry(name.replace(":", ""))
        return
    if kind == 1:
        size = make.random.choice([*range(-2, 30), make.value()])
        makers: list[Callable[..., Geometry]] = [Geometry.standard, sudoku_x, windows, latin_square]
        makers.append(jigsaw)
        makers.append(lambda value: Geometry.boxes(value, make.value()))
        make.random.choice(makers)(size)
        return
    extra = make.random.choice([None, make.near(np.array([[0, 5, 10, 15]]))])
    made = Geometry("mine", make.near(FOUR.regions), extra)
    assert 0 <= made.units.min() and made.units.max() < made.num_cells, "units out of range"


@target
def options_of_environments(make: Inputs) -> None:
    names = ["board", "blanks", "augment", "actions", "erase", "illegal_reward", "propagation"]
    names += ["end_at_dead_end", "max_episode_steps", "with_mask", "with_info", "reward", "split"]
    names += ["render_mode", "num_envs", "autoreset_mode", "num_threads"]
    chosen = make.random.sample(names, make.random.choice([1, 1, 2]))
    options = {name: make.value() for name in chosen}
    options = {name: 1 if _is_large(name, each) else each for name, each in options.items()}
    kind = (
        SudokuVectorEnv if {"num_envs", "autoreset_mode", "num_threads"} & {*chosen} else SudokuEnv
    )
    env = kind(source=source(), **options)
    check_boards(env.reset(seed=0)[0], FOUR)
    env.close()


def _is_large(name: str, value: object) -> bool:
    """Whether an option asks for memory or threads that it may have."""
    is_count = isinstance(value, int) and name in ("num_envs", "num_threads")
    return is_count and value > 1000


@target
def sources(make: Inputs) -> None:
    given = make.value()
    if isinstance(given, str) and (given in banks.NAMES or ":" in given):
        given += "?"
    resolve_source(given, make.random.choice(["train", "all", "test"]))


@target
def resets_and_steps(make: Inputs) -> None:
    env, single = _environment(make)
    boards, _ = env.reset(seed=0)
    kind = make.random.randrange(6)
    if kind == 0:
        env.reset(options=make.value())
    elif kind == 1:
        env.reset(options={make.random.choice(["blanks", "puzzle", "reset_mask"]): make.value()})
    elif kind == 2:
        env.reset(options={"puzzle": make.near(boards)})
    elif kind == 3:
        env.set_blanks(make.value())
    elif kind == 4:
        env.reset(seed=make.value())
    else:
        actions = make.value() if single else make.near(np.zeros(3, np.int64))
        env.step(actions)
    check_boards(env.get_state().rows[:, :16], FOUR)


def _environment(make: Inputs) -> tuple[Any, bool]:
    is_single = make.chance(0.5)
    return (SudokuEnv(source()) if is_single else SudokuVectorEnv(3, source())), is_single


@target
def states(make: Inputs) -> None:
    env, _ = _environment(make)
    env.reset(seed=0)
    state = env.get_state()
    name = make.random.choice(["rows", "candidates", "counts", "streams", "generators"])
    env.set_state(replace(state, **{name: make.near(getattr(state, name))}))
    check_boards(env.get_state().rows[:, :16], FOUR)
    env.action_masks()


@target
def wrapped_environments(make: Inputs) -> None:
    env, single = _environment(make)
    kinds = [kind for kind in WRAPPERS if single != kind.__name__.startswith("Vector")]
    arguments = [make.value()] if make.chance(0.5) else []
    wrapped = make.random.choice(kinds)(env, *arguments)
    wrapped.reset(seed=0)
    wrapped.step(make.value() if single else make.near(np.zeros(3, np.int64)))


@slow_target
def evaluations(make: Inputs) -> None:
    given = few() if make.chance(0.3) else make.near(few().puzzles)
    names = ["seed", "actions", "erase", "max_steps", "batch_size", "geometry"]
    options = {name: make.value() for name in make.random.sample(names, make.random.randrange(2))}
    evaluate(load_policy("hidden-singles"), given, **options)


@slow_target
def recorded_games(make: Inputs) -> None:
    games, part = recorded()
    names = make.random.sample(["seeds", "lengths", "actions"], make.random.choice([1, 1, 2]))
    for game in replay(games, replace(part, **{n: make.near(getattr(part, n)) for n in names})):
        check_boards(game.observations, FOUR)


@target
def generated_puzzles(make: Inputs) -> None:
    options = {make.random.choice(["givens", "pattern", "node_limit"]): make.value()}
    count = make.random.choice([1, 1, 0, -1, make.value()])
    with suppress(TypeError):  # it is no number
        count = min(index(count), 100)
    geometry = FOUR if make.chance(0.9) else make.value()
    puzzles.generate(count, geometry, np.random.default_rng(0), **options)


@target
def choices_of_visitors(make: Inputs) -> None:
    given = make.random.choice([TYPED_IN, "4x4", "9x9", make.value()])
    chosen_puzzle(given, make.value(), make.text(PUZZLE) if make.chance(0.5) else make.value())


@target
def options_of_visitors(make: Inputs) -> None:
    name = make.random.choice(["hidden-singles", "dlx", "backtracking", make.value()])
    text = make.text("node_limit=1000&item_rule=fewest") if make.chance(0.7) else make.value()
    offers().policy(name, text)
