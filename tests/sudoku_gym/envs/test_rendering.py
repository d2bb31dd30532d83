"""Texts, pictures and films of boards."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from PIL import Image

from sudoku_gym import board
from sudoku_gym.envs import SudokuVectorEnv, rendering
from sudoku_gym.geometry import Geometry, sudoku_x

PUZZLE = board.parse("12.. 3... ...4 .3..")


def jigsaw():
    regions = np.array([[0, 0, 1, 1], [0, 2, 1, 1], [0, 2, 2, 3], [2, 3, 3, 3]])
    return Geometry("jigsaw", regions)


def cell_of(picture, row, column, size):
    """Cut one cell's inside out of a picture, without its lines."""
    step = len(picture) / size
    rows, columns = (slice(int((i + 0.2) * step), int((i + 0.8) * step)) for i in (row, column))
    return picture[rows, columns]


def test_ansi_draws_the_boxes():
    assert rendering.to_ansi(PUZZLE, color=False) == board.to_text(PUZZLE)
    nine = np.zeros((9, 9), np.int8)
    assert rendering.to_ansi(nine, color=False) == board.to_text(nine)


def test_ansi_draws_a_jigsaw():
    text = rendering.to_ansi(np.zeros((4, 4), np.int8), geometry=jigsaw(), color=False)
    assert text.splitlines() == [
        " .   . | .   .",
        "   +---+",
        " . | . | .   .",
        "   |   +---+---",
        " . | .   . | .",
        "---+-------+",
        " . | .   .   .",
    ]


def test_ansi_marks_what_there_is_to_see():
    placed = PUZZLE.copy()
    placed[0, 3] = 1  # clashes with the 1 in its row
    placed[3, 3] = 2
    text = rendering.to_ansi(placed, PUZZLE > 0, last=(3, 3), color=True)
    first, *_, last = text.splitlines()
    assert "\x1b[4;31m1\x1b[0m" in first
    assert "\x1b[1m2\x1b[0m" in first
    assert "\x1b[7m\x1b[34m2\x1b[0m" in last
    assert "\x1b" not in rendering.to_ansi(placed, color=False)


@pytest.mark.parametrize(
    "geometry", [Geometry.standard(n) for n in (4, 6, 9, 16, 25)] + [sudoku_x(9), jigsaw()], ids=str
)
def test_pictures_are_square_and_even(geometry):
    n = geometry.size
    picture = rendering.draw(np.zeros((n, n), np.int8), geometry=geometry)
    assert picture.dtype == np.uint8
    assert picture.shape == (len(picture), len(picture), 3)
    assert len(picture) % 2 == 0
    assert len(rendering.draw(np.zeros((n, n), np.int8), geometry=geometry, size=800)) in range(
        700, 900
    )


def test_kinds_of_cells_look_different():
    placed = PUZZLE.copy()
    placed[3, 3] = 2
    plain = rendering.draw(placed, PUZZLE > 0)
    assert (cell_of(plain, 3, 3, 4) != cell_of(rendering.draw(placed), 3, 3, 4)).any()
    last = rendering.draw(placed, PUZZLE > 0, last=(3, 3))
    assert (cell_of(plain, 3, 3, 4) != cell_of(last, 3, 3, 4)).any()
    np.testing.assert_array_equal(cell_of(plain, 0, 0, 4), cell_of(last, 0, 0, 4))
    placed[0, 3] = 1
    clashing = rendering.draw(placed, PUZZLE > 0)
    assert (cell_of(plain, 0, 0, 4) != cell_of(clashing, 0, 0, 4)).any()
    np.testing.assert_array_equal(cell_of(plain, 3, 3, 4), cell_of(clashing, 3, 3, 4))


def test_dead_ends_are_marked():
    dead = board.parse("123. ...4 .... ....")
    cross = cell_of(rendering.draw(dead), 0, 3, 4)
    empty = cell_of(rendering.draw(dead), 3, 0, 4)
    assert (empty == 255).all()
    assert (cross != 255).any()


@pytest.mark.parametrize("size", [4, 9, 16, 25])
def test_candidates_have_places_of_their_own(size):
    cells = np.zeros((size, size), np.int8)
    bare, marked = rendering.draw(cells), rendering.draw(cells, show_candidates=True)
    assert (bare != marked).any()
    seen = {cell_of(marked, 1, 1, size).tobytes()}
    for digit in range(1, size + 1):
        cells[0] = 0
        cells[0, 1] = digit  # no candidate in its column any more
        cut = rendering.draw(cells, show_candidates=True)
        step = len(cut) // size
        seen.add(cut[-2 * step :, step : 2 * step].tobytes())
    assert len(seen) == size + 1


def test_heat_colours_the_likely_placements():
    heat = np.zeros((4, 4, 4))
    heat[3, 0, 1] = 0.5
    picture = rendering.draw(PUZZLE, heat=heat)
    plain = rendering.draw(PUZZLE, show_candidates=True)
    assert cell_of(picture, 3, 0, 4).sum() < cell_of(plain, 3, 0, 4).sum() - 1000
    np.testing.assert_array_equal(picture, rendering.draw(PUZZLE, heat=7 * heat.ravel()))
    rendering.draw(PUZZLE, heat=0 * heat)
    with pytest.raises(ValueError, match=r"heat must be \[4, 4, 4\], not \[4, 4\]"):
        rendering.draw(PUZZLE, heat=heat[0])


def test_environments_draw_themselves():
    env = gym.make("Sudoku4x4-v0", render_mode="rgb_array")
    with pytest.raises(ResetNeeded):
        env.unwrapped.render()
    env.reset(seed=0)
    before = env.render()
    env.step(int(env.unwrapped.action_masks().argmax()))
    assert (before != env.render()).any()
    text = gym.make("Sudoku4x4-v0", render_mode="ansi")
    text.reset(options={"puzzle": PUZZLE})
    assert text.render() == board.to_text(PUZZLE)


def test_vector_environments_draw_each_board():
    envs = SudokuVectorEnv(3, "4x4", render_mode="ansi")
    with pytest.raises(ResetNeeded):
        envs.render()
    boards, _ = envs.reset(seed=0)
    assert envs.render() == tuple(map(board.to_text, boards))


def test_films(tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    frames = [rendering.draw(PUZZLE), rendering.draw(PUZZLE, last=(0, 0))]
    rendering.save_film(frames, tmp_path / "film.gif", fps=5)
    with Image.open(tmp_path / "film.gif") as film:
        assert (film.n_frames, film.size) == (2, frames[0].shape[:2])
        assert film.info["duration"] == 200
    rendering.save_film(frames, tmp_path / "film.mp4", fps=5)
    shown = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "film.mp4"))
    assert shown == (2 + 2 * 5, 2.4)  # the last stays for 2 s
    with pytest.raises(ValueError, match=r"ends in \.gif or \.mp4"):
        rendering.save_film([], tmp_path / "film.avi")


def test_gymnasium_records_videos_and_opens_windows(tmp_path, monkeypatch):
    pytest.importorskip("moviepy")
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = gym.make("Sudoku4x4-v0", render_mode="rgb_array", blanks=1)
    env = gym.wrappers.RecordVideo(env, str(tmp_path / "films"), disable_logger=True)
    _, info = env.reset(seed=0)
    env.step(int(info["action_mask"].argmax()))
    env.close()
    assert [path.suffix for path in (tmp_path / "films").iterdir()] == [".mp4"]
    window = gym.wrappers.HumanRendering(gym.make("Sudoku4x4-v0", render_mode="rgb_array"))
    window.reset(seed=0)
    window.close()
