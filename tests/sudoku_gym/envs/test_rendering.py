"""Texts, pictures and films of boards."""

import pickle
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from PIL import Image

from sudoku_gym import board
from sudoku_gym.envs import SudokuEnv, SudokuVectorEnv, films, rendering
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


def test_no_color_is_heeded(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "\x1b" in rendering.to_ansi(PUZZLE)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in rendering.to_ansi(PUZZLE)


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


def test_every_digit_looks_different():
    drawn = set()
    for digit in range(26):
        cells = np.zeros((25, 25), np.int8)
        cells[0, 0] = digit
        drawn.add(cell_of(rendering.draw(cells), 0, 0, 25).tobytes())
    assert len(drawn) == 26


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


def test_diagonals_are_shaded():
    cells = np.zeros((9, 9), np.int8)
    picture = rendering.draw(cells, geometry=sudoku_x(9))
    on, off = cell_of(picture, 4, 4, 9), cell_of(picture, 4, 5, 9)
    assert (on != off).all(-1).any() or (on != off).any()
    assert (off == 255).all()
    assert (cell_of(rendering.draw(cells), 4, 4, 9) == 255).all()


def test_a_picture_too_small_is_refused():
    with pytest.raises(ValueError, match=r"size=40: a 9x9 board needs at least"):
        rendering.draw(np.zeros((9, 9), np.int8), size=40)


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


def test_a_window_follows_the_game(monkeypatch):
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = gym.make("Sudoku4x4-v0", render_mode="human", blanks=2)
    env.unwrapped.metadata["render_fps"] = 1000
    _, info = env.reset(seed=0)
    before = pygame.surfarray.array3d(pygame.display.get_surface())
    env.step(int(info["action_mask"].argmax()))
    after = pygame.surfarray.array3d(pygame.display.get_surface())
    assert (before != after).any()
    np.testing.assert_array_equal(
        after.transpose(1, 0, 2),
        rendering.render(
            "rgb_array",
            env.unwrapped._batch.boards[0],
            env.unwrapped._batch.givens[0],
            env.unwrapped.geometry,
            int(info["action_mask"].argmax()) // 4,
        ),
    )
    assert env.render() is None
    pickle.loads(pickle.dumps(env.unwrapped)).reset(seed=0)
    env.close()
    env.unwrapped.close()
    assert not pygame.display.get_init()


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


def test_render_without_a_mode_warns():
    env = SudokuEnv("4x4")
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render mode"):
        assert env.render() is None
    envs = SudokuVectorEnv(1, "4x4")
    with pytest.warns(UserWarning, match="render mode"):
        assert envs.render() is None


def test_films(tmp_path):
    frames = [rendering.draw(PUZZLE), rendering.draw(PUZZLE, last=(0, 0))]
    path = tmp_path / "film.gif"
    films.save_film(frames, path, fps=5)
    with Image.open(path) as film:
        assert film.n_frames == 2
        assert film.size == (len(frames[0]), len(frames[0]))
        assert film.info["duration"] == 200
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(ValueError, match="no frame"):
        films.save_film([], path)
    for fps in (0, 1e9, float("inf"), float("nan")):
        with pytest.raises(ValueError, match=f"fps={fps}: use a number from 0.1 to 1000"):
            films.save_film(frames, path, fps=fps)


def test_films_as_mp4(tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "film.mp4"
    films.save_film([rendering.draw(PUZZLE), rendering.draw(PUZZLE, last=(0, 0))], path)
    assert path.stat().st_size > 1000
    assert list(tmp_path.iterdir()) == [path]
    reader = imageio_ffmpeg.read_frames(str(path))
    about, first = next(reader), np.frombuffer(next(reader), np.uint8)
    drawn = rendering.draw(PUZZLE)
    assert about["size"] == drawn.shape[1::-1] and about["fps"] == 4
    assert np.abs(first.reshape(drawn.shape) - drawn.astype(float)).mean() < 3
    assert imageio_ffmpeg.count_frames_and_secs(str(path)) == (10, 2.5)  # the last stays for 2 s
    reader.close()
    with pytest.raises(ValueError, match=r"ends in \.gif or \.mp4"):
        films.save_film([], tmp_path / "film.avi")


@pytest.mark.skipif(sys.platform == "win32", reason="it has no limit of file sizes")
def test_a_film_that_could_not_be_written_whole_replaces_none(tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    from resource import RLIMIT_FSIZE, getrlimit, setrlimit

    path, frames = tmp_path / "film.mp4", [rendering.draw(PUZZLE)]
    films.save_film(frames, path)
    before, whole = getrlimit(RLIMIT_FSIZE), path.read_bytes()
    setrlimit(RLIMIT_FSIZE, (len(whole) // 2, before[1]))
    try:
        with pytest.raises(OSError, match="could not be written whole") as told:
            films.save_film(frames, path)
    finally:
        setrlimit(RLIMIT_FSIZE, before)
    assert told.value.filename == str(path)
    assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == whole


def test_a_film_runs_no_program_that_a_settings_file_names(tmp_path):
    """As moviepy does, which reads the `.env` of the folders above."""
    pytest.importorskip("imageio_ffmpeg")
    saving = (
        "import sys, numpy; from sudoku_gym.envs.films import save_film; "
        "save_film([numpy.zeros((16, 16, 3), numpy.uint8)], 'film.mp4'); "
        "assert not {'moviepy', 'dotenv'} & sys.modules.keys()"
    )
    tool = tmp_path / "tool.sh"
    tool.write_text("#!/bin/sh\ntouch RAN\n")
    tool.chmod(0o755)
    (tmp_path / ".env").write_text("FFMPEG_BINARY=./tool.sh\nFFPLAY_BINARY=./tool.sh\n")
    subprocess.run([sys.executable, "-c", saving], cwd=tmp_path, check=True)
    assert sorted(each.name for each in tmp_path.iterdir()) == [".env", "film.mp4", "tool.sh"]


def test_record_video(tmp_path):
    pytest.importorskip("moviepy")
    env = gym.make("Sudoku4x4-v0", render_mode="rgb_array", blanks=2)
    env = gym.wrappers.RecordVideo(env, str(tmp_path / "films"), disable_logger=True)
    _, info = env.reset(seed=0)
    terminated = False
    while not terminated:
        _, _, terminated, _, info = env.step(int(info["action_mask"].argmax()))
    env.close()
    assert [path.suffix for path in (tmp_path / "films").iterdir()] == [".mp4"]
