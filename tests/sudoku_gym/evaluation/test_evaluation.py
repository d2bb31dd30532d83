import json

import numpy as np
import pytest

from sudoku_baselines.classical.trivial import MaskedRandom
from sudoku_gym import board, compare, evaluate, load_policy, puzzles, solver
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.evaluation import percent, tabulate, to_markdown
from sudoku_gym.geometry import Geometry, latin_square, sudoku_x
from sudoku_gym.policies import Convergence, SolverPolicy
from sudoku_gym.puzzles import PuzzleSet, generator

GRID = board.parse("1234341221434321")
PUZZLE = board.parse("12343.12.1434321")  # blanks: cell 5 (digit 4) and cell 8 (digit 2)


class Exact:
    def solve(self, puzzles, geometry):
        return solver.solve(puzzles, geometry)


class Scripted:
    """Answers what a function of (boards, masks) says, and remembers what it was shown."""

    def __init__(self, answer=lambda boards, masks: masks.argmax(1)):
        self.answer = answer
        self.shown = []

    def reset(self, puzzles, geometry, rng):
        self.shown.append(puzzles)

    def act(self, boards, action_masks):
        self.shown.append((boards, action_masks))
        return self.answer(boards, action_masks)


def test_a_solver_solves_everything():
    result = evaluate(SolverPolicy(Exact()), puzzles.load("4x4", "test")[::50])
    assert result.completion_rate == result.constraint_fraction == 1
    assert result.solved.all() and result.illegal == 0 and result.seconds > 0
    assert result.orbits_solved == (8, 8)


@pytest.mark.parametrize(
    "name", ["solver", "sat", "dlx", "propagation", "backtracking", "sum-product"]
)
def test_boards_without_standard_boxes_are_played(name):
    """Five digits have no standard board to fall back on."""
    if name == "sat":
        pytest.importorskip("pysat")
    latin = latin_square(5)
    some = puzzles.generate(4, latin, np.random.default_rng(0))
    assert evaluate(load_policy(name), some).solved.all()
    assert evaluate(load_policy(name), some.puzzles, geometry=latin).solved.all()


@pytest.mark.parametrize("geometry", [Geometry.standard(4), Geometry.standard(9), sudoku_x(9)])
def test_the_rules_are_those_of_the_environment(geometry):
    made = generator.generate(10, geometry, np.random.default_rng(0), givens=geometry.size * 4)
    result = evaluate(Scripted(), made, batch_size=4)
    env = SudokuEnv(Source(geometry))
    fractions, solved = [], []
    for puzzle in made.puzzles:
        _, info = env.reset(options={"puzzle": puzzle})
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            over = terminated or truncated
        fractions.append(info["constraint_fraction"])
        solved.append(info["is_success"])
    assert result.solved.tolist() == solved
    assert result.constraint_fraction == pytest.approx(np.mean(fractions))


class Source:
    """A source for environments that are given every puzzle."""

    def __init__(self, geometry):
        self.geometry, self.max_blanks = geometry, geometry.num_cells

    def sample(self, count, blanks, rng):
        raise AssertionError("nothing is drawn here")


def test_any_valid_completion_counts():
    empty = np.zeros((3, 4, 4), np.int8)
    assert evaluate(SolverPolicy(Exact()), empty).solved.all()


def test_a_full_board_is_solved_without_a_move():
    policy = Scripted()
    assert evaluate(policy, GRID[None]).solved.all()
    assert len(policy.shown) == 1


def test_rows_keep_their_places_and_finished_ones_have_empty_masks():
    policy = Scripted()
    evaluate(policy, np.stack([GRID, PUZZLE, np.where(GRID == 1, 0, GRID)]))
    steps = policy.shown[1:]
    assert len(steps) == 4
    assert [masks.any(1).tolist() for _, masks in steps] == [[0, 1, 1]] * 2 + [[0, 0, 1]] * 2
    for boards, masks in steps:
        assert boards.shape == (3, 4, 4) and boards.dtype == np.int8
        assert masks.shape == (3, 64) and masks.dtype == np.bool_
        assert (boards[0] == GRID).all()


@pytest.mark.parametrize("illegal", [-1, 64, 10**9, 0, 5 * 4 + 0])
def test_an_illegal_answer_loses_its_game_alone(illegal):
    def answer(boards, masks):
        return np.array([illegal, masks[1].argmax()])

    policy = Scripted(answer)
    result = evaluate(policy, np.stack([PUZZLE, PUZZLE]))
    assert result.solved.tolist() == [False, True] and result.illegal == 1
    assert (policy.shown[-1][0][0] == PUZZLE).all() and not policy.shown[-1][1][0].any()


@pytest.mark.parametrize("answer", [np.zeros(3, int), np.zeros((2, 1), int), np.zeros(2), None])
def test_an_answer_of_the_wrong_kind_is_an_error(answer):
    with pytest.raises(ValueError, match=r"one whole number a game: .* of shape \(2,\)"):
        evaluate(Scripted(lambda boards, masks: answer), np.stack([PUZZLE, PUZZLE]))


def test_blank_actions_allow_wrong_digits():
    wrong = Scripted(lambda boards, masks: masks.argmax(1))  # always digit 1
    result = evaluate(wrong, PUZZLE[None], actions="blank")
    assert not result.solved.any() and result.illegal == 0
    assert 0 < result.constraint_fraction < 1
    assert evaluate(SolverPolicy(Exact()), PUZZLE[None], actions="blank").solved.all()


def test_erasing_and_the_step_limit():
    def dither(boards, masks):
        erasures = masks[:, 64:]
        return np.where(erasures.any(1), 64 + erasures.argmax(1), masks.argmax(1))

    policy = Scripted(dither)
    result = evaluate(policy, PUZZLE[None], erase=True, max_steps=7)
    assert not result.solved.any() and result.illegal == 0
    assert len(policy.shown) == 1 + 7
    assert policy.shown[1][1].shape == (1, 80)
    policy = Scripted(dither)
    evaluate(policy, PUZZLE[None], erase=True)
    assert len(policy.shown) == 1 + 8 * 16


def test_the_batch_size_does_not_matter_to_a_deterministic_policy():
    test = puzzles.load("4x4")[::2000]
    results = [evaluate(Scripted(), test, batch_size=size) for size in (1, 7, 1024)]
    for result in results[1:]:
        assert (result.solved == results[0].solved).all()
        assert result.constraint_fraction == pytest.approx(results[0].constraint_fraction)


def test_the_seed_decides_what_a_random_policy_does():
    test = puzzles.load("4x4", "test")[:500]
    first, again, other = (evaluate(MaskedRandom(), test, seed=seed) for seed in (1, 1, 2))
    assert (first.solved == again.solved).all() and (first.solved != other.solved).any()
    batches = evaluate(MaskedRandom(), np.repeat(test.puzzles[:1], 200, axis=0), batch_size=100)
    assert (batches.solved[:100] != batches.solved[100:]).any()  # each batch draws anew


def test_masked_random_solves_about_a_tenth_of_4x4():
    result = evaluate(MaskedRandom(), puzzles.load("4x4"))
    assert 0.08 < result.completion_rate < 0.1
    assert result.interval[0] < result.completion_rate < result.interval[1]
    assert result.orbits_solved == (0, 36)


def test_intervals_over_orbits():
    orbits = np.repeat(np.arange(4, dtype=np.int32), 100)
    copies = np.repeat(PUZZLE[None], 400, axis=0)
    test = PuzzleSet(
        copies, np.repeat(GRID[None], 400, axis=0), Geometry.standard(4), orbits=orbits
    )
    by_orbit = evaluate(
        Scripted(lambda boards, masks: np.where(np.arange(400) < 300, masks.argmax(1), -1)), test
    )
    assert by_orbit.completion_rate == 0.75 and by_orbit.orbits_solved == (3, 4)
    low, high = by_orbit.orbit_interval
    assert low <= 0.25 and high == 1.0  # four orbits say far less than 400 puzzles would
    assert by_orbit.interval[0] > 0.7
    unknown = evaluate(Scripted(), copies)
    assert unknown.orbits_solved is None and unknown.orbit_interval is None


@pytest.mark.parametrize(
    ("boards", "options", "message"),
    [
        (np.zeros((0, 4, 4), np.int8), {}, "no puzzle to play"),
        (np.zeros((4, 4), np.int8), {}, r"boards must be \[B, N, N\]"),
        (np.full((2, 4, 4), 5, np.int8), {}, "board 0, row 1, column 1: 5 is no digit"),
        (np.stack([GRID, np.full_like(GRID, 1)]), {}, "board 1: 1 stands twice in a unit"),
        (PUZZLE[None], {"batch_size": 0}, "batch_size must be at least 1"),
        (PUZZLE[None], {"max_steps": 0}, "max_steps"),
        (PUZZLE[None], {"actions": "all"}, "actions='all'"),
        (PUZZLE[None], {"geometry": Geometry.standard(9)}, "the geometry is 9x9"),
    ],
)
def test_bad_puzzles_and_options_are_refused(boards, options, message):
    with pytest.raises(ValueError, match=message):
        evaluate(Scripted(), boards, **options)


@pytest.mark.parametrize("batch_size", [1000, 7])
def test_an_evaluation_tells_how_far_it_is(batch_size):
    told = []
    some = puzzles.load("4x4", "test")[:20]
    heard = evaluate(MaskedRandom(), some, batch_size=batch_size, on_progress=told.append)
    assert 0 < told[0] < 0.5 and told[-1] == pytest.approx(1) and len(told) > 5
    assert np.diff(told).min() >= -1e-9
    quiet = evaluate(MaskedRandom(), some, batch_size=batch_size)
    assert (heard.solved == quiet.solved).all()


def test_a_comparison_is_a_table():
    results = compare(
        {"random": MaskedRandom(), "illegal": Scripted(lambda b, m: np.full(len(b), -1))},
        puzzles.load("4x4", "test")[::100],
        seed=3,
    )
    heads, rows = tabulate(results)
    assert heads[:5] == ["policy", "solved", "95 % interval", "orbits", "over orbits"]
    assert [row[0] for row in rows] == ["random", "illegal"]
    assert rows[1][heads.index("illegal")] == "158" and rows[1][1] == "0.0 %"
    lines = to_markdown(results).splitlines()
    assert len(lines) == 4 and len({len(line) for line in lines}) == 1
    without = tabulate(compare({"a": Scripted()}, PUZZLE[None]))[0]
    assert not {"orbits", "over orbits", "illegal"} & set(without)


class Rounds(Scripted):
    """A policy that counts five rounds a move, of boards that converge if they hold a 1."""

    def reset(self, puzzles, geometry, rng):
        super().reset(puzzles, geometry, rng)
        self.convergence = Convergence.of_none(len(puzzles))

    def act(self, boards, action_masks):
        converged = (boards == 1).any((1, 2))
        self.convergence.add(Convergence(np.full(len(boards), 5), converged))
        return super().act(boards, action_masks)


def test_rounds_and_converged_games_are_shown_where_a_policy_can_tell():
    boards = np.stack([PUZZLE, PUZZLE, np.where(GRID == 1, 0, GRID)])
    results = compare({"rounds": Rounds(), "other": Scripted()}, boards, batch_size=2)
    result = results["rounds"]
    assert result.solved.all() and result.converged_solved == (2, 2)
    assert result.convergence.rounds.tolist() == [10, 10, 20] and result.mean_rounds == 40 / 3
    figures = result.to_dict()
    assert figures["converged"] == figures["converged_solved"] == 2
    assert figures["processor_seconds"] > 0
    heads, rows = tabulate(results)
    shown = [[row[heads.index(head)] for head in ("converged", "rounds")] for row in rows]
    assert shown == [["66.7 %", "13"], ["", ""]]
    assert results["other"].mean_rounds is None and results["other"].to_dict()["converged"] is None
    heads = tabulate({"other": results["other"]})[0]
    assert "processor time" in heads and not {"converged", "rounds"} & set(heads)


def test_an_evaluation_tells_its_figures():
    result = evaluate(Scripted(lambda b, m: np.full(len(b), -1)), puzzles.load("4x4", "test")[:10])
    assert str(result).startswith(
        "0.0 % of 10 puzzles solved (95 % interval 0.0 % to 27.8 %), 0 of 3 orbits entirely"
    )
    assert str(result).endswith("10 lost by an illegal answer")
    figures = json.loads(json.dumps(result.to_dict()))
    assert figures["solved"] == 0 and figures["illegal"] == 10 and figures["puzzles"] == 10


@pytest.mark.parametrize(
    "share, text",
    [(0, "0.0 %"), (1, "100.0 %"), (0.5, "50.0 %"), (0.9999, "99.99 %"), (1e-5, "0.001 %")],
)
def test_only_none_and_all_are_shown_as_such(share, text):
    assert percent(share) == text
