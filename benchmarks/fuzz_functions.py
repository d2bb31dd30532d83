"""What `fuzz.py` feeds to functions of puzzles, actions and texts, to schedules, to `register`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from operator import index
from typing import Any

import gymnasium as gym
import numpy as np

from fuzz_inputs import Inputs
from fuzz_targets import (
    FOUR,
    POLICY_NAMES,
    PUZZLE,
    few,
    slow_target,
    source,
    target,
)
from sudoku_curricula import (
    SCHEDULES,
    BlanksCurriculum,
    Curriculum,
    VectorBlanksCurriculum,
    make_schedule,
    register_schedule,
)
from sudoku_gym import board, compare, load_policy, load_solver, puzzles, register, solver
from sudoku_gym.board import SYMBOLS
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_gym.puzzles import banks, files
from sudoku_gym.text import Command, ScriptedModel, TextSudoku, describe_rules, format_board

SIX = banks.named_geometry("6x6")


def _number(make: Inputs, most: int) -> Any:
    """Draw a value; a number that is one is at most `most`, since it says how much work to do."""
    value = make.value()
    with suppress(TypeError):
        return min(index(value), most)
    return value


def _geometry(make: Inputs) -> Any:
    return make.random.choice([FOUR, FOUR, SIX, None, make.value()])


def _generator(make: Inputs) -> Any:
    return make.numpy if make.chance(0.9) else make.value()


@target
def texts_of_boards(make: Inputs) -> None:
    kind = make.random.randrange(7)
    near = make.near(few().puzzles[0])
    if kind == 0:
        made = board.parse(make.text(PUZZLE), make.random.choice([None, _geometry(make)]))
        assert ((made >= 0) & (made <= len(made))).all(), "values out of range"
    elif kind == 1:
        board.parse_many([make.text(PUZZLE) for _ in range(3)], make.value())
    elif kind == 2:
        board.to_line(near)
    elif kind == 3:
        board.to_text(near, _geometry(make))
    elif kind == 4:
        board.satisfied_units(make.near(few().puzzles), _geometry(make))
    else:
        as_boards = board.as_boards(make.near(few().puzzles), _geometry(make))
        assert set("".join(board.to_line(each) for each in as_boards)) <= {*SYMBOLS}


@target
def functions_of_puzzles(make: Inputs) -> None:
    near, geometry = make.near(few().puzzles), _geometry(make)
    kind = make.random.randrange(6)
    if kind == 0:
        puzzles.candidates_after(near, make.random.choice([0, 1, 2, 3, make.value()]), geometry)
    elif kind == 1:
        solver.find_solutions(near, _number(make, 3), geometry, node_limit=make.value())
    elif kind == 2:
        symmetries = make.random.choice([1, 3, _number(make, 9)])
        puzzles.rate(
            near, _generator(make), geometry, symmetries=symmetries, node_limit=make.value()
        )
    elif kind == 3:
        puzzles.same_orbit(make.near(few().puzzles[0]), make.near(few().puzzles[1]), geometry)
    elif kind == 4:
        name = make.random.choice(["4x4", "4x4", make.text("4x4")])
        puzzles.find_in_splits(make.near(few().puzzles[0]), name)
    else:
        grids = puzzles.random_grids(_number(make, 3), geometry, _generator(make))
        assert board.is_solved(grids, geometry).all(), "a grid that is not solved"


@slow_target
def sets_of_puzzles(make: Inputs) -> None:
    kind = make.random.randrange(3)
    given = few() if make.chance(0.7) else make.value()
    if kind == 0:
        puzzles.find_in_training(given)
    elif kind == 1:
        some = _six() if make.chance(0.7) else given
        steps, limit = _number(make, 3), make.random.choice([None, 10, make.value()])
        hard = puzzles.harden(some, _generator(make), steps=steps, node_limit=limit)
        assert (solver.count_solutions(hard.puzzles, 2, SIX) == 1).all(), "a puzzle that is none"
    else:
        name = make.random.choice(["a.txt", "a.csv", "a.npz", "a.xls", "no/a.csv", ""])
        path = make.folder / name if make.chance(0.9) else make.value()
        if not isinstance(path, str):  # it would be written where the program was started
            puzzles.write(path, given)
            assert len(files.read(path)) == len(few())


def _six() -> Any:
    return puzzles.generate(2, SIX, np.random.default_rng(0))


@target
def drawn_actions(make: Inputs) -> None:
    masks = make.near(np.ones((3, 64), make.random.choice(["i1", "?"])))
    actions = sample_actions(masks, _generator(make))
    assert ((actions >= 0) & (actions < np.shape(masks)[1])).all(), "an action that is none"


@slow_target
def comparisons(make: Inputs) -> None:
    players: Any = {"a": load_policy("masked-random"), "b": load_policy("naked-singles")}
    if make.chance(0.3):
        players = make.random.choice([{"a": make.value()}, make.value()])
    given = few() if make.chance(0.5) else make.near(few().puzzles)
    compare(players, given)


@target
def names_of_solvers(make: Inputs) -> None:
    name = make.text(make.random.choice(POLICY_NAMES)).replace(":", "").replace("/", "")
    load_solver(name)


@target
def registrations(make: Inputs) -> None:
    name = make.text("Mine4x4-v0") if make.chance(0.7) else make.value()
    names = ["board", "blanks", "reward", "num_envs", "augment"]
    options = {make.random.choice(names): make.value()} if make.chance(0.5) else {}
    before = dict(gym.registry)
    try:
        register(name, source() if make.chance(0.7) else 5, **options)
        gym.make(name).reset(seed=0)
    finally:
        gym.registry.clear()
        gym.registry.update(before)


@target
def texts_of_rules(make: Inputs) -> None:
    geometry = _geometry(make)
    kind = make.random.randrange(3)
    if kind == 0:
        describe_rules(geometry)
    elif kind == 1:
        style = make.random.choice(["grid", "compact", "json", make.value()])
        cells = few().puzzles[0].tobytes() if make.chance(0.4) else make.value()
        format_board(cells, geometry, style)
    else:
        cell = make.value()
        assert Command("place", cell, 3).cell is cell


@slow_target
def scripted_models(make: Inputs) -> None:
    policy = load_policy("naked-singles") if make.chance(0.8) else make.value()
    model = ScriptedModel(policy, _geometry(make), make.random.choice([0, make.value()]))
    prompt = TextSudoku(env_id="Sudoku4x4-v0").reset(seed=0)
    message = make.text(prompt) if make.chance(0.7) else make.value()
    answer = make.random.choice([model.whole_board, model.next_move, _first_move(model)])
    assert isinstance(answer(message), str)


def _first_move(model: ScriptedModel) -> Callable[[str], str]:
    return lambda message: model.next_move(message, first=True)


@target
def curricula(make: Inputs) -> None:
    schedule = make_schedule(make.random.choice(list(SCHEDULES)))
    schedule = schedule if make.chance(0.8) else make.value()
    every = make.random.choice([1, 100, make.value()])
    kind = make.random.randrange(4)
    if kind == 0:
        BlanksCurriculum(SudokuEnv(source()), schedule, episodes_per_update=every).reset(seed=0)
    elif kind == 1:
        envs = SudokuVectorEnv(2, source())
        VectorBlanksCurriculum(envs, schedule, episodes_per_update=every).reset(seed=0)
    elif kind == 2:
        pushed: list[Any] = []
        curriculum = Curriculum(schedule, pushed.append, every)
        curriculum.report(make.value(), make.value())
        curriculum.report_held_out(make.value())
    else:
        name = make.random.choice(["success-rate", make.value()])
        kept = dict(SCHEDULES)
        try:
            register_schedule(name)(_Config if make.chance(0.5) else make.value())
        finally:
            SCHEDULES.clear()
            SCHEDULES.update(kept)


@dataclass(frozen=True)
class _Config:
    """A schedule's configuration without a schedule."""
