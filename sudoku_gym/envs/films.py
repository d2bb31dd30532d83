"""Films of an episode: GIF with Pillow alone, MP4 with ffmpeg."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sudoku_gym import plugins
from sudoku_gym.storage.atomic import atomic_write, check_suffix

_LAST_FRAME = 2  # seconds that the last frame stays


def save_film(frames: Iterable[NDArray[np.uint8]], path: str | Path, fps: float = 4) -> None:
    """Save a film of frames; its format is the path's suffix, `.gif` (endless) or `.mp4`.

    Args:
        frames: uint8 `[H, W, 3]` each, all of one size; H and W even for MP4.
        path: output file, replaced once the film is complete.
        fps: frames per second, 0.1 to 1000; the last frame stays for two seconds.

    Raises:
        ValueError: if there is no frame, `fps` is out of range, or the suffix is another.
        ModuleNotFoundError: if MP4 is asked for and imageio-ffmpeg is missing.
        OSError: if the film can't be written whole, as on a full disk; an older one stays.
    """
    check_film(path)
    shown = list(frames)
    if not shown:
        raise ValueError(f"no frame to save in {path}: render the environment at least once")
    check_fps(fps)
    save = _save_gif if Path(path).suffix.lower() == ".gif" else _save_mp4
    save(shown, path, fps)


def check_film(path: str | Path) -> None:
    """Raise ValueError unless the path's suffix is that of a film."""
    check_suffix(path, "a film", ".gif", ".mp4")


def check_fps(fps: float) -> None:
    """Raise ValueError if frames per second are out of range."""
    if not 0.1 <= fps <= 1000:
        raise ValueError(f"fps={fps}: use a number from 0.1 to 1000")


def _save_gif(frames: list[NDArray[np.uint8]], path: str | Path, fps: float) -> None:
    images = [Image.fromarray(frame) for frame in frames]
    durations = [round(1000 / fps)] * (len(images) - 1) + [1000 * _LAST_FRAME]
    options = {"save_all": True, "append_images": images[1:], "duration": durations, "loop": 0}
    with atomic_write(path) as temporary:
        images[0].save(temporary, "GIF", **options)


def _save_mp4(frames: list[NDArray[np.uint8]], path: str | Path, fps: float) -> None:
    with plugins.suggest_extra("a film as MP4"):
        import imageio_ffmpeg  # type: ignore[import-untyped]
    height, width, _ = frames[0].shape
    shown = frames + frames[-1:] * int(_LAST_FRAME * fps)
    with atomic_write(path) as temporary:
        film = imageio_ffmpeg.write_frames(
            str(temporary), (width, height), fps=fps, codec="libx264", macro_block_size=2
        )
        try:
            film.send(None)  # starts ffmpeg
            for frame in shown:
                film.send(np.ascontiguousarray(frame))
            film.close()
            # How ffmpeg ended is not told; what it writes last is the index.
            imageio_ffmpeg.count_frames_and_secs(str(temporary))
        except (OSError, RuntimeError):
            reason = "the film could not be written whole (a full disk?)"
            raise OSError(errno.EIO, reason, str(path)) from None
