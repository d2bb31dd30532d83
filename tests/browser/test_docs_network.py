"""The network of the docs, in JavaScript: its weights are the shipped ones, its moves Python's."""

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from sudoku_agents.calphazero.policy import START_ROUNDS
from sudoku_agents.expert_iteration.policy import PRETRAINED
from sudoku_gym import board, load_policy, solver
from sudoku_gym.geometry import Geometry, jigsaw, latin_square, sudoku_x, windows
from sudoku_gym.puzzles.difficulty import GRADES, grade
from sudoku_gym.puzzles.named import BOARDS

HERE = Path(__file__).parent
DOCS = HERE.parent.parent / "docs"

# Test puzzles of the banks 9x9, 4x4 and 6x6 in which no two moves that the network is sure of are
# closer than 0.0001 in logit. Closer ones are mostly exact ties, by a symmetry of the puzzle, which
# rounding decides: numbers in JavaScript are 64 bits wide, in Python's network 32.
PUZZLES = (HERE / "puzzles.txt").read_text().split()
TIED = ".1.....24......3"
LARGE = (  # of the test split of 16x16, with 135 blanks
    "5.8...4....A.39B....98..5.6..D.2DF6.C23...E...1..92.1BA.3..G..C....."
    "4E.C13.972DA4ADG5.6...87....CE.BF9.3..5.1G.....2BA7...DF.E..E..9348."
    "..C.....3817.F.B6......E..4F25...D13.B.G..AD..E1F........2..7..94..."
    "..F....6.C2E7.F...G3.D5..6.4...E9AB..7.4GD..893..5.C"
)
CHECK_GIVES_UP = (  # of the same split: the page's search reads too many cells for it
    ".3...1..9...8D...G..58.B.......A417ED...A.B..G....69C24.3DG..B......"
    ".G927..C..58...........F..E....F..D5.2..6..C.7E.4A..G..9..2.F8.7G3.."
    "..C.....2.G.....B..7..9D..3...7.....4.C.BC5.96..2.D......EF2..G....1"
    "..AB...8...16...2F.G.....C..4......97.9..5.6...2...."
)


@pytest.fixture(scope="module")
def script():
    location = importlib.util.spec_from_file_location("export", DOCS / "export_network.py")
    module = importlib.util.module_from_spec(location)
    location.loader.exec_module(module)
    return module


def node(script, text, *arguments):
    """Let Node run a script of this folder on a text; return the JSON of each line it prints."""
    if shutil.which("node") is None:
        pytest.skip("no node on this machine")
    command = ["node", HERE / script, *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def games(lines, restarts=0, variant="standard"):
    """Let Node play puzzles; return the moves of each game."""
    return node("play_puzzles.js", "\n".join(lines), str(restarts), variant)


def play(policy, puzzles, geometry):
    """Return the actions of each game that a policy plays to its end."""
    boards = puzzles.copy()
    actions = [[] for _ in boards]
    policy.reset(puzzles.copy(), geometry, np.random.default_rng(0))
    while (masks := board.candidates(boards, geometry).reshape(len(boards), -1)).any():
        chosen = policy.act(boards.copy(), masks)
        for row in np.flatnonzero(masks.any(1)):
            actions[row].append(int(chosen[row]))
            place(boards[row], chosen[row])
    return actions


def place(state, action):
    cell, digit = divmod(int(action), len(state))
    state.ravel()[cell] = digit + 1


def rate(state, rounds, geometry=None):
    """Return the logits of a board's candidates after so many rounds, by plain torch.

    In float64 the body runs its reference, not the compiled kernels.
    """
    geometry = geometry or Geometry.standard(len(state))
    mask = board.candidates(state[None], geometry).reshape(1, -1)
    network = load_policy("expert-iteration").network.double()
    network.body.rounds = rounds
    with torch.inference_mode():
        found = network(torch.from_numpy(state[None]), torch.from_numpy(mask), geometry)
    return found["policy"].numpy()[mask]


def test_the_export_holds_the_shipped_weights(script):
    assert script.SCRIPT.read_text("utf-8") == script.exported(PRETRAINED)


def test_the_page_counts_the_weights(script):
    content = json.loads(script.exported().partition(" = ")[2].rstrip(";\n"))
    letters = sum(len(text.rstrip("=")) for text in content["tensors"].values())
    assert f"{letters * 3 // 16:,} weights" in (DOCS / "play.md").read_text("utf-8")


def test_moves_of_100_puzzles_are_python_s():
    assert len(set(PUZZLES)) == 100
    num_equal = 0
    for size in (4, 6, 9):
        lines = [line for line in PUZZLES if len(line) == size**2]
        assert len(lines) >= 28
        boards = board.parse_many(lines)
        expected = play(load_policy("expert-iteration"), boards, Geometry.standard(size))
        found = [[move["action"] for move in game] for game in games(lines)]
        assert [sorted(moves) for moves in found] == [sorted(moves) for moves in expected]
        num_equal += sum(ours == python for ours, python in zip(found, expected, strict=True))
    assert num_equal >= 97  # 64 bits and 32 order nearly equal logits differently


def examples():
    """Return the examples of the page, (variant, name, board) each, without the empty board."""
    source = (DOCS / "javascripts" / "examples.js").read_text("utf-8")
    text = source.partition("const EXAMPLES = [")[2].partition("\n  ];")[0]
    text = re.sub(r'" \+\s*"', "", text)
    return re.findall(r'\["([^"]+)",\s*"([^"]+)",\s*"([^"]+)"\]', text)


def test_the_names_of_the_examples_are_true():
    named = {line: name for name, line in BOARDS.items()}
    for variant, name, line in examples():
        given = board.parse(line)
        geometry = geometry_of(variant, len(given))
        shown, givens = geometry.name.removesuffix(" (seed 0)"), np.count_nonzero(given)
        technique = GRADES[grade(given[None], geometry)[0]]
        title = f"{named[line]}, " if line in named else ""
        assert name == f"{shown}: {title}{givens} givens, {technique}"
        assert solver.count_solutions(given[None], 2, geometry) == 1
    assert len(examples()) == 12


def geometry_of(variant, size):
    """Return the geometry that the page has for a variant."""
    kinds = {"x": sudoku_x, "windows": windows, "jigsaw": jigsaw, "latin": latin_square}
    return kinds[variant](size) if variant in kinds else Geometry.standard(size)


@pytest.mark.parametrize("variant", ["standard", "x", "windows", "jigsaw", "latin"])
def test_the_units_of_a_variant_are_python_s(variant):
    (units,) = node("check_boards.js", "", variant)
    assert units == geometry_of(variant, 9).units.tolist()


@pytest.mark.parametrize("variant", ["x", "windows", "jigsaw", "latin"])
def test_a_variant_is_played_as_in_python(variant):
    (line,) = [line for kind, _, line in examples() if kind == variant]
    (game,) = games([line], 0, variant)
    state, geometry = board.parse(line), geometry_of(variant, 9)
    expected = rate(state, game[0]["rounds"], geometry)
    np.testing.assert_allclose(game[0]["logits"], expected, rtol=0, atol=1e-7)
    for move in game:
        place(state, move["action"])
    assert board.is_solved(state[None], geometry)[0]


@pytest.mark.parametrize("variant", ["standard", "x", "windows", "jigsaw", "latin"])
def test_the_page_checks_a_reader_s_digits(variant):
    geometry = geometry_of(variant, 9)
    givens = board.parse_many(
        [line for kind, _, line in examples() if kind == variant and len(line) == 81]
    )
    solved = solver.solve(givens, geometry)
    wrong = solved.copy()
    for given, end in zip(givens, wrong, strict=True):
        cells = np.flatnonzero(given.ravel() == 0)[:2]
        end.ravel()[cells] = end.ravel()[cells] % 9 + 1
    empty = np.zeros_like(givens[0])
    pairs = [*zip(givens, givens, strict=True), *zip(givens, solved, strict=True)]
    pairs += [*zip(givens, wrong, strict=True), (empty, givens[0]), (empty, wrong[0])]
    twice = givens[0].copy()
    twice.ravel()[:2] = 1
    pairs.append((twice, twice))
    checked = checks(pairs, variant)
    verdicts = [each["verdict"] for each in checked]
    count = len(givens)
    assert verdicts == ["right"] * 2 * count + ["wrong"] * count + ["open", "lost", "none"]
    for each, start in zip(checked[2 * count :], givens, strict=False):
        assert each["wrong"] == np.flatnonzero(start.ravel() == 0)[:2].tolist()


def test_the_check_ends_by_a_count_and_not_by_a_clock():
    given = board.parse(CHECK_GIVES_UP)
    assert [each["verdict"] for each in checks([(given, given)], "standard")] == ["unknown"]


def checks(pairs, variant):
    """Let the page check boards against the givens they began with."""
    text = "\n".join(" ".join(map(board.to_line, pair)) for pair in pairs)
    return node("check_boards.js", text, variant)[1:]


@pytest.mark.parametrize(
    "line", [TIED, LARGE, BOARDS["Platinum Blonde"]], ids=["4x4", "16x16", "hard"]
)
def test_thoughts_are_those_of_the_reference(line):
    (game,) = games([line])
    state = board.parse(line)
    for move in game:
        if move["logits"] is not None:
            expected = rate(state, move["rounds"])
            np.testing.assert_allclose(move["logits"], expected, rtol=0, atol=1e-7)
        place(state, move["action"])
    assert board.is_solved(state[None])[0]


def test_a_board_that_does_not_converge_starts_again():
    line = "..4936..5....1.4.8......96...3....7..1..4.8........1....7.6....4....8...8..1.76.."
    (guessed,) = games([line])
    assert not guessed[0]["hasConverged"] and guessed[0]["rounds"] == START_ROUNDS
    (started,) = games([line], 40)
    assert started[0]["start"] > 0 and started[0]["rounds"] > START_ROUNDS
    assert started[0]["hasConverged"] or started[0]["start"] == 40
    assert started == games([line], 40)[0]  # the noise is the same each time
