"""The network of the docs, in JavaScript: its weights are the shipped ones, its moves Python's."""

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from sudoku_agents.expert_iteration.policy import PRETRAINED
from sudoku_gym import board, load_policy
from sudoku_gym.geometry import Geometry, jigsaw, latin_square, sudoku_x, windows
from sudoku_gym.puzzles.banks import NAMED_BOARDS as BOARDS

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


@pytest.mark.nightly
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


def geometry_of(variant, size):
    """Return the geometry that the page has for a variant."""
    kinds = {"x": sudoku_x, "windows": windows, "jigsaw": jigsaw, "latin": latin_square}
    return kinds[variant](size) if variant in kinds else Geometry.standard(size)


@pytest.mark.parametrize("variant", ["standard", "x", "windows", "jigsaw", "latin"])
def test_the_units_of_a_variant_are_python_s(variant):
    (units,) = node("check_boards.js", "", variant)
    assert units == geometry_of(variant, 9).units.tolist()


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
