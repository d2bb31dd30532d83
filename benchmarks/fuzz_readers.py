"""What `fuzz.py` feeds to readers: of files, names, configurations, checkpoints and texts."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np

from fuzz_inputs import Inputs
from fuzz_targets import (
    FOUR,
    POLICY_NAMES,
    PUZZLE,
    check_boards,
    checkpoint,
    few,
    leaderboard,
    npz_file,
    slow_target,
    source,
    target,
)
from sudoku_curricula import SCHEDULES, configure_schedule, make_schedule
from sudoku_gym import board, load_policy, plugins, puzzles, solver
from sudoku_gym.evaluation.leaderboard.results import read_leaderboard
from sudoku_gym.evaluation.list_results import ListResults, ListRow, read_list_results
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles import files
from sudoku_gym.storage.configs import from_json, to_json
from sudoku_gym.text import (
    TextSudoku,
    filled_constraint_fraction,
    read_answer,
    read_command,
    score_text,
    verify,
)


@target
def parse_board(make: Inputs) -> None:
    geometry = make.random.choice([None, FOUR, Geometry.standard(9)])
    near = make.random.choice([PUZZLE, "1234....21.34..1", board.to_text(few().puzzles[0])])
    check_boards(board.parse(make.text(near), geometry), Geometry.standard(25))


@target
def parse_boards(make: Inputs) -> None:
    lines = [make.text(PUZZLE) if make.chance(0.5) else PUZZLE for _ in range(3)]
    board.parse_many(lines)


@target
def text_files(make: Inputs) -> None:
    near = f"# few\n{PUZZLE}\n{PUZZLE}\n".encode()
    _read(make, make.file("few.txt", make.bytes(near)))


@target
def csv_files(make: Inputs) -> None:
    head = make.random.choice(["puzzle,solution,grade", "source,question,answer,rating"])
    solution = board.to_line(solver.solve(board.parse(PUZZLE)[None])[0])
    row = f"a,{PUZZLE},{solution},7" if head[0] == "s" else f"{PUZZLE},{solution},search"
    _read(make, make.file("few.csv", make.bytes(f"{head}\n{row}\n{row}\n".encode())))


@target
def npz_files(make: Inputs) -> None:
    _read(make, make.file("few.npz", make.bytes(npz_file())))


def _read(make: Inputs, path: Path) -> None:
    how = make.random.randrange(4)
    if how == 0:
        read = puzzles.read(path, on_bad_row="raise")
    elif how == 1:
        read = puzzles.read(path, on_bad_row="skip")
    elif how == 2:
        read = files.read_sample(path, 1, np.random.default_rng(0))
    else:
        for geometry, boards, _ in files.stream_boards(path):
            check_boards(boards, geometry)
        return
    check_boards(read.puzzles, read.geometry)


@target
def policy_names(make: Inputs) -> None:
    name = make.text(make.random.choice(POLICY_NAMES)).replace(":", "").replace("/", "")
    load_policy(name)


@target
def names_of_schedules(make: Inputs) -> None:
    configure_schedule(make.text("success-rate?start=2&stop=12&threshold=0.9")).build()


@target
def states_of_schedules(make: Inputs) -> None:
    schedule = make_schedule(make.random.choice(list(SCHEDULES)))
    state = json.loads(json.dumps(schedule.state_dict()))
    schedule.load_state_dict(make.json(state))
    schedule.update(schedule.level, 3, 4)
    schedule.distribution()


@target
def configurations(make: Inputs) -> None:
    kind = SCHEDULES[make.random.choice(list(SCHEDULES))]
    from_json(make.json(to_json(kind())))


@target
def ids_of_environments(make: Inputs) -> None:
    name = make.text(make.random.choice(["Sudoku9x9-v0", "my_package.envs:Mine9x9-v0"]))
    plugins.find_env(name)


@slow_target
def leaderboards(make: Inputs) -> None:
    read_leaderboard(make.json_file("leaderboard.json", leaderboard()))


@target
def results_of_lists(make: Inputs) -> None:
    whole = ListResults("sudoku-gym list", {"name": "4x4"}, rows=[ListRow("dlx", {"seed": 0}, "")])
    read_list_results(make.json_file("list.json", asdict(whole)))


@slow_target
def checkpoints(make: Inputs) -> None:
    if not checkpoint():
        return
    damaged = make.random.choice(sorted(checkpoint()))
    for name, content in checkpoint().items():
        content = make.bytes(content) if name == damaged else content
        if name != "SHA256SUMS" or make.chance(0.1):
            make.file(name, content)
    if make.chance(0.5):
        make.json_file("config.json", json.loads(checkpoint()["config.json"]))
    from sudoku_learning.training.checkpoint import read_checkpoint

    load_policy(make.folder)
    read_checkpoint(make.folder)


ANSWERS = ["r1c2=3", '{"row": 1, "column": 2, "digit": 3}', "<answer>1234\n3412</answer>", "undo"]
ANSWERS += ["1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1", PUZZLE, "[[1, 2], [3, 4]]", "```\nset r1c1 to A"]


@target
def answers_of_models(make: Inputs) -> None:
    _answer(make.text(make.random.choice(ANSWERS)))


@slow_target
def long_answers_of_models(make: Inputs) -> None:
    piece = make.random.choice([make.text(""), make.text(make.random.choice(ANSWERS))])[:100]
    _answer(make.text("") + (piece * (120_000 // max(len(piece), 1))) + make.text(""))


def _answer(text: str) -> None:
    """Let a model answer; whatever it writes, there is a sentence about it."""
    try:
        read_command(text, 4)
        read_answer(text, 4)
        score_text(few().puzzles[0], text)
        _text_game().step(text)
    except (ValueError, TypeError) as error:
        raise AssertionError(f"an error for {text!r:.60}: {error}") from error


def _text_game() -> TextSudoku:
    game = _game()
    if game.done:
        game.reset(seed=0)
    return game


@cache
def _game() -> TextSudoku:
    return TextSudoku(env_id="Sudoku4x4-v0", allow_candidates=True, announce_dead_ends=True)


@target
def texts_that_are_none(make: Inputs) -> None:
    read = make.random.choice([read_command, read_answer])
    read(make.value(), make.random.choice([4, 9]))


@target
def rewards_of_answers(make: Inputs) -> None:
    reward = make.random.choice([verify, filled_constraint_fraction])
    share = np.asarray(reward(make.near(few().puzzles[0]), make.near(few().solutions[0])))
    assert ((share >= 0) & (share <= 1)).all(), "a share out of range"


@target
def options_of_texts(make: Inputs) -> None:
    names = ["env_id", "mode", "style", "blanks", "split", "max_turns", "source"]
    option = {make.random.choice(names): make.value()}
    TextSudoku(**{"env_id": "Sudoku-v0", "source": source(), **option}).reset(seed=0)
