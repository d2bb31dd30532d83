"""What `fuzz.py` feeds: public readers and constructors, each a function of `Inputs`.

A target checks what it has got where that is cheap: boards are boards, whatever came in.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from fuzz_inputs import Inputs
from sudoku_curricula import SCHEDULES, configure_schedule, make_schedule
from sudoku_gym import board, evaluate, load_policy, plugins, puzzles, solver, wrappers
from sudoku_gym.app.choices import TYPED_IN, OfferedPolicies
from sudoku_gym.app.choices import puzzle as chosen_puzzle
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_gym.evaluation.leaderboard.results import read_leaderboard
from sudoku_gym.evaluation.lists import ListResults, ListRow, read_list_results
from sudoku_gym.geometry import Geometry, jigsaw, latin_square, sudoku_x, windows
from sudoku_gym.puzzles import PuzzleSet, banks, files
from sudoku_gym.puzzles.sources import BankSource, resolve_source
from sudoku_gym.storage.configs import from_json, to_json
from sudoku_gym.text import (
    TextSudoku,
    filled_constraint_fraction,
    read_answer,
    read_command,
    score_text,
    verify,
)
from sudoku_gym.trajectories import PlayedPart, RecordedGames, play_part, replay

TARGETS: dict[str, Callable[[Inputs], None]] = {}
TURNS: list[str] = []  # the names of the targets, often or seldom
PUZZLE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
FOUR = Geometry.standard(4)
LEADERBOARD = Path(__file__).parent.parent / "docs" / "results" / "leaderboard.json"
WRAPPERS = [getattr(wrappers, name) for name in wrappers.__all__]
POLICY_NAMES = ["hidden-singles", "dlx?node_limit=1000&item_rule=fewest", "masked-random"]


def target(function: Callable[[Inputs], None]) -> Callable[[Inputs], None]:
    """Enter a target."""
    TARGETS[function.__name__] = function
    TURNS.extend([function.__name__] * 8)
    return function


def slow_target(function: Callable[[Inputs], None]) -> Callable[[Inputs], None]:
    """Enter a target that takes some milliseconds, and so comes less often."""
    TARGETS[function.__name__] = function
    TURNS.append(function.__name__)
    return function


@cache
def few() -> PuzzleSet:
    """Return a few 4x4 puzzles."""
    return puzzles.load("4x4")[::9_000]


@cache
def source() -> BankSource:
    """Return a source of a few 4x4 puzzles."""
    return BankSource(few())


@cache
def npz_file() -> bytes:
    """Return a file of puzzles as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "few.npz"
        puzzles.write(path, few())
        return path.read_bytes()


@cache
def leaderboard() -> Any:
    """Return a leaderboard of two rows as JSON."""
    whole = json.loads(LEADERBOARD.read_text())
    whole["rows"] = dict(list(whole["rows"].items())[:2])
    return whole


@cache
def checkpoint() -> dict[str, bytes]:
    """Return the files of a small checkpoint, empty without torch."""
    try:
        from sudoku_agents.alphazero.config import AlphaZeroConfig
        from sudoku_agents.alphazero.learner import AlphaZeroLearner
        from sudoku_agents.alphazero.search import SearchConfig
        from sudoku_learning.networks import FactorGraphConfig
        from sudoku_learning.training import Training
    except ModuleNotFoundError:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        config = AlphaZeroConfig(
            run=Path(folder) / "run",
            iterations=1,
            games=2,
            validation_games=2,
            search=SearchConfig(simulations=2),
            network=FactorGraphConfig(channels=8, rounds=1),
        )
        Training(config, AlphaZeroLearner).run()
        saved = config.run / "checkpoints" / "000001"
        return {path.name: path.read_bytes() for path in saved.iterdir()}


@contextmanager
def prepared() -> Iterator[None]:
    """Make what the targets share, and let entry points be read once."""
    prepare()
    installed = cache(plugins.available)
    with ExitStack() as patches:
        for module in (plugins, plugins.entry_points, plugins.environments):
            patches.enter_context(patch.object(module, "available", installed))
        yield


def prepare() -> None:
    """Make and compile what the targets share, so that no input pays for it."""
    for make in (few, source, npz_file, leaderboard, checkpoint, offers):
        make()
    for wrap in WRAPPERS:
        is_vector = wrap.__name__.startswith("Vector")
        wrap(SudokuVectorEnv(2, source()) if is_vector else SudokuEnv(source())).reset(seed=0)
    for size in (4, 9):
        solver.count_solutions(np.zeros((1, size, size), np.int8), 2)
    evaluate(load_policy("hidden-singles"), few())
    puzzles.generate(1, FOUR, np.random.default_rng(0))
    score_text(few().puzzles[0], "1234")
    list(replay(*recorded()))


def check_boards(boards: Any, geometry: Geometry) -> None:
    """Raise an AssertionError unless all values are digits of the boards."""
    assert ((boards >= 0) & (boards <= geometry.size)).all(), "values out of range"


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
def functions_of_boards(make: Inputs) -> None:
    near = make.near(few().puzzles)
    functions = [board.candidates, board.conflicts, board.is_solved, board.constraint_fraction]
    functions += [board.check_puzzle, solver.solve, solver.count_solutions, puzzles.grade]
    make.random.choice(functions)(near)


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


@cache
def recorded() -> tuple[RecordedGames, PlayedPart]:
    """Return two games that were recorded."""
    games = RecordedGames("masked-random", "4x4", blanks=6)
    rng = np.random.default_rng(0)
    return games, play_part(games, load_policy(games.policy), np.arange(2), rng)


@slow_target
def recorded_games(make: Inputs) -> None:
    games, part = recorded()
    names = make.random.sample(["seeds", "lengths", "actions"], make.random.choice([1, 1, 2]))
    for game in replay(games, replace(part, **{n: make.near(getattr(part, n)) for n in names})):
        check_boards(game.observations, FOUR)


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


@target
def generated_puzzles(make: Inputs) -> None:
    options = {make.random.choice(["givens", "pattern", "node_limit"]): make.value()}
    count = make.random.choice([1, 1, 0, -1, make.value()])
    if isinstance(count, int) and count > 100:
        count = 1
    geometry = FOUR if make.chance(0.9) else make.value()
    puzzles.generate(count, geometry, np.random.default_rng(0), **options)


@target
def choices_of_visitors(make: Inputs) -> None:
    given = make.random.choice([TYPED_IN, "4x4", "9x9", make.value()])
    chosen_puzzle(given, make.value(), make.text(PUZZLE) if make.chance(0.5) else make.value())


@cache
def offers() -> OfferedPolicies:
    """Return the policies that a page offers."""
    return OfferedPolicies((), False)


@target
def options_of_visitors(make: Inputs) -> None:
    name = make.random.choice(["hidden-singles", "dlx", "backtracking", make.value()])
    text = make.text("node_limit=1000&item_rule=fewest") if make.chance(0.7) else make.value()
    offers().policy(name, text)
